"""How fine a uniform grid must be: steps from the decay of the integrand's Fourier transform.

A trapezoid sum with step h misses what the integrand's spectrum holds beyond 2 pi / h. In a
logit x the factors X_n fall off like exp(-pi |w| / 2) (exactly so for exponential scores, the
strip of analyticity has half-width pi / 2), a Gaussian of width b like exp(-b^2 w^2 / 2). Each
function below solves "spectrum at 2 pi / h = exp(-digits)" for h. Adaptivity raises ``digits``
where an activation varies faster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lgamma, log, pi, sqrt

STRIP = pi / 2


@dataclass(frozen=True)
class Resolution:
    """Target accuracy exp(-digits) of one evaluation, ``digits`` in nats, for up to ``tokens``.

    strip: half-width of the strip in which factors are analytic in the logit; 0 with kinks, where
    only averages that have been taken make a function smooth.
    """

    digits: float
    tokens: int = 1
    strip: float = STRIP

    def sharper(self) -> Resolution:
        """For sums over one lift, which cost little and hold the sharpest factors.

        Powers of t up to t^4 exp(-t) have a spectrum above that of STRIP by a few powers of the
        frequency; with these digits their error is what this resolution says.
        """
        return self.raised(0.2 * self.digits + 4.0)

    def raised(self, digits: float) -> Resolution:
        """The same with this many digits more."""
        return replace(self, digits=self.digits + digits)

    @property
    def window(self) -> float:
        """Half-width, in standard deviations, beyond which a Gaussian is below the target.

        The largest of many tokens lies far out; half of ln(tokens) covers it, since weights are
        normalized and attention saturates there.
        """
        return sqrt(2 * self.digits + log(self.tokens)) + 0.5

    def normal_step(self, slope: float, smoothing: float = 0.0) -> float:
        """Step in z for E[X(y + slope z)], X already averaged over a Gaussian of ``smoothing``.

        The spectrum is that of the normal weight times that of X: the worst split of the
        frequency between both decides.
        """
        if slope < 1e-12:
            return 2 * pi / sqrt(2 * self.digits)
        c, beta = self.strip / slope, (smoothing / slope) ** 2
        excess = self.digits - c * c / 2
        if excess <= 0:
            return 2 * pi / sqrt(2 * self.digits)
        if beta > 0:
            y = (sqrt(c * c + 2 * beta * excess / (1 + beta)) - c) / beta
        else:
            y = excess / c
        return 2 * pi / (c + (1 + beta) * y)

    def hermite_nodes(self, slope: float, fewer_than: int) -> int | None:
        """Gauss-Hermite nodes for a logit that changes by ``slope``; None if that many do not do.

        n nodes miss about n! (slope / STRIP)^(2n): small, and known in advance, only where the
        slope is. For a wide logit the rule looks converged long before it is.
        """
        if slope < 1e-12:
            return 1
        if self.strip == 0:
            return None
        for count in range(1, fewer_than):
            if lgamma(count + 1) + 2 * count * log(slope / self.strip) < -self.digits:
                return count
        return None

    def lift_step(self, smoothing: float) -> float:
        """Step in s = ln t for a product of averages over Gaussians of ``smoothing``."""
        if smoothing < 1e-6:
            return 2 * pi * STRIP / self.digits
        variance = smoothing * smoothing
        frequency = (sqrt(STRIP * STRIP + 2 * variance * self.digits) - STRIP) / variance
        return 2 * pi / frequency

    def lift_range(self, logs: tuple[float, float], offset: float) -> tuple[float, float]:
        """The range of s that matters, for ln of the normalizer between ``logs``."""
        low, high = logs
        stop = log(self.digits + 1) - low
        if offset > 0:
            stop = min(stop, log((self.digits + 1) / offset))
        return min(-high, stop) - self.digits, stop

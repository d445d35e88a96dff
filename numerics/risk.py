# notation: gamma gain, beta free biases, theta latent weights; m, R alignments and overlaps.
"""The population risk and its gradient in the order parameters, each number with its error."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from numerics.checks import (
    count,
    fixed_or_free_gain,
    free_bias,
    order_parameters,
    positive,
)
from numerics.errors import AccuracyWarning, InputError
from numerics.estimate import Estimate
from numerics.lengths import SequenceLength
from numerics.priors import Prior, require_prior
from numerics.quadrature import all_tokens, engines
from numerics.quadrature.logits import LogitLaw, Response
from numerics.quadrature.sobol import replicated
from numerics.threads import one_thread

# The error of a value is SAFETY times its change from a grid with a share COARSER of the
# digits, plus the nominal accuracy of its own grid: a change can be small by accident. Where
# errors fall exponentially that is far above the truth; where they fall only like the square
# of the step it still covers it.
COARSER = 0.85
SAFETY = 2.0
# A risk is likely above this: the first resolution aims at that size.
LIKELY = 0.3
# Digits (in nats) beyond which nothing is left but rounding.
MOST_DIGITS = 40.0
# Rounding of the sums behind a quadrature: no error is stated below it, and no tolerance is
# tighter than a few times that.
FLOOR = 1e-12
TIGHTEST = 3e-12
# Below this size a result is a small difference of terms of order 1: its accuracy is asked
# relative to this, since a risk of 0 has no relative accuracy.
SMALL = 1e-3
# A tensor grid above this many nodes gives way to Sobol points.
MOST_GRID_NODES = 1_000_000
# Rounding of a closed form that is a sum of terms of order 1.
ROUNDING = 64 * np.finfo(float).eps

NOT_FINITE = (
    "m, R: the risk of this activation is not a finite number here; entries are too large for its "
    "score, or a parameter stands where a formula divides by 0"
)


@dataclass(frozen=True)
class Gradient:
    """The risk's first derivatives at one point.

    value: the risk. m (H, F) and R (H, H, symmetric matrix gradient: an off-diagonal entry is
    half the derivative in the shared entry). beta (H,): in a common shift of head h's bias.
    gain: in the gain. error bounds the error of every entry; method and evaluations as in
    Estimate.
    """

    value: float
    m: np.ndarray
    R: np.ndarray
    beta: np.ndarray
    gain: float
    error: float
    method: str
    evaluations: int


def _finite(flat: np.ndarray) -> np.ndarray:
    if not np.all(np.isfinite(flat)):
        raise InputError(NOT_FINITE)
    return flat


def unpacked(flat, shape, error, method, evaluations) -> Gradient:
    """The vector of ``PopulationRisk.first_derivatives`` at m of this shape."""
    heads, spikes = shape
    cuts = np.cumsum([1, heads * spikes, heads * heads, heads])
    value, by_m, by_R, by_beta, by_gain = np.split(flat, cuts)
    by_R = by_R.reshape(heads, heads)
    return Gradient(
        value=float(value[0]),
        m=by_m.reshape(heads, spikes),
        # Symmetric but for rounding; made so exactly, as a matrix gradient is.
        R=(by_R + by_R.T) / 2,
        beta=by_beta,
        gain=float(by_gain[0]),
        error=error,
        method=method,
        evaluations=evaluations,
    )


def require_risk(given: Any) -> None:
    """InputError unless ``given`` is a population risk."""
    if not isinstance(given, PopulationRisk):
        raise InputError(
            f"risk: expected a PopulationRisk, made by hf.PopulationRisk(act, prior, tokens), "
            f"got {type(given).__name__}"
        )


class PopulationRisk:
    """The population risk E(m, R) of an activation, D -> infinity (docs/model.md sections 2 to 5).

    kernels: the generated module of the activation. prior: law of theta, F spikes. tokens: L,
    or {L: probability}. rtol: wanted accuracy, relative to the value or, for a gradient, to the
    largest of the value and all entries, or to 1e-3 where that is more; nothing is computed
    beyond an absolute 3e-12. seed: for Sobol points, used only where quadrature cannot go.
    Raises InputError for bad input; warns AccuracyWarning when a tolerance is not met.
    """

    def __init__(
        self, kernels: ModuleType, prior: Prior, tokens: Any, rtol: float = 1e-8, seed: int = 0
    ):
        self.kernels = kernels
        require_prior(prior)
        self.prior = prior
        self.length = SequenceLength.of(tokens)
        self.rtol = positive("rtol", rtol)
        self.seed = count("seed", seed, least=0)

    def __call__(self, m: Any, R: Any, *, beta: Any = None, gain: float | None = None) -> Estimate:
        """The risk at alignments m (H, F) and overlaps R (H, H), as an Estimate.

        beta (H,): free biases, for an activation that has them. gain: for an activation with
        gain "free"; the best one when not given.
        """
        with one_thread():
            result, error, method, evaluations = self._evaluate(m, R, beta, gain, gradient=False)
        return Estimate(float(result[0]), error, method, evaluations)

    def gradient(self, m: Any, R: Any, *, beta: Any = None, gain: float | None = None) -> Gradient:
        """The risk and its derivatives in m, R, beta and the gain, arguments as in a call."""
        with one_thread():
            flat, error, method, evaluations = self._evaluate(m, R, beta, gain, gradient=True)
        return unpacked(flat, np.shape(m), error, method, evaluations)

    def describe(self) -> dict[str, Any]:
        """The activation, the prior and the lengths, as JSON can hold them."""
        return {
            "activation": self.kernels.DEFINITION,
            "prior": self.prior.describe(),
            "tokens": self.length.describe(),
        }

    def law(self, m: np.ndarray, R: np.ndarray, beta: np.ndarray) -> LogitLaw:
        """The law of the logits, bias included, that the order parameters stand for."""
        prior, kernels = self.prior.components(), self.kernels
        bias = kernels.bias(R, beta)
        return LogitLaw(
            prior.odds,
            kernels.mean(m, prior.mean, bias),
            kernels.covariance(R, m, prior.covariance),
            bias,
            R,
        )

    def needs_points(
        self, m: np.ndarray, R: np.ndarray, beta: np.ndarray, digits: float, most_nodes: int
    ) -> bool:
        """Whether heads that share a normalizer would take a grid of more than ``most_nodes``."""
        if self.kernels.SCOPE != "heads":
            return False
        return engines.grid_size(self.law(m, R, beta), self.length, digits) > most_nodes

    def _evaluate(self, m, R, beta, gain, *, gradient):
        m, R = order_parameters(m, R, self.prior.spikes)
        beta = free_bias(self.kernels, beta, len(m))
        gamma = fixed_or_free_gain(self.kernels, gain, len(m))
        law = self.law(m, R, beta)

        def flatten(respond: Callable[[float], Response]) -> tuple[np.ndarray, int]:
            return self._flatten(respond, m, gamma, gradient)

        if self.kernels.CLOSED:
            respond = engines.closed(self.kernels, law, self.length, gradient=gradient)
            flat, evaluations = flatten(respond)
            error = ROUNDING * max(1.0, float(np.max(np.abs(flat))))
            return flat, error, "closed form", evaluations
        if not self.kernels.SMOOTH and gradient:
            engines.require_kinks_resolved(self.kernels, law)
        if not self.kernels.SMOOTH and not engines.kinks_resolved(self.kernels, law):
            return self._by_sobol(
                lambda z: flatten(
                    lambda gamma: all_tokens.respond(self.kernels, law, self.length, z)
                ),
                all_tokens.dimension(law, self.length),
            )
        finest = -np.log(self.rtol) / COARSER**2
        if self.needs_points(m, R, beta, finest, MOST_GRID_NODES):
            # The lift is integrated well below the noise of the points.
            digits = float(np.log(10 / self.rtol))
            return self._by_sobol(
                lambda z: flatten(engines.at_points(self.kernels, law, self.length, digits, z)),
                law.heads,
            )
        return self.by_quadrature(
            lambda digits: flatten(engines.at_digits(self.kernels, law, self.length, digits))
        )

    def fixed(
        self,
        m: np.ndarray,
        R: np.ndarray,
        beta: np.ndarray,
        gain: float,
        digits: float,
        points: np.ndarray | None = None,
    ) -> Gradient:
        """Value and derivatives by one rule of ``digits`` nats: smooth in (m, R), error not known.

        For right-hand sides, which are evaluated a thousand times and get their error from
        another resolution. points (N, H): normal points instead of a grid, for heads that share
        a normalizer. Arguments are trusted. error is nan.
        """
        respond = engines.for_fixed_rule(
            self.kernels, self.law(m, R, beta), self.length, digits, points
        )
        flat, evaluations = self._flatten(respond, m, gain, True)
        return unpacked(flat, m.shape, float("nan"), "fixed rule", evaluations)

    def by_quadrature(self, evaluate: Callable[[float], tuple[np.ndarray, int]]):
        """Raise the resolution until two in a row agree; the error is from their difference.

        evaluate: from digits to a flat array of results and a number of evaluations. Returns
        results, error, method and evaluations.
        """
        digits = COARSER * -np.log(LIKELY * self.rtol)
        before, evaluations = evaluate(digits)
        while True:
            digits = min(MOST_DIGITS, digits / COARSER)
            after, more = evaluate(digits)
            evaluations += more
            size = float(np.max(np.abs(after)))
            change = float(np.max(np.abs(after - before)))
            scale = max(1.0, size)  # of the terms whose sum is the result
            error = SAFETY * change + (float(np.exp(-digits)) + FLOOR) * scale
            if error <= max(self._tolerance(after), TIGHTEST * scale):
                break
            if digits >= MOST_DIGITS:
                self._warn(error, self._tolerance(after))
                break
            before = after
        return after, error, "quadrature", evaluations

    def _by_sobol(self, evaluate: Callable[[np.ndarray], tuple[np.ndarray, int]], dimension: int):
        mean, error, used, met = replicated(
            lambda z: evaluate(z)[0],
            dimension,
            seed=self.seed,
            tolerance=self._tolerance,
        )
        if not met:
            self._warn(float(np.max(error)), self._tolerance(mean))
        return mean, float(np.max(error)), "sobol", used

    def _flatten(self, respond, m, gamma, gradient) -> tuple[np.ndarray, int]:
        kernels = self.kernels
        if gamma is None:
            trial = respond(1.0)
            gamma = kernels.best_gain(trial.linear, trial.square, trial.pair)
        try:
            response = respond(gamma)
        except ZeroDivisionError:
            raise InputError(NOT_FINITE) from None
        if not gradient:
            moments = response.linear, response.square, response.pair
            value = np.atleast_1d(kernels.risk(*moments, gamma))
            return _finite(value), response.evaluations
        return self.first_derivatives(response, m, gamma), response.evaluations

    def first_derivatives(self, response: Response, m: np.ndarray, gamma: float) -> np.ndarray:
        """Value, dE/dm, G, dE/dbeta and dE/dgamma in one vector, out of an engine's response."""
        kernels, prior = self.kernels, self.prior.components()
        moments = response.linear, response.square, response.pair
        value = np.atleast_1d(kernels.risk(*moments, gamma))
        parts = (
            response.slope[:-1],
            response.curvature[:-1],
            response.slope[-1],
            response.curvature[-1],
        )
        by_m = kernels.gradient_m(prior.odds, prior.mean, prior.covariance, m, *parts)
        by_R = kernels.gradient_R(prior.odds, *parts)
        by_beta = kernels.gradient_beta(prior.odds, *parts)
        by_gain = np.atleast_1d(kernels.gain_slope(*moments, gamma))
        flat = [value, by_m.ravel(), by_R.ravel(), by_beta, by_gain]
        return _finite(np.concatenate(flat))

    def _tolerance(self, flat: np.ndarray) -> float:
        return self.rtol * max(SMALL, float(np.max(np.abs(flat))))

    def _warn(self, error: float, tolerance: float) -> None:
        warnings.warn(
            f"population risk: error {error:.2g} is above the requested {tolerance:.2g}",
            AccuracyWarning,
            stacklevel=5,
        )

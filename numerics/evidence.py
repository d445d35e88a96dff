# notation: x = ln Lambda(u), the log evidence; u projections of a token; s = ln t.
"""The law of the log evidence of a token: all that the Bayes risk depends on.

A token enters the posterior through one number, x = ln Lambda(u). Nodes in u, whatever their
dimension, are therefore collected on a uniform lattice in x, and averages of functions of
s + x are then sums over that lattice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special

from derivations.bayes_risk import kernels
from numerics.errors import InputError
from numerics.priors import Prior, require_prior
from numerics.quadrature.resolution import Resolution

# Directions of the atoms below this share of the largest are rounding.
RANK_TOLERANCE = 1e-13
# Points of the interpolation that moves a node to the lattice.
ORDER = 12
# Steps and interpolation decide the relative accuracy of every average, tails included;
# rounding ends it here (nats). Only the window must grow further when the risk is tiny.
MOST_RELATIVE_DIGITS = 36.0
# exp(-t Lambda) is 1 to all digits below the first and 0 above the second, in s + x.
REACH = (-60.0, 7.0)
# Entries of the lattice of x: beyond |theta| near 400 there would be more.
MOST_LATTICE = 8_000_000
# Nodes times components held at once.
BLOCK = 100_000


@dataclass(frozen=True)
class Accuracy:
    """What a grid leaves out, e^-window, and what its steps miss, a share e^-steps."""

    window: Resolution
    steps: Resolution

    @classmethod
    def of(cls, digits: float, share: float = 1.0) -> Accuracy:
        """For ``digits`` in nats; a comparison needs a coarser one, with a share of them."""
        steps = min(digits, MOST_RELATIVE_DIGITS)
        return cls(Resolution(share * digits), Resolution(share * steps))


@dataclass(frozen=True)
class Signal:
    """A prior in the fewest spikes: odds (A,), mean (A, r) and variance (A, r), all odds > 0."""

    odds: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, prior: Prior) -> Signal:
        """Rotate the spikes so that directions without any signal drop out."""
        require_prior(prior)
        whole = prior.components()
        kept = whole.odds > 0
        mean = whole.mean[kept]
        variance = np.diagonal(whole.covariance[kept], axis1=1, axis2=2)
        wide = np.any(variance > 0, axis=0)
        # Only spikes whose weight is certain within a component can be rotated freely.
        rest = mean[:, ~wide]
        _, sizes, directions = np.linalg.svd(rest, full_matrices=False)
        directions = directions[sizes > RANK_TOLERANCE * np.max(np.abs(mean), initial=0.0)]
        return cls(
            whole.odds[kept],
            np.concatenate([mean[:, wide], rest @ directions.T], axis=1),
            np.concatenate([variance[:, wide], np.zeros((len(mean), len(directions)))], axis=1),
        )

    @property
    def rank(self) -> int:
        return self.mean.shape[1]

    def evidence(self, u: np.ndarray) -> np.ndarray:
        """x = ln Lambda at u (N, r)."""
        rows = max(1, BLOCK // self.odds.size)
        parts = [
            kernels.log_evidence(u[start : start + rows], self.odds, self.mean, self.variance)
            for start in range(0, len(u), rows)
        ]
        return np.concatenate(parts)

    def grid(self, accuracy: Accuracy) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Step, first and last multiple of it along each projection, (r,) each.

        The grid covers noise and every component, and resolves the steepest evidence in it.
        """
        centre, deviation = kernels.relevant_law(self.mean, self.variance)
        window = accuracy.window.window
        low = np.minimum(-window, np.min(centre - window * deviation, axis=0))
        high = np.maximum(window, np.max(centre + window * deviation, axis=0))
        ends = np.stack([low, high])[:, None]
        steepest = np.max(np.abs(kernels.slope(ends, self.mean, self.variance)), axis=(0, 1))
        step = np.array([accuracy.steps.normal_step(float(slope)) for slope in steepest])
        return step, np.floor(low / step), np.ceil(high / step)

    def grid_size(self, accuracy: Accuracy) -> float:
        """The number of nodes, before any is made."""
        _, first, last = self.grid(accuracy)
        return float(np.prod(last - first + 1))


@dataclass(frozen=True)
class EvidenceLaw:
    """Odds of x = step * (first + n) on a noise and a relevant token: noise (N,), relevant (N,)."""

    step: float
    first: int
    noise: np.ndarray
    relevant: np.ndarray

    @classmethod
    def on_grid(cls, signal: Signal, accuracy: Accuracy) -> EvidenceLaw:
        """From a tensor grid of projections, without nodes where both densities are negligible."""
        spans = zip(*signal.grid(accuracy), strict=True)
        axes = [step * np.arange(first, last + 1) for step, first, last in spans]
        inner = np.array(list(product(*axes[1:]))) if signal.rank > 1 else np.zeros((1, 0))
        outer = axes[0] if axes else np.zeros(1)
        rows = max(1, BLOCK // len(inner))
        lowest = -(accuracy.window.window**2) / 2
        parts = []
        for start in range(0, len(outer), rows):
            first = outer[start : start + rows]
            u = np.concatenate(
                [np.repeat(first, len(inner))[:, None], np.tile(inner, (len(first), 1))], axis=1
            )[:, : signal.rank]
            x = signal.evidence(u)
            noise, relevant = kernels.log_weights(u, x)
            kept = np.maximum(noise, relevant) > lowest
            parts.append(np.stack([x, np.exp(noise), np.exp(relevant)])[:, kept])
        x, noise, relevant = np.concatenate(parts, axis=1)
        return cls.collect(x, noise, relevant, accuracy.steps)

    @classmethod
    def from_points(cls, signal: Signal, z: np.ndarray, accuracy: Accuracy) -> EvidenceLaw:
        """From standard normal points z (N, r + 1); the last one chooses the component.

        Half of the points are noise tokens, half relevant ones, and each point counts for both
        densities, so that no weight exceeds 2 however strong the signal is.
        """
        odds = np.concatenate([[0.5], 0.5 * signal.odds])
        chosen = np.searchsorted(np.cumsum(odds[:-1]), special.ndtr(z[:, -1]), side="right")
        zeros = np.zeros((1, signal.rank))
        centre, deviation = kernels.relevant_law(signal.mean, signal.variance)
        centre = np.concatenate([zeros, centre])[chosen]
        deviation = np.concatenate([zeros + 1, deviation])[chosen]
        x = signal.evidence(centre + deviation * z[:, :-1])
        noise, relevant = kernels.balanced_weights(x)
        return cls.collect(x, noise, relevant, accuracy.steps)

    @classmethod
    def collect(
        cls, x: np.ndarray, noise: np.ndarray, relevant: np.ndarray, steps: Resolution
    ) -> EvidenceLaw:
        """Move weighted nodes x to a lattice: exact for polynomials of degree ORDER - 1."""
        # The factors are analytic within pi / 2 of the real axis: interpolation through ORDER
        # points misses about e^5 step^ORDER of them.
        step = float(np.exp(-(steps.digits + 5) / ORDER))
        cell = np.floor(x / step)
        if np.ptp(cell) > MOST_LATTICE:
            raise InputError(
                f"prior: its log evidence ranges over {np.ptp(x):.3g}, more than "
                f"{MOST_LATTICE * step:.3g}; the signal is too strong for this routine"
            )
        middle = ORDER // 2 - 1
        first = int(cell.min()) - middle
        index = (cell - cell.min()).astype(int)
        # Never on a lattice point, where the formula below would divide by 0.
        offset = np.maximum(x / step - cell, 1e-200)
        size = int(index.max()) + ORDER
        nodal = np.ones_like(x)
        for m in range(ORDER):
            nodal *= offset + (middle - m)
        sums = np.zeros((2, size))
        for m in range(ORDER):
            scale = np.prod([m - k for k in range(ORDER) if k != m])
            share = nodal / (scale * (offset + (middle - m)))
            for row, weights in enumerate((noise, relevant)):
                sums[row] += np.bincount(index + m, weights=weights * share, minlength=size)
        noise, relevant = sums / np.array([[noise.sum()], [relevant.sum()]])
        return cls(step, first, noise, relevant)

    def averages(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """s, E_star[exp(-t Lambda)] and E_0[1 - exp(-t Lambda)] at every s that matters."""
        low, high = (int(end / self.step) for end in REACH)
        survival, loss = kernels.factors(self.step * np.arange(low, high + 1))
        size, band = self.noise.size, survival.size
        count = np.arange(size + band - 1)
        s = self.step * (low - (self.first + size - 1) + count)
        # Beyond the band the factors are 0 or 1: sums over one end of the law.
        below = _first_sums(self.relevant, size - 1 - count)
        above = _first_sums(self.noise[::-1], count - (band - 1))
        return (
            s,
            below + np.convolve(self.relevant[::-1], survival),
            above + np.convolve(self.noise[::-1], loss),
        )


def _first_sums(weights: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The sums of the first ``count`` weights."""
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    return sums[np.clip(count, 0, weights.size)]

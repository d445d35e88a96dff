# notation: s logarithm of the lift variable t of one normalizer.
"""Nodes and weights in s = ln t for the lift integrals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from numerics.errors import InputError
from numerics.quadrature.resolution import Resolution

# Nodes of one lift; two heads need their square.
MOST_NODES = 6000


def out_of_range(span: float) -> InputError:
    """What to say of a normalizer that varies by ``span`` nats where logits may be."""
    return InputError(
        f"R: the normalizer spans exp({span:.3g}) over the range of the logits, more than its lift "
        "resolves; take smaller overlaps or one that varies less"
    )


@dataclass(frozen=True)
class LiftNodes:
    """Nodes s (S,) with weights (S,) of the integral over the whole line of s."""

    s: np.ndarray
    weights: np.ndarray

    @classmethod
    def none(cls) -> LiftNodes:
        """The single node that stands for no lift at all."""
        return cls(np.zeros(1), np.ones(1))

    @classmethod
    def between(
        cls, low: float, high: float, resolution: Resolution, smoothing: float, offset: float
    ) -> LiftNodes:
        """Trapezoid nodes that resolve averages over Gaussians of width ``smoothing``.

        With an offset c > 0 the integrand also holds exp(-c t), which no average smooths: it
        turns within a few units of ln(1/c). There the step is that of no smoothing, and it
        grows to the wide one through an analytic map, which keeps the convergence exponential.
        """
        wide = resolution.lift_step(smoothing)
        if (high - low) / wide > MOST_NODES:
            raise out_of_range(high - low)
        if offset <= 0 or smoothing == 0:
            count = int(np.ceil((high - low) / wide))
            return cls(high - wide * np.arange(count + 1)[::-1], np.full(count + 1, wide))
        fine = resolution.lift_step(0.0)
        growth = wide / fine - 1
        turn = -np.log(offset) - resolution.digits / 2
        # s = y - growth ln(1 + e^(turn - y)): slope 1 to the right of turn, wide/fine to its left
        lowest = min(low, (low + growth * turn) / (1 + growth))
        count = int(np.ceil((high - lowest) / fine))
        y = high - fine * np.arange(count + 1)[::-1]
        s = y - growth * np.logaddexp(0.0, turn - y)
        weights = fine * (1 + growth / (1 + np.exp(y - turn)))
        return cls(s, weights)

    def with_tail(self, rate: float) -> LiftNodes:
        """The same nodes, the first one standing for all that continue the grid to the left.

        Left of the first node the integrand is exp(rate s) times a constant, so the nodes that
        were left out are a geometric series.
        """
        weights = self.weights.copy()
        weights[0] /= -np.expm1(-rate * weights[0])
        return replace(self, weights=weights)

    def essential(self, size: np.ndarray, rate: float, digits: float) -> tuple[float, float]:
        """The range outside which an integrand of this ``size`` is known.

        To the right it is below exp(-digits) of its maximum; to the left it is so, or follows
        exp(rate s) so closely that ``with_tail`` is as accurate as that.
        """
        floor = np.exp(-digits) * size.max()
        if self.s.size == 1 or floor == 0:
            return float(self.s[0]), float(self.s[-1])
        large = np.flatnonzero(size > floor)
        first, last = large[0], min(large[-1] + 1, self.s.size - 1)
        here, there = size[:-1], size[1:]
        mismatch = np.abs(there * np.exp(-rate * np.diff(self.s)) - here)
        broken = np.flatnonzero(mismatch[first:] > floor)
        if broken.size:
            first += broken[0]
        return float(self.s[max(first - 1, 0)]), float(self.s[last])

# notation: m, R alignments and overlaps; C = R - m m^T; beta free biases.
"""Where training starts and stands: order parameters, and what else is trained."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from numerics.checks import fixed_or_free_gain, free_bias, order_parameters
from numerics.errors import InputError

# The unit of all times of training.
TAU = "tau = steps * learning rate / D"
# The drift of m is a sum of terms of order 1, whose rounding no tolerance can beat.
ROUNDING = 1e-14
# Overlaps beyond the spikes below this share of those inside them no longer count.
SMALLEST_SHARE = 1e-20
# Keeps a tolerance from being 0 where everything is.
TINY = 1e-200


@dataclass(frozen=True)
class State:
    """m (H, F), R (H, H), biases beta (H,) and the gain; those that are not free never move."""

    m: np.ndarray
    R: np.ndarray
    beta: np.ndarray
    gain: float

    @classmethod
    def of(
        cls, kernels: ModuleType, spikes: int, m: Any, R: Any, beta: Any = None, gain: Any = None
    ) -> State:
        """A physical start; InputError in one line otherwise.

        beta and gain are given exactly when the activation leaves them free.
        """
        m, R = order_parameters(m, R, spikes)
        beta = free_bias(kernels, beta, len(m), "beta0")
        gamma = fixed_or_free_gain(kernels, gain, len(m), "gain0")
        if gamma is None:
            raise InputError("gain0: this activation trains its gain; give the value to start from")
        return cls(m, R, beta, gamma)


@dataclass(frozen=True)
class Packing:
    """A state as one vector: m, the upper half of C = R - m m^T, then beta and gain if trained.

    C instead of R: its equation is linear in C, so that R stays consistent with m, and overlaps
    beyond the spikes keep their relative accuracy however small they are.
    """

    heads: int
    spikes: int
    trains_bias: bool
    trains_gain: bool
    start: State
    # Whether something besides C itself makes C grow: the learning-rate term.
    source: bool = False

    @classmethod
    def of(cls, kernels: ModuleType, start: State, source: bool = False) -> Packing:
        heads, spikes = start.m.shape
        return cls(heads, spikes, kernels.FREE_BIAS, kernels.FREE_GAIN, start, source)

    @property
    def _cuts(self) -> list[int]:
        upper = self.heads * (self.heads + 1) // 2
        sizes = [self.heads * self.spikes, upper, self.heads * self.trains_bias]
        return np.cumsum(sizes).tolist()

    def pack(self, m: Any, C: Any, beta: Any, gain: Any) -> np.ndarray:
        parts = [np.ravel(m), C[_upper(self.heads)]]
        parts += [np.ravel(beta)] if self.trains_bias else []
        parts += [np.atleast_1d(gain)] if self.trains_gain else []
        return np.concatenate(parts)

    def unpack(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """m, C, beta and gain."""
        first, second, third = self._cuts
        m, upper, beta, gain = y[:first], y[first:second], y[second:third], y[third:]
        C = np.zeros((self.heads, self.heads))
        rows, columns = _upper(self.heads)
        C[rows, columns] = C[columns, rows] = upper
        return (
            m.reshape(self.heads, self.spikes),
            C,
            beta if self.trains_bias else self.start.beta,
            float(gain[0]) if self.trains_gain else self.start.gain,
        )

    def first(self) -> np.ndarray:
        """The start as a vector."""
        start = self.start
        return self.pack(start.m, start.R - start.m @ start.m.T, start.beta, start.gain)

    def tolerance(self, y: np.ndarray, rtol: float) -> np.ndarray:
        """Absolute tolerance of every entry, tied to the size of what it belongs to.

        Of m: to the largest alignment with that spike, since each spike is learned in its own
        time. Of C: to its own largest entry, but not below rounding where C has a source, since
        from C = 0 the first steps would be as small as TINY.
        """
        m, C, beta, _ = self.unpack(y)
        largest = np.max(np.abs(m), axis=0, keepdims=True)
        inside = float(np.max(largest)) ** 2 * SMALLEST_SHARE
        overlap = max(float(np.max(np.abs(C))), inside, ROUNDING if self.source else TINY)
        return self.pack(
            np.broadcast_to(np.maximum(rtol * largest, ROUNDING), m.shape),
            np.full_like(C, rtol * overlap),
            np.full_like(beta, rtol),
            rtol,
        )


@cache
def _upper(heads: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the upper half of a (H, H) matrix."""
    return np.triu_indices(heads)

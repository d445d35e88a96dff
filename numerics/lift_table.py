# notation: s logarithm of the lift variable; y = s + l, l the logarithm of a normalizer.
"""Lift integrals by one table: a factor depends on its node through s + ln(normalizer) only.

Sums over many thousand nodes at each s become sums over a lattice of l = ln(normalizer): nodes
are spread onto it, and what comes back is read off it, both by cubic interpolation.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from scipy.signal import fftconvolve

from numerics.lift import out_of_range
from numerics.resolution import Resolution

# Nats that a table spans at most.
MOST_RANGE = 1e5

# Points of the local (cubic) interpolation. Its error is INTERPOLATION * spacing^4 for the
# lifted powers, and the spacing is chosen to keep that below the target.
POINTS = 4
INTERPOLATION = 3.0


@dataclass(frozen=True)
class Local:
    """Where nodes lie on the lattice: first of POINTS neighbours (N,), weights (POINTS, N)."""

    start: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class LiftTable:
    """Lifted powers (P, I) on the lattice of y; s (S,) every ``stride``-th of its steps."""

    kernels: ModuleType
    s: np.ndarray
    stride: int
    spacing: float
    first: float
    size: int
    powers: np.ndarray

    @classmethod
    def over(
        cls, kernels: ModuleType, logs: tuple[float, float], resolution: Resolution
    ) -> LiftTable:
        """The table for normalizers between the ends ``logs``."""
        low, high = resolution.lift_range(logs, kernels.OFFSET)
        if high - low > MOST_RANGE:
            raise out_of_range(high - low)
        step = resolution.lift_step(0.0)
        finest = (np.exp(-resolution.digits) / INTERPOLATION) ** (1 / POINTS)
        stride = int(np.ceil(step / finest))
        spacing = step / stride
        s = low + step * np.arange(int(np.ceil((high - low) / step)) + 1)
        first = logs[0] - POINTS * spacing
        size = int(np.ceil((logs[1] - logs[0]) / spacing)) + 2 * POINTS
        y = low + first + spacing * np.arange((s.size - 1) * stride + size)
        return cls(kernels, s, stride, spacing, first, size, kernels.lifted_powers(y))

    @property
    def step(self) -> float:
        return self.stride * self.spacing

    def locate(self, logs: np.ndarray) -> Local:
        """The neighbours of each node on the lattice, with Lagrange's cubic weights."""
        position = (logs - self.first) / self.spacing
        start = position.astype(int)
        x = position - start
        a, b, c = x + 1, x - 1, x - 2
        weights = np.stack([-x * b * c / 6, a * b * c / 2, -a * x * c / 2, a * x * b / 6])
        return Local(start - 1, weights)

    def average(self, local: Local, amounts: np.ndarray) -> np.ndarray:
        """sum over nodes of amounts[n] times the lifted power of X_n at s + log: (3, S)."""
        rows = []
        for power, amount in zip(self.kernels.AVERAGE_POWERS, amounts, strict=True):
            spread = np.zeros(self.size)
            for offset, weight in enumerate(local.weights):
                spread += np.bincount(local.start + offset, weight * amount, self.size)
            correlated = fftconvolve(self.powers[power], spread[::-1], mode="valid")
            rows.append(correlated[:: self.stride])
        return np.stack(rows)

    def moments(self, variation: np.ndarray) -> np.ndarray:
        """sum over s of variation[n, s] times a lifted power at s + l: (size, M), l in front."""
        dense = np.zeros((3, (self.s.size - 1) * self.stride + 1))
        dense[:, :: self.stride] = variation
        rows = [
            fftconvolve(self.powers[power], dense[n, ::-1], mode="valid")
            for n, power in self.kernels.MOMENT_POWERS
        ]
        return np.ascontiguousarray(np.stack(rows).T)

    def at(self, lattice: np.ndarray, local: Local) -> np.ndarray:
        """Functions given on the lattice of l, shape (size, M), at each node: (M, N)."""
        out = np.zeros((local.start.size, lattice.shape[1]))
        for offset, weight in enumerate(local.weights):
            out += weight[:, None] * lattice[local.start + offset]
        return out.T

# notation: s logarithm of the lift variable; y = s + l, l the logarithm of a normalizer.
"""Lift integrals by one table: a factor depends on its node through s + ln(normalizer) only.

Sums over many thousand nodes at each s become sums over a lattice of l = ln(normalizer): nodes
are spread onto it, and what comes back is read off it, both by local Lagrange interpolation.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from types import ModuleType

import numpy as np
from scipy.signal import fftconvolve

from numerics.resolution import Resolution

# Points of the local interpolation; with the step below its error stays under the target.
POINTS = 8
COARSEST = 1 / 8


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
        step = resolution.lift_step(0.0)
        stride = int(np.ceil(step / (COARSEST * np.exp(-(resolution.digits - 12) / POINTS))))
        spacing = step / stride
        s = low + step * np.arange(int(np.ceil((high - low) / step)) + 1)
        first = logs[0] - POINTS * spacing
        size = int(np.ceil((logs[1] - logs[0]) / spacing)) + 2 * POINTS
        y = low + first + spacing * np.arange((s.size - 1) * stride + size)
        return cls(kernels, s, stride, spacing, first, size, kernels.lifted_powers(y))

    @property
    def step(self) -> float:
        return self.stride * self.spacing

    def average(self, logs: np.ndarray, amounts: np.ndarray) -> np.ndarray:
        """sum over nodes of amounts[n] times the lifted power of X_n at s + log: (3, S)."""
        start, weights = self._local(logs)
        rows = []
        for power, amount in zip(self.kernels.AVERAGE_POWERS, amounts, strict=True):
            spread = np.zeros(self.size)
            for offset, weight in enumerate(weights):
                spread += np.bincount(start + offset, weight * amount, minlength=self.size)
            correlated = fftconvolve(self.powers[power], spread[::-1], mode="valid")
            rows.append(correlated[:: self.stride])
        return np.stack(rows)

    def moments(self, variation: np.ndarray) -> np.ndarray:
        """sum over s of variation[n, s] times a lifted power at s + l, on the lattice of l."""
        dense = np.zeros((3, (self.s.size - 1) * self.stride + 1))
        dense[:, :: self.stride] = variation
        return np.stack(
            [
                fftconvolve(self.powers[power], dense[n, ::-1], mode="valid")
                for n, power in self.kernels.MOMENT_POWERS
            ]
        )

    def at(self, lattice: np.ndarray, logs: np.ndarray) -> np.ndarray:
        """Functions given on the lattice of l, shape (M, size), at each node: (M, N)."""
        start, weights = self._local(logs)
        out = np.zeros((len(lattice), logs.size))
        for offset, weight in enumerate(weights):
            out += weight * lattice[:, start + offset]
        return out

    def _local(self, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first of the POINTS lattice points around each node, and Lagrange weights."""
        position = (logs - self.first) / self.spacing
        start = np.floor(position).astype(int) - (POINTS // 2 - 1)
        x = position - start
        differences = x - np.arange(POINTS)[:, None]
        exact = np.abs(differences) < 1e-12
        barycentric = np.array([(-1) ** i * comb(POINTS - 1, i) for i in range(POINTS)])
        terms = barycentric[:, None] / np.where(exact, 1.0, differences)
        weights = terms / terms.sum(axis=0)
        hit = exact.any(axis=0)
        weights[:, hit] = exact[:, hit]
        return start, weights

# notation: s logarithm of the lift variable; y = s + l, l the logarithm of a normalizer.
"""Lift integrals over the nodes of several tokens: factors depend on s + ln(normalizer) only.

With many thousand nodes, sums over them at each s become sums over a lattice of
l = ln(normalizer): nodes are spread onto it, and what comes back is read off it, both by cubic
interpolation. With few nodes the factors of every node at every s are simply written down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.signal import fftconvolve

from numerics.quadrature.lift import out_of_range
from numerics.quadrature.resolution import Resolution

# Nats that a lift spans at most.
MOST_RANGE = 1e5

# Points of the local (cubic) interpolation. Its error is INTERPOLATION * spacing^4 for the
# lifted powers, and the spacing is chosen to keep that below the target.
POINTS = 4
INTERPOLATION = 3.0
# A point of the lattice costs, through convolutions, as much as this many of a full matrix.
LATTICE_COST = 20


@dataclass(frozen=True)
class Lifted:
    """Generated lifted powers of y (P, ...), and which of them moments (n, power) are of."""

    powers: Callable[[np.ndarray], np.ndarray]
    moments: tuple[tuple[int, int], ...]


class Lift(Protocol):
    """Sums over nodes and over s for tokens numbered as their ``logs`` were given."""

    @property
    def s(self) -> np.ndarray:
        """Nodes (S,) of the lift variable's logarithm, ``step`` apart."""

    @property
    def step(self) -> float: ...

    def sums(self, token: int, power: int, amounts: np.ndarray) -> np.ndarray:
        """sum over nodes of amounts (C, N) times one lifted power at s + log: (C, S)."""

    def moments(self, variation: np.ndarray, tokens: Sequence[int]) -> list[np.ndarray]:
        """sum over s of variation[n, s] times each lifted power at the tokens' nodes: (M, N)."""


def lift_of(lifted: Lifted, offset: float, logs: list[np.ndarray], resolution: Resolution) -> Lift:
    """The cheaper lift for tokens whose nodes have normalizers exp(logs)."""
    ends = min(float(one.min()) for one in logs), max(float(one.max()) for one in logs)
    low, high = resolution.lift_range(ends, offset)
    if high - low > MOST_RANGE:
        raise out_of_range(high - low)
    step = resolution.lift_step(0.0)
    s = low + step * np.arange(int(np.ceil((high - low) / step)) + 1)
    finest = (np.exp(-resolution.digits) / INTERPOLATION) ** (1 / POINTS)
    stride = int(np.ceil(step / finest))
    lattice = (s.size - 1) * stride + int((ends[1] - ends[0]) / step * stride)
    if s.size * sum(one.size for one in logs) <= LATTICE_COST * lattice:
        return LiftMatrix.over(lifted, logs, s, step)
    return LiftTable.over(lifted, logs, ends, s, step, stride)


@dataclass(frozen=True)
class LiftMatrix:
    """Lifted powers (P, S, N) of every token's nodes at every s."""

    lifted: Lifted
    s: np.ndarray
    step: float
    powers: list[np.ndarray]

    @classmethod
    def over(cls, lifted: Lifted, logs: list[np.ndarray], s: np.ndarray, step: float) -> LiftMatrix:
        powers = [lifted.powers(s[:, None] + one) for one in logs]
        return cls(lifted, s, step, powers)

    def sums(self, token: int, power: int, amounts: np.ndarray) -> np.ndarray:
        return amounts @ self.powers[token][power].T

    def moments(self, variation: np.ndarray, tokens: Sequence[int]) -> list[np.ndarray]:
        wanted = self.lifted.moments
        return [
            np.stack([variation[n] @ self.powers[token][power] for n, power in wanted])
            for token in tokens
        ]


@dataclass(frozen=True)
class Local:
    """Where nodes lie on the lattice: first of POINTS neighbours (N,), weights (POINTS, N)."""

    start: np.ndarray
    weights: np.ndarray

    def read(self, lattice: np.ndarray) -> np.ndarray:
        """Functions given on the lattice, shape (size, M), at each node: (M, N)."""
        out = np.zeros((self.start.size, lattice.shape[1]))
        for offset, weight in enumerate(self.weights):
            out += weight[:, None] * lattice[self.start + offset]
        return out.T


@dataclass(frozen=True)
class LiftTable:
    """Lifted powers (P, I) on the lattice of y; s (S,) every ``stride``-th of its steps."""

    lifted: Lifted
    s: np.ndarray
    step: float
    stride: int
    first: float
    size: int
    powers: np.ndarray
    places: list[Local]

    @classmethod
    def over(
        cls,
        lifted: Lifted,
        logs: list[np.ndarray],
        ends: tuple[float, float],
        s: np.ndarray,
        step: float,
        stride: int,
    ) -> LiftTable:
        spacing = step / stride
        first = ends[0] - POINTS * spacing
        size = int(np.ceil((ends[1] - ends[0]) / spacing)) + 2 * POINTS
        y = s[0] + first + spacing * np.arange((s.size - 1) * stride + size)
        places = [locate(one, first, spacing) for one in logs]
        return cls(lifted, s, step, stride, first, size, lifted.powers(y), places)

    def sums(self, token: int, power: int, amounts: np.ndarray) -> np.ndarray:
        local = self.places[token]
        spread = np.zeros((len(amounts), self.size))
        for row, amount in zip(spread, amounts, strict=True):
            for offset, weight in enumerate(local.weights):
                row += np.bincount(local.start + offset, weight * amount, self.size)
        powers = self.powers[power][None]
        return fftconvolve(powers, spread[:, ::-1], mode="valid", axes=1)[:, :: self.stride]

    def moments(self, variation: np.ndarray, tokens: Sequence[int]) -> list[np.ndarray]:
        dense = np.zeros((3, (self.s.size - 1) * self.stride + 1))
        dense[:, :: self.stride] = variation
        rows = [
            fftconvolve(self.powers[power], dense[n, ::-1], mode="valid")
            for n, power in self.lifted.moments
        ]
        lattice = np.ascontiguousarray(np.stack(rows).T)
        return [self.places[token].read(lattice) for token in tokens]


def locate(logs: np.ndarray, first: float, spacing: float) -> Local:
    """The neighbours of each node on a lattice, with Lagrange's cubic weights."""
    position = (logs - first) / spacing
    start = position.astype(int)
    x = position - start
    a, b, c = x + 1, x - 1, x - 2
    weights = np.stack([-x * b * c / 6, a * b * c / 2, -a * x * c / 2, a * x * b / 6])
    return Local(start - 1, weights)

"""Averages of one head's factors over a Gaussian logit, for many centres and widths at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from numerics.quadrature.lift import LiftNodes
from numerics.quadrature.resolution import Resolution

# Rows wider than this use one table of factors on a lattice of logits, narrower ones their
# own nodes: the lattice would have to be as fine as the narrowest row.
WIDE = 0.3
# Entries of one block of weights, 8 bytes each.
BLOCK = 4_000_000


def normal_nodes(step: float, window: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the trapezoid rule for a standard normal average; weights sum to 1."""
    count = int(np.ceil(window / step))
    nodes = step * np.arange(-count, count + 1)
    weights = np.exp(-nodes * nodes / 2)
    return nodes, weights / weights.sum()


def normal_rule(
    slope: float, resolution: Resolution, smoothing: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of a standard normal along which a logit changes by ``slope``.

    The trapezoid rule, or Gauss-Hermite where that needs fewer nodes.
    """
    uniform = normal_nodes(resolution.normal_step(slope, smoothing), resolution.window)
    count = resolution.hermite_nodes(slope, uniform[0].size)
    return uniform if count is None else hermite_nodes(count)


@cache
def hermite_nodes(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Hermite nodes and weights of a standard normal average."""
    # NumPy's rule overflows from 371 nodes on.
    nodes, weights = special.roots_hermitenorm(count)
    return nodes, weights / weights.sum()


def symmetric_root(covariance: np.ndarray) -> np.ndarray:
    """The symmetric S with S S the covariance: unique, so that it moves smoothly with it.

    What rounding put below 0 is 0.
    """
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


@dataclass(frozen=True)
class HeadFactors:
    """Factors of one head at lift nodes (S,), tabulated on a lattice of logits (X,).

    factors: a generated function of (s, x) to (orders, 3, ...): derivatives of X_n, n < orders.
    """

    factors: Callable
    resolution: Resolution
    nodes: LiftNodes
    lattice: np.ndarray
    table: np.ndarray

    @classmethod
    def on(
        cls,
        factors: Callable,
        resolution: Resolution,
        nodes: LiftNodes,
        intervals: list[tuple[float, float]],
    ) -> HeadFactors:
        """Tabulate over the union of ``intervals`` of the logit; empty ones need no table."""
        step = WIDE * resolution.normal_step(WIDE)
        lattice = lattice_points(intervals, step)
        table = factors(nodes.s[:, None], lattice)
        return cls(factors, resolution, nodes, lattice, table)

    @property
    def size(self) -> int:
        """Numbers in the table."""
        return self.table.size

    @property
    def degrees(self) -> int:
        """Derivatives of each factor, the factor itself included."""
        return self.table.shape[1]

    def average(self, centres: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """E[d-th derivative of X_n at centre + width z]: (orders, 3, S, rows)."""
        out = np.empty((*self.table.shape[:-1], centres.size))
        wide = widths >= WIDE
        if np.all(wide):
            return self._from_lattice(centres, widths)
        if np.any(wide):
            out[..., wide] = self._from_lattice(centres[wide], widths[wide])
        out[..., ~wide] = self._from_own_nodes(centres[~wide], widths[~wide])
        return out

    def _from_lattice(self, centres: np.ndarray, widths: np.ndarray) -> np.ndarray:
        rows = max(1, BLOCK // max(self.lattice.size, 9 * self.nodes.s.size))
        blocks = []
        for start in range(0, centres.size, rows):
            part = slice(start, start + rows)
            scale = np.sqrt(0.5) / widths[part]
            z = scale * self.lattice[:, None] - scale * centres[part]
            weights = np.exp(-z * z)
            weights /= weights.sum(axis=0)
            blocks.append(self.table @ weights)
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=-1)

    def _from_own_nodes(self, centres: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """Rows that need equally many nodes together, each with nodes of its own."""
        most = normal_rule(float(widths.max()), self.resolution)[0].size
        distinct, rows = np.unique(widths, return_inverse=True)
        counts = np.array([self.resolution.hermite_nodes(w, most) or 0 for w in distinct])[rows]
        out = np.empty((*self.table.shape[:-1], centres.size))
        for count in np.unique(counts):
            group = counts == count
            rule = hermite_nodes(int(count)) if count else None
            out[..., group] = self._from_nodes(centres[group], widths[group], rule)
        return out

    def _from_nodes(self, centres, widths, rule) -> np.ndarray:
        z, weights = rule or normal_rule(float(widths.max()), self.resolution)
        rows = max(1, BLOCK // (9 * self.nodes.s.size * z.size))
        blocks = []
        for start in range(0, centres.size, rows):
            part = slice(start, start + rows)
            logits = centres[part, None] + widths[part, None] * z
            blocks.append(self.factors(self.nodes.s[:, None, None], logits) @ weights)
        return np.concatenate(blocks, axis=-1)


def lattice_points(intervals: list[tuple[float, float]], step: float) -> np.ndarray:
    """Multiples of ``step`` inside the union of the intervals, in increasing order."""
    merged: list[list[float]] = []
    for low, high in sorted(
        (np.floor(low / step), np.ceil(high / step)) for low, high in intervals
    ):
        if merged and low <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    pieces = [np.arange(low, high + 1) for low, high in merged]
    return step * np.concatenate(pieces) if pieces else np.zeros(0)

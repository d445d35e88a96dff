"""Averages of one head's factors over a Gaussian logit, for many centres and widths at once."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from numerics.lift import LiftNodes
from numerics.resolution import Resolution

# Rows wider than this use one table of factors on a lattice of logits, narrower ones their
# own nodes: the lattice would have to be as fine as the narrowest row.
WIDE = 0.6
# Entries of one block of weights, 8 bytes each.
BLOCK = 4_000_000


def normal_nodes(step: float, window: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the trapezoid rule for a standard normal average; weights sum to 1."""
    count = int(np.ceil(window / step))
    nodes = step * np.arange(-count, count + 1)
    weights = np.exp(-nodes * nodes / 2)
    return nodes, weights / weights.sum()


def symmetric_root(covariance: np.ndarray) -> np.ndarray:
    """The symmetric S with S S the covariance: unique, so that it moves smoothly with it.

    What rounding put below 0 is 0.
    """
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


@dataclass(frozen=True)
class HeadFactors:
    """Factors of one head at lift nodes (S,), tabulated on a lattice of logits (X,)."""

    kernels: ModuleType
    resolution: Resolution
    nodes: LiftNodes
    lattice: np.ndarray
    table: np.ndarray

    @classmethod
    def on(
        cls,
        kernels: ModuleType,
        resolution: Resolution,
        nodes: LiftNodes,
        intervals: list[tuple[float, float]],
    ) -> HeadFactors:
        """Tabulate over the union of ``intervals`` of the logit; empty ones need no table."""
        step = WIDE * resolution.normal_step(WIDE)
        lattice = lattice_points(intervals, step)
        table = kernels.factors(nodes.s[:, None], lattice)
        return cls(kernels, resolution, nodes, lattice, table)

    def average(self, centres: np.ndarray, widths: np.ndarray, orders: int = 3) -> np.ndarray:
        """E[d-th derivative of X_n at centre + width z]: (orders, 3, S, rows), n < orders first."""
        out = np.empty((orders, 3, self.nodes.s.size, centres.size))
        wide = widths >= WIDE
        if np.all(wide):
            return self._from_lattice(centres, widths, orders)
        if np.any(wide):
            out[..., wide] = self._from_lattice(centres[wide], widths[wide], orders)
        out[..., ~wide] = self._from_own_nodes(centres[~wide], widths[~wide])[:orders]
        return out

    def _from_lattice(self, centres: np.ndarray, widths: np.ndarray, orders: int) -> np.ndarray:
        rows = max(1, BLOCK // max(self.lattice.size, 9 * self.nodes.s.size))
        blocks = []
        for start in range(0, centres.size, rows):
            part = slice(start, start + rows)
            scale = np.sqrt(0.5) / widths[part]
            z = scale * self.lattice[:, None] - scale * centres[part]
            weights = np.exp(-z * z)
            weights /= weights.sum(axis=0)
            blocks.append(self.table[:orders] @ weights)
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=-1)

    def _from_own_nodes(self, centres: np.ndarray, widths: np.ndarray) -> np.ndarray:
        widest = float(widths.max())
        z, weights = normal_nodes(self.resolution.normal_step(widest), self.resolution.window)
        if widest == 0.0:
            z, weights = np.zeros(1), np.ones(1)
        rows = max(1, BLOCK // (9 * self.nodes.s.size * z.size))
        blocks = []
        for start in range(0, centres.size, rows):
            part = slice(start, start + rows)
            logits = centres[part, None] + widths[part, None] * z
            values = self.kernels.factors(self.nodes.s[:, None, None], logits)
            blocks.append(values @ weights)
        return np.concatenate(blocks, axis=-1)


def lattice_points(intervals: list[tuple[float, float]], step: float) -> np.ndarray:
    """Multiples of ``step`` inside the union of the intervals, in increasing order."""
    pieces = [np.arange(np.floor(low / step), np.ceil(high / step) + 1) for low, high in intervals]
    return step * np.unique(np.concatenate(pieces)) if pieces else np.zeros(0)

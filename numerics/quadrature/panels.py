# notation: s logarithm of the lift variable; x logit; X_n factors, pieces of smooth functions.
"""Averages of factors with kinks: Gauss-Legendre panels that end at the kinks, and their jumps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.hermite_e import hermeval

from numerics.quadrature.lift import LiftNodes
from numerics.quadrature.resolution import Resolution

# Length of a panel: the factors' own scale, or this many standard deviations where that is less.
LONGEST, IN_WIDTHS = 0.5, 1.5
# Nodes of a panel grow with the digits; they resolve exp(-t x) up to the largest t of a lift.
NODES_A_DIGIT, NODES_LEAST = 0.45, 6
# Entries of a table of factors held at once, 8 bytes each.
BLOCK = 4_000_000


@dataclass(frozen=True)
class PanelFactors:
    """Averages as those of gaussian.HeadFactors, for factors that are smooth in pieces.

    factors: a generated function of (s, x) to (orders, degrees, ...), right except at kinks (K,).
    The derivatives of an average hold, besides the average of the derivatives, what the factor
    and its derivatives jump by at each kink, times the density there and its derivatives.
    """

    factors: Callable
    resolution: Resolution
    nodes: LiftNodes
    kinks: np.ndarray
    jumps: np.ndarray

    @classmethod
    def on(
        cls, factors: Callable, resolution: Resolution, nodes: LiftNodes, kinks: np.ndarray
    ) -> PanelFactors:
        above, below = (
            factors(nodes.s[:, None], np.nextafter(kinks, side)) for side in (np.inf, -np.inf)
        )
        return cls(factors, resolution, nodes, kinks, above - below)

    @property
    def size(self) -> int:
        """Numbers held for the lift alone; panels depend on the rows of each call."""
        return self.jumps.size

    @property
    def degrees(self) -> int:
        """Derivatives of each factor, the factor itself included."""
        return self.jumps.shape[1]

    def average(self, centres: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """E[d-th derivative of X_n at centre + width z]: (orders, degrees, S, rows); widths > 0."""
        orders = self.jumps.shape[0]
        out = np.zeros((orders, self.degrees, self.nodes.s.size, centres.size))
        # Rows of like width share panels, so that no panel is far finer than its rows need.
        scale = np.floor(np.log2(np.minimum(widths, LONGEST / IN_WIDTHS)))
        for one in np.unique(scale):
            rows = np.flatnonzero(scale == one)
            out[..., rows] = self._together(centres[rows], widths[rows], IN_WIDTHS * 2.0**one)
        at_kinks = self._density(self.kinks[:, None], centres, widths)
        z = (self.kinks[:, None] - centres) / widths
        # A jump of the j-th derivative is a delta in the next one, i.e. the density there; each
        # derivative more goes, by parts, to the density, whose n-th is He_n(z) / width^n.
        for degree in range(1, self.degrees):
            for j in range(degree):
                unit = np.eye(degree)[degree - 1 - j]
                moved = hermeval(z, unit) / widths ** (degree - 1 - j) * at_kinks
                out[:, degree] += self.jumps[:, j] @ moved
        return out

    def _together(self, centres: np.ndarray, widths: np.ndarray, longest: float) -> np.ndarray:
        reach = self.resolution.window * widths
        x, areas = self._panels(np.stack([centres - reach, centres + reach]), longest)
        total, mass = 0.0, np.zeros(centres.size)
        size = max(1, BLOCK // max(9 * self.nodes.s.size, centres.size))
        for start in range(0, x.size, size):
            part = slice(start, start + size)
            weights = self._density(x[part, None], centres, widths) * areas[part, None]
            total = total + self.factors(self.nodes.s[:, None], x[part]) @ weights
            mass += weights.sum(axis=0)
        return total / mass

    def _panels(self, intervals: np.ndarray, longest: float) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and weights over the union of intervals (2, rows), split at the kinks."""
        merged: list[list[float]] = []
        for low, high in sorted(intervals.T.tolist()):
            if merged and low <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, high])
        count = int(np.ceil(NODES_A_DIGIT * self.resolution.digits)) + NODES_LEAST
        nodes, weights = np.polynomial.legendre.leggauss(count)
        points, areas = [], []
        for low, high in merged:
            inside = self.kinks[(self.kinks > low) & (self.kinks < high)]
            ends = np.unique([low, *inside, high])
            for a, b in zip(ends[:-1], ends[1:], strict=True):
                cuts = np.linspace(a, b, int(np.ceil((b - a) / longest)) + 1)
                half, middle = np.diff(cuts)[:, None] / 2, (cuts[:-1] + cuts[1:])[:, None] / 2
                points.append((middle + half * nodes).ravel())
                areas.append((half * weights).ravel())
        return np.concatenate(points), np.concatenate(areas)

    @staticmethod
    def _density(x: np.ndarray, centres: np.ndarray, widths: np.ndarray) -> np.ndarray:
        z = (x - centres) / widths
        return np.exp(-z * z / 2) / (np.sqrt(2 * np.pi) * widths)

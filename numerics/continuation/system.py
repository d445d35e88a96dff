# notation: x unknowns of a fixed point, p the parameter.
"""What a continuation needs of the equations F(x, p) = 0 whose solutions it follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

# A point is fixed when |F| is below this share of the largest term that makes it up.
RESIDUAL = 1e-7


class Unreachable(Exception):
    """The equations cannot be evaluated, or solved, at a place; the message says why."""


@dataclass(frozen=True)
class Mode:
    """One eigenvalue of dF/dx with its error bound, block and eigenvectors (multiplicity, n).

    n is the number of unknowns; for a block of directions that are no unknowns, of its own.
    """

    value: float
    error: float
    block: str
    vectors: np.ndarray
    inside: bool = True

    @property
    def multiplicity(self) -> int:
        return len(self.vectors)

    @property
    def sign(self) -> int:
        """-1, 0 or 1: 0 where the eigenvalue is 0 within its error."""
        return 0 if abs(self.value) <= self.error else int(np.sign(self.value))


@dataclass(frozen=True)
class Curvature:
    """dF/dx (n, n), symmetric, and its eigenvalues by block, lowest first in each."""

    matrix: np.ndarray
    modes: tuple[Mode, ...]

    def unstable(self, inside: bool = True) -> int:
        """Modes below 0 beyond their error, with multiplicity."""
        return sum(m.multiplicity for m in self.modes if m.inside is inside and m.sign < 0)


class System(Protocol):
    """F is the gradient of something, so that dF/dx is symmetric.

    basis (n, d): orthonormal columns that span the unknowns with the symmetry that the branch
    keeps; F lies in that span for x in it. shape: that of x for a reader. accuracy: error of F
    over its largest term. All methods raise Unreachable.
    """

    basis: np.ndarray
    shape: tuple[int, int]
    accuracy: float

    def slope(self, x: np.ndarray, p: float) -> tuple[np.ndarray, float]:
        """F (n,) and the size of the largest term that makes it up."""

    def curvature(self, x: np.ndarray, p: float) -> Curvature:
        """dF/dx and its eigenvalues."""

    def symmetric_near(self, x: np.ndarray, distance: float) -> System | None:
        """The same with the symmetries that x keeps to within ``distance``; None if no more."""


def modes_of(matrix: np.ndarray, error: float, block: str) -> tuple[Mode, ...]:
    """All eigenvalues of a symmetric matrix, each by itself, with one error bound."""
    values, vectors = np.linalg.eigh(matrix)
    return tuple(
        Mode(float(value), error, block, vector[None])
        for value, vector in zip(values, vectors.T, strict=True)
    )

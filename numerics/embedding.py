"""Explicit spikes and heads that have given alignments and overlaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.checks import count, order_parameters
from numerics.errors import InputError


@dataclass(frozen=True)
class Vectors:
    """Orthonormal spikes k* (F, D) and heads k (H, D)."""

    spikes: np.ndarray
    heads: np.ndarray

    @property
    def m(self) -> np.ndarray:
        """Alignments k k*^T (H, F)."""
        return self.heads @ self.spikes.T

    @property
    def R(self) -> np.ndarray:
        """Overlaps k k^T (H, H)."""
        return self.heads @ self.heads.T


def square_root(covariance: np.ndarray) -> np.ndarray:
    """B with B B^T the covariance, which may be singular; what rounding put below 0 is 0."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def embed(m: Any, R: Any, dimension: int) -> Vectors:
    """Vectors in R^D with alignments m (H, F) and overlaps R (H, H), up to rounding.

    Spikes take the first F axes; what R holds beyond m m^T goes to the H axes after them.
    Raises InputError unless R - m m^T is positive semidefinite and D >= F + H.
    """
    m, R = order_parameters(m, R, np.shape(m)[-1] if np.ndim(m) else 0)
    heads, spikes = m.shape
    dimension = count("dimension", dimension)
    if dimension < spikes + heads:
        raise InputError(
            f"dimension: expected at least {spikes + heads}, room for {spikes} spike(s) and "
            f"{heads} head(s), got {dimension}"
        )
    rest = np.zeros((heads, dimension - spikes))
    rest[:, :heads] = square_root(R - m @ m.T)
    return Vectors(np.eye(spikes, dimension), np.hstack([m, rest]))

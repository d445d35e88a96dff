# notation: theta latent weights; spikes are the coordinates.
"""The axes along which heads specialize: the prior's mean and its singular directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.priors import Prior

# Below this share of the scale of theta two numbers are equal: rounding in a covariance is some
# 1e-16 of it, and a prior is typed with far fewer than nine digits.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Directions:
    """Orthonormal axes of a prior, in the coordinates of the spikes.

    mean: unit vector (F,) along the mean of theta, None where the mean is zero. singular: (F, F),
    rows are eigenvectors of the covariance by falling variance, the largest component of each
    positive. variances: (F,). group: (F,) integers, equal for rows of one and the same variance:
    such rows span a space in which no axis is preferred, and the ones given are a convention
    (the spikes themselves where all variances are equal).
    """

    mean: np.ndarray | None
    singular: np.ndarray
    variances: np.ndarray
    group: np.ndarray

    @property
    def degenerate(self) -> np.ndarray:
        """Whether each singular direction (F,) shares its variance with another."""
        return np.bincount(self.group)[self.group] > 1

    def describe(self) -> dict[str, Any]:
        return {
            "mean": None if self.mean is None else self.mean.tolist(),
            "singular": self.singular.tolist(),
            "variances": self.variances.tolist(),
            "group": self.group.tolist(),
        }


def directions(prior: Prior) -> Directions:
    """The mean direction and the singular directions of ``prior``.

    The mean counts as zero, and two variances as equal, when they differ by less than 1e-9 of
    the root mean square (or mean square) of theta.
    """
    mean, covariance = prior.mean, prior.covariance
    size = float(np.sqrt(np.trace(covariance) + mean @ mean))
    length = float(np.linalg.norm(mean))
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors.T[::-1]
    group = np.concatenate([[0], np.cumsum(-np.diff(values) > SAME * size**2)])
    axes = np.concatenate([_basis(vectors[group == g]) for g in range(group[-1] + 1)])
    return Directions(
        mean=mean / length if length > SAME * size else None,
        singular=np.array([_signed(axis) for axis in axes]),
        variances=values.copy(),
        group=group,
    )


def _basis(vectors: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the span of the rows that does not depend on which rows span it.

    The spikes are projected on the span in their order; one is taken as the next axis when at
    least half of the largest squared length that is left for any spike is its own.
    """
    if len(vectors) == 1:
        return vectors
    left = vectors.T @ vectors
    basis = []
    for _ in vectors:
        lengths = np.diag(left)
        first = int(np.argmax(lengths >= lengths.max() / 2))
        axis = left[first] / np.linalg.norm(left[first])
        basis.append(axis)
        left = left - np.outer(axis, axis)
    return np.array(basis)


def _signed(axis: np.ndarray) -> np.ndarray:
    """The axis or its opposite: the first component of largest size positive."""
    size = np.abs(axis)
    first = int(np.argmax(size >= (1 - SAME) * size.max()))
    return axis * np.sign(axis[first])

# notation: m, R alignments and overlaps; z directions in which they move; a components of the
# prior and, last, the noise token.
"""Directions of (m, R), what they do to the logits, and what that does to the risk's averages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from numerics.priors import Components


@dataclass(frozen=True)
class Tangents:
    """Changes of the logits' law along directions z.

    mean (Z, A + 1, H) and covariance (Z, A + 1, H, H), the noise token last; odds (A,).
    """

    kernels: ModuleType
    odds: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray

    @classmethod
    def of(
        cls,
        kernels: ModuleType,
        prior: Components,
        m: np.ndarray,
        dm: np.ndarray,
        dR: np.ndarray,
    ) -> Tangents:
        """From changes dm (Z, H, F) and dR (Z, H, H) at alignments m."""
        bias = kernels.bias_along(dR)
        mean = kernels.mean_along(dm, prior.mean, bias)
        covariance = kernels.covariance_along(dm, dR, m, prior.covariance)
        return cls(
            kernels,
            prior.odds,
            np.concatenate([mean, bias[:, None]], axis=1),
            np.concatenate([covariance, dR[:, None]], axis=1),
        )

    def among(self, heads: Sequence[int]) -> tuple[np.ndarray, Tangents]:
        """The directions that move the logits of some heads, and their part in those."""
        heads = list(heads)
        mean = self.mean[:, :, heads]
        covariance = self.covariance[:, :, heads][..., heads]
        moves = np.any(mean != 0, axis=(1, 2)) | np.any(covariance != 0, axis=(1, 2, 3))
        used = np.flatnonzero(moves)
        return used, Tangents(self.kernels, self.odds, mean[used], covariance[used])

    def change(self, slope: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """Changes (Z, 2, ...) of averages over the relevant and the noise token.

        slope (A + 1, H, ...) and curvature (A + 1, H, H, ...): averages of first and second
        derivatives in the logits.
        """
        shape = slope.shape[2:]
        rows = slice(0, -1), slice(-1, None)
        found = [
            self.kernels.first_form(
                weights,
                slope[row].reshape(*slope[row].shape[:2], -1),
                curvature[row].reshape(*curvature[row].shape[:3], -1),
                self.mean[:, row],
                self.covariance[:, row],
            )
            for row, weights in zip(rows, (self.odds, np.ones(1)), strict=True)
        ]
        return np.stack(found, axis=1).reshape(len(self.mean), 2, *shape)


def second_variation(changes: np.ndarray, variation: np.ndarray) -> np.ndarray:
    """The part (Z, Z) of second derivatives that comes from two changed averages.

    changes (Z, 2, n, ...) of the averages of X_n; variation (2, n, 2, n, ...): the risk's second
    derivatives in them, weights of the lift included.
    """
    directions, orders = len(changes), changes.shape[1] * changes.shape[2]
    flat = changes.reshape(directions, orders, -1)
    carried = np.zeros_like(flat)
    for i, rows in enumerate(variation.reshape(orders, orders, -1)):
        for j, row in enumerate(rows):
            if np.any(row):  # most pairs of averages never multiply
                carried[:, i] += row * flat[:, j]
    return flat.reshape(directions, -1) @ carried.reshape(directions, -1).T

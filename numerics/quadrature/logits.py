"""The law of the logits of relevant and noise tokens, and what a risk evaluation returns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from numerics.quadrature.tangents import Tangents, second_variation


@dataclass(frozen=True)
class LogitLaw:
    """Gaussian logits of H heads, bias included.

    odds (A,), mean (A, H), covariance (A, H, H) of the relevant token for each component of
    the prior; noise_mean (H,) and noise_covariance (H, H) of any other token.
    """

    odds: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    noise_mean: np.ndarray
    noise_covariance: np.ndarray

    @property
    def heads(self) -> int:
        return self.noise_mean.size

    @property
    def all_means(self) -> np.ndarray:
        """(A + 1, H): the components' and, last, the noise token's."""
        return np.concatenate([self.mean, self.noise_mean[None]])

    @property
    def all_covariances(self) -> np.ndarray:
        """(A + 1, H, H), noise last."""
        return np.concatenate([self.covariance, self.noise_covariance[None]])

    def by_row(self, variation: np.ndarray) -> np.ndarray:
        """(2, ...), relevant and noise, to (A + 1, ...): every component is a relevant token."""
        relevant = np.repeat(variation[:1], self.odds.size, axis=0)
        return np.concatenate([relevant, variation[1:]])


@dataclass
class Response:
    """Moments of the attention and how the risk varies with the logits, summed over terms.

    linear, square, pair: moments at gain 1. tensors: for each component and, last, for a noise
    token the averages of the first variation's derivatives in the logits: slope (A + 1, H) and
    curvature (A + 1, H, H), which are those of Bonnet and Price, and for second derivatives two
    more. second (Z, Z): the second variation along pairs of directions.
    """

    linear: float
    square: float
    pair: float
    tensors: tuple[np.ndarray, ...]
    second: np.ndarray
    evaluations: int

    @classmethod
    def zero(cls, law: LogitLaw, tangents: Tangents | None = None) -> Response:
        rows, heads = law.odds.size + 1, law.heads
        directions = len(tangents.mean) if tangents else 0
        tensors = [np.zeros((rows, *(heads,) * n)) for n in range(1, 5 if tangents else 3)]
        return cls(0.0, 0.0, 0.0, tuple(tensors), np.zeros((directions, directions)), 0)

    @property
    def slope(self) -> np.ndarray:
        return self.tensors[0]

    @property
    def curvature(self) -> np.ndarray:
        return self.tensors[1]

    def add_single(self, h: int, derivative: np.ndarray) -> None:
        """Add head h's averages: derivative[i, row] has i derivatives in its logit."""
        for order, tensor in enumerate(self.tensors, start=1):
            place: Any = (slice(None), *(h,) * order)
            tensor[place] += derivative[order]

    def add_pair(self, pair: tuple[int, int], derivative: np.ndarray) -> None:
        """Add a pair's averages: derivative[row, i, j] has i derivatives in h and j in k."""
        h, k = pair
        for order, tensor in enumerate(self.tensors, start=1):
            for heads in product(pair, repeat=order):
                by_h, by_k = heads.count(h), heads.count(k)
                place: Any = (slice(None), *heads)
                tensor[place] += derivative[:, by_h, by_k]

    def add_second(self, used: np.ndarray, changes: np.ndarray, variation: np.ndarray) -> None:
        """Add a second variation (tangents.py) along the directions ``used``."""
        self.second[np.ix_(used, used)] += second_variation(changes, variation)

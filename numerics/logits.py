"""The law of the logits of relevant and noise tokens, and what a risk evaluation returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
    """Moments of the attention and the first variation of the risk, summed over terms.

    linear, square, pair: moments at gain 1. slope (A + 1, H) and curvature (A + 1, H, H): the
    Bonnet and Price averages for each component and, last, for a noise token.
    """

    linear: float
    square: float
    pair: float
    slope: np.ndarray
    curvature: np.ndarray
    evaluations: int

    @classmethod
    def zero(cls, law: LogitLaw) -> Response:
        rows, heads = law.odds.size + 1, law.heads
        return cls(0.0, 0.0, 0.0, np.zeros((rows, heads)), np.zeros((rows, heads, heads)), 0)

    def add_single(self, h: int, derivative: np.ndarray) -> None:
        """Add head h's averages: derivative[i, row] has i derivatives in its logit."""
        self.slope[:, h] += derivative[1]
        self.curvature[:, h, h] += derivative[2]

    def add_pair(self, pair: tuple[int, int], derivative: np.ndarray) -> None:
        """Add a pair's averages: derivative[row, i, j] has i derivatives in h and j in k."""
        h, k = pair
        self.slope[:, h] += derivative[:, 1, 0]
        self.slope[:, k] += derivative[:, 0, 1]
        self.curvature[:, h, h] += derivative[:, 2, 0]
        self.curvature[:, k, k] += derivative[:, 0, 2]
        self.curvature[:, h, k] += derivative[:, 1, 1]
        self.curvature[:, k, h] += derivative[:, 1, 1]

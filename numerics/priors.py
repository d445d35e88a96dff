"""Laws of the latent weights theta, as mixtures of Gaussian components."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from numerics.checks import real_array
from numerics.errors import InputError
from numerics.lengths import ODDS_TOLERANCE


@dataclass(frozen=True)
class Components:
    """odds (A,), mean (A, F) and covariance (A, F, F) of the components of a prior."""

    odds: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray


@dataclass(frozen=True, eq=False)
class FiniteSupport:
    """theta takes finitely many values: support (S, F), probabilities (S,) that sum to 1.

    Raises InputError when shapes do not fit, an entry is not finite, or the odds are not odds.
    """

    support: Any
    probabilities: Any

    def __post_init__(self):
        support = real_array("support", self.support, 2)
        odds = real_array("probabilities", self.probabilities, 1)
        if support.size == 0:
            raise InputError("support: needs at least one atom and one spike")
        if odds.shape != support.shape[:1]:
            raise InputError(
                f"probabilities: expected {support.shape[0]}, one for each atom, got {odds.size}"
            )
        if np.any(odds < 0):
            raise InputError(f"probabilities: must be >= 0, got {odds.min():.6g}")
        if abs(odds.sum() - 1) > ODDS_TOLERANCE:
            raise InputError(f"probabilities: must sum to 1, they sum to {odds.sum():.12g}")
        object.__setattr__(self, "support", support)
        object.__setattr__(self, "probabilities", odds / odds.sum())

    @property
    def spikes(self) -> int:
        return self.support.shape[1]

    @property
    def mean(self) -> np.ndarray:
        return self.probabilities @ self.support

    @property
    def covariance(self) -> np.ndarray:
        centred = self.support - self.mean
        return (self.probabilities[:, None] * centred).T @ centred

    def atoms_for(self, heads: int) -> np.ndarray:
        """Numbers of the atoms (H,) for as many heads: the most probable first, then again."""
        order = np.argsort(-self.probabilities, kind="stable")
        return order[np.arange(heads) % order.size]

    def components(self) -> Components:
        flat = np.zeros((*self.support.shape, self.spikes))
        return Components(self.probabilities, self.support, flat)

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """``size`` draws of theta, shape (size, F)."""
        return self.support[rng.choice(len(self.probabilities), size=size, p=self.probabilities)]

    def describe(self) -> dict[str, Any]:
        return {"support": self.support.tolist(), "probabilities": self.probabilities.tolist()}


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """theta is Gaussian with independent entries: mean (F,), variance (F,) >= 0."""

    mean: Any
    variance: Any

    def __post_init__(self):
        mean = real_array("mean", self.mean, 1)
        variance = real_array("variance", self.variance, 1)
        if mean.size == 0 or mean.shape != variance.shape:
            raise InputError(
                f"variance: expected shape {mean.shape} of the mean, got {variance.shape}"
            )
        if np.any(variance < 0):
            raise InputError(f"variance: must be >= 0, got {variance.min():.6g}")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "variance", variance)

    @property
    def spikes(self) -> int:
        return self.mean.size

    @property
    def covariance(self) -> np.ndarray:
        return np.diag(self.variance)

    def components(self) -> Components:
        return Components(np.ones(1), self.mean[None], self.covariance[None])

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """``size`` draws of theta, shape (size, F)."""
        return self.mean + np.sqrt(self.variance) * rng.standard_normal((size, self.spikes))

    def describe(self) -> dict[str, Any]:
        return {"mean": self.mean.tolist(), "variance": self.variance.tolist()}


Prior = FiniteSupport | GaussianPrior


def require_prior(given: Any) -> None:
    """InputError unless ``given`` is a law of theta."""
    if not isinstance(given, Prior):
        raise InputError(
            f"prior: expected FiniteSupport or GaussianPrior, got {type(given).__name__}"
        )


def flipped_spikes(strengths: Any, mean: Any = None) -> FiniteSupport:
    """Atoms mean + (+-s_1, ..., +-s_F) with equal odds: 2^F of them."""
    strengths = real_array("strengths", strengths, 1)
    if strengths.size == 0 or strengths.size > 12:
        raise InputError(f"strengths: expected 1 to 12 of them, got {strengths.size}")
    centre = np.zeros_like(strengths) if mean is None else real_array("mean", mean, 1)
    if centre.shape != strengths.shape:
        raise InputError(f"mean: expected shape {strengths.shape}, got {centre.shape}")
    signs = np.array(list(product((1.0, -1.0), repeat=strengths.size)))
    atoms = centre + signs * strengths
    return FiniteSupport(atoms, np.full(len(atoms), 1 / len(atoms)))

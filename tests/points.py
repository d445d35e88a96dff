"""Generic asymmetric points: no zero overlap, R not diagonal, unequal odds, mean non-zero."""

from __future__ import annotations

import numpy as np

import headflow as hf

SUPPORT = np.array([[1.3, 0.4], [-0.8, 1.1], [0.3, -1.2]])
ODDS = np.array([0.5, 0.2, 0.3])
PRIOR = hf.FiniteSupport(SUPPORT, ODDS)
# One member of the catalogue of each kind, for tests that take long: the others differ from one
# of these by a score of the same kind.
KINDS = (
    "softmax",
    "softmax-1-norm",
    "softmax-n",
    "bayes-softmax",
    "linear",
    "sigmoid",
    "erf",
    "relu",
    "relu-normalized",
)


def random_point(heads: int, spikes: int, seed: int, scale: float = 1.0):
    """m (H, F) and a positive definite R (H, H), every entry away from 0."""
    rng = np.random.default_rng([seed, heads, spikes])
    m = scale * rng.uniform(0.2, 0.9, (heads, spikes)) * rng.choice([-1, 1], (heads, spikes))
    noise = scale * rng.normal(size=(heads, heads)) / np.sqrt(heads)
    return m, m @ m.T + 0.5 * noise @ noise.T + 0.05 * scale**2 * np.eye(heads)


def random_prior(atoms: int, spikes: int, seed: int) -> hf.FiniteSupport:
    """A prior with unequal odds and a mean that is not 0."""
    rng = np.random.default_rng([seed, atoms, spikes])
    odds = rng.dirichlet(np.full(atoms, 3.0))
    return hf.FiniteSupport(rng.normal(0.3, 1.0, (atoms, spikes)), odds)

# notation: m, R alignments and overlaps of heads k_h with spikes and with each other.
"""Random starts: heads drawn in R^D, seen through their alignments and overlaps."""

from __future__ import annotations

import numpy as np

from numerics.checks import count, positive
from numerics.errors import InputError


def random_start(
    heads: int, spikes: int, dimension: int, size: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """m0 (H, F) and R0 (H, H) of heads k_h ~ N(0, size^2 I_D / D), exact in law at any D.

    Norms are about ``size`` and alignments about size / sqrt(D). Raises InputError unless
    D >= F + H.

    >>> m, R = random_start(2, 3, dimension=10_000, size=0.1)
    >>> m.shape, R.shape, bool(abs(R[0, 0] - 0.01) < 1e-3)
    ((2, 3), (2, 2), True)
    """
    heads, spikes = count("heads", heads), count("spikes", spikes)
    dimension, size = count("dimension", dimension), positive("size", size)
    if dimension < heads + spikes:
        raise InputError(
            f"dimension: expected at least {heads + spikes}, room for {spikes} spike(s) and "
            f"{heads} head(s), got {dimension}"
        )
    rng = np.random.default_rng(count("seed", seed, least=0))
    m = rng.standard_normal((heads, spikes))
    # Bartlett: the Gram matrix of what is outside the spikes is T T^T, T lower triangular.
    T = np.tril(rng.standard_normal((heads, heads)), -1)
    np.fill_diagonal(T, np.sqrt(rng.chisquare(dimension - spikes - np.arange(heads))))
    scale = size / np.sqrt(dimension)
    return scale * m, scale**2 * (m @ m.T + T @ T.T)

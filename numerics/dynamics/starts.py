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
    k = size * heads_in_frame(rng, heads, spikes, dimension)
    return k[:, :spikes].copy(), k @ k.T


def heads_in_frame(rng: np.random.Generator, heads: int, spikes: int, dimension: int) -> np.ndarray:
    """Heads k_h ~ N(0, I_D / D) by coordinates (H, F + H): along the spikes, and beyond them.

    m_hf ~ N(0, 1/D), and D (R - m m^T) ~ Wishart_H(D - F).
    """
    m = rng.standard_normal((heads, spikes))
    rest = np.zeros((1, heads, heads))
    bartlett(rng, dimension - spikes, rest)
    return np.hstack([m, rest[0]]) / np.sqrt(dimension)


def bartlett(rng: np.random.Generator, freedom: int, out: np.ndarray) -> None:
    """Fill zeros (n, size, size) with lower triangular T for which T T^T ~ Wishart(freedom)."""
    n, size, _ = out.shape
    rows, columns = np.tril_indices(size, -1)
    out[:, rows, columns] = rng.standard_normal((n, rows.size))
    diagonal = np.arange(size)
    out[:, diagonal, diagonal] = np.sqrt(rng.chisquare(freedom - diagonal, (n, size)))

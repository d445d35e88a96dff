# notation: m, R alignments and overlaps, B a factor with R = B B^T, theta atoms of the prior.
"""The shared problems: generic order parameters and a prior with unequal odds, by seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Spread of the overlaps beyond what the alignments force; keeps every 1 - rho^2 away from 0.
EXCESS = 0.7


@dataclass(frozen=True)
class Problem:
    """m (H, F), factor B (H, H) of R = B B^T, atoms theta (S, F) with odds (S,), tokens L."""

    m: np.ndarray
    B: np.ndarray
    theta: np.ndarray
    odds: np.ndarray
    tokens: int

    @property
    def R(self) -> np.ndarray:
        return self.B @ self.B.T


def generic(
    seed: int = 0, *, heads: int = 4, spikes: int = 2, atoms: int = 4, tokens: int = 5
) -> Problem:
    """A point without symmetry: no zero overlap, R of full rank H, prior mean not zero."""
    rng = np.random.default_rng(seed)
    m = rng.normal(size=(heads, spikes))
    excess = EXCESS * rng.normal(size=(heads, heads))
    R = m @ m.T + excess @ excess.T
    theta = 1.3 * rng.normal(size=(atoms, spikes)) + 0.3
    odds = rng.uniform(1.0, 3.0, size=atoms)
    return Problem(m, np.linalg.cholesky(R), theta, odds / odds.sum(), tokens)

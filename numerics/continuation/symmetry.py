# notation: k heads (H, F + r) by coordinates, spikes first; a symmetry turns spikes and reorders
# heads.
"""Symmetries that a point keeps, and the subspace of heads that keep them all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np

from numerics.priors import Prior

# Signed permutations of more spikes than this are not tried.
MOST_SPIKES = 4
# Points that differ by less, relative to their size, are one.
SAME = 1e-6


def prior_symmetries(priors: Sequence[Prior]) -> list[np.ndarray]:
    """Signed permutations of the spikes (F, F) that leave every one of the priors alone."""
    spikes = priors[0].spikes
    if spikes > MOST_SPIKES:
        return [np.eye(spikes)]
    found = []
    for order in permutations(range(spikes)):
        for signs in product((1.0, -1.0), repeat=spikes):
            turn = np.diag(signs)[:, order]
            if all(_leaves_alone(turn, prior) for prior in priors):
                found.append(turn)
    return found


def kept_subspace(
    k: np.ndarray, spikes: int, turns: Sequence[np.ndarray], distance: float = 0.0
) -> np.ndarray:
    """Orthonormal basis (H w, d) of the heads that keep every symmetry of ``k`` (H, w).

    What ``k`` keeps but for ``distance`` counts as kept.

    Symmetries: heads that are equal, in any order, and ``turns`` of the spikes that take the heads
    to the same ones in another order. The mean over a group projects on what it leaves alone.
    """
    heads, width = k.shape
    near = max(distance, SAME * max(1.0, float(np.abs(k).max())))
    equal = (np.abs(k[:, None] - k[None]).max(axis=2) <= near).astype(float)
    share = equal / equal.sum(axis=1, keepdims=True)
    mean = np.zeros((heads * width, heads * width))
    number = 0
    for turn in turns:
        whole = np.eye(width)
        whole[:spikes, :spikes] = turn
        order = _same_heads(k @ whole.T, k, near)
        if order is not None:
            mean += np.kron(np.eye(heads)[order], whole)
            number += 1
    values, vectors = np.linalg.eigh(_symmetric(np.kron(share, np.eye(width)) @ mean / number))
    return vectors[:, values > 0.5]


def _same_heads(turned: np.ndarray, k: np.ndarray, near: float) -> list[int] | None:
    """For each head of ``k`` the one in ``turned`` that is the same; None if there is none."""
    left = list(range(len(k)))
    order = []
    for head in k:
        match = next((i for i in left if np.abs(turned[i] - head).max() <= near), None)
        if match is None:
            return None
        left.remove(match)
        order.append(match)
    return order


def _leaves_alone(turn: np.ndarray, prior: Prior) -> bool:
    law = prior.components()
    near = 1e-9 * max(1.0, float(np.abs(law.mean).max()))
    for odds, mean, covariance in zip(law.odds, law.mean, law.covariance, strict=True):
        same = np.abs(law.mean - turn @ mean).max(axis=1) <= near
        same &= np.abs(law.covariance - turn @ covariance @ turn.T).max(axis=(1, 2)) <= near
        same &= np.abs(law.odds - odds) <= 1e-9
        if not same.any():
            return False
    return True


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2

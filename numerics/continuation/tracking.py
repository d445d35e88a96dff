"""Which eigenvalue at one point of a branch is which at another, by overlap of eigenvectors."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from numerics.continuation.system import Curvature, Mode


def matched(left: Curvature, right: Curvature) -> list[int] | None:
    """For each mode on the left its number on the right; None where the blocks are others.

    Within a block the sum of squared overlaps is largest; of equal eigenvalues, whose vectors are
    arbitrary, any is as good as another.
    """
    if [_kind(mode) for mode in left.modes] != [_kind(mode) for mode in right.modes]:
        return None
    found = [0] * len(left.modes)
    for kind in {_kind(mode) for mode in left.modes}:
        here = [i for i, mode in enumerate(left.modes) if _kind(mode) == kind]
        ours, theirs = (_first_vectors(c, here) for c in (left, right))
        rows, columns = linear_sum_assignment(-((ours @ theirs.T) ** 2))
        for i, j in zip(rows, columns, strict=True):
            found[here[i]] = here[j]
    return found


def chains(points: list[Curvature]) -> list[tuple[int, list[Mode]]]:
    """The modes of neighbouring points joined: where each chain begins, and its modes."""
    done: list[tuple[int, list[Mode]]] = []
    open_: list[tuple[int, list[Mode]]] = [(0, [mode]) for mode in points[0].modes]
    numbers = list(range(len(open_)))
    for i, (left, right) in enumerate(zip(points, points[1:], strict=False), start=1):
        order = matched(left, right)
        if order is None:
            done += open_
            open_ = [(i, [mode]) for mode in right.modes]
            numbers = list(range(len(open_)))
            continue
        numbers = [order[n] for n in numbers]
        for (_, modes), n in zip(open_, numbers, strict=True):
            modes.append(right.modes[n])
    return done + open_


def _kind(mode: Mode) -> tuple[str, int]:
    return mode.block, mode.multiplicity


def _first_vectors(curvature: Curvature, which: list[int]) -> np.ndarray:
    return np.array([curvature.modes[i].vectors[0] for i in which])

# notation: s, v logarithms of the lift variables of two heads.
"""How the averages of a pair of heads, at every two lift nodes, change along directions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from numerics.quadrature.tangents import Tangents

# Numbers of the averages' derivatives held at once, 8 bytes each.
BLOCK = 1_000_000
# (i, j): derivatives in the logits of the first and the second head.
SLOPE = ((1, 0), (0, 1))
CURVATURE = (((2, 0), (1, 1)), ((1, 1), (0, 2)))


def pair_changes(
    tangents: Tangents, pairs: np.ndarray, sides: Iterable[tuple]
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For each pair: its number, the directions that move it, and changes (Z, 2, n, S, V).

    sides: for parts of the nodes of what two logits share, the averaged factors of both heads
    (P, n, A + 1, S, d, Z) as their last two entries.
    """
    own = [tangents.among(pair) for pair in pairs.T]
    found: list[np.ndarray | float] = [0.0] * len(own)
    for *_, left, right in sides:
        for number, (_, local) in enumerate(own):
            found[number] = found[number] + _changes(local, left[number], right[number])
    for number, (used, _) in enumerate(own):
        yield number, used, np.asarray(found[number])


def _changes(tangents: Tangents, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Changes (Z, 2, n, S, V) of one pair, some rows of s at a time."""
    orders, rows, size = left.shape[:3]
    out = np.empty((len(tangents.mean), 2, orders, size, right.shape[2]))
    at_once = max(1, BLOCK // (6 * orders * rows * right.shape[2]))
    for start in range(0, size, at_once):
        part = slice(start, start + at_once)
        first, second = np.swapaxes(left, 0, 1)[:, :, part], np.swapaxes(right, 0, 1)
        averages = {
            (i, j): first[:, :, :, i] @ np.swapaxes(second[:, :, :, j], -1, -2)
            for i, j in {*SLOPE, *CURVATURE[0], *CURVATURE[1]}
        }
        slope = np.stack([averages[one] for one in SLOPE], axis=1)
        curvature = np.stack(
            [np.stack([averages[one] for one in row], axis=1) for row in CURVATURE], axis=1
        )
        out[:, :, :, part] = tangents.change(slope, curvature)
    return out

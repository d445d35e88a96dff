# notation: p parameter, q its share of the range; F_q the derivative of F in q; v a null vector.
"""Where a branch turns in the parameter: a fold, or a pitchfork met from its side branch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from numerics.continuation.branch import Point, between
from numerics.continuation.event import FOLD, PITCHFORK
from numerics.continuation.newton import Range
from numerics.continuation.system import System

# A turn is located to this share of the step in which it lies.
LOCATED = 1e-6
# Branches cross at a turn where v . F_q passes through 0: it has opposite signs at the ends of the
# step, and at the turn it is below this share of either end's.
CROSSED = 0.1


@dataclass(frozen=True)
class Turn:
    """A turn at ``point``; p_error bounds its parameter. left: where its step begins, in s."""

    kind: str
    point: Point
    p_error: float
    null: np.ndarray
    left: float
    right: float

    @property
    def crosses(self) -> bool:
        """Whether the branch meets one of more symmetry here."""
        return self.kind == PITCHFORK


def turn_between(system: System, limits: Range, left: Point, right: Point) -> Turn | None:
    """The turn in a step, None where dp/ds keeps its sign. Raises Unreachable."""
    if left.tangent[-1] * right.tangent[-1] >= 0:
        return None
    seen: dict[float, Point] = {}

    def direction(share: float) -> float:
        seen[share] = between(system, limits, left, right, share)
        return float(seen[share].tangent[-1])

    root = brentq(direction, 0.0, 1.0, xtol=LOCATED, rtol=1e-12)
    point = seen.get(root) or between(system, limits, left, right, root)
    vector = point.tangent[:-1] / np.linalg.norm(point.tangent[:-1])
    transversal = abs(float(vector @ point.matrix[:, -1]))
    spans = abs(limits.span)
    ends = [float(vector @ end.matrix[:, -1]) for end in (left, right)]
    crossed = ends[0] * ends[1] < 0 and transversal < CROSSED * max(map(abs, ends))
    # p is stationary there: what is left of dp/ds over the tolerance of the place.
    step = LOCATED * float(np.linalg.norm(right.at.y - left.at.y))
    error = spans * abs(float(point.tangent[-1])) * step
    error += spans * step**2 * abs(float(right.tangent[-1] - left.tangent[-1])) / (right.s - left.s)
    if not crossed:
        error += spans * (point.at.size + system.accuracy * point.at.scale) / transversal
        kind = FOLD
    else:
        error += _by_eigenvalue(system, vector, left, point)
        kind = PITCHFORK
    return Turn(kind, point, error, system.basis @ vector, left.s, right.s)


def _by_eigenvalue(system: System, vector: np.ndarray, left: Point, point: Point) -> float:
    """Error in p of a pitchfork, from that of the eigenvalue that vanishes towards it."""
    null = system.basis @ vector

    def along(at: Point) -> tuple[float, float]:
        inside = [mode for mode in at.curvature.modes if mode.inside]
        mode = max(inside, key=lambda one: float(np.linalg.norm(one.vectors @ null)))
        return mode.value, mode.error

    before, (value, bound) = along(left)[0], along(point)
    rate = abs((value - before) / (point.p - left.p)) if point.p != left.p else 0.0
    return (abs(value) + bound) / rate if rate > 0 else float("inf")

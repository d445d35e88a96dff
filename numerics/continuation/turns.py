# notation: p parameter, q its share of the range; F_q the derivative of F in q; v a null vector.
"""Where a branch turns in the parameter: a fold, or a pitchfork met from its side branch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, root_scalar

from numerics.continuation.branch import Point, between, point_at
from numerics.continuation.event import FOLD, PITCHFORK
from numerics.continuation.newton import Range, Solved, solve
from numerics.continuation.system import Mode, System, Unreachable

# A fold is located to this share of the step in which it lies.
LOCATED = 1e-6
# A step that crosses a symmetric point is looked at in so many places; in one of them it keeps the
# symmetry to this share of its length.
SHARES = np.linspace(0.0, 1.0, 21)
NEARLY = 0.06
# First step of the search on the symmetric branch, as a share of the range.
NEIGHBOURHOOD = 1e-3


@dataclass(frozen=True)
class Turn:
    """A turn at ``point``, whose parameter p_error bounds, in the step from left to right (in s).

    mode: the one that vanishes there.
    """

    kind: str
    point: Point
    p_error: float
    mode: Mode
    left: float
    right: float

    @property
    def crosses(self) -> bool:
        """Whether the branch meets one of more symmetry here."""
        return self.kind == PITCHFORK


def turn_between(system: System, limits: Range, left: Point, right: Point) -> Turn | None:
    """The turn in a step, None where dp/ds keeps its sign. Raises Unreachable.

    It is a pitchfork where the ends of the step are on opposite sides of a point of more symmetry.
    """
    if left.tangent[-1] * right.tangent[-1] >= 0:
        return None
    chord = right.at.x - left.at.x
    distance = NEARLY * float(np.linalg.norm(chord))
    for share in SHARES:
        symmetric = system.symmetric_near(left.at.x + share * chord, distance)
        if symmetric is None:
            continue
        before, after = (_asymmetric(symmetric, end.at.x) for end in (left, right))
        if before @ after < 0:
            share = np.linalg.norm(before) / (np.linalg.norm(before) + np.linalg.norm(after))
            middle = left.at.y + share * (right.at.y - left.at.y)
            return _pitchfork(system, symmetric, limits, left, right, middle)
    return _fold(system, limits, left, right)


def _asymmetric(symmetric: System, x: np.ndarray) -> np.ndarray:
    return x - symmetric.basis @ (symmetric.basis.T @ x)


def _fold(system: System, limits: Range, left: Point, right: Point) -> Turn:
    """Where dp/ds vanishes between two points."""
    seen: dict[float, Point] = {}

    def direction(share: float) -> float:
        seen[share] = between(system, limits, left, right, share)
        return float(seen[share].tangent[-1])

    root = brentq(direction, 0.0, 1.0, xtol=LOCATED, rtol=1e-12)
    point = seen.get(root) or between(system, limits, left, right, root)
    vector = point.tangent[:-1] / np.linalg.norm(point.tangent[:-1])
    # p is stationary there: its error is of second order in that of the place, and the error of F
    # over v . F_q.
    step = LOCATED * float(np.linalg.norm(right.at.y - left.at.y))
    bend = abs(float(right.tangent[-1] - left.tangent[-1])) / (right.s - left.s)
    error = abs(float(point.tangent[-1])) * step + bend * step**2
    transversal = max(abs(float(vector @ point.matrix[:, -1])), 1e-300)
    error += (point.at.size + system.accuracy * point.at.scale) / transversal
    mode = _along(point, system.basis @ vector)
    return Turn(FOLD, point, abs(limits.span) * error, mode, left.s, right.s)


def _pitchfork(
    system: System, symmetric: System, limits: Range, left: Point, right: Point, middle: np.ndarray
) -> Turn:
    """The place on the symmetric branch where the eigenvalue along the chord vanishes.

    On the side branch itself it is ill determined: the error of F counts by its inverse cube root.
    """
    chord = _asymmetric(symmetric, right.at.x - left.at.x)
    to_q = np.eye(symmetric.basis.shape[1] + 1)[-1]
    z = symmetric.basis.T @ (system.basis @ middle[:-1])
    seen: dict[float, tuple[Point, Mode]] = {}

    def eigenvalue(q: float) -> float:
        if q not in seen:
            last = next(reversed(seen.values()))[0] if seen else None
            guess = np.append(last.at.y[:-1] if last else z, q)
            at = solve(symmetric, limits, guess, to_q, last.matrix if last else None)
            point = point_at(symmetric, limits, at, left.s, to_q)
            seen[q] = point, _along(point, chord)
        return seen[q][1].value

    first = float(middle[-1])
    found = root_scalar(
        eigenvalue, x0=first, x1=first + NEIGHBOURHOOD, method="secant", xtol=1e-9, maxiter=12
    )
    if not found.converged:
        raise Unreachable("the branch turns where no eigenvalue of the symmetric branch vanishes")
    root = float(found.root)
    last = eigenvalue(root)
    near = min((q for q in seen if abs(q - root) > 1e-5), key=lambda q: abs(q - root))
    point, mode = seen[root]
    rate = abs((seen[near][1].value - last) / (near - root))
    left_over = point.at.size + symmetric.accuracy * point.at.scale
    error = abs(limits.span) * (abs(mode.value) + mode.error + left_over) / rate
    y = np.append(system.basis.T @ point.at.x, root)
    at = Solved(y, point.at.x, point.p, point.at.slope, point.at.scale)
    along = np.append(system.basis.T @ chord, 0.0)
    s = left.s + float(np.linalg.norm(y - left.at.y))
    met = Point(at, s, along / np.linalg.norm(along), left.matrix, point.curvature)
    return Turn(PITCHFORK, met, error, mode, left.s, max(right.s, s))


def _along(point: Point, vector: np.ndarray) -> Mode:
    """The mode that ``vector`` has most of."""
    inside = [mode for mode in point.curvature.modes if mode.inside]
    return max(inside, key=lambda one: float(np.linalg.norm(one.vectors @ vector)))

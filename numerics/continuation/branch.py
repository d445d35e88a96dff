# notation: p parameter, q its share of the range, y = (z, q), s arclength in y.
"""Pseudo-arclength continuation: predictor along the tangent, corrector, and step control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numerics.continuation.newton import Range, Solved, bordered, solve, solved_at, tangent
from numerics.continuation.system import RESIDUAL, Curvature, System, Unreachable

# A step is at most LONGEST / points in y, and shrinks from there by no more than SHRINK.
LONGEST, SHRINK = 2.5, 2.0**-12
# Tangents of neighbouring points with a smaller product are too far apart: the step is halved.
STRAIGHT = 0.9
# A branch that turns and winds ends after so many times the points of a straight one.
MOST = 6
# A point this near to an end of the range, as a share of it, is moved there.
CLOSE = 1e-6


@dataclass(frozen=True)
class Point:
    """A fixed point on a branch, at arclength ``s``, with its unit tangent (d + 1,)."""

    at: Solved
    s: float
    tangent: np.ndarray
    matrix: np.ndarray
    curvature: Curvature

    @property
    def p(self) -> float:
        return self.at.p


@dataclass(frozen=True)
class Branch:
    """Points in order; message: where and why they end; complete: they got there as they should."""

    system: System
    limits: Range
    points: list[Point]
    complete: bool
    message: str


def point_at(system: System, limits: Range, at: Solved, s: float, previous: np.ndarray) -> Point:
    """What a branch keeps of a fixed point; the tangent is the one nearest to ``previous``."""
    curvature = system.curvature(at.x, at.p)
    matrix = bordered(system, limits, at, curvature)
    return Point(at, s, tangent(matrix, previous), matrix, curvature)


def first_point(system: System, limits: Range, x: np.ndarray) -> Point:
    """The point a branch starts from, towards the end of its range; Unreachable if not fixed."""
    q = np.eye(system.basis.shape[1] + 1)[-1]
    at = solved_at(system, limits, np.append(system.basis.T @ x, 0.0))
    if not at.residual <= RESIDUAL:
        at = solve(system, limits, at.y, q)
    return point_at(system, limits, at, 0.0, q)


def follow(
    system: System,
    limits: Range,
    first: Point,
    points: int,
    meets: Callable[[Point, Point], Point | None] = lambda left, right: None,
    either: bool = False,
) -> Branch:
    """The branch from ``first`` on, with some ``points`` points over a range without turns.

    It ends where q leaves [0, 1], the last point being on that end exactly, or where ``meets``
    finds between two points one on a branch of more symmetry, beyond which lies a mirror image.
    ``either``: whether q = 0 is an end as good as q = 1. Where a step does not converge, or the
    equations cannot be evaluated, it is halved; where that does not help the branch ends with its
    last good point.
    """
    longest = LONGEST / max(1, points - 1)
    unit = 1.0 / max(1, points - 1)
    branch, step, grows = [first], longest, True
    while len(branch) < MOST * points:
        here = branch[-1]
        step = min(step, longest, unit / max(abs(float(here.tangent[-1])), 1e-12))
        try:
            there, left = _advance(system, limits, here, step)
        except Unreachable as problem:
            step, grows = step / 2, False
            if step < SHRINK * longest:
                why = f"{problem}, step below {2 * step:.1g}; last good point p = {here.p:.10g}"
                return Branch(system, limits, branch, False, why)
            continue
        met = meets(here, there)
        if met is not None:
            said = f"met a branch of more symmetry at p = {met.p:.10g}"
            return Branch(system, limits, [*branch, met], True, said)
        branch.append(there)
        if left:
            done = either or there.at.y[-1] == 1
            said = "reached" if done else "turned back outside the range at"
            return Branch(system, limits, branch, done, f"{said} p = {there.p:.10g}")
        step, grows = step * (1.5 if grows else 1.0), True
    said = f"the {MOST * points} points were used up; last good point p = {branch[-1].p:.10g}"
    return Branch(system, limits, branch, False, said)


def _advance(system: System, limits: Range, here: Point, step: float) -> tuple[Point, bool]:
    """The next point, and whether it is where the range ends."""
    guess = here.at.y + step * here.tangent
    at = solve(system, limits, guess, here.tangent, here.matrix)
    end = None
    if at.y[-1] > max(here.at.y[-1], 1 - CLOSE):
        end = 1.0
    elif at.y[-1] < min(here.at.y[-1], CLOSE):
        end = 0.0
    if end is not None:
        row = np.eye(at.y.size)[-1]
        share = (end - here.at.y[-1]) / (at.y[-1] - here.at.y[-1])
        guess = here.at.y + share * (at.y - here.at.y)
        guess[-1] = end
        at = solve(system, limits, guess, row, here.matrix)
    moved = float(np.linalg.norm(at.y - here.at.y))
    there = point_at(system, limits, at, here.s + moved, at.y - here.at.y)
    if there.tangent @ here.tangent < STRAIGHT:
        raise Unreachable(f"the branch turns too sharply at p = {at.p:.8g}")
    return there, end is not None


def between(system: System, limits: Range, left: Point, right: Point, share: float) -> Point:
    """The point of the branch over ``share`` of the chord from ``left`` to ``right``."""
    if share in (0.0, 1.0):
        return right if share else left
    chord = right.at.y - left.at.y
    at = solve(system, limits, left.at.y + share * chord, chord, left.matrix)
    s = left.s + float(np.linalg.norm(at.y - left.at.y))
    return point_at(system, limits, at, s, chord)

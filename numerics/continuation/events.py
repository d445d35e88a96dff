# notation: v null vector, F equations; x unknowns, p parameter.
"""Events of a branch: its turns and the zeros of its eigenvalues, each told once and by kind."""

from __future__ import annotations

import numpy as np

from numerics.continuation.branch import Branch, Point
from numerics.continuation.crossings import Zero, zeros
from numerics.continuation.event import BRANCH_POINT, PITCHFORK, TOUCH, Event
from numerics.continuation.system import System, Unreachable
from numerics.continuation.turns import Turn

# Size of the step along a null vector whose two sides are compared, and the share of |dF/dx|
# below which they mirror each other.
STEP, MIRRORED = 0.02, 1e-4
# A null vector with a smaller part in the branch's own symmetry is along the branch.
ALONG = 0.5


def events_of(branch: Branch, turns: list[Turn]) -> list[Event]:
    """All events in order of arclength; equal eigenvalues that vanish together are one event."""
    found = [(turn.point.s, _turned(branch.system, turn)) for turn in turns]
    groups: list[list[Zero]] = []
    for zero in zeros(branch):
        if any(_of_turn(zero, turn) for turn in turns):
            continue
        same = [group for group in groups if _together(group[0], zero)]
        if same:
            same[0].append(zero)
        else:
            groups.append([zero])
    found += [(group[0].point.s, _vanished(branch.system, group)) for group in groups]
    return [event for _, event in sorted(found, key=lambda pair: pair[0])]


def _of_turn(zero: Zero, turn: Turn) -> bool:
    """Whether this is the eigenvalue that vanishes because the branch turns."""
    there = turn.left <= zero.point.s <= turn.right
    if not there or not zero.mode.inside:
        return False
    return bool(np.linalg.norm(zero.mode.vectors @ turn.mode.vectors.T) > ALONG)


def _together(one: Zero, other: Zero) -> bool:
    near = abs(one.point.p - other.point.p) <= one.p_error + other.p_error
    return near and one.mode.block == other.mode.block and one.touches == other.touches


def _turned(system: System, turn: Turn) -> Event:
    note = "met from its side branch" if turn.crosses else ""
    return Event(
        turn.kind,
        turn.point.p,
        turn.p_error,
        turn.mode.multiplicity,
        turn.mode.block,
        turn.point.at.x.reshape(system.shape),
        turn.mode.vectors.reshape(turn.mode.multiplicity, *system.shape),
        note,
    )


def _vanished(system: System, group: list[Zero]) -> Event:
    """The event of eigenvalues that vanish together."""
    zero = group[0]
    near = [mode for mode in zero.point.curvature.modes if mode.block == zero.mode.block]
    modes = sorted(near, key=lambda mode: abs(mode.value))[: len(group)]
    vectors = np.concatenate([mode.vectors for mode in modes])
    shape = system.shape if zero.mode.inside else (vectors.shape[1], 1)
    kind, note = TOUCH, "touches zero within its error"
    if not zero.touches:
        kind, note = _kind_of(system, zero.point, vectors, zero.mode.inside)
    if not zero.resolved:
        kind, note = BRANCH_POINT, "the branch could not be solved within the step it lies in"
    return Event(
        kind,
        zero.point.p,
        max(one.p_error for one in group),
        len(vectors),
        zero.mode.block,
        zero.point.at.x.reshape(system.shape),
        vectors.reshape(len(vectors), *shape),
        note,
    )


def _kind_of(system: System, point: Point, vectors: np.ndarray, inside: bool) -> tuple[str, str]:
    """A pitchfork where F has no second-order part among the null vectors, else a branch point."""
    if not inside:
        return BRANCH_POINT, "towards directions orthogonal to spikes and heads"
    scale = float(np.linalg.norm(point.curvature.matrix, 2))
    pairs = [(a, b) for i, a in enumerate(vectors) for b in vectors[i:]]
    try:
        for a, b in pairs:
            v = STEP * (a + b) / np.linalg.norm(a + b)
            both = sum(system.slope(point.at.x + sign * v, point.p)[0] for sign in (1, -1))
            second = np.linalg.norm(vectors @ both) / STEP**2
            if second > MIRRORED * scale:
                return BRANCH_POINT, ""
    except Unreachable as problem:
        return BRANCH_POINT, f"not classified: {problem}"
    return PITCHFORK, ""

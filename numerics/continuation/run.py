# notation: k heads (H, w) by coordinates, spikes first; p parameter.
"""A branch of fixed points of gradient flow from its start, or from an event on another branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.checks import count, real_array
from numerics.continuation.branch import Branch, Point, first_point, follow, point_at
from numerics.continuation.event import CROSSINGS, Event
from numerics.continuation.events import events_of
from numerics.continuation.heads import Heads, RiskAt
from numerics.continuation.newton import Range, solve
from numerics.continuation.symmetry import prior_symmetries
from numerics.continuation.system import System, Unreachable
from numerics.continuation.turns import Turn, turn_between
from numerics.errors import InputError

# First steps along a null vector that are tried, in weights.
FIRST_STEPS = (0.1, 0.05, 0.2, 0.02)
# Ends and a place that is no special one: what is a symmetry of the prior at them is one all along.
PLACES = (0.0, 0.38, 1.0)


@dataclass(frozen=True)
class Followed:
    """A branch with its events."""

    branch: Branch
    events: list[Event]


def limits_of(start: Any, stop: Any) -> Range:
    """The range from ``start`` to ``stop``; InputError for one of zero length."""
    first, last = (
        float(real_array(name, value, 0)) for name, value in (("start", start), ("stop", stop))
    )
    if first == last:
        raise InputError(f"stop: the range from {first:g} to {last:g} has no length")
    return Range(first, last)


def turns_of(risk_at: RiskAt, limits: Range) -> list[np.ndarray]:
    """Symmetries of the prior all along the range."""
    return prior_symmetries([risk_at(limits.value(q)).prior for q in PLACES])


def trace(system: System, limits: Range, x: np.ndarray, points: int) -> Followed:
    """The branch through fixed point ``x`` (n,) at the start of the range; Unreachable if none."""
    return _follow(system, limits, first_point(system, limits, x), points)


def trace_side(
    system: System, limits: Range, event: Event, along: np.ndarray, points: int
) -> Followed:
    """The branch that leaves ``event`` along a null vector ``along`` (n,), to an end of the range.

    ``system`` keeps the symmetries of a point beside the event in that direction.
    """
    along = along / np.linalg.norm(along)
    q = limits.share(event.parameter)
    x, v = event.x.ravel(), system.basis.T @ along
    at_event = np.append(system.basis.T @ x, q)
    row = np.append(v, 0.0)
    for size in FIRST_STEPS:
        try:
            at = solve(system, limits, at_event + size * row, row)
            if np.linalg.norm(at.y - at_event) > 5 * size:
                continue
            first = point_at(system, limits, at, 0.0, at.y - at_event)
        except Unreachable:
            continue
        return _follow(system, limits, first, points, either=True)
    raise Unreachable(f"no side branch found at p = {event.parameter:.8g} along this null vector")


def side_system(event: Event, along: np.ndarray, limits: Range, risk_at: RiskAt) -> Heads:
    """The equations with the symmetries that heads beside the event keep."""
    k = event.x + FIRST_STEPS[0] * along.reshape(event.x.shape)
    return Heads(risk_at, k, turns_of(risk_at, limits))


def null_vector(event: Event, which: Any, sign: Any) -> np.ndarray:
    """The direction (H, w) in which to leave an event; InputError where there is none.

    which: None, a number of a null vector, or a combination of them (H, w).
    """
    if event.kind not in CROSSINGS:
        raise InputError(f"event: no branch leaves a {event.kind}; choose {' or '.join(CROSSINGS)}")
    if event.null_vectors.shape[1:] != event.x.shape:
        raise InputError(
            "event: its null vectors are orthogonal to spikes and heads; none is followed there"
        )
    if sign not in (1, -1):
        raise InputError(f"sign: expected 1 or -1, got {sign!r}")
    vectors = event.null_vectors
    if which is None or np.ndim(which) == 0:
        number = len(vectors) - 1 if which is None else count("vector", which, least=0)
        if number >= len(vectors):
            raise InputError(f"vector: the event has {len(vectors)} null vectors, from 0")
        return sign * vectors[number]
    given = real_array("vector", which, 2)
    if given.shape != event.x.shape:
        raise InputError(f"vector: expected shape {event.x.shape}, got {given.shape}")
    inside = np.einsum("nhw,nij,ij->hw", vectors, vectors, given)
    size = float(np.linalg.norm(given))
    if size == 0 or np.linalg.norm(inside - given) > 1e-3 * size:
        raise InputError("vector: expected a combination of the event's null vectors")
    return sign * inside / np.linalg.norm(inside)


def _follow(
    system: System, limits: Range, first: Point, points: int, either: bool = False
) -> Followed:
    turns: list[Turn] = []

    def meets(left: Point, right: Point) -> Point | None:
        turn = turn_between(system, limits, left, right)
        if turn is not None:
            turns.append(turn)
        return turn.point if turn is not None and turn.crosses else None

    branch = follow(system, limits, first, points, meets=meets, either=either)
    return Followed(branch, events_of(branch, turns))

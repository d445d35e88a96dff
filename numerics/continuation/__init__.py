# notation: k heads (H, w) by coordinates, spikes first; p parameter; C = R - m m^T.
"""Continuation of fixed points of gradient flow in one parameter: branches and their events.

The engine (newton, branch, turns, crossings, events) knows equations F(x, p) = 0 with symmetric
dF/dx; heads.py makes them of a population risk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from numerics.checks import count
from numerics.continuation.begin import starting_heads
from numerics.continuation.dataset import branch_events, dataset_of
from numerics.continuation.event import Event
from numerics.continuation.heads import Heads, RiskAt, remembered
from numerics.continuation.run import (
    Followed,
    limits_of,
    null_vector,
    side_system,
    trace,
    trace_side,
    turns_of,
)
from numerics.continuation.system import Unreachable
from numerics.errors import InputError
from numerics.saddles.places import UNSPECIALIZED

__all__ = ["Event", "RiskAt", "branch_events", "continue_heads", "switch_heads"]


def continue_heads(
    risk_at: RiskAt,
    heads: int | None,
    start: float,
    stop: float,
    start_from: Any = UNSPECIALIZED,
    points: int = 50,
    parameter: str = "p",
) -> xr.Dataset:
    """The branch of fixed points through ``start_from`` at p = ``start``, as far as p = ``stop``.

    As headflow.continue_fixed_point, for risks ``risk_at(p)`` that are given.
    """
    limits, points = limits_of(start, stop), count("points", points, least=2)
    risks = remembered(risk_at)
    k = starting_heads(risks(limits.first), heads, start_from)
    try:
        system = Heads(risks, k, turns_of(risks, limits))
        followed = trace(system, limits, k.ravel(), points)
    except Unreachable as problem:
        raise InputError(f"start: {problem}") from None
    return _told(followed, system, parameter, {"start_from": _named(start_from)})


def switch_heads(
    event: Event,
    risk_at: RiskAt,
    start: float,
    stop: float,
    vector: Any = None,
    sign: int = 1,
    points: int = 50,
    parameter: str = "p",
) -> xr.Dataset:
    """The branch that leaves ``event`` along one of its null vectors.

    As headflow.switch, for risks ``risk_at(p)`` that are given.
    """
    limits, points = limits_of(start, stop), count("points", points, least=2)
    low, high = sorted((limits.first, limits.last))
    if not low < event.parameter < high:
        raise InputError(
            f"event: its parameter {event.parameter:.6g} is not between {low:g} and {high:g}"
        )
    along = null_vector(event, vector, sign)
    risks = remembered(risk_at)
    try:
        system = side_system(event, along, limits, risks)
        followed = trace_side(system, limits, event, along.ravel(), points)
    except Unreachable as problem:
        raise InputError(f"event: {problem}") from None
    told = {"switched_at": event.parameter, "null_vector": along.tolist()}
    return _told(followed, system, parameter, told)


def _told(followed: Followed, system: Heads, parameter: str, more: dict[str, Any]) -> xr.Dataset:
    limits = followed.branch.limits
    risk = system.risk(limits.first)
    configuration = {
        **risk.describe(),
        "parameter": parameter,
        "start": limits.first,
        "stop": limits.last,
        "heads": system.shape[0],
        **more,
    }
    return dataset_of(followed, system, parameter, configuration)


def _named(start_from: Any) -> Any:
    if isinstance(start_from, str):
        return start_from
    return {"m": np.asarray(start_from.m).tolist(), "R": np.asarray(start_from.R).tolist()}

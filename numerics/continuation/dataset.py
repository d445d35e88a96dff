# notation: m, R alignments and overlaps; k heads (H, w) by coordinates, spikes first; p parameter.
"""A branch and its events as one Dataset, and the events read back from it."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import xarray as xr

from numerics.bayes import bayes_risk
from numerics.checks import require_dataset
from numerics.continuation.branch import Point
from numerics.continuation.event import Event
from numerics.continuation.heads import Heads
from numerics.continuation.run import Followed
from numerics.estimate import Estimate
from numerics.risk import PopulationRisk

# Relative accuracy of the risk and the Bayes risk along a branch.
RTOL = 1e-8
_TEXTS = {"event_kind": "kind", "event_block": "block", "event_note": "note"}


def dataset_of(
    followed: Followed, system: Heads, parameter: str, configuration: dict[str, Any]
) -> xr.Dataset:
    """Variables over point and events over event; docs/model.md section 9."""
    branch = followed.branch
    points = branch.points
    k = np.array([point.at.x.reshape(system.shape) for point in points])
    values = [_measured(system.risk(point.p), one) for point, one in zip(points, k, strict=True)]
    risk, error, above, above_error = (np.array(column) for column in zip(*values, strict=True))
    inside = [[m for m in point.curvature.modes if m.inside] for point in points]
    lowest = [min(modes, key=lambda mode: mode.value) for modes in inside]

    def over(values: Any, long_name: str, units: str = "1") -> tuple[Any, ...]:
        return "point", np.asarray(values), {"long_name": long_name, "units": units}

    variables = {
        "parameter": over([point.p for point in points], parameter),
        "arclength": over([point.s for point in points], "length in k and p / range"),
        "m": (("point", "head", "spike"), k[:, :, : system.spikes]),
        "R": (("point", "head", "other_head"), k @ np.swapaxes(k, 1, 2)),
        "risk": over(risk, "population risk"),
        "risk_error": over(error, "error of the population risk"),
        "above_bayes": over(above, "population risk above the Bayes risk"),
        "above_bayes_error": over(above_error, "error of that"),
        "residual": over([p.at.residual for p in points], "|gradient| over its largest term"),
        "index": over([p.curvature.unstable() for p in points], "unstable modes"),
        "noise_index": over(
            [p.curvature.unstable(inside=False) for p in points],
            "unstable modes in each direction orthogonal to spikes and heads",
        ),
        "flat": over([_flat(point) for point in points], "modes that are 0 within their error"),
        "lowest": over([mode.value for mode in lowest], "lowest eigenvalue of the Hessian"),
        "lowest_error": over([mode.error for mode in lowest], "error bound of that"),
    }
    return xr.Dataset(
        {**variables, **_encoded(followed.events)},
        attrs={
            "parameter": parameter,
            "status": "complete" if branch.complete else "stopped",
            "message": branch.message.replace("p =", f"{parameter} ="),
            "configuration": json.dumps(configuration),
        },
    )


def branch_events(data: xr.Dataset) -> list[Event]:
    """The events of a branch, in order, from what ``continue_fixed_point`` returned or wrote."""
    require_dataset("data", data, "risk")
    events = []
    for i in range(data.sizes.get("event", 0)):
        one = data.isel(event=i)
        number = int(one.event_multiplicity)
        vectors = one.event_null_vectors.values[:number]
        # What is not there is nan: null vectors of noise directions have one coordinate.
        vectors = vectors[:, :, ~np.isnan(vectors).all(axis=(0, 1))]
        texts = {name: str(one[key].values) for key, name in _TEXTS.items()}
        events.append(
            Event(
                parameter=float(one.event_parameter),
                error=float(one.event_error),
                multiplicity=number,
                x=one.event_heads.values,
                null_vectors=vectors,
                **texts,
            )
        )
    return events


def _encoded(events: list[Event]) -> dict[str, Any]:
    if not events:
        return {}
    most = max(len(event.null_vectors) for event in events)
    heads, width = events[0].x.shape
    vectors = np.full((len(events), most, heads, width), np.nan)
    for row, event in zip(vectors, events, strict=True):
        found = event.null_vectors
        row[: len(found), :, : found.shape[2]] = found
    texts = {key: ("event", np.array([getattr(e, n) for e in events])) for key, n in _TEXTS.items()}
    return {
        **texts,
        "event_parameter": ("event", np.array([event.parameter for event in events])),
        "event_error": ("event", np.array([event.error for event in events])),
        "event_multiplicity": ("event", np.array([event.multiplicity for event in events])),
        "event_heads": (("event", "head", "coordinate"), np.array([e.x for e in events])),
        "event_null_vectors": (("event", "vector", "head", "coordinate"), vectors),
    }


def above_bayes(risk: PopulationRisk, value: Estimate) -> tuple[float, float]:
    """The risk less the Bayes risk, with the sum of both errors."""
    with warnings.catch_warnings():
        # A tolerance that is not met shows in the error.
        warnings.simplefilter("ignore")
        bayes = bayes_risk(risk.prior, risk.length, rtol=RTOL)
    return value.value - bayes.value, value.error + bayes.error


def _measured(risk: PopulationRisk, k: np.ndarray) -> tuple[float, float, float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = risk(k[:, : risk.prior.spikes], k @ k.T)
    return value.value, value.error, *above_bayes(risk, value)


def _flat(point: Point) -> int:
    return sum(mode.multiplicity for mode in point.curvature.modes if mode.sign == 0)

"""Recorded runs as a labelled data set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray

from numerics.dynamics.state import TAU
from numerics.sgd.plan import Plan
from numerics.sgd.records import Records

DIMENSIONS = {
    "m": ("seed", "time", "head", "spike"),
    "R": ("seed", "time", "head", "other_head"),
    "loss": ("seed", "time"),
    "loss_error": ("seed", "time"),
    "beta": ("seed", "time", "head"),
    "gain": ("seed", "time"),
}
NAMES = {
    "m": "alignment k_h . k*_f",
    "R": "overlap k_h . k_h'",
    "loss": "mean loss |y - yhat|^2 / D of the samples since the last record",
    "loss_error": "standard error of the loss",
    "beta": "free bias",
    "gain": "gain",
}


def describe_run(
    plan: Plan, seeds: int, m0: Any, R0: Any, beta0: Any, gain0: Any
) -> dict[str, Any]:
    """Everything that defines a simulation, as JSON can hold it."""
    given = {"m0": m0, "R0": R0, "beta0": beta0, "gain0": gain0}
    arrays = {name: None if a is None else np.asarray(a).tolist() for name, a in given.items()}
    return {**plan.describe(), "seeds": seeds, **arrays}


def to_dataset(
    plan: Plan,
    records: Records,
    stopped: np.ndarray,
    status: str,
    configuration: Mapping[str, Any],
) -> xarray.Dataset:
    """The public Dataset; stopped (n,) is the tau at which a run left all bounds, else nan."""
    trained = {"beta": plan.kernels.FREE_BIAS, "gain": plan.kernels.FREE_GAIN}
    variables = {
        name: (DIMENSIONS[name], array, {"long_name": NAMES[name], "units": "1"})
        for name, array in records.arrays().items()
        if trained.get(name, True)
    }
    variables["stopped_at"] = (
        ("seed",),
        stopped,
        {"long_name": "time at which the run left all bounds", "units": TAU},
    )
    tau = plan.rate * np.array(plan.records)
    coordinates = {
        "seed": ("seed", np.arange(len(stopped)), {"long_name": "number of the run", "units": "1"}),
        "time": ("time", tau, {"long_name": "time", "units": TAU}),
    }
    attributes = {"configuration": json.dumps(dict(configuration)), "status": status}
    return xarray.Dataset(variables, coordinates, attributes)

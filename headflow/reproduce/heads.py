"""Final risk against the number of heads, and where the heads end."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr

from headflow.reproduce import training
from headflow.reproduce.claim import Claim
from headflow.reproduce.experiment import Progress

BAYES, TRAINED = "bayes-softmax", "bayes-softmax, trained bias"


def run(settings: dict[str, Any], progress: Progress) -> xr.Dataset:
    heads = settings["heads"]
    return training.final_risks(settings, "heads", heads, heads, progress)


def claims(data: xr.Dataset) -> list[Claim]:
    atoms = _atoms(data)
    lowest = training.best(data)
    few, enough = (lowest.sel(heads=data.heads[keep]) for keep in _split(data, len(atoms)))
    every = f"H from {int(data.heads[0])} to {int(data.heads[-1])}"
    found = []
    for name in (BAYES, TRAINED):
        found.append(
            training.reaches(enough.sel(activation=name), "heads", name, f"H ≥ {len(atoms)}")
        )
        found.append(
            training.stays_above(few.sel(activation=name), "heads", name, f"H < {len(atoms)}")
        )
    found.append(
        training.stays_above(lowest.sel(activation="softmax"), "heads", "softmax", every)
    )
    return [*found, *_extra(lowest, atoms), training.none_below(data)]


def _split(data: xr.Dataset, atoms: int) -> tuple[np.ndarray, np.ndarray]:
    return data.heads.values < atoms, data.heads.values >= atoms


def _atoms(data: xr.Dataset) -> np.ndarray:
    from headflow.parameters import read

    support: np.ndarray = read("prior", json.loads(data.m.attrs["fixed"])["prior"]).support
    return support


def draw(data: xr.Dataset) -> str:
    return training.final_risk_figure(data, "heads", "number of heads H")

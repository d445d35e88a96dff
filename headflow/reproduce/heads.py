"""Final risk against the number of heads, and where the heads end."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr

from headflow.reproduce import training
from headflow.reproduce.claim import Claim
from headflow.reproduce.work import Work

BAYES, TRAINED = "bayes-softmax", "bayes-softmax, trained bias"


def run(settings: dict[str, Any], work: Work) -> xr.Dataset:
    heads = settings["heads"]
    return _placed(training.final_risks(settings, "heads", heads, heads, work), settings)


def claims(data: xr.Dataset) -> list[Claim]:
    atoms = _atoms(data)
    lowest = training.best(data)
    number = len(atoms)
    few = lowest.where(lowest.heads < number, drop=True)
    exact = lowest.where(lowest.heads == number, drop=True)
    enough = lowest.where(lowest.heads >= number, drop=True)
    every = f"H from {int(data.heads[0])} to {int(data.heads[-1])}"
    found = [
        training.reaches(exact.sel(activation=BAYES), "heads", BAYES, f"H = {number}"),
        training.reaches(enough.sel(activation=TRAINED), "heads", TRAINED, f"H ≥ {number}"),
        training.stays_above(few.sel(activation=BAYES), "heads", BAYES, f"H < {number}"),
        training.stays_above(lowest.sel(activation="softmax"), "heads", "softmax", every),
    ]
    last = data.isel(heads=-1)
    return [*found, *_shared(last), training.none_below(data)]


def _shared(last: xr.Dataset) -> list[Claim]:
    """Extra heads cost nothing where those that share a value also share its odds."""
    extra, bayes = int(last.heads), (last.bayes, last.bayes_error)
    split, whole = ((last.placed[i], last.placed_error[i]) for i in range(2))
    return [
        Claim.of(
            "extra heads share a value and its odds",
            f"{extra} heads placed at the values, some of them at the same one, with the odds "
            f"of the value divided among them by their biases: risk {float(split[0]):.6f}.",
            split,
            "=",
            bayes,
            "Bayes risk",
        ),
        Claim.of(
            "extra heads that do not share the odds",
            f"Without that bias the same heads have the risk {float(whole[0]):.6f}.",
            whole,
            ">",
            bayes,
            "Bayes risk",
        ),
    ]


def _atoms(data: xr.Dataset) -> np.ndarray:
    from headflow.parameters import read

    support: np.ndarray = read("prior", json.loads(data.m.attrs["fixed"])["prior"]).support
    return support


def _placed(data: xr.Dataset, settings: dict[str, Any]) -> xr.Dataset:
    """Risk of heads placed at atoms, with the odds of an atom divided among its heads and not."""
    from headflow.parameters import read
    from headflow.report import Assignment
    from headflow.risk import PopulationRisk
    from theory.catalogue import activation

    prior = read("prior", settings["fixed"]["prior"])
    act = activation(BAYES, bias="norm+free")
    risk = PopulationRisk(act, prior, settings["fixed"]["tokens"], rtol=settings["bayes_rtol"])
    found = np.zeros((data.heads.size, 2, 2))
    for i, heads in enumerate(data.heads.values):
        at = Assignment.of(prior, int(heads))
        for j, beta in enumerate((at.beta, np.zeros(int(heads)))):
            one = risk(at.m, at.R, beta=beta)
            found[i, j] = one.value, one.error
    data["placed"] = (("heads", "odds"), found[..., 0])
    data["placed_error"] = (("heads", "odds"), found[..., 1])
    return data.assign_coords(odds=["divided", "not divided"])


def draw(data: xr.Dataset) -> str:
    return training.final_risk_figure(data, "heads", "number of heads H")

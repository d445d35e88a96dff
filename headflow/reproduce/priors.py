"""Final risk of the activations beside the Bayes risk, for several laws of the signal."""

from __future__ import annotations

from typing import Any

import xarray as xr

from headflow.reproduce import training
from headflow.reproduce.claim import Claim
from headflow.reproduce.experiment import Progress


def run(settings: dict[str, Any], progress: Progress) -> xr.Dataset:
    names = settings["names"]
    data = training.final_risks(settings, "prior", settings["priors"], names, progress)
    data["finite"] = ("prior", [name in settings["finite"] for name in names])
    return data


def claims(data: xr.Dataset) -> list[Claim]:
    lowest = training.best(data)
    finite = lowest.isel(prior=data.finite.values)
    continuous = lowest.isel(prior=~data.finite.values)
    bayes = "bayes-softmax"
    return [
        training.reaches(
            finite.sel(activation=bayes), "prior", bayes, "at most as many values as heads"
        ),
        training.stays_above(continuous.sel(activation=bayes), "prior", bayes, "Gaussian weights"),
        *(
            training.stays_above(lowest.sel(activation=name), "prior", name, "every law")
            for name in ("softmax", "softmax-1")
        ),
        training.none_below(data),
    ]


def draw(data: xr.Dataset) -> str:
    return training.final_risk_figure(data, "prior", "law of the weights θ of the spikes")

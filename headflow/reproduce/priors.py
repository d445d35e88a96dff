"""Final risk of the activations beside the Bayes risk, for several laws of the signal."""

from __future__ import annotations

from typing import Any

import xarray as xr

from headflow.reproduce import training
from headflow.reproduce.claim import Claim
from headflow.reproduce.work import Work


def run(settings: dict[str, Any], work: Work) -> xr.Dataset:
    names = settings["names"]
    data = training.final_risks(settings, "prior", settings["priors"], names, work)
    data["finite"] = ("prior", [name in settings["finite"] for name in names])
    return data


def claims(data: xr.Dataset) -> list[Claim]:
    lowest = training.best(data)
    finite = lowest.isel(prior=data.finite.values)
    continuous = lowest.isel(prior=~data.finite.values)
    bayes = "bayes-softmax"
    return [
        training.reaches(finite.sel(activation=bayes), "prior", bayes, "no more values than heads"),
        _gaussian(continuous),
        *training.others_stay_above(lowest, "prior", bayes, "every law"),
        training.none_below(data),
    ]


def _gaussian(one: xr.Dataset) -> Claim:
    """No finite number of heads is the posterior of a Gaussian law, but the gap is small."""
    distance, error = training.excess(one.sel(activation="bayes-softmax"))
    at = one.isel(prior=int(distance.argmax("prior")))
    bayes, softmax = (at.sel(activation=name) for name in ("bayes-softmax", "softmax"))
    return Claim.of(
        "bayes-softmax is below softmax, Gaussian weights",
        f"With Gaussian weights bayes-softmax ends at most {float(distance.max()):.2g} above the "
        f"Bayes risk (error up to {float(error.max()):.1g}, so that the gap itself may not be "
        f"resolved), softmax at that law {float(softmax.risk - at.bayes):.2g}.",
        (bayes.risk, bayes.risk_error),
        "<",
        (softmax.risk, softmax.risk_error),
        f"final risk of softmax, {at.prior.item()}",
    )


def draw(data: xr.Dataset) -> str:
    return training.final_risk_figure(data, "prior", "law of the weights θ of the spikes")

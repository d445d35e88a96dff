"""Final risk of each activation against the strength of the signal, beside the Bayes risk."""

from __future__ import annotations

from typing import Any

import xarray as xr

from headflow.reproduce import training
from headflow.reproduce.claim import Claim
from headflow.reproduce.work import Work

# A strength at which all flows come to rest.
RESTED = 2.0


def run(settings: dict[str, Any], work: Work) -> xr.Dataset:
    strengths = settings["strengths"]
    priors = [{"strengths": [s, settings["ratio"] * s]} for s in strengths]
    return training.final_risks(settings, "prior", priors, strengths, work).rename(prior="strength")


def claims(data: xr.Dataset) -> list[Claim]:
    lowest = training.best(data)
    where = f"s from {float(data.strength[0]):g} to {float(data.strength[-1]):g}"
    found = [
        training.reaches(lowest.sel(activation="bayes-softmax"), "strength", "bayes-softmax", where)
    ]
    found += training.others_stay_above(lowest, "strength", "bayes-softmax", where)
    # Softmax of stronger signals is still on its way when the time is over.
    rested = lowest.sel(strength=RESTED)
    found += [
        _below_softmax(rested, name)
        for name in ("softmax-1", "softmax-1-norm")
        if name in data.activation
    ]
    return [*found, training.none_below(data)]


def _below_softmax(rested: xr.Dataset, name: str) -> Claim:
    softmax, one = (rested.sel(activation=each) for each in ("softmax", name))
    return Claim.of(
        f"{name} is below softmax",
        f"At s = {RESTED:g} {name} ends at {float(one.risk):.4f}, below softmax at "
        f"{float(softmax.risk):.4f}: its heads can be partly off.",
        (one.risk, one.risk_error),
        "<",
        (softmax.risk, softmax.risk_error),
        f"final risk of softmax at s = {RESTED:g}",
    )


def draw(data: xr.Dataset) -> str:
    return training.final_risk_figure(data, "strength", "strength s of the signal")

# notation: lambda rate at which heads part along a mode.
"""The order of specialization: rates at the unspecialized point against the variance of theta."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from headflow.reproduce.claim import Claim
from headflow.reproduce.work import Work
from numerics.saddles.specialization_plot import specialization_figure


def run(settings: dict[str, Any], work: Work) -> xr.Dataset:
    from headflow.datasets import specialization
    from headflow.risk import PopulationRisk
    from numerics.priors import FiniteSupport, flipped_spikes

    flipped = flipped_spikes(settings["strengths"])
    fixed = np.full((len(flipped.support), 1), settings["mean"])
    prior = FiniteSupport(np.hstack([flipped.support, fixed]), flipped.probabilities)
    risk = PopulationRisk("softmax", prior, settings["tokens"])
    data = specialization(risk, settings["heads"])
    work.progress(1.0)
    return data


def claims(data: xr.Dataset) -> list[Claim]:
    found = []
    unstable = [i for i in data.mode.values if data.predicted[i] > data.predicted_error[i]]
    for i in unstable:
        one = data.isel(mode=i)
        variance = float(one.variance)
        found.append(
            Claim.of(
                f"rate along variance {variance:.3g}",
                f"Along the direction of variance {variance:.3g} heads part at the rate "
                f"{float(one.measured):.5f}; the Hessian predicts {float(one.predicted):.5f}.",
                # What grows beside the mode itself is a share 1e-4 of it, squared, and e^6.
                (one.measured, one.measured_error + 1e-5 * abs(one.measured)),
                "=",
                (one.predicted, one.predicted_error),
                "minus the Hessian's eigenvalue",
            )
        )
    for i, j in zip(unstable, unstable[1:], strict=False):
        first, second = data.isel(mode=i), data.isel(mode=j)
        found.append(
            Claim.of(
                f"mode {i + 1} has more variance than mode {j + 1}",
                f"Mode {i + 1}, faster than mode {j + 1}, has the larger variance: "
                f"{float(first.variance):.3g} against {float(second.variance):.3g}.",
                (first.variance, 1e-6),
                ">",
                (second.variance, 1e-6),
                "variance of θ along the next mode",
            )
        )
    return found


def draw(data: xr.Dataset) -> str:
    return specialization_figure(data)

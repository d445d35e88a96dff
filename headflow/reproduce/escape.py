# notation: lambda rate of the unstable mode; D token dimension; tau flow time.
"""Escape times from the origin against ln D: theory, gradient flow and online SGD."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from headflow.reproduce.claim import Claim
from headflow.reproduce.experiment import Progress
from numerics.escape.plot import escape_figure


def run(settings: dict[str, Any], progress: Progress) -> xr.Dataset:
    from headflow.escape import escape_times
    from headflow.risk import PopulationRisk
    from numerics.fixed_points import origin_fixed_point
    from numerics.priors import flipped_spikes
    from theory.saddle import origin_spectrum

    tokens, heads = settings["tokens"], settings["heads"]
    risk = PopulationRisk("softmax", flipped_spikes(settings["strengths"]), tokens)
    data = escape_times(
        risk,
        origin_fixed_point(risk, heads),
        settings["dimensions"],
        learning_rate=settings["learning_rate"],
        seeds=settings["runs"],
        seed=settings["seed"],
    )
    variance = settings["strengths"][0] ** 2
    data.attrs["closed_rate"] = -origin_spectrum("softmax").evaluate(L=tokens, H=heads, V=variance)[
        0
    ]
    progress(1.0)
    return data


def claims(data: xr.Dataset) -> list[Claim]:
    about = data.attrs
    slope, low, high = (about[f"sgd_slope{end}"] for end in ("", "_low", "_high"))
    logs = np.log(data.dimension.values)
    weights = (logs - logs.mean()) / np.sum((logs - logs.mean()) ** 2)
    return [
        Claim.of(
            "rate of the unstable mode",
            f"The Hessian at the origin has the unstable rate λ = {about['rate']:.6f}.",
            (about["rate"], about["rate_error"]),
            "=",
            (about["closed_rate"], 0),
            "closed form 2V (L-1)(L-2) / (H L³) as derived, V = s₁²",
        ),
        Claim.of(
            "slope of gradient flow",
            f"The flow's escape time grows by {about['flow_slope']:.4f} for a unit of ln D.",
            # Terms that the linear law leaves out change with the start's size, as 1 / D: they are
            # largest at the smallest D.
            (about["flow_slope"], np.abs(weights) @ data.flow_error.values + _bend(data)),
            "=",
            (about["slope"], 0),
            "1/(2λ), with what two halves of the dimensions differ by",
        ),
        Claim.of(
            "slope of SGD",
            f"Medians of {data.sizes['seed']} runs of SGD grow by {slope:.3g} for a unit of ln D "
            f"(95% interval {low:.3g} to {high:.3g}); 1/(2λ) is {about['slope']:.3g}.",
            (slope, max(high - slope, slope - low)),
            "=",
            (about["slope"], 0),
            "1/(2λ); the error is the 95% interval's farther end",
        ),
    ]


def _bend(data: xr.Dataset) -> float:
    """Difference of the flow's slopes at the lower and the upper dimensions."""
    logs, times = np.log(data.dimension.values), data.flow.values
    slopes = np.diff(times) / np.diff(logs)
    return float(abs(slopes[-1] - slopes[0]))


def draw(data: xr.Dataset) -> str:
    return escape_figure(data)

# notation: lambda rate of the unstable mode; D token dimension; tau flow time.
"""Escape times from the origin against ln D: theory, gradient flow and online SGD."""

from __future__ import annotations

from typing import Any

import xarray as xr

from headflow.reproduce.claim import Claim
from headflow.reproduce.work import Work
from numerics.escape.plot import escape_figure
from numerics.sweep.executor import processors


def run(settings: dict[str, Any], work: Work) -> xr.Dataset:
    from headflow.datasets import escape_times
    from headflow.risk import PopulationRisk
    from numerics.priors import flipped_spikes
    from numerics.saddles.fixed_points import origin_fixed_point
    from theory.saddle import origin_spectrum

    tokens, heads = settings["tokens"], settings["heads"]
    risk = PopulationRisk("softmax", flipped_spikes(settings["strengths"]), tokens)
    point = origin_fixed_point(risk, heads)
    data = escape_times(
        risk,
        point,
        settings["dimensions"],
        learning_rate=settings["learning_rate"],
        seeds=settings["runs"],
        seed=settings["seed"],
        workers=processors(),
        progress=work.progress,
    )
    # What the linear law leaves out is of the order of the start's size squared: seen without SGD
    # from starts and to thresholds that are smaller.
    small = escape_times(
        risk,
        point,
        settings["dimensions"],
        size=settings["small"],
        threshold=settings["small"],
        seeds=0,
    )
    data.attrs |= {
        f"small_{name}": small.attrs[f"flow_{name}"] for name in ("slope", "slope_error")
    }
    data.attrs["small"] = settings["small"]
    variance = settings["strengths"][0] ** 2
    splitting, _ = origin_spectrum("softmax").evaluate(L=tokens, H=heads, V=variance)
    data.attrs["closed_rate"] = -splitting
    return data


def claims(data: xr.Dataset) -> list[Claim]:
    about = data.attrs
    slope, low, high = (about[f"sgd_slope{end}"] for end in ("", "_low", "_high"))
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
            f"From starts of size {about['small']:g} the flow's escape time grows by "
            f"{about['small_slope']:.5f} for a unit of ln D, and 1/(2λ) is {about['slope']:.5f}.",
            # Of the correction at the larger size, which falls like its square, a tenth.
            (
                about["small_slope"],
                about["small_slope_error"] + abs(about["flow_slope"] - about["small_slope"]) / 10,
            ),
            "=",
            (about["slope"], about["slope_error"]),
            "1/(2λ)",
        ),
        Claim.of(
            "slope of SGD",
            f"Medians of {data.sizes['seed']} runs of SGD grow by {slope:.3g} for a unit of ln D "
            f"(95% interval {low:.3g} to {high:.3g}); 1/(2λ) is {about['slope']:.3g}.",
            (slope, max(high - slope, slope - low)),
            "=",
            (about["slope"], about["slope_error"]),
            "1/(2λ); the error is the 95% interval's farther end",
        ),
    ]


def draw(data: xr.Dataset) -> str:
    return escape_figure(data)

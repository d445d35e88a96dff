"""The command `headflow escape`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from headflow.dynamics_output import plain, require_writable, write
from headflow.options import (
    DEFAULT_PRIOR,
    FigureOpt,
    HeadsOpt,
    JsonOpt,
    NetcdfOpt,
    PriorOpt,
    RateOpt,
    SeedOpt,
    SeedsOpt,
    TokensOpt,
    WorkersOpt,
    takes_activation,
)
from headflow.output import emit, given, share_bar, text_table

FromOpt = Annotated[
    str, typer.Option("--from", help="The saddle: unspecialized, or origin (theta of mean 0).")
]
DimensionsOpt = Annotated[str, typer.Option(help="Token dimensions, such as 300,1000,3000.")]
ThresholdOpt = Annotated[float, typer.Option(help="Distance along the unstable modes.")]
StartSizeOpt = Annotated[float, typer.Option(help="Heads start at the saddle + size N(0, I/D).")]


@takes_activation
def escape(
    act: Any,
    saddle: FromOpt = "unspecialized",
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    heads: HeadsOpt = 2,
    dimensions: DimensionsOpt = "300,1000,3000",
    size: StartSizeOpt = 0.1,
    threshold: ThresholdOpt = 0.1,
    learning_rate: RateOpt = 0.5,
    seeds: SeedsOpt = 100,
    seed: SeedOpt = 0,
    workers: WorkersOpt = 1,
    figure: FigureOpt = None,
    as_json: JsonOpt = False,
    out: NetcdfOpt = None,
) -> None:
    """When heads leave a saddle: the law of its spectrum, the flow, and SGD at several D.

    Exit status 1 if the 95% interval of the slope of SGD in ln D misses 1 / (2 lambda). With
    --seeds 0 no SGD is run.
    """
    from headflow.datasets import escape_times
    from headflow.inputs import read_counts, read_prior, read_tokens
    from headflow.output import fail
    from headflow.risk import PopulationRisk
    from headflow.store import write_whole
    from numerics.errors import InputError
    from numerics.escape.plot import escape_figure
    from numerics.saddles.fixed_points import origin_fixed_point, unspecialized_fixed_point

    places = {"origin": origin_fixed_point, "unspecialized": unspecialized_fixed_point}
    if saddle not in places:
        raise InputError(f"from: expected one of {', '.join(places)}, got {saddle!r}")
    sizes = read_counts("dimensions", dimensions)
    risk = PopulationRisk(given(act), read_prior(prior), read_tokens(tokens), seed=seed)
    require_writable(out, figure)
    point = places[saddle](risk, heads)
    with share_bar("escape") as progress:
        data = escape_times(
            risk,
            point,
            sizes,
            size=size,
            threshold=threshold,
            learning_rate=learning_rate,
            seeds=seeds,
            seed=seed,
            workers=workers,
            progress=progress,
        )
    write(data, out)
    if figure is not None:
        write_whole(figure, escape_figure(data))
    emit(plain(data), _told(data, point), as_json, None)
    attributes = data.attrs
    if seeds and not (
        attributes["sgd_slope_low"] <= attributes["slope"] <= attributes["sgd_slope_high"]
    ):
        fail(
            f"escape: the slope of SGD, {attributes['sgd_slope']:.4g}, does not agree with "
            f"1/(2 lambda) = {attributes['slope']:.4g}; try more seeds, a smaller learning rate "
            "or larger D"
        )


def _told(data: Any, point: Any) -> str:
    rows = []
    for one in (data.isel(dimension=i) for i in range(data.sizes["dimension"])):
        row = {
            "D": str(int(one.dimension)),
            "law, median": f"{float(one.predicted):.3f}",
            "law, mean": f"{float(one.predicted_mean):.3f}",
            "flow": f"{float(one.flow):.3f} +- {float(one.flow_error):.0e}",
        }
        if "sgd" in data:
            row["SGD, median"] = f"{float(one.sgd):.3f}"
            row["95%"] = f"{float(one.sgd_low):.3f} to {float(one.sgd_high):.3f}"
            row["censored"] = f"{int(one.censored.sum())} of {one.sizes['seed']}"
        rows.append(row)
    about = data.attrs
    lines = [
        f"saddle: {point.verdict}, risk {point.risk}",
        f"lambda = {about['rate']:.9f} +- {about['rate_error']:.0e}, {about['modes']} mode(s)",
        "",
        text_table(rows),
        "",
        "times are tau = steps * learning rate / D",
        f"slope in ln D: law 1/(2 lambda) = {about['slope']:.5g} +- {about['slope_error']:.0e}, "
        f"flow {about['flow_slope']:.5g} +- {about['flow_slope_error']:.0e}",
    ]
    if "sgd" in data:
        low, high = about["sgd_slope_low"], about["sgd_slope_high"]
        lines[-1] += f", SGD {about['sgd_slope']:.4g} (95%: {low:.4g} to {high:.4g})"
    return "\n".join([*lines, about["status"]])

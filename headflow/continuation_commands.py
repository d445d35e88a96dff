"""The commands `headflow continue` and `headflow phase-diagram`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from headflow.dynamics_output import part_of, plain, require_writable, write
from headflow.options import (
    DEFAULT_PRIOR,
    HeadsOpt,
    JsonOpt,
    NetcdfOpt,
    PriorOpt,
    TokensOpt,
    WorkersOpt,
    takes_activation,
)
from headflow.output import GO_ON, emit, fail, given, share_bar, text_table

ParameterOpt = Annotated[
    str, typer.Option(help="signal, strength:i, mean:i, L, offset, or the name of a --param.")
]
PictureOpt = Annotated[Path | None, typer.Option(help="Draw the figure to this .svg file.")]
AxisOpt = Annotated[str, typer.Option(help="name=start,stop,number such as strength:1=0.5,2.5,20.")]


@takes_activation
def continue_(
    act: Any,
    parameter: ParameterOpt = "signal",
    start: Annotated[float, typer.Option(help="Value where the branch begins.")] = 0.5,
    stop: Annotated[float, typer.Option(help="Value up to which it is followed.")] = 2.0,
    start_from: Annotated[str, typer.Option(help="unspecialized, origin or atoms.")] = (
        "unspecialized"
    ),
    points: Annotated[int, typer.Option(help="Points of a branch without turns.")] = 50,
    switch: Annotated[
        bool, typer.Option("--switch", help="Follow a branch from each crossing, too.")
    ] = False,
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    heads: HeadsOpt = 2,
    figure: PictureOpt = None,
    as_json: JsonOpt = False,
    out: NetcdfOpt = None,
) -> None:
    """Follow a fixed point in one parameter; tell its folds, pitchforks and branch points.

    With --switch, side branches are printed and drawn, too; --out keeps the main one. Exit status 1
    if a branch stopped where it should not.
    """
    from headflow.continuation import continue_fixed_point
    from headflow.continuation import switch as side_branch
    from headflow.inputs import read_prior, read_tokens
    from numerics.continuation import branch_events
    from numerics.errors import InputError

    law, length = read_prior(prior), read_tokens(tokens)
    require_writable(out, figure)
    problem = (given(act), law, length)
    data = continue_fixed_point(*problem, heads, parameter, start, stop, start_from, points)
    branches, notes = [data], []
    for event in branch_events(data) if switch else []:
        try:
            side = side_branch(event, *problem, parameter, start, stop, points=points)
        except InputError as why:
            notes.append(f"no branch followed from the {event.kind}: {why}")
        else:
            branches.append(side)
    write(data, out)
    if figure is not None:
        from headflow.store import write_whole
        from numerics.continuation.plot import bifurcation_figure

        write_whole(figure, bifurcation_figure(branches))
    text = "\n\n".join([_branch_text(one) for one in branches] + notes)
    result = {**plain(data), "side_branches": [plain(one) for one in branches[1:]], "notes": notes}
    emit(result, text, as_json, None)
    stopped = [one.attrs["message"] for one in branches if not _as_meant(one)]
    if stopped:
        fail(f"continue: {stopped[0]}")


@takes_activation
def phase_diagram(
    act: Any,
    first: AxisOpt = "signal=0.5,2,8",
    second: AxisOpt = "L=3,10,8",
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    heads: HeadsOpt = 2,
    workers: WorkersOpt = 1,
    figure: PictureOpt = None,
    as_json: JsonOpt = False,
    out: NetcdfOpt = None,
) -> None:
    """Which kind of state is stable, and of least risk, over a grid of two parameters.

    With --out, a run that was cut off goes on when the same command is given again.
    """
    from headflow.inputs import read_axis, read_prior, read_tokens
    from headflow.phase_diagram import phase_diagram as diagram

    axes = read_axis("first", first), read_axis("second", second)
    law, length = read_prior(prior), read_tokens(tokens)
    require_writable(out, figure)
    with share_bar("phase diagram") as progress:
        data = diagram(
            given(act),
            law,
            length,
            heads,
            *axes,
            workers=workers,
            checkpoint=part_of(out),
            progress=lambda done, total: progress(done / total),
        )
    if data.attrs["status"].startswith("interrupted"):
        print(f"headflow: {data.attrs['status']}{GO_ON}", file=sys.stderr)
        raise SystemExit(130)
    write(data, out)
    if figure is not None:
        from headflow.store import write_whole
        from numerics.phase_diagram.plot import phase_figure

        write_whole(figure, phase_figure(data))
    emit(plain(data), _diagram_text(data), as_json, None)


def _as_meant(data: Any) -> bool:
    """Whether a branch ended at an end of the range or at another branch."""
    return data.attrs["status"] == "complete" or "turned back" in data.attrs["message"]


def _branch_text(data: Any) -> str:
    from headflow.dynamics_output import some_of
    from numerics.continuation import branch_events

    name = data.attrs["parameter"]
    rows = [
        {
            name: f"{float(one.parameter):.6g}",
            "risk": f"{float(one.risk):.8f}",
            "error": f"{float(one.risk_error):.0e}",
            "above Bayes": f"{float(one.above_bayes):.6f}",
            "index": str(int(one["index"])),
            "lowest eigenvalue": f"{float(one.lowest):+.3e}",
        }
        for one in (data.isel(point=i) for i in some_of(data.sizes["point"]))
    ]
    told = [
        f"{one.kind} at {name} = {one.parameter:.9g} +- {one.error:.1g}, multiplicity "
        f"{one.multiplicity}, {one.block}{': ' * bool(one.note)}{one.note}"
        for one in branch_events(data)
    ]
    begun = json.loads(data.attrs["configuration"])
    where = f"from {begun['start_from']}" if "start_from" in begun else "side branch"
    return "\n".join([f"{where}:", text_table(rows), *told, data.attrs["message"]])


def _diagram_text(data: Any) -> str:
    from numerics.phase_diagram import NAMES

    names = [data[dim].attrs["long_name"] for dim in ("first", "second")]
    rows = [
        {
            names[0]: f"{float(one['first']):.6g}",
            names[1]: f"{float(one['second']):.6g}",
            "stable state": NAMES[int(one.state)],
            "unspecialized index": str(int(one.unspecialized_index)),
            "above Bayes": f"{float(one.above_bayes):.6f}",
            "error": f"{float(one.above_bayes_error):.0e}",
            "reason": str(one.reason.values),
        }
        for i in range(data.sizes["first"])
        for one in (data.isel(first=i, second=j) for j in range(data.sizes["second"]))
    ]
    return f"{text_table(rows)}\n\n{data.attrs['status']}"

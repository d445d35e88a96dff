"""The options that several commands share, each defined once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

PriorOpt = Annotated[
    str, typer.Option(help="flipped:2.0,1.5, flipped:2.0,1.5+1,0 (mean) or a TOML/JSON file.")
]
TokensOpt = Annotated[str, typer.Option(help="Sequence length L, or a law 2:0.5,5:0.5.")]
HeadsOpt = Annotated[int, typer.Option(help="Number of heads H.")]
RtolOpt = Annotated[float, typer.Option(help="Wanted relative accuracy.")]
SeedOpt = Annotated[int, typer.Option(help="Seed of every random stream.")]
JsonOpt = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OutOpt = Annotated[Path | None, typer.Option(help="Write the result to this file as well.")]

# Where training starts, and for how long it goes on.
StartMOpt = Annotated[str | None, typer.Option("--m", help="Start: alignments (H, F) as JSON.")]
StartROpt = Annotated[str | None, typer.Option("--R", help="Start: overlaps (H, H) as JSON.")]
SizeOpt = Annotated[float, typer.Option(help="Norm of the heads of a random start.")]
DimensionOpt = Annotated[int, typer.Option(help="Token dimension D.")]
RateOpt = Annotated[float, typer.Option(help="Learning rate eta of online SGD.")]
BatchOpt = Annotated[int, typer.Option(help="Mini-batch size.")]
TimeOpt = Annotated[float, typer.Option(help="Last tau = steps * learning rate / D.")]
PointsOpt = Annotated[int, typer.Option(help="Number of times recorded, log-spaced.")]
WorkersOpt = Annotated[int, typer.Option(help="Number of processes.")]
BetaOpt = Annotated[str | None, typer.Option(help="Start of free biases (H,) as JSON.")]
GainOpt = Annotated[float | None, typer.Option("--gain0", help="Start of a free gain.")]
FreeBiasOpt = Annotated[str | None, typer.Option("--beta", help="Free biases (H,) as JSON.")]
FreeGainOpt = Annotated[
    float | None, typer.Option("--gamma", help="Value of a free gain (--gain free).")
]
SeedsOpt = Annotated[int, typer.Option(help="Number of independent runs.")]
SimulatorOpt = Annotated[
    str, typer.Option(help="reduced: without vectors, exact in law. vectors: plain SGD in R^D.")
]
OwnStartsOpt = Annotated[
    bool, typer.Option("--own-starts", help="Draw a start N(0, I/D) for each run.")
]
CompareOpt = Annotated[
    bool, typer.Option("--compare", help="Set the equation with its learning-rate term beside.")
]
NetcdfOpt = Annotated[
    Path | None, typer.Option(help="Write the Dataset to this .nc file (netCDF).")
]
FigureOpt = Annotated[Path | None, typer.Option(help="Draw the dynamics to this .svg file.")]

DEFAULT_PRIOR = "flipped:2.0,1.5"

# What defines an activation: the argument, and the entries of its definition to override.
_ACTIVATION = {
    "activation": Annotated[
        str | None,
        typer.Argument(help="Catalogue name, or a score in x such as 'log(1+exp(x))'."),
    ],
    "scope": Annotated[str | None, typer.Option(help="none, tokens (if not given) or heads.")],
    "offset": Annotated[str | None, typer.Option(help="Offset c >= 0, or in --param names.")],
    "power": Annotated[str | None, typer.Option(help="Power p > 0 of the denominator.")],
    "normalizer": Annotated[str | None, typer.Option(help="Normalizer in x; default the score.")],
    "bias": Annotated[str | None, typer.Option(help="none, norm, free or norm+free.")],
    "gain": Annotated[str | None, typer.Option(help="mean, sum, free or a number.")],
    "param": Annotated[list[str] | None, typer.Option(help="name=value; repeatable.")],
}


def takes_activation(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that define an activation; it receives ``act``, or None.

    The activation is read before anything else, so that a bad definition costs nothing.
    """

    @wraps(command)
    def run(**options: Any) -> None:
        from headflow.inputs import read_activation

        entries = {name: options.pop(name) for name in _ACTIVATION}
        text, parameters = entries.pop("activation"), entries.pop("param")
        act = None if text is None else read_activation(text, parameters, **entries)
        command(act, **options)

    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _ACTIVATION.items()
    ]
    kept = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    run.__signature__ = inspect.Signature([*added, *kept])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in (*added, *kept)}
    return run

"""The command `headflow prune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from headflow.dynamics_output import by_head, plain, require_writable, write
from headflow.options import (
    DEFAULT_PRIOR,
    HeadsOpt,
    JsonOpt,
    NetcdfOpt,
    PriorOpt,
    RtolOpt,
    SeedOpt,
    TimeOpt,
    TokensOpt,
    takes_activation,
)
from headflow.output import emit, given, share_bar, text_table

ConventionOpt = Annotated[
    str,
    typer.Option(help="rescaled: the gain is that of the heads that remain. zeroed: of all heads."),
]
MOpt = Annotated[str | None, typer.Option("--m", help="Alignments (H, F) as JSON.")]
ROpt = Annotated[str | None, typer.Option("--R", help="Overlaps (H, H) as JSON.")]
BiasesOpt = Annotated[str | None, typer.Option(help="Free biases (H,) of --m and --R as JSON.")]
FullGainOpt = Annotated[
    float | None, typer.Option(help="A free gain of all heads at --m and --R, for zeroed.")
]
StartsOpt = Annotated[int, typer.Option(help="Random starts of training, without --m and --R.")]
RemovedOpt = Annotated[
    str | None, typer.Option(help="Numbers of heads to remove, such as 1,2; default 0 to H - 1.")
]
SubsetsOpt = Annotated[int, typer.Option(help="So many subsets are drawn where there are more.")]
PictureOpt = Annotated[Path | None, typer.Option("--figure", help="Draw the risks to this .svg.")]
# Part of a start beyond the span of the spikes. More heads than MANY start within it: those that
# share a normalizer would take a grid of as many dimensions.
BEYOND, MANY = 0.05, 3


@takes_activation
def prune(
    act: Any,
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    heads: HeadsOpt = 4,
    convention: ConventionOpt = "rescaled",
    m: MOpt = None,
    overlaps: ROpt = None,
    beta: BiasesOpt = None,
    full_gain: FullGainOpt = None,
    starts: StartsOpt = 3,
    time: TimeOpt = 400.0,
    removed: RemovedOpt = None,
    subsets: SubsetsOpt = 200,
    seed: SeedOpt = 0,
    rtol: RtolOpt = 1e-6,
    figure: PictureOpt = None,
    as_json: JsonOpt = False,
    out: NetcdfOpt = None,
) -> None:
    """The risk after heads are removed, of heads given by --m and --R or of trained ones.

    Training is gradient flow from --starts random starts to tau = --time; the lowest end is kept.
    """
    from headflow.inputs import read_counts, read_matrix, read_point, read_prior, read_tokens
    from headflow.pruning import prune as pruned
    from headflow.risk import PopulationRisk
    from headflow.store import write_whole
    from numerics.bayes import bayes_risk
    from numerics.checks import count
    from numerics.dynamics.reached import reached
    from numerics.errors import InputError
    from numerics.pruning.plot import pruning_figure
    from numerics.pruning.removal import ZEROED, removed_counts, require_convention

    require_convention(convention)
    law, trained = read_prior(prior), m is None and overlaps is None
    if trained and (beta is not None or full_gain is not None):
        raise InputError("prune: --beta and --full-gain belong to --m and --R; give those as well")
    if not trained and (m is None or overlaps is None):
        raise InputError("prune: give both --m and --R, or neither for trained heads")
    risk = PopulationRisk(given(act), law, read_tokens(tokens), rtol=rtol, seed=seed)
    require_writable(out, figure)
    count("subsets", subsets, least=2)
    free: dict[str, Any] = {"beta": None if beta is None else read_matrix("beta", beta)}
    training = None
    if not trained:
        alignments, gram = read_point(law, None, m, overlaps)
        heads, free["gain"] = len(alignments), full_gain
    counts = removed_counts(None if removed is None else read_counts("removed", removed), heads)
    if trained:
        beyond = BEYOND if heads <= MANY else 0.0
        with share_bar("training") as progress:
            end = reached(
                risk, heads, starts=starts, time=time, seed=seed, beyond=beyond, progress=progress
            )
        alignments, gram = end.m, end.R
        free = {"beta": end.beta, "gain": end.gain if convention == ZEROED else None}
        training = {
            "starts": starts,
            "time": time,
            "seed": seed,
            "beyond": beyond,
            "falling": end.falling,
            "flow_error": end.risk.error,
        }
    with share_bar("pruning") as progress:
        data = pruned(
            risk,
            None,
            None,
            alignments,
            gram,
            convention=convention,
            removed=counts,
            subsets=subsets,
            seed=seed,
            progress=progress,
            **free,
        )
    bayes = bayes_risk(law, risk.length, rtol=rtol, seed=seed)
    data = data.assign_attrs(bayes_risk=bayes.value, bayes_risk_error=bayes.error)
    if training is not None:
        data = data.assign_attrs({f"training_{name}": one for name, one in training.items()})
    write(data, out)
    if figure is not None:
        write_whole(figure, pruning_figure(data))
    emit({**plain(data), "m": alignments.tolist(), "R": gram.tolist()}, _told(data), as_json, None)


def _told(data: Any) -> str:
    """The risks by count, and in words what was done."""
    import json

    about = data.attrs
    rows = []
    for one in (data.isel(count=i) for i in range(data.sizes["count"])):
        taken, possible = int(one.subsets_taken), int(one.subsets_possible)
        rows.append(
            {
                "removed": str(int(one["count"])),
                "subsets": str(taken) if taken == possible else f"{taken} of {possible}",
                "mean risk": f"{float(one.risk_mean):.6f}",
                "standard error": f"{float(one.standard_error):.0e}",
                "evaluation": f"{float(one.evaluation_error):.0e}",
                "spread": f"{float(one.spread):.6f}",
                "least": f"{float(one.risk_low):.6f}",
                "largest": f"{float(one.risk_high):.6f}",
                "loss": f"{float(one.loss_to_full):+.6f}",
            }
        )
    lines = [f"convention {about['convention']}: {about['convention_means']}"]
    if "training_time" in about:
        lines.append(
            f"heads: the lowest of {about['training_starts']} flow(s) to tau = "
            f"{about['training_time']:g}; its risk still fell by {about['training_falling']:.1e} "
            f"in the last half (error of the flow {about['training_flow_error']:.0e})"
        )
    lines += [
        f"m = {by_head(json.loads(about['configuration'])['m'])}",
        f"all heads {about['risk_all_heads']:.6f} +- {about['risk_all_heads_error']:.0e}, "
        f"Bayes risk {about['bayes_risk']:.6f} +- {about['bayes_risk_error']:.0e}",
        "",
        text_table(rows),
        "",
        about["status"],
    ]
    return "\n".join(lines)

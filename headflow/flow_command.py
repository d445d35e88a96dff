"""The command `headflow flow`."""

from __future__ import annotations

from typing import Any

from headflow.dynamics_output import (
    by_head,
    draw,
    end_told,
    part_of,
    phases_of,
    plain,
    require_writable,
    some_of,
    told,
    write,
)
from headflow.options import (
    DEFAULT_PRIOR,
    BatchOpt,
    BetaOpt,
    DimensionOpt,
    FigureOpt,
    GainOpt,
    HeadsOpt,
    JsonOpt,
    NetcdfOpt,
    PointsOpt,
    PriorOpt,
    RateOpt,
    RtolOpt,
    SeedOpt,
    SizeOpt,
    StartMOpt,
    StartROpt,
    TimeOpt,
    TokensOpt,
    WorkersOpt,
    takes_activation,
)
from headflow.output import emit, fail, given, share_bar, text_table


@takes_activation
def flow(
    act: Any,
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    heads: HeadsOpt = 2,
    m: StartMOpt = None,
    overlaps: StartROpt = None,
    dimension: DimensionOpt = 1000,
    size: SizeOpt = 1.0,
    beta0: BetaOpt = None,
    gain0: GainOpt = None,
    learning_rate: RateOpt = 0.0,
    batch: BatchOpt = 1,
    time: TimeOpt = 100.0,
    points: PointsOpt = 200,
    rtol: RtolOpt = 1e-6,
    seed: SeedOpt = 0,
    workers: WorkersOpt = 1,
    figure: FigureOpt = None,
    as_json: JsonOpt = False,
    out: NetcdfOpt = None,
) -> None:
    """Integrate the closed equations of m and R; exit status 1 if the trajectory cannot go on.

    Without --m and --R the start is a random one: heads of norm --size in R^--dimension. With
    --learning-rate the overlaps gain what online SGD adds. With --out, a run that was cut off goes
    on when the same command is given again.
    """
    from headflow.datasets import gradient_flow
    from headflow.inputs import read_matrix, read_prior, read_start, read_times, read_tokens
    from headflow.risk import PopulationRisk

    law = read_prior(prior)
    m0, R0 = read_start(law, heads, m, overlaps, dimension, size, seed)
    risk = PopulationRisk(given(act), law, read_tokens(tokens), seed=seed)
    times = read_times(time, points)
    require_writable(out, figure)
    with share_bar("flow") as progress:
        data = gradient_flow(
            risk,
            m0,
            R0,
            times,
            learning_rate,
            batch=batch,
            beta0=None if beta0 is None else read_matrix("beta0", beta0),
            gain0=gain0,
            rtol=rtol,
            workers=workers,
            checkpoint=part_of(out),
            progress=progress,
        )
    write(data, out)
    found = phases_of(data, law)
    if figure is not None:
        draw(figure, data, None, law, risk.length, found)
    rows = [
        {
            "tau": f"{float(row.time):.4g}",
            "risk": f"{float(row.risk):.8f}",
            "its error": f"{float(row.risk_error):.1e}",
            "largest error of m, R": f"{float(row.error):.1e}",
            "m by head": by_head(row.m.values),
        }
        for row in (data.isel(time=i) for i in some_of(data.sizes["time"]))
    ]
    words = told(found) + end_told(risk, data)
    text = f"{text_table(rows)}\n\n{words}{data.attrs['status']} ({data.attrs['method']})"
    result = {**plain(data), "phases": None if found is None else found.describe()}
    emit(result, text, as_json, None)
    if data.attrs["status"] != "complete":
        fail(f"flow: {data.attrs['status']}")

"""The commands `headflow flow` and `headflow sgd`."""

from __future__ import annotations

from typing import Any

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

# Rows of a printed table of times.
ROWS = 12


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
    from headflow.flow import gradient_flow
    from headflow.inputs import read_matrix, read_prior, read_start, read_times, read_tokens
    from headflow.risk import PopulationRisk

    law = read_prior(prior)
    m0, R0 = read_start(law, heads, m, overlaps, dimension, size, seed)
    risk = PopulationRisk(given(act), law, read_tokens(tokens), seed=seed)
    times = read_times(time, points)
    _require_writable(figure, out)
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
            checkpoint=None if out is None else out.with_name(f"{out.name}.part"),
            progress=progress,
        )
    if out is not None:
        from headflow.store import write_netcdf

        write_netcdf(data, out)
    found = _phases(data, law)
    if figure is not None:
        _draw(figure, data, None, law, risk.length, found)
    rows = [
        {
            "tau": f"{float(row.time):.4g}",
            "risk": f"{float(row.risk):.8f}",
            "error": f"{float(row.error):.1e}",
            "m": " ".join(f"{value:+.4f}" for value in row.m.values.ravel()),
        }
        for row in (data.isel(time=i) for i in _some(data.sizes["time"]))
    ]
    text = f"{text_table(rows)}\n\n{_told(found)}{data.attrs['status']} ({data.attrs['method']})"
    result = {**_plain(data), "phases": None if found is None else found.describe()}
    emit(result, text, as_json, None)
    if data.attrs["status"] != "complete":
        fail(f"flow: {data.attrs['status']}")


def _require_writable(*paths: Any) -> None:
    from headflow.store import require_writable

    for path in paths:
        if path is not None:
            require_writable(path.parent)


def _phases(data: Any, prior: Any) -> Any:
    """The phases up to where the flow got; None for one that got nowhere."""
    from numerics.phases import phases

    reached = data.dropna("time", subset=["m", "risk"])
    return phases(reached, prior) if reached.sizes["time"] > 1 else None


def _draw(path: Any, data: Any, comparison: Any, prior: Any, length: Any, found: Any) -> None:
    from headflow.store import write_whole
    from numerics.bayes import bayes_risk
    from numerics.dynamics_plot import dynamics_figure

    if found is None:
        fail("figure: nothing to draw, the flow got nowhere")
    reached = data.dropna("time", subset=["m", "risk"])
    bayes = bayes_risk(prior, length).value
    write_whole(path, dynamics_figure(reached, comparison, prior, bayes, found))


def _told(found: Any) -> str:
    """The phases in words."""
    if found is None:
        return ""
    lines = [
        f"plateau at E = {one.level:.4f}, tau = {one.start:.4g} to {one.end:.4g}"
        for one in found.plateaus
    ]
    times = ", ".join(f"{time:.4g}" for time in found.specialization_times)
    lines.append(f"heads specialize at tau = {times}")
    lines += [
        f"head {one.head} moves over along direction {one.direction}, tau = {one.left_at:.4g} to "
        f"{one.joined_at:.4g}"
        for one in found.excursions
    ]
    return "\n".join(lines) + "\n"


def _plain(data: Any) -> dict[str, Any]:
    """A Dataset as numbers and lists for JSON."""
    import json

    values = {name: data[name].values.tolist() for name in (*data.coords, *data.data_vars)}
    attributes = dict(data.attrs)
    return {**attributes, "configuration": json.loads(attributes["configuration"]), **values}


def _some(number: int) -> list[int]:
    """The first, the last and evenly spaced ones between."""
    import numpy as np

    return np.unique(np.linspace(0, number - 1, ROWS).round().astype(int)).tolist()

"""The commands `headflow flow` and `headflow sgd`."""

from __future__ import annotations

from typing import Any

from headflow.options import (
    DEFAULT_PRIOR,
    BatchOpt,
    BetaOpt,
    CompareOpt,
    DimensionOpt,
    FigureOpt,
    GainOpt,
    HeadsOpt,
    JsonOpt,
    NetcdfOpt,
    OwnStartsOpt,
    PointsOpt,
    PriorOpt,
    RateOpt,
    RtolOpt,
    SeedOpt,
    SeedsOpt,
    SimulatorOpt,
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
# Accuracy of the theory that runs are compared with, far below their spread.
COMPARED_RTOL = 1e-5
Z_SCORES = ("m", "R", "risk")


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
            checkpoint=_part(out),
            progress=progress,
        )
    _write(data, out)
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


@takes_activation
def sgd(
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
    learning_rate: RateOpt = 0.5,
    batch: BatchOpt = 1,
    time: TimeOpt = 20.0,
    seeds: SeedsOpt = 8,
    simulator: SimulatorOpt = "reduced",
    own_starts: OwnStartsOpt = False,
    compare: CompareOpt = False,
    seed: SeedOpt = 0,
    workers: WorkersOpt = 1,
    figure: FigureOpt = None,
    as_json: JsonOpt = False,
    out: NetcdfOpt = None,
) -> None:
    """Simulate online SGD at dimension D; with --compare, exit status 1 if theory disagrees.

    All runs start where `headflow flow` does with the same options. With --out, a run that was
    cut off goes on when the same command is given again, to the same file. The theory that
    --compare sets beside the runs holds for D to infinity: a small difference at finite D is true.
    """
    from headflow.flow import gradient_flow
    from headflow.inputs import read_matrix, read_prior, read_start, read_tokens
    from headflow.risk import PopulationRisk
    from headflow.sgd import simulate_sgd
    from numerics.averages import compare as averaged
    from numerics.errors import InputError

    law, length = read_prior(prior), read_tokens(tokens)
    if own_starts and (compare or figure is not None or m is not None or overlaps is not None):
        raise InputError("own-starts: a start for each run cannot be given, compared or drawn")
    m0, R0 = (
        (None, None) if own_starts else read_start(law, heads, m, overlaps, dimension, size, seed)
    )
    beta = None if beta0 is None else read_matrix("beta0", beta0)
    _require_writable(figure, out)
    with share_bar("sgd") as progress:
        data = simulate_sgd(
            given(act),
            law,
            length,
            heads if m0 is None else len(m0),
            dimension,
            learning_rate,
            time,
            seeds,
            seed,
            m0,
            R0,
            batch=batch,
            simulator=simulator,
            beta0=beta,
            gain0=gain0,
            workers=workers,
            checkpoint=_part(out),
            progress=lambda done, total: progress(done / total),
        )
    _write(data, out)
    comparison = None
    if compare or figure is not None:
        risk = PopulationRisk(act, law, length, seed=seed)
        with share_bar("flow") as progress:
            theory = gradient_flow(
                risk,
                m0,
                R0,
                data.time.values,
                learning_rate,
                batch=batch,
                beta0=beta,
                gain0=gain0,
                rtol=COMPARED_RTOL,
                workers=workers,
                progress=progress,
            )
        comparison = averaged(theory, data)
        if figure is not None:
            _draw(figure, theory, comparison, law, length, _phases(theory, law))
    emit(_sgd_result(data, comparison), _sgd_text(data, comparison), as_json, None)
    if data.attrs["status"].startswith("interrupted"):
        raise SystemExit(130)
    if data.attrs["status"] != "complete":
        fail(f"sgd: {data.attrs['status']}")
    if compare and comparison is not None and not comparison.attrs["passed"]:
        fail(f"sgd: largest |z| {comparison.attrs['largest_z']:.2f} is above its bound")


def _sgd_text(data: Any, comparison: Any) -> str:
    """Means over runs with their standard errors, and how far theory is from them."""
    import numpy as np

    from numerics.averages import mean_of_runs

    there = np.isfinite(data.risk.values)
    mean, error = mean_of_runs(data.risk.values, there)
    runs = there.sum(axis=0)
    rows = []
    for i in _some(data.sizes["time"]):
        row = {
            "tau": f"{float(data.time[i]):.4g}",
            "risk": f"{mean[i]:.6f}",
            "standard error": f"{error[i]:.1e}",
            "runs": str(int(runs[i])),
        }
        if comparison is not None:
            z = np.concatenate([np.abs(comparison[f"{n}_z"].values[i]).ravel() for n in Z_SCORES])
            row |= {
                "theory": f"{float(comparison.risk[i]):.6f}",
                "largest |z|": f"{np.nanmax(z):.2f}" if np.isfinite(z).any() else "-",
                "bound": f"{float(comparison.bound[i]):.2f}",
            }
        rows.append(row)
    return f"{text_table(rows)}\n\n{data.attrs['status']}"


def _sgd_result(data: Any, comparison: Any) -> dict[str, Any]:
    result = _plain(data)
    if comparison is not None:
        names = ("passed", "largest_z", "comparisons", "alpha")
        result["comparison"] = {name: comparison.attrs[name] for name in names}
    return result


def _part(out: Any) -> Any:
    """Where a run that writes to ``out`` keeps its checkpoint."""
    return None if out is None else out.with_name(f"{out.name}.part")


def _write(data: Any, out: Any) -> None:
    if out is not None:
        from headflow.store import write_netcdf

        write_netcdf(data, out)


def _require_writable(*paths: Any) -> None:
    from headflow.store import require_writable

    for path in paths:
        if path is not None:
            require_writable(path.parent)


def _phases(data: Any, prior: Any) -> Any:
    """The phases up to where the flow got; None for one that got nowhere."""
    from numerics.phases import known, phases

    reached = known(data)
    return phases(reached, prior) if reached.sizes["time"] > 1 else None


def _draw(path: Any, data: Any, comparison: Any, prior: Any, length: Any, found: Any) -> None:
    from headflow.store import write_whole
    from numerics.bayes import bayes_risk
    from numerics.dynamics_plot import dynamics_figure
    from numerics.phases import known

    if found is None:
        fail("figure: nothing to draw, the flow got nowhere")
    bayes = bayes_risk(prior, length).value
    write_whole(path, dynamics_figure(known(data), comparison, prior, bayes, found))


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

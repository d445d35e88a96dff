"""The command `headflow sgd`."""

from __future__ import annotations

import sys
from typing import Any

from headflow.dynamics_output import (
    draw,
    part_of,
    phases_of,
    plain,
    require_writable,
    some_of,
    write,
)
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
    PriorOpt,
    RateOpt,
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
from headflow.output import GO_ON, emit, fail, given, share_bar, text_table

# Accuracy of the theory that runs are compared with, far below their spread.
COMPARED_RTOL = 1e-5
Z_SCORES = ("m", "R", "risk")
# Runs from which on Student's t is not far from normal.
MANY = 20


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
    from headflow.datasets import gradient_flow
    from headflow.inputs import read_matrix, read_prior, read_start, read_tokens
    from headflow.risk import PopulationRisk
    from headflow.sgd import simulate_sgd
    from numerics.dynamics.averages import compare as averaged
    from numerics.errors import InputError

    law, length = read_prior(prior), read_tokens(tokens)
    beside = compare or figure is not None
    if own_starts and (beside or m is not None or overlaps is not None):
        raise InputError("own-starts: leave out --m, --R, --compare and --figure, or --own-starts")
    if beside and seeds < 2:
        raise InputError(f"seeds: --compare and --figure need at least 2 runs, got {seeds}")
    m0, R0 = (
        (None, None) if own_starts else read_start(law, heads, m, overlaps, dimension, size, seed)
    )
    beta = None if beta0 is None else read_matrix("beta0", beta0)
    require_writable(out, figure)
    risk = PopulationRisk(given(act), law, length, seed=seed)
    options: dict[str, Any] = {"batch": batch, "beta0": beta, "gain0": gain0, "workers": workers}

    def theory_at(times: Any, progress: Any = lambda share: None) -> Any:
        return gradient_flow(
            risk, m0, R0, times, learning_rate, rtol=COMPARED_RTOL, progress=progress, **options
        )

    if beside:
        # What theory cannot follow is said before the runs.
        theory_at([0.0])
    with share_bar("sgd") as progress:
        data = simulate_sgd(
            act,
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
            simulator=simulator,
            checkpoint=part_of(out),
            progress=lambda done, total: progress(done / total),
            **options,
        )
    write(data, out)
    if data.attrs["status"].startswith("interrupted"):
        print(f"headflow: {data.attrs['status']}{GO_ON}", file=sys.stderr)
        raise SystemExit(130)
    comparison = None
    if beside:
        with share_bar("flow") as progress:
            theory = theory_at(data.time.values, progress)
        if theory.attrs["status"] != "complete":
            emit(_sgd_result(data, None), _sgd_text(data, None), as_json, None)
            fail(f"sgd: nothing to compare with, theory {theory.attrs['status']}")
        comparison = averaged(theory, data)
        if figure is not None:
            draw(figure, theory, comparison, law, length, phases_of(theory, law))
    emit(_sgd_result(data, comparison), _sgd_text(data, comparison), as_json, None)
    if data.attrs["status"] != "complete":
        fail(f"sgd: {data.attrs['status']}")
    if compare and comparison is not None and not comparison.attrs["passed"]:
        fail(f"sgd: largest |z| {comparison.attrs['largest_z']:.2f} is above its bound")


def _sgd_text(data: Any, comparison: Any) -> str:
    """Means over runs with their standard errors, and how far theory is from them."""
    import numpy as np

    from numerics.dynamics.averages import mean_of_runs

    there = np.isfinite(data.risk.values)
    mean, error = mean_of_runs(data.risk.values, there)
    runs = there.sum(axis=0)
    rows = []
    for i in some_of(data.sizes["time"]):
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
    few = ""
    if comparison is not None and data.sizes["seed"] < MANY:
        few = f"\n{data.sizes['seed']} runs: the bound is wide, agreement says little below {MANY}"
    return f"{text_table(rows)}\n\n{data.attrs['status']}{few}"


def _sgd_result(data: Any, comparison: Any) -> dict[str, Any]:
    result = plain(data)
    if comparison is not None:
        names = ("passed", "largest_z", "comparisons", "alpha")
        result["comparison"] = {name: comparison.attrs[name] for name in names}
    return result

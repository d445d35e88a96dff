# notation: tau = steps * learning_rate / D; m, R alignments and overlaps; beta biases, gamma gain.
"""Online SGD of independent runs, recorded as order parameters: the public function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import xarray

from numerics.checkpoint import Checkpoint
from numerics.checks import count
from numerics.priors import Prior
from numerics.sgd.dataset import describe_run, to_dataset
from numerics.sgd.kept import identity, pack, unpack
from numerics.sgd.plan import Plan, free_parameters
from numerics.sgd.records import Records
from numerics.sgd.runner import groups_of, run_all
from numerics.sgd.runs import Runs
from numerics.sgd.start import starting_heads


def simulate(
    kernels: ModuleType,
    prior: Prior,
    tokens: Any,
    heads: int,
    dimension: int,
    *,
    learning_rate: float = 0.5,
    time: float = 20.0,
    seeds: int = 8,
    seed: int = 0,
    m0: Any = None,
    R0: Any = None,
    beta0: Any = None,
    gain0: float | None = None,
    batch: int = 1,
    simulator: str = "reduced",
    times: Any = None,
    workers: int = 1,
    checkpoint: Path | str | None = None,
    progress: Callable[[int, int], None] | None = None,
    configuration: Mapping[str, Any] | None = None,
) -> xarray.Dataset:
    """Online SGD with a fresh sample each step: m, R and the loss of ``seeds`` runs over time.

    A step is k <- k - (eta / D) grad of |y - yhat|^2 / D, the mean of ``batch`` samples; free
    biases and a free gain take the same step from beta0 (H,) and gain0. Time is
    tau = steps * learning_rate / D, as in gradient flow. m0 (H, F) and R0 (H, H), or one of each
    for every seed; without them heads are drawn as N(0, I / D). simulator: "reduced" is exact in
    law at a cost free of D (docs/model.md section 7), "vectors" holds vectors in R^D. times (T,):
    tau to record; each is moved to the nearest step. The bits of a run depend on ``seed`` and its
    number only, not on ``seeds``, ``workers`` or a resumed ``checkpoint``. With workers > 1
    processes are spawned, and a script must guard its main part (``__name__ == "__main__"``).
    progress(done, total) is called in steps of runs. configuration: further entries of that
    attribute.

    Variables over seed and time: m, R, loss (mean of the samples since the last record) with
    loss_error, beta and gain where trained; stopped_at (seed) is the tau at which a run left all
    bounds, else nan. After a KeyboardInterrupt what is done is returned; the attribute status
    tells. Raises InputError, before any work, for what cannot be simulated.
    """
    plan = Plan.of(
        kernels,
        prior,
        tokens,
        heads,
        dimension,
        learning_rate=learning_rate,
        time=time,
        times=times,
        batch=batch,
        simulator=simulator,
        seed=seed,
    )
    seeds, workers = count("seeds", seeds), count("workers", workers)
    beta, gain = free_parameters(kernels, plan.heads, beta0, gain0)
    start = Runs.starting(starting_heads(plan, seeds, m0, R0), beta, gain)
    given = describe_run(plan, seeds, m0, R0, beta0, gain0)
    file = Checkpoint(None if checkpoint is None else Path(checkpoint), identity(given, start))
    kept = file.load()
    blocks, runs, records = np.zeros(seeds, dtype=int), start, Records.empty(plan, seeds)
    if kept is not None:
        blocks, runs, records = unpack(kept)
    groups = groups_of(plan, runs, blocks, workers)
    complete = run_all(
        plan,
        groups,
        records,
        workers,
        progress,
        keep=lambda groups: file.offer(lambda: pack(groups, records)),
        save=lambda groups: file.save(pack(groups, records)),
    )
    if complete:
        file.remove()
    stopped, reached = np.empty(seeds), plan.steps
    for group in groups:
        stopped[list(group.ids)] = group.runs.stopped
        reached = min(reached, group.block * plan.block_steps)
    status = _status(stopped * plan.rate, None if complete else reached * plan.rate)
    return to_dataset(
        plan, records, stopped * plan.rate, status, {**(configuration or {}), **given}
    )


def _status(stopped: np.ndarray, interrupted: float | None) -> str:
    parts = []
    if interrupted is not None:
        parts.append(f"interrupted at tau = {interrupted:.6g}")
    lost = np.isfinite(stopped)
    if lost.any():
        first = stopped[lost].min()
        parts.append(f"{lost.sum()} of {lost.size} runs diverged, the first at tau = {first:.6g}")
    return "; ".join(parts) or "complete"

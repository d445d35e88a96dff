"""One block of steps of a group of runs: the unit of random streams and of parallel work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from numerics.sgd.plan import Plan
from numerics.sgd.reduced import ReducedRuns
from numerics.sgd.runs import Runs, Window, at_least_two
from numerics.sgd.vectors import VectorRuns
from numerics.threads import one_thread

Simulator = ReducedRuns | VectorRuns
SIMULATORS: dict[str, type[Simulator]] = {"reduced": ReducedRuns, "vectors": VectorRuns}
# Summed squares of all trained numbers above which a run counts as diverged.
LARGEST = 1e12


@dataclass(frozen=True)
class Record:
    """Runs (n, ...) at one record: its index, order parameters, loss and what is trained."""

    index: int
    m: np.ndarray
    R: np.ndarray
    loss: np.ndarray
    loss_error: np.ndarray
    beta: np.ndarray
    gain: np.ndarray


def advance(plan: Plan, ids: Sequence[int], start: Runs, block: int) -> tuple[Runs, list[Record]]:
    """Runs ``ids`` after block number ``block``, from ``start``, and what was recorded in it.

    The bits of each run are the same in whatever group it advances.
    """
    if len(ids) == 1:
        both = at_least_two(np.arange(1))
        runs, records = advance(plan, [ids[0]] * 2, start.take(both), block)
        return runs.take(slice(1)), [_first(record) for record in records]
    # Numbers that leave the range of float64 are found after each step.
    with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _advance(plan, ids, start, block)


def _advance(plan: Plan, ids: Sequence[int], start: Runs, block: int) -> tuple[Runs, list[Record]]:
    first, n = block * plan.block_steps, len(ids)
    steps = min(plan.block_steps, plan.steps - first)
    simulator = SIMULATORS[plan.simulator](plan, start)
    simulator.draw([plan.stream(run, block) for run in ids], steps)
    window = Window(start.samples, start.mean, start.squares)
    stopped, losses, counted = start.stopped.copy(), np.empty((steps, plan.batch, n)), 0
    wanted = {step - first: index for index, step in enumerate(plan.records)}
    records = []
    if first == 0 and 0 in wanted:
        records.append(_record(plan, simulator, window, wanted[0]))
    for i in range(steps):
        losses[i] = simulator.step(i)
        inside = _squares(plan, simulator) < LARGEST
        if not inside.all():
            for array in simulator.state:
                array[~inside] = np.nan
            stopped[~inside & np.isnan(stopped)] = first + i + 1
        if i + 1 in wanted:
            window.add(losses[counted : i + 1].reshape(-1, n))
            counted = i + 1
            records.append(_record(plan, simulator, window, wanted[i + 1]))
    window.add(losses[counted:].reshape(-1, n))
    heads, beta, gain = (np.array(array, order="C") for array in simulator.state)
    runs = Runs(heads, beta, gain, stopped, window.samples, window.mean, window.squares)
    return runs, records


def _squares(plan: Plan, simulator: Simulator) -> np.ndarray:
    """Sum of the squares of all numbers that are trained (n,); nan where one is not finite."""
    total = np.einsum("zha,zha->z", simulator.heads, simulator.heads)
    if plan.kernels.FREE_BIAS:
        total = total + np.einsum("zh,zh->z", simulator.beta, simulator.beta)
    return total + simulator.gain**2 if plan.kernels.FREE_GAIN else total


def _record(plan: Plan, simulator: Simulator, window: Window, index: int) -> Record:
    heads, beta, gain = simulator.state
    loss, error = window.take()
    # A run that has just stopped still has the losses of the steps before.
    lost = np.isnan(gain)
    loss[lost] = error[lost] = np.nan
    m = heads[..., : plan.prior.spikes]
    # Copies, since the next step changes these arrays in place.
    return Record(index, m.copy(), simulator.R.copy(), loss, error, beta.copy(), gain.copy())


def _first(record: Record) -> Record:
    arrays = {field.name: getattr(record, field.name) for field in fields(record)}
    return Record(arrays.pop("index"), **{name: array[:1] for name, array in arrays.items()})

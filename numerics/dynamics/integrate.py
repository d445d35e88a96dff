# notation: tau time of the flow.
"""One trajectory of a vector field at one tolerance, through SciPy's steppers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import integrate

from numerics.checkpoint import Checkpoint
from numerics.dynamics.vector_field import Halt, VectorField

# Explicit ones: the Jacobian of an implicit one would be taken by differences, which leave the
# physical overlaps where C is singular.
METHODS = {"DOP853": integrate.DOP853, "RK45": integrate.RK45}


@dataclass(frozen=True)
class Curve:
    """A trajectory at the asked times: states (T, n), risk and dissipation (T,), nan past its end.

    stopped: why it ended early, with the time in ``reached``; empty when it did not. evaluations:
    of the right-hand side, those of an earlier run that was resumed included. by_points: whether
    heads that share a normalizer were averaged over normal points instead of a grid.
    """

    states: np.ndarray
    risk: np.ndarray
    dissipation: np.ndarray
    reached: float
    stopped: str
    evaluations: int
    by_points: bool


def trajectory(
    field: VectorField,
    times: np.ndarray,
    rtol: float,
    method: str,
    checkpoint: Checkpoint,
    progress: Callable[[float], None],
) -> Curve:
    """Integrate from tau = 0 through all ``times``; every number so far survives a stop.

    The tolerance of each entry follows the size of the state from step to step. A run resumed from
    a checkpoint gives the same bits as an uninterrupted one.
    """
    kept = checkpoint.load()
    if kept is None:
        y = field.start()
        states = np.full((times.size, y.size), np.nan)
        states[times == 0] = y
        run = _Run(0.0, y, None, states, 0)
    else:
        run = _Run(
            float(kept["tau"]),
            kept["y"],
            float(kept["step"]),
            kept["states"],
            int(kept["evaluations"]),
        )
    try:
        stopped = _advance(field, run, times, rtol, method, checkpoint, progress)
    except KeyboardInterrupt:
        checkpoint.save(run.arrays())
        raise
    checkpoint.save(run.arrays())
    risk, dissipation = np.full((2, times.size), np.nan)
    for i in np.flatnonzero(np.all(np.isfinite(run.states), axis=1)):
        try:
            slope = field.at(run.states[i])
        except Halt:
            continue
        risk[i], dissipation[i] = slope.value, field.dissipation(run.states[i], slope)
    return Curve(
        run.states,
        risk,
        dissipation,
        run.tau,
        stopped,
        run.evaluations,
        field.joint_points is not None,
    )


@dataclass
class _Run:
    """What a resumed run needs: time, state, the next step, records, work so far."""

    tau: float
    y: np.ndarray
    step: float | None
    states: np.ndarray
    evaluations: int

    def arrays(self) -> dict[str, np.ndarray | float | int]:
        step = float("nan") if self.step is None else self.step
        return {
            "tau": self.tau,
            "y": self.y,
            "step": step,
            "states": self.states,
            "evaluations": self.evaluations,
        }


def _advance(field, run, times, rtol, method, checkpoint, progress) -> str:
    """Step to the last time; the reason if it cannot be reached, else an empty text."""
    end = float(times[-1])
    if run.tau >= end:
        return ""
    try:
        solver = _solver(field, run, end, rtol, method)
        # Those that start a solver do not count: a resumed run has more of them.
        before = run.evaluations - solver.nfev
        while solver.status == "running":
            solver.atol = field.packing.tolerance(solver.y, rtol)
            message = solver.step()
            if solver.status == "failed":
                return f"no step is short enough ({str(message).rstrip('.').lower()})"
            inside = (times > run.tau) & (times <= solver.t)
            if np.any(inside):
                run.states[inside] = solver.dense_output()(times[inside]).T
            run.tau, run.y = float(solver.t), solver.y.copy()
            run.step, run.evaluations = float(solver.h_abs), before + solver.nfev
            checkpoint.offer(run.arrays)
            progress(run.tau)
    except Halt as reason:
        return str(reason)
    return ""


def _solver(field: VectorField, run: _Run, end: float, rtol: float, method: str):
    first = None if run.step is None or np.isnan(run.step) else min(run.step, end - run.tau)
    return METHODS[method](
        field,
        run.tau,
        run.y,
        end,
        rtol=rtol,
        atol=field.packing.tolerance(run.y, rtol),
        first_step=first,
    )

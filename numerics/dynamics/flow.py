# notation: tau = steps times learning rate over D; m, R alignments and overlaps; eta learning
# rate; Sigma what SGD adds to the overlaps; beta free biases.
"""Gradient flow and the online-SGD equation in (m, R), with an error for the curve itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from numerics.checkpoint import Checkpoint
from numerics.checks import count, positive, real_array
from numerics.dynamics.dataset import Settings, dataset
from numerics.dynamics.integrate import METHODS, Curve, trajectory
from numerics.dynamics.state import State
from numerics.dynamics.vector_field import GridTooLarge, VectorField
from numerics.errors import InputError
from numerics.risk import PopulationRisk, require_risk
from numerics.threads import one_thread

# The ladder: every other rung is this much coarser in tolerance than the finest.
COARSER = 16.0
# Coarse rungs; more of them where normal points are used, whose error no tolerance shows.
RUNGS, RUNGS_WITH_POINTS = 1, 3
# The right-hand side is evaluated to this share of the tolerance.
SHARE = 0.1
TIGHTEST, LOOSEST = 1e-11, 1e-3
# A tensor grid serves heads that share a normalizer up to this rank, whatever their overlaps.
SURE_RANK = 3


@dataclass(frozen=True)
class Rung:
    """One run of the ladder: tolerance, stream of its normal points, grid or points, its file."""

    number: int
    rtol: float
    stream: np.random.SeedSequence
    grid: bool
    checkpoint: Path | None


def gradient_flow(
    risk: PopulationRisk,
    m0: Any,
    R0: Any,
    times: Any,
    learning_rate: float = 0.0,
    *,
    batch: int = 1,
    beta0: Any = None,
    gain0: float | None = None,
    rtol: float = 1e-6,
    method: str = "DOP853",
    workers: int = 1,
    checkpoint: Path | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> xr.Dataset:
    """Order parameters along dm/dtau, dR/dtau from (m0, R0), as an xarray Dataset.

    m0 (H, F), R0 (H, H). times: increasing tau >= 0, tau = steps * learning rate / D; the start is
    at tau = 0. learning_rate: eta of online SGD, whose noise adds eta / batch * Sigma to dR/dtau; 0
    is gradient flow. beta0 (H,), gain0: where free biases or a free gain start; they are trained
    with the same rate. rtol: wanted relative accuracy of each step. method: DOP853 or RK45 of
    SciPy. workers: processes over the ladder of tolerances. checkpoint: file by which a run that
    was cut off goes on. progress: called with the share that is done.

    Variables m, R, risk (population risk), dissipation (-dE/dtau of gradient flow), each with an
    error from a ladder of tolerances (and of normal points where Sigma needs them); error: the
    largest error of m, R and risk at a time; rest_eigenvalue: the smallest eigenvalue of
    R - m m^T. A trajectory that cannot go on ends there: the attribute status says when and why,
    and what was computed is kept. Raises InputError for bad input (docs/model.md section 7).
    """
    require_risk(risk)
    settings = Settings(
        risk=risk,
        start=State.of(risk.kernels, risk.prior.spikes, m0, R0, beta0, gain0),
        times=_times(times),
        learning_rate=_rate(learning_rate),
        batch=count("batch", batch),
        rtol=_tolerance(rtol),
        method=_method(method),
    )
    curves = _climb(settings, count("workers", workers), checkpoint, progress)
    return dataset(settings, curves[-1], curves[:-1])


def _climb(
    settings: Settings,
    workers: int,
    checkpoint: Path | None,
    progress: Callable[[float], None],
) -> list[Curve]:
    """All rungs, the finest last."""
    with one_thread():
        # Whatever cannot work is said here, before any work.
        field = _field(settings, _rung(0, settings, True, checkpoint))
        try:
            field.start()
            grid = True
        except GridTooLarge:
            grid = False
    if grid:
        coarse = RUNGS_WITH_POINTS if field.stochastic else RUNGS
        rungs = [_rung(number, settings, True, checkpoint) for number in range(coarse + 1)]
        try:
            return _ladder(settings, rungs, workers, progress)
        except GridTooLarge:
            # Heads that grow may need points late, on any rung.
            _forget(rungs)
    rungs = [_rung(number, settings, False, checkpoint) for number in range(RUNGS_WITH_POINTS + 1)]
    return _ladder(settings, rungs, workers, progress)


def _ladder(
    settings: Settings, rungs: list[Rung], workers: int, progress: Callable[[float], None]
) -> list[Curve]:
    """The curves of the rungs, that of the first one last."""
    # Where a grid may turn out too large, the finest rung shows it before the others are run.
    doubtful = rungs[0].grid and not _grid_is_sure(settings)
    finest = [_run(settings, rungs[0], progress)] if doubtful else []
    missing = rungs[len(finest) :]
    if workers > 1 and len(missing) > 1:
        # A fresh interpreter for each: forking one that holds threads can hang.
        with ProcessPoolExecutor(min(workers, len(missing)), get_context("spawn")) as pool:
            others = list(pool.map(partial(_run, settings), missing))
    else:

        def share(done: int) -> Callable[[float], None]:
            return lambda part: progress((done + part) / len(missing))

        others = [_run(settings, rung, share(done)) for done, rung in enumerate(missing)]
    _forget(rungs)
    first_curve, *rest = [*finest, *others]
    return [*rest, first_curve]


def _rung(number: int, settings: Settings, grid: bool, checkpoint: Path | None) -> Rung:
    """Rung 0 is the finest."""
    stream = np.random.SeedSequence(settings.risk.seed, spawn_key=(number,))
    rtol = settings.rtol * (COARSER if number else 1.0)
    return Rung(
        number,
        rtol,
        stream,
        grid,
        None if checkpoint is None else checkpoint.with_name(f"{checkpoint.name}.{number}"),
    )


def _field(settings: Settings, rung: Rung) -> VectorField:
    return VectorField.of(
        settings.risk,
        settings.start,
        settings.learning_rate,
        settings.batch,
        -float(np.log(SHARE * rung.rtol)),
        rung.stream,
        grid=rung.grid,
    )


def _run(
    settings: Settings, rung: Rung, progress: Callable[[float], None] = lambda share: None
) -> Curve:
    end = float(settings.times[-1])
    same = {**settings.configuration(), "rung": rung.number, "grid": rung.grid}
    with one_thread():
        return trajectory(
            _field(settings, rung),
            settings.times,
            rung.rtol,
            settings.method,
            Checkpoint(rung.checkpoint, same),
            lambda tau: progress(tau / end if end > 0 else 1.0),
        )


def _forget(rungs: list[Rung]) -> None:
    for rung in rungs:
        Checkpoint(rung.checkpoint, {}).remove()


def _grid_is_sure(settings: Settings) -> bool:
    """Whether a tensor grid will do all along, as far as ranks tell: C keeps its rank, or fills."""
    if settings.risk.kernels.SCOPE != "heads":
        return True
    m, R = settings.start.m, settings.start.R
    heads, spikes = m.shape
    if settings.learning_rate > 0:
        return heads <= SURE_RANK
    return bool(min(heads, spikes + np.linalg.matrix_rank(R - m @ m.T)) <= SURE_RANK)


def _times(given: Any) -> np.ndarray:
    times = real_array("times", given, 1)
    if times.size == 0 or times[0] < 0 or np.any(np.diff(times) <= 0):
        raise InputError("times: expected increasing numbers tau >= 0, at least one")
    return times


def _rate(given: Any) -> float:
    if isinstance(given, (int, float, np.number)) and given == 0:
        return 0.0
    try:
        return positive("learning_rate", given)
    except InputError:
        raise InputError(f"learning_rate: expected a number >= 0, got {given!r}") from None


def _tolerance(given: Any) -> float:
    rtol = positive("rtol", given)
    if not TIGHTEST <= rtol <= LOOSEST:
        raise InputError(f"rtol: expected a number from {TIGHTEST:g} to {LOOSEST:g}, got {rtol:g}")
    return rtol


def _method(given: Any) -> str:
    if given not in METHODS:
        raise InputError(f"method: expected one of {', '.join(METHODS)}, got {given!r}")
    return str(given)

# notation: tau = steps * eta / D, eta the learning rate; m, R alignments and overlaps; lambda rate.
"""Escape times from one saddle three ways: its spectrum, the flow, and online SGD at several D."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from numerics.checks import count, positive, real_array
from numerics.dynamics.flow import gradient_flow
from numerics.dynamics.starts import heads_in_frame
from numerics.errors import InputError
from numerics.escape.dataset import Measured
from numerics.escape.law import LinearEscape
from numerics.escape.saddle import Saddle
from numerics.escape.survival import Times, crossing, observed
from numerics.risk import PopulationRisk, require_risk
from numerics.saddles.fixed_points import FixedPoint
from numerics.sgd import simulate

# SGD is watched until this share of all starts should have escaped, and a while longer.
SEEN, LONGER = 0.8, 1.15
# Records of a run, and times of a flow.
RECORDS = 300
FLOW_RTOL = 1e-5
# The least number of runs whose least and largest time hold their median in 95% of all cases.
LEAST_RUNS = 6


def escape_times(
    risk: PopulationRisk,
    point: FixedPoint,
    dimensions: Sequence[int] = (300, 1000, 3000, 10_000),
    *,
    size: float = 0.1,
    threshold: float = 0.1,
    learning_rate: float = 0.5,
    seeds: int = 100,
    seed: int = 0,
    workers: int = 1,
    simulator: str = "reduced",
    progress: Callable[[float], None] = lambda share: None,
) -> xr.Dataset:
    """When heads leave a saddle: the law of its spectrum, gradient flow, and SGD, at each D.

    point: the saddle, its heads within the span of the spikes. Heads start at the saddle plus
    ``size`` times N(0, I / D), drawn anew for each of ``seeds`` runs; they have escaped when the
    part of m - m_saddle along the fastest unstable modes is longer than ``threshold``. Times are
    tau = steps * learning_rate / D. seeds = 0: no SGD.

    Variables over dimension: predicted and predicted_mean, median and mean of the linear law
    (LinearEscape) at rate -(lowest eigenvalue of the Hessian in weight space); flow, from the
    median start, with flow_error; sgd, the Kaplan-Meier median over runs, with its 95% interval
    sgd_low, sgd_high. Over dimension and seed: time, censored (a run that did not escape by the
    end, or diverged: its time is how long it was seen). Attributes: rate, rate_error, modes,
    slope = 1 / (2 rate) and flow_slope, each with its _error, sgd_slope with sgd_slope_low and
    sgd_slope_high, status.
    The law holds for D to infinity and a small learning rate; corrections are of relative order
    learning_rate, and (L + the largest |theta|^2) / D. Raises InputError for bad input and for a
    point from which nothing escapes.
    """
    require_risk(risk)
    if not isinstance(point, FixedPoint):
        raise InputError(
            "point: expected a fixed point, such as hf.origin_fixed_point(risk, heads), "
            f"got {type(point).__name__}"
        )
    sizes = _dimensions(dimensions, risk, point)
    seeds, rate = count("seeds", seeds, least=0), positive("learning_rate", learning_rate)
    if 0 < seeds < LEAST_RUNS:
        raise InputError(
            f"seeds: expected 0 or at least {LEAST_RUNS}, got {seeds}: fewer runs give no interval"
        )
    seed = count("seed", seed, least=0)
    saddle = Saddle.of(risk, point)
    law = saddle.law(size, threshold)
    law.require_room(sizes)
    flows = np.array([_along_flow(risk, saddle, law, int(D)) for D in sizes])
    runs: list[Times] = []
    # SGD takes D steps a unit of time, and hardly anything else takes long.
    work = np.cumsum([0.0, *sizes]) / sizes.sum()
    for number, D in enumerate(sizes if seeds else []):

        def share(
            done: int, total: int, first: float = work[number], last: float = work[number + 1]
        ):
            progress(float(first + (last - first) * done / total))

        runs.append(
            _by_sgd(
                risk,
                saddle,
                law,
                int(D),
                rate,
                np.random.SeedSequence(seed, spawn_key=(number,)),
                {
                    "seeds": seeds,
                    "workers": workers,
                    "simulator": simulator,
                    "progress": share,
                },
            )
        )
    measured = Measured(saddle, law, sizes, flows, runs, np.random.default_rng(seed))
    configuration = {
        **risk.describe(),
        "m": point.m.tolist(),
        "size": law.size,
        "threshold": law.threshold,
        "learning_rate": rate,
        "seeds": seeds,
        "seed": seed,
    }
    return measured.dataset(configuration)


def _dimensions(given: Any, risk: PopulationRisk, point: FixedPoint) -> np.ndarray:
    array = real_array("dimensions", given, 1)
    least = risk.prior.spikes + len(point.m) + risk.length.longest
    for D in array:
        if count("dimensions", float(D)) < least:
            raise InputError(f"dimensions: expected at least F + H + L = {least}, got {D:.0f}")
    if array.size < 2 or np.any(np.diff(array) <= 0):
        raise InputError("dimensions: expected at least two, increasing")
    return array


def _along_flow(
    risk: PopulationRisk, saddle: Saddle, law: LinearEscape, D: int
) -> tuple[float, float]:
    """Escape time of the median start, and its error."""
    m0 = saddle.m + float(law.amplitude(D)) * saddle.modes[0]
    R0 = m0 @ m0.T + law.size**2 * np.eye(len(m0))
    times = np.linspace(0.0, _end(law, D), RECORDS)
    flow = gradient_flow(risk, m0, R0, times, rtol=FLOW_RTOL)
    amplitude = saddle.amplitude(flow.m.values)
    seen = np.isfinite(amplitude)
    tau, error = crossing(times[seen], amplitude[seen], law.threshold)
    if np.isnan(tau):
        return tau, error
    after = int(np.searchsorted(times, tau))
    steepness = (amplitude[after] - amplitude[after - 1]) / (times[after] - times[after - 1])
    by_flow = float(flow.m_error.values[after - 1 : after + 1].max())
    return tau, error + np.sqrt(saddle.m.size) * by_flow / steepness


def _by_sgd(risk, saddle, law, D, rate, stream, options) -> Times:
    """Escape times of independent runs; each run has a start of its own."""
    heads, spikes = saddle.m.shape
    for_starts, for_runs = stream.spawn(2)
    rngs = [np.random.default_rng(one) for one in for_starts.spawn(options["seeds"])]
    k = law.size * np.stack([heads_in_frame(rng, heads, spikes, D) for rng in rngs])
    k[..., :spikes] += saddle.m
    end, step = _end(law, D), rate / D
    wanted = np.unique(np.round(np.linspace(0.0, end, RECORDS) / step))
    data = simulate(
        risk.kernels,
        risk.prior,
        risk.length,
        heads,
        D,
        learning_rate=rate,
        time=float(wanted[-1]) * step,
        times=wanted * step,
        m0=k[..., :spikes],
        R0=k @ np.swapaxes(k, 1, 2),
        seed=int(for_runs.generate_state(1)[0]),
        **options,
    )
    if data.attrs["status"].startswith("interrupted"):
        # A run that was not finished is no censored one.
        raise KeyboardInterrupt
    return observed(
        data.time.values, saddle.amplitude(data.m.values), law.threshold, data.stopped_at.values
    )


def _end(law: LinearEscape, D: int) -> float:
    return LONGER * float(law.quantile(SEEN, D))

# notation: eta learning rate; tau = steps * eta / D; m, R alignments and overlaps.
"""Online SGD of an activation given by name or definition, with the risk along each run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from headflow.risk import PopulationRisk
from headflow.versions import with_versions
from numerics.errors import InputError
from numerics.priors import Prior
from numerics.sgd import simulate
from theory.activation import Activation

# Accuracy of the population risk along a run, whose own spread is far larger.
RTOL = 1e-4
# Overlaps beyond this take the risk minutes, on the way to a divergence that is told anyway.
LARGEST_OVERLAP = 1e4


def simulate_sgd(
    act: Activation | str,
    prior: Prior,
    tokens: Any = 5,
    heads: int = 2,
    dimension: int = 500,
    learning_rate: float = 0.5,
    time: float = 20.0,
    seeds: int = 8,
    seed: int = 0,
    m0: Any = None,
    R0: Any = None,
    *,
    with_risk: bool = True,
    **options: Any,
) -> xr.Dataset:
    """Online SGD at dimension D: m, R, loss and population risk of independent runs over time.

    act: an Activation or a catalogue name. dimension: D. time, in tau = steps * learning_rate / D.
    m0 (H, F), R0 (H, H): the start of every run, exactly; heads drawn as N(0, I / D) for each run
    without them. options, as in numerics.sgd.simulate: simulator ("reduced", exact in law at a
    cost free of D, or "vectors"), batch, times, beta0, gain0, workers, checkpoint, progress.

    Variables over seed and time: m, R, loss with loss_error; risk, the D -> oo population risk at
    (m, R) of the run, with its error (nan where overlaps exceed 1e4; none if not ``with_risk``).
    The bits of a run do not depend on seeds, workers or a resume. A run that diverges ends as nan,
    stopped_at tells when, and status says so. Raises InputError or DefinitionError for bad input.
    """
    risk = PopulationRisk(act, prior, tokens, rtol=RTOL, seed=seed)
    result = simulate(
        risk.kernels,
        prior,
        risk.length,
        heads,
        dimension,
        learning_rate=learning_rate,
        time=time,
        seeds=seeds,
        seed=seed,
        m0=m0,
        R0=R0,
        **options,
    )
    if with_risk:
        result = _with_risk(result, risk)
    return with_versions(result)


def _with_risk(data: xr.Dataset, risk: PopulationRisk) -> xr.Dataset:
    """The population risk at every record, nan where a run did not get or no risk is known."""
    evaluate = _once_for_equal_points(risk)
    value, error = np.full((2, data.sizes["seed"], data.sizes["time"]), np.nan)
    for seed in range(data.sizes["seed"]):
        for i in range(data.sizes["time"]):
            one = data.isel(seed=seed, time=i)
            if np.abs(one.R).max() <= LARGEST_OVERLAP:
                free = {name: one[name].values for name in ("beta", "gain") if name in data}
                value[seed, i], error[seed, i] = evaluate(one.m.values, one.R.values, free)
    about = {"long_name": "population risk, D -> oo, at (m, R) of the run", "units": "1"}
    bound = {"long_name": "error of the population risk", "units": "1"}
    return data.assign(
        risk=(("seed", "time"), value, about), error=(("seed", "time"), error, bound)
    )


def _once_for_equal_points(risk: PopulationRisk) -> Callable[..., tuple[float, float]]:
    """Runs from one start share its risk."""
    known: dict[bytes, tuple[float, float]] = {}

    def evaluate(m: np.ndarray, R: np.ndarray, free: dict[str, Any]) -> tuple[float, float]:
        key = b"".join(np.asarray(part).tobytes() for part in (m, R, *free.values()))
        if key not in known:
            if "gain" in free:
                free = {**free, "gain": float(free["gain"])}
            try:
                one = risk(m, R, **free)
            except InputError:
                # Overlaps larger than the lift resolves: the run itself is not at fault.
                known[key] = (float("nan"), float("nan"))
            else:
                known[key] = (one.value, one.error)
        return known[key]

    return evaluate

# notation: m, R alignments and overlaps; alpha rate of false alarms of all comparisons together.
"""Runs of SGD put in order, averaged over seeds, and compared with the flow."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import xarray as xr
from scipy.optimize import linear_sum_assignment

from numerics.checks import require_dataset
from numerics.dynamics.plateaus import times
from numerics.errors import InputError
from numerics.statistics import family_bound

# Equal up to the rounding of a sum: a start computed in two ways, a time written to a file.
ROUNDING = 1e-12
SHAPES = {"m": ("time", "head", "spike"), "R": ("time", "head", "other_head"), "risk": ("time",)}


def align_heads(sgd: xr.Dataset, reference: xr.Dataset) -> xr.Dataset:
    """``sgd`` with the heads of each run in the order in which they follow ``reference``.

    The order of a run minimizes the sum over all times it reached of the squared distances of
    m (seed, time, head, spike) and of the diagonal of R (seed, time, head, other_head) to those
    of the reference (without seed); every recorded time weighs the same. It is applied to every
    variable with a head, on both axes of R, and recorded as permutation (seed, head): the head of
    the run that now stands in this place. A run without any finite time keeps its order.

    Choosing the nearest order makes an agreement look better than it is where heads of one run
    are hard to tell apart; runs from a common start need no alignment. Raises InputError unless
    both have the same times, heads and spikes.
    """
    _same_times(reference, sgd)
    m, R = (_values(sgd, name, seed=True) for name in ("m", "R"))
    m_goal, R_goal = (_values(reference, name) for name in ("m", "R"))
    _same_shape("m", m_goal, m)
    _same_shape("R", R_goal, R)
    squares, squares_goal = (np.diagonal(one, axis1=-2, axis2=-1) for one in (R, R_goal))
    order = np.empty(squares.shape[::2], dtype=int)
    for seed in range(len(order)):
        there = _finite(m[seed]) & _finite(squares[seed])
        own = np.concatenate([m[seed], squares[seed, :, :, None]], axis=2)[there]
        goal = np.concatenate([m_goal, squares_goal[:, :, None]], axis=2)[there]
        cost = np.sum((goal[:, :, None] - own[:, None]) ** 2, axis=(0, 3))
        order[seed] = linear_sum_assignment(cost)[1]
    aligned = sgd.copy()
    for name, variable in sgd.data_vars.items():
        if "seed" in variable.dims and {"head", "other_head"} & set(variable.dims):
            aligned[name] = _permuted(variable, order)
    aligned["permutation"] = (("seed", "head"), order)
    return aligned


def compare(
    flow: xr.Dataset, sgd: xr.Dataset, alpha: float = 1e-3, *, align: bool = False
) -> xr.Dataset:
    """The mean over seeds of SGD against the flow, entry by entry, at every time.

    align: first put the heads of each run in the order of ``align_heads``, recorded as permutation
    (seed, head); for runs that start apart. Runs from one start are compared as they are.

    For x in m (time, head, spike), R (time, head, other_head) and risk (time): x and x_error (the
    flow and its bound), x_mean and x_standard_error (over runs, ddof = 1; nan for fewer than two)
    and x_z = (x_mean - x) / sqrt(x_standard_error^2 + x_error^2). m_covariance (time, head,
    spike, other_spike) of the means gives the error of m along any axis. runs (time) is the
    number of runs that are finite at that time, left_out (time) that of the others: what is left
    is then the mean of the runs that did not diverge, and may differ from the flow for that
    reason alone. bound (time) is what all |z| stay below with probability 1 - alpha (Student's t
    for this number of runs, for all comparisons of all times together; nan for fewer than two).

    Runs are independent, one start each. Times of one run, and entries at one time, are not: the
    comparisons are correlated, for which the bound holds, on the safe side, while a long row of z
    of one sign is one deviation and not many. It takes the values over runs as normal, which is
    rough for few runs that leave a saddle at different times; and the flow is the limit of large
    D, so that at finite D a small difference is true. With few runs Student's t makes the bound
    wide (some 30 for six runs, 7 for thirty): agreement then says little.

    Where all runs agree up to rounding, as at a common start, there is nothing to estimate: z is
    0 if the flow agrees too, up to its error and rounding, infinite if not, and only the second
    is a comparison. An off-diagonal pair of R is one comparison. attrs: comparisons, largest_z,
    passed (1 if every |z| is within its bound and there is one at all), alpha, notes (JSON).

    Raises InputError unless both have the same times (up to rounding), heads and spikes, and for
    a flow that is not finite.
    """
    tau = _same_times(flow, sgd)
    if align:
        sgd = align_heads(sgd, flow)
    runs = {name: _values(sgd, name, seed=True) for name in SHAPES}
    flows = {name: _values(flow, name) for name in SHAPES}
    errors = {name: _values(flow, f"{name}_error", like=name) for name in SHAPES}
    for name in SHAPES:
        _same_shape(name, flows[name], runs[name])
        if not (np.all(np.isfinite(flows[name])) and np.all(errors[name] >= 0)):
            raise InputError(f"{name}: the flow must be finite with errors >= 0 at every time")
    there = np.array(
        [
            np.logical_and.reduce([_finite(x[seed]) for x in runs.values()])
            for seed in range(len(runs["m"]))
        ]
    )
    count = there.sum(0)
    data: dict[str, Any] = {"runs": ("time", count), "left_out": ("time", len(there) - count)}
    scores = []
    for name, dims in SHAPES.items():
        mean, error = mean_of_runs(runs[name], there)
        z = _z(mean, error, flows[name], errors[name])
        for part, values in {
            "": flows[name],
            "_error": errors[name],
            "_mean": mean,
            "_standard_error": error,
            "_z": z,
        }.items():
            data[name + part] = (dims, values)
        scores.append(_distinct(name, np.where((error > 0) | np.isinf(z), z, np.nan)))
    data["m_covariance"] = (
        ("time", "head", "spike", "other_spike"),
        _covariance(runs["m"], there, data["m_mean"][1]),
    )
    if align:
        data["permutation"] = (("seed", "head"), sgd["permutation"].values)
    flat = np.concatenate(scores, axis=1)
    counted = ~np.isnan(flat)
    comparisons = int(counted.sum())
    bound = np.array(
        [
            family_bound(comparisons, alpha, int(n)) if n > 1 and comparisons else math.nan
            for n in count
        ]
    )
    data["bound"] = ("time", bound)
    within = np.abs(flat) <= bound[:, None]
    return xr.Dataset(
        data,
        coords={"time": tau},
        attrs={
            "comparisons": comparisons,
            "largest_z": float(np.max(np.abs(flat[counted]))) if comparisons else math.nan,
            "passed": int(comparisons > 0 and bool(np.all(within[counted]))),
            "alpha": alpha,
            "notes": json.dumps(_notes(count, len(there))),
        },
    )


def along(comparison: xr.Dataset, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over runs and its standard error of m_h along ``axis`` (F,): two arrays (time, head)."""
    variance = np.einsum("f,thfg,g->th", axis, comparison["m_covariance"].values, axis)
    # Rounding can leave a variance of zero slightly negative.
    return comparison["m_mean"].values @ axis, np.sqrt(np.where(variance < 0, 0.0, variance))


def mean_of_runs(runs: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error of runs (seed, time, ...) over those that are ``there`` (seed, time).

    (time, ...) each; the error is nan for fewer than two runs, and 0 where all are equal.
    """
    mean, error = (np.full(runs.shape[1:], np.nan) for _ in range(2))
    for t, now in enumerate(there.T):
        values = runs[now, t]
        if len(values):
            # Runs that are equal have no spread; rounding would give them one.
            equal = np.ptp(values, axis=0) <= ROUNDING * (1 + np.abs(values[0]))
            mean[t] = np.where(equal, values[0], values.mean(0))
        if len(values) > 1:
            spread = np.where(equal, 0.0, values.std(0, ddof=1))
            error[t] = spread / math.sqrt(len(values))
    return mean, error


def _covariance(m: np.ndarray, there: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Covariance over spikes of the mean over runs, (time, head, spike, other_spike)."""
    found = np.full((*mean.shape, mean.shape[2]), np.nan)
    for t, now in enumerate(there.T):
        n = int(now.sum())
        if n > 1:
            apart = m[now, t] - mean[t]
            found[t] = np.einsum("nhf,nhg->hfg", apart, apart) / (n - 1) / n
    return found


def _z(mean: np.ndarray, error: np.ndarray, theory: np.ndarray, bound: np.ndarray) -> np.ndarray:
    total, difference = np.hypot(error, bound), mean - theory
    z = np.divide(difference, total, out=np.full_like(total, np.nan), where=total > 0)
    same = np.abs(difference) <= bound + ROUNDING * (1 + np.abs(theory))
    return np.where(error == 0, np.where(same, 0.0, np.copysign(np.inf, difference)), z)


def _distinct(name: str, z: np.ndarray) -> np.ndarray:
    """The z-scores of a quantity as (time, entries), each pair of heads once."""
    if name == "R":
        return z[:, *np.triu_indices(z.shape[1])]
    return z.reshape(len(z), -1)


def _notes(count: np.ndarray, seeds: int) -> list[str]:
    notes = []
    if count.min() < seeds:
        notes.append(
            f"as few as {count.min()} of {seeds} runs are finite at a time; the means are "
            "over those that are"
        )
    if count.max() < 2:
        notes.append("one run has no standard error: nothing was compared")
    return notes


def _permuted(variable: xr.DataArray, order: np.ndarray) -> xr.DataArray:
    for dim in ("head", "other_head"):
        if dim in variable.dims:
            moved = variable.transpose("seed", dim, ...)
            index = order.reshape(*order.shape, *[1] * (moved.ndim - 2))
            moved = moved.copy(data=np.take_along_axis(moved.values, index, axis=1))
            variable = moved.transpose(*variable.dims)
    return variable


def _values(data: xr.Dataset, name: str, *, seed: bool = False, like: str = "") -> np.ndarray:
    """The variable as an array in the order of SHAPES, runs first; InputError if it is not."""
    dims = ("seed",) * seed + SHAPES[like or name]
    if name not in data or set(data[name].dims) != set(dims):
        found = data[name].dims if name in data else "none"
        raise InputError(f"{name}: expected a variable with dimensions {dims}, got {found}")
    return np.asarray(data[name].transpose(*dims).values, dtype=float)


def _finite(values: np.ndarray) -> np.ndarray:
    return np.isfinite(values).reshape(len(values), -1).all(1)


def _same_times(flow: xr.Dataset, sgd: xr.Dataset) -> np.ndarray:
    for name, data in (("flow", flow), ("sgd", sgd)):
        require_dataset(name, data, "time")
    tau, other = times(flow["time"].values), times(sgd["time"].values)
    if tau.shape != other.shape or np.any(np.abs(tau - other) > ROUNDING * tau[-1]):
        raise InputError(
            f"time: the flow ({tau.size} times to {tau[-1]:.6g}) and the runs ({other.size} to "
            f"{other[-1]:.6g}) must have the same times; compute the flow at those of the runs"
        )
    return tau


def _same_shape(name: str, theory: np.ndarray, runs: np.ndarray) -> None:
    if runs.shape[1:] != theory.shape or len(runs) == 0:
        raise InputError(
            f"{name}: expected runs of the flow's shape {theory.shape}, got {runs.shape[1:]} in "
            f"{len(runs)} run(s)"
        )

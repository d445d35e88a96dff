"""Means over runs against SciPy, heads put in order, and comparisons that must and must not pass.

Seeds are fixed. A comparison with the right theory fails with probability below 1e-3; the
calibration test is a z-score held below 4 (false alarms 6e-5).
"""

import itertools
import json
import math

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from numerics.dynamics.averages import align_heads, along, compare
from numerics.errors import InputError
from numerics.statistics import family_bound

H, F = 5, 3
TAU = np.concatenate([[0.0], np.geomspace(0.2, 90, 6)])


def reference(times=TAU, heads=H, spikes=F, seed=4):
    """A generic trajectory: no zero overlap, R not diagonal."""
    rng = np.random.default_rng(seed)
    k = rng.standard_normal((heads, spikes + 4))
    growth = (0.1 + np.tanh(times))[:, None, None] * k
    m = growth[:, :, :spikes] + 0.3
    R = growth[:, :, spikes:] @ np.swapaxes(growth[:, :, spikes:], 1, 2) + m @ np.swapaxes(m, 1, 2)
    data = {
        "m": (("time", "head", "spike"), m),
        "R": (("time", "head", "other_head"), R),
        "risk": ("time", 0.8 - 0.1 * np.tanh(times)),
    }
    errors = {f"{name}_error": (dims, np.full(v.shape, 1e-4)) for name, (dims, v) in data.items()}
    return xr.Dataset(data | errors, coords={"time": times})


def runs(flow, seeds, spread=0.05, seed=0):
    """Runs around ``flow`` with normal, correlated deviations, of its law if the flow is right."""
    rng = np.random.default_rng(seed)
    data = {}
    for name in ("m", "R", "risk"):
        values = flow[name].values
        noise = spread * rng.standard_normal((seeds, *values.shape))
        # Times of one run are correlated, and R stays symmetric.
        noise[:, 1:] = 0.8 * noise[:, :-1] + 0.6 * noise[:, 1:]
        if name == "R":
            noise = (noise + np.swapaxes(noise, 2, 3)) / 2
        data[name] = (("seed", *flow[name].dims), values + noise)
    return xr.Dataset(data, coords={"time": flow["time"]})


def shuffled(sgd, order):
    """The heads of each run in another order, by plain loops."""
    m, R, beta = (sgd[name].values.copy() for name in ("m", "R", "beta"))
    for s, i in itertools.product(range(len(order)), range(order.shape[1])):
        m[s, :, i] = sgd["m"].values[s, :, order[s, i]]
        beta[s, :, i] = sgd["beta"].values[s, :, order[s, i]]
        for j in range(order.shape[1]):
            R[s, :, i, j] = sgd["R"].values[s, :, order[s, i], order[s, j]]
    return sgd.assign(m=(sgd["m"].dims, m), R=(sgd["R"].dims, R), beta=(sgd["beta"].dims, beta))


def with_beta(sgd):
    beta = np.random.default_rng(9).standard_normal(sgd["m"].shape[:3])
    return sgd.assign(beta=(("seed", "time", "head"), beta), loss=sgd["risk"] + 0.01)


# ---- heads in order


def test_shuffled_heads_are_put_back_on_every_axis():
    flow = reference()
    sgd = with_beta(runs(flow, 3))
    order = np.array([[2, 0, 4, 1, 3], [0, 1, 2, 3, 4], [4, 2, 3, 0, 1]])
    mixed = shuffled(sgd, order)
    back = align_heads(mixed, flow)
    for name in ("m", "R", "beta", "risk", "loss"):
        assert back[name].dims == sgd[name].dims
        assert np.array_equal(back[name].values, sgd[name].values)
    assert back["permutation"].dims == ("seed", "head")
    for s in range(3):
        assert order[s][back["permutation"].values[s]].tolist() == list(range(H))
    # Negative control: without the order the same runs disagree with the flow.
    assert compare(flow, runs(flow, 40)).attrs["passed"] == 1
    wrong = np.tile([1, 0, 2, 3, 4], (40, 1))
    turned = shuffled(with_beta(runs(flow, 40)), wrong)
    assert compare(flow, turned).attrs["passed"] == 0
    aligned = compare(flow, turned, align=True)
    assert aligned.attrs["passed"] == 1
    assert np.array_equal(aligned["permutation"].values, wrong)


def test_the_order_is_the_best_of_all_orders():
    flow = reference(heads=4)
    sgd = runs(flow, 4, spread=2.0)
    m, R = sgd["m"].values, sgd["R"].values
    found = align_heads(sgd, flow)["permutation"].values
    for s in range(4):
        costs = {}
        for order in itertools.permutations(range(4)):
            pick = list(order)
            costs[order] = np.sum((m[s][:, pick] - flow["m"].values) ** 2)
            for h, p in enumerate(pick):
                costs[order] += np.sum((R[s, :, p, p] - flow["R"].values[:, h, h]) ** 2)
        assert tuple(found[s]) == min(costs, key=costs.get)


def test_a_run_that_stopped_is_ordered_by_what_it_reached():
    flow = reference()
    sgd = with_beta(runs(flow, 2))
    order = np.array([[2, 0, 4, 1, 3], [1, 0, 2, 3, 4]])
    mixed = shuffled(sgd, order)
    for name in ("m", "R", "beta"):
        mixed[name][0, 3:] = math.nan
        mixed[name][1] = math.nan
    found = align_heads(mixed, flow)["permutation"].values
    assert order[0][found[0]].tolist() == found[1].tolist() == list(range(H))


# ---- averages


def test_means_and_errors_are_those_of_scipy():
    flow = reference()
    sgd = runs(flow, 7)
    found = compare(flow, sgd)
    for name in ("m", "R", "risk"):
        mean, error = sgd[name].mean("seed"), stats.sem(sgd[name].values, axis=0, ddof=1)
        assert found[f"{name}_mean"].values == pytest.approx(mean.values, rel=1e-12)
        assert found[f"{name}_standard_error"].values == pytest.approx(error, rel=1e-9)
        z = (mean - flow[name]) / np.sqrt(error**2 + flow[f"{name}_error"] ** 2)
        assert found[f"{name}_z"].values == pytest.approx(z.values, rel=1e-9)
    entries = H * F + H * (H + 1) // 2 + 1
    assert found.attrs["comparisons"] == TAU.size * entries
    bound = family_bound(found.attrs["comparisons"], 1e-3, 7)
    assert found["bound"].values == pytest.approx(np.full(TAU.size, bound), rel=1e-12)


def test_the_error_along_an_axis_is_that_of_the_projected_runs():
    flow = reference()
    sgd = runs(flow, 6)
    axis = np.array([0.6, -0.48, 0.64])
    mean, error = along(compare(flow, sgd), axis)
    projected = sgd["m"].values @ axis
    assert mean == pytest.approx(projected.mean(0), rel=1e-12)
    assert error == pytest.approx(stats.sem(projected, axis=0), rel=1e-9)


def test_the_order_of_dimensions_does_not_matter():
    flow, sgd = reference(), runs(reference(), 5)
    turned = sgd.transpose("head", "other_head", "spike", "time", "seed")
    assert compare(flow, turned).identical(compare(flow, sgd))
    assert align_heads(turned, flow)["permutation"].equals(align_heads(sgd, flow)["permutation"])


def test_right_theory_passes_and_fails_as_often_as_stated():
    flow = reference(times=np.array([0.5, 2.0]), heads=1, spikes=1)
    repeats, alpha = 400, 0.2
    failed = sum(
        1 - compare(flow, runs(flow, 4, spread=3.0, seed=s), alpha).attrs["passed"]
        for s in range(repeats)
    )
    # The two times are correlated, so that alpha is approached from below.
    z = (failed - alpha * repeats) / math.sqrt(repeats * alpha * (1 - alpha))
    assert z < 4
    assert failed > 0.4 * alpha * repeats


@pytest.mark.parametrize("name", ["m", "R", "risk"])
def test_a_wrong_theory_is_beyond_the_bound(name):
    flow = reference()
    sgd = runs(flow, 30)
    right = compare(flow, sgd)
    assert right.attrs["passed"] == 1
    assert right.attrs["largest_z"] < right["bound"].values.min()
    wrong = flow.copy(deep=True)
    step = 12 * float(right[f"{name}_standard_error"][3].values.max())
    wrong[name][(3, *[1] * (flow[name].ndim - 1))] += step
    found = compare(wrong, sgd)
    assert found.attrs["passed"] == 0
    assert found.attrs["largest_z"] > found["bound"].values.max()
    # An error of theory as large as the mistake excuses it.
    wrong[f"{name}_error"][3] = 12 * step
    assert compare(wrong, sgd).attrs["passed"] == 1


def test_one_run_has_no_error_and_proves_nothing():
    found = compare(reference(), runs(reference(), 1))
    for name in ("m", "R", "risk"):
        assert np.isfinite(found[f"{name}_mean"]).all()
        assert np.isnan(found[f"{name}_standard_error"]).all()
        assert np.isnan(found[f"{name}_z"]).all()
    assert np.isnan(found["bound"]).all() and np.isnan(found["m_covariance"]).all()
    assert (found.attrs["comparisons"], found.attrs["passed"]) == (0, 0)
    assert math.isnan(found.attrs["largest_z"])
    assert "nothing was compared" in json.loads(found.attrs["notes"])[0]


def test_diverged_runs_are_left_out_where_they_are_missing_and_counted():
    flow = reference()
    sgd = runs(flow, 6)
    # All of a run is left out where any of it is missing.
    sgd["m"][1, 4:, 2, 0] = math.nan
    sgd["risk"][3, 5:] = math.nan
    sgd["R"][[0, 2, 4], 6] = math.nan
    found = compare(flow, sgd)
    assert found["runs"].values.tolist() == [6, 6, 6, 6, 5, 4, 1]
    assert found["left_out"].values.tolist() == [0, 0, 0, 0, 1, 2, 5]
    kept = [0, 2, 4, 5]
    assert found["R_mean"][5].values == pytest.approx(sgd["R"][kept, 5].values.mean(0), rel=1e-12)
    assert np.isnan(found["m_z"][6]).all() and np.isnan(found["bound"][6])
    assert found["bound"][5] > found["bound"][4] > found["bound"][0]
    assert found.attrs["comparisons"] == 6 * (H * F + H * (H + 1) // 2 + 1)
    assert found.attrs["passed"] == 1
    assert "as few as 1 of 6" in json.loads(found.attrs["notes"])[0]


def test_a_common_start_is_no_evidence_unless_it_is_the_wrong_one():
    flow = reference()
    flow["R_error"][0] = flow["m_error"][0] = flow["risk_error"][0] = 0
    sgd = runs(flow, 7)
    for name in ("m", "R", "risk"):
        sgd[name][:, 0] = flow[name][0] * (1 + 3e-16)
        sgd[name][3, 0] *= 1 - 3e-16
    found = compare(flow, sgd)
    assert np.all(found["R_z"][0] == 0) and np.all(found["m_standard_error"][0] == 0)
    assert found.attrs["comparisons"] == (TAU.size - 1) * (H * F + H * (H + 1) // 2 + 1)
    assert found.attrs["passed"] == 1
    sgd["m"][:, 0, 2, 1] += 1e-6
    moved = compare(flow, sgd)
    assert moved["m_z"][0, 2, 1] == math.inf
    assert (moved.attrs["passed"], moved.attrs["largest_z"]) == (0, math.inf)
    assert moved.attrs["comparisons"] == found.attrs["comparisons"] + 1


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda flow, sgd: (flow.isel(time=slice(1, None)), sgd), "same times"),
        (lambda flow, sgd: (flow.assign_coords(time=1.001 * TAU), sgd), "same times"),
        (
            lambda flow, sgd: (flow, sgd.isel(head=slice(3), other_head=slice(3))),
            "m: expected runs",
        ),
        (lambda flow, sgd: (flow, sgd.isel(seed=[])), "in 0 run"),
        (lambda flow, sgd: (flow, sgd.isel(seed=0)), "seed"),
        (lambda flow, sgd: (flow.drop_vars("R"), sgd), "R: expected a variable"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(change, text):
    flow, sgd = change(reference(), runs(reference(), 3))
    for call in (lambda: compare(flow, sgd), lambda: align_heads(sgd, flow)):
        with pytest.raises(InputError, match=text) as refused:
            call()
        assert "\n" not in str(refused.value)


def test_a_flow_that_is_not_finite_or_a_negative_error_is_refused():
    flow, sgd = reference(), runs(reference(), 3)
    for name, value in (("m", math.nan), ("R_error", -1e-9), ("risk_error", math.nan)):
        broken = flow.copy(deep=True)
        broken[name][2] = value
        with pytest.raises(InputError, match="finite with errors"):
            compare(broken, sgd)
    with pytest.raises(InputError, match="alpha"):
        compare(flow, sgd, alpha=1.0)

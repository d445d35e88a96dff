"""Field cases of statistics: streams of random numbers, error bars, permuted heads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xarray as xr

import headflow as hf
from numerics.dynamics.averages import align_heads, mean_of_runs

PRIOR = hf.flipped_spikes([1.5], mean=[0.4])
FINAL = ("m", "R", "loss")


def trajectories(seeds, workers=1):
    return hf.simulate_sgd(
        "softmax", PRIOR, tokens=3, heads=2, dimension=200, learning_rate=1.0, time=0.3,
        seeds=seeds, seed=7, workers=workers, with_risk=False,
    )  # fmt: skip


def test_f19_runs_differ_and_depend_on_their_own_seed_only():
    four, eight = trajectories(4), trajectories(8)
    for name in FINAL:
        values = eight[name].values
        assert np.array_equal(values[:4], four[name].values, equal_nan=True)
        for i, j in itertools.combinations(range(8), 2):
            assert not np.array_equal(values[i, -1], values[j, -1])


def test_f19_the_number_of_workers_does_not_show():
    alone = trajectories(4)
    for workers in (2, 4):
        other = trajectories(4, workers)
        assert all(np.array_equal(alone[name], other[name], equal_nan=True) for name in FINAL)


def test_f20_errors_at_correlated_times_are_those_between_runs():
    """50 copies of one time add nothing: the error stays that of 16 runs."""
    once = np.random.default_rng(3).normal(0.4, 0.1, (16, 1))
    runs = np.repeat(once, 50, axis=1)
    mean, error = mean_of_runs(runs, np.ones(runs.shape, dtype=bool))
    assert mean == pytest.approx(np.full(50, once.mean()))
    assert error == pytest.approx(np.full(50, once.std(ddof=1) / 4))


def final_overlaps(*m):
    """Runs that end at the given alignments (H, F)."""
    m = np.repeat(np.array(m, dtype=float)[:, None], 2, axis=1)
    return xr.Dataset(
        {
            "m": (("seed", "time", "head", "spike"), m),
            "R": (("seed", "time", "head", "other_head"), m @ np.swapaxes(m, -1, -2)),
        },
        coords={"time": [1.0, 2.0]},
    )


def test_f30_permuted_heads_are_aligned_before_they_are_averaged():
    one, other = [[0.9, 0], [0, 0.9]], [[0, 0.9], [0.9, 0]]
    runs = final_overlaps(one, other)
    assert runs.m.mean("seed").values[0] == pytest.approx(np.full((2, 2), 0.45))
    aligned = align_heads(runs, runs.isel(seed=0))
    assert aligned.m.mean("seed").values[0] == pytest.approx(np.array(one))
    assert aligned.m.std("seed", ddof=1).values == pytest.approx(np.zeros((2, 2, 2)))
    assert aligned.permutation.values.tolist() == [[0, 1], [1, 0]]


def test_f30_equal_heads_are_flagged_as_an_invariant_set():
    # Heads that start as one vector stay one, although the risk falls where they part.
    prior = hf.flipped_spikes([2.0, 1.5], [0.9, 0.2])
    risk = hf.PopulationRisk("softmax", prior, 4)
    m0 = np.array([[0.4, -0.2], [0.4, -0.2], [-0.1, 0.3]])
    rest = np.array([[0.3, 0.3, 0.1], [0.3, 0.3, 0.1], [0.1, 0.1, 0.2]])
    flow = hf.gradient_flow(risk, m0, m0 @ m0.T + rest, [1.0, 8.0])
    assert flow.m.isel(head=0).values == pytest.approx(flow.m.isel(head=1).values, abs=1e-12)
    end = flow.isel(time=-1)
    (pair,) = hf.equal_heads(risk, end.m.values, end.R.values)
    assert pair.heads == (0, 1) and pair.eigenvalue < -pair.error
    assert "invariant set" in pair.told() and "unstable" in pair.told()
    # The same number out of the risk alone: heads moved apart along each axis, or beyond them all.
    k = np.linalg.cholesky(end.R.values - end.m.values @ end.m.values.T + 1e-13 * np.eye(3))
    weights = np.hstack([end.m.values, k, np.zeros((3, 1))])

    def at(step):
        moved = weights + np.array([step, -step, np.zeros_like(step)]) / np.sqrt(2)
        return risk(moved[:, :2], moved @ moved.T).value

    size, axes = 3e-3, np.eye(weights.shape[1])
    curvature = np.empty((len(axes), len(axes)))
    for i, one in enumerate(axes):
        for j, other in enumerate(axes):
            signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            values = [a * b * at(size * (a * one + b * other)) for a, b in signs]
            curvature[i, j] = sum(values) / (4 * size**2)
    assert pair.eigenvalue == pytest.approx(np.linalg.eigvalsh(curvature)[0], rel=1e-3)
    # Heads that only look alike in m are no such set.
    assert hf.equal_heads(risk, m0, m0 @ m0.T + np.diag([0.3, 0.3, 0.2])) == ()

# notation: eta learning rate; tau = steps * eta / D; m, R alignments and overlaps; E population
# risk; z a difference in units of its standard error.
"""Online SGD against gradient flow and against the equation with the learning-rate term.

Runs have fixed seeds and one common start. Every check is a z-score held to a bound that a right
theory passes but for ALPHA = 1e-4 of its draws, all entries of a check together (Sidak, Student's t
over the runs).
"""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from numerics.statistics import family_bound
from tests.numerics.test_dynamics import THREE, TOKENS

ALPHA = 1e-4
SEEDS = 48
DIMENSION = 1000
START = hf.random_start(2, 2, DIMENSION, 0.3)
# Each pair of close times is a window over which the loss is averaged.
WINDOWS = [(1.75, 2.0), (5.75, 6.0)]
TIMES = [0.0, 1.0, 1.75, 2.0, 4.0, 5.75, 6.0]
EARLY = 2.0
RATES = (0.5, 1.0, 2.0)


def flow(learning_rate, rtol):
    risk = hf.PopulationRisk("softmax", THREE, TOKENS)
    return hf.gradient_flow(risk, *START, TIMES, learning_rate, rtol=rtol, method="RK45")


def sgd(dimension, learning_rate, seed, times=TIMES, seeds=SEEDS, with_risk=True):
    return hf.simulate_sgd(
        "softmax",
        THREE,
        tokens=TOKENS,
        heads=2,
        dimension=dimension,
        learning_rate=learning_rate,
        time=times[-1],
        times=times,
        seeds=seeds,
        seed=seed,
        m0=START[0],
        R0=START[1],
        with_risk=with_risk,
    )


@pytest.fixture(scope="module")
def free():
    return flow(0.0, 1e-5)


@pytest.fixture(scope="module")
def noisy():
    return flow(2.0, 1e-4)


@pytest.fixture(scope="module")
def runs():
    """SGD at eta = 2 by dimension, of independent seeds."""
    return {D: sgd(D, 2.0, seed=D) for D in (DIMENSION, 2 * DIMENSION)}


def entries(data):
    """m and R (each pair of heads once) and risk after the start, one column an entry."""
    later = data.isel(time=slice(1, None))
    lead = later.m.shape[:-2]
    upper = later.R.values[..., *np.triu_indices(2)]
    return np.concatenate(
        [later.m.values.reshape(*lead, -1), upper, later.risk.values[..., None]], axis=-1
    )


def entry_errors(data):
    names = {name: data[f"{name}_error"] for name in ("m", "R", "risk")}
    return entries(data.assign(names))


def mean_and_error(values):
    return values.mean(0), values.std(0, ddof=1) / np.sqrt(len(values))


def extrapolated(values):
    """Mean and standard error of 2 x(2D) - x(D), which has no 1/D term left."""
    (one, one_error), (two, two_error) = (mean_and_error(values[D]) for D in sorted(values))
    return 2 * two - one, np.hypot(2 * two_error, one_error)


def largest(z):
    """The largest |z|, in units of the bound."""
    bound = family_bound(np.size(z), ALPHA, SEEDS)
    return float(np.max(np.abs(z))) / bound


# -- the learning-rate term ---------------------------------------------------------------------


def test_sgd_follows_the_equation_with_the_learning_rate_and_not_gradient_flow(free, noisy, runs):
    right = hf.compare(noisy, runs[DIMENSION], alpha=ALPHA)
    wrong = hf.compare(free, runs[DIMENSION], alpha=ALPHA)
    assert right.attrs["passed"] == 1, right.attrs["largest_z"]
    assert right.attrs["comparisons"] == (len(TIMES) - 1) * 8
    assert wrong.attrs["passed"] == 0
    assert wrong.attrs["largest_z"] > 10 * float(wrong.bound.max())


def test_without_its_first_order_in_one_over_d_sgd_is_the_equation(free, noisy, runs):
    """2 x(2D) - x(D): what is left is of order 1 / D^2, 1e-6 against errors near 1e-3."""
    mean, error = extrapolated({D: entries(data) for D, data in runs.items()})
    assert largest((mean - entries(noisy)) / np.hypot(error, entry_errors(noisy))) < 1
    assert largest((mean - entries(free)) / np.hypot(error, entry_errors(free))) > 10


def test_the_learning_rate_enlarges_overlaps(free, noisy, runs):
    """At eta = 2 and tau = 6 R is 1.7 times that of gradient flow here, where it starts at 0.09."""
    last = {D: data.R.values[:, -1] for D, data in runs.items()}
    traces = {D: np.trace(R, axis1=1, axis2=2) for D, R in last.items()}
    below = np.trace(free.R.values[-1])
    mean, error = (x / below for x in extrapolated(traces))
    expected = np.trace(noisy.R.values[-1]) / below
    # Errors of both flows are below a thousandth of theirs.
    slack = 2 * float(noisy.R_error[-1].max() + expected * free.R_error[-1].max()) / below
    assert error < 0.02 and slack < 0.01
    assert largest((mean - expected) / np.hypot(error, slack)) < 1
    assert mean - 5 * error > 1.5


def test_halving_the_learning_rate_halves_the_excess_of_overlaps_in_sgd(free):
    """Excess e of tr R at one tau, at D = 2000: e(1) / e(0.5) = 2 up to the second order in eta.

    With e = a eta + b eta^2 the runs at eta = 2 give b: (e(2) - 2 e(1)) / 2. z is then that of
    e(1) - 2 e(0.5) - b / 2, whose error is far above the flow's and terms of eta^3 and 1 / D.
    """
    below = float(np.trace(free.R.sel(time=EARLY)))
    mean, error = {}, {}
    for eta in RATES:
        data = sgd(2 * DIMENSION, eta, seed=round(10 * eta), times=[EARLY], with_risk=False)
        traces = np.trace(data.R.values[:, -1], axis1=1, axis2=2) - below
        mean[eta], error[eta] = mean_and_error(traces)
    bend = (mean[2.0] - 2 * mean[1.0]) / 4
    off = mean[1.0] - 2 * mean[0.5] - bend
    slack = np.linalg.norm([2 * error[0.5], 1.5 * error[1.0], error[2.0] / 4])
    assert largest(off / slack) < 1
    ratio = mean[1.0] / mean[0.5]
    spread = ratio * np.hypot(error[1.0] / mean[1.0], error[0.5] / mean[0.5])
    assert spread < 0.08
    # A ratio of sqrt(2) or of 4, were the term of another order in eta, is far away.
    assert largest((ratio - 2) / np.hypot(spread, bend / mean[0.5])) < 1
    for wrong in (np.sqrt(2), 4.0):
        assert largest((ratio - wrong) / spread) > 1


# -- the loss -----------------------------------------------------------------------------------


def surplus(data, scale=1.0):
    """Loss averaged over each window less the risk there, (run, window).

    A run's risk over a window of 0.25 is the mean of those at its ends, but for E'' / 200.
    """
    tau = data.time.values
    columns = []
    for first, last in WINDOWS:
        i, j = (int(np.flatnonzero(np.isclose(tau, t))[0]) for t in (first, last))
        assert j == i + 1
        risk = (data.risk.values[:, i] + data.risk.values[:, j]) / 2
        columns.append(data.loss.values[:, j] - scale * risk)
    return np.array(columns).T


def test_the_loss_of_a_sample_is_the_population_risk_up_to_one_over_d(runs):
    mean, error = extrapolated({D: surplus(data) for D, data in runs.items()})
    assert largest(mean / error) < 1
    # A risk a tenth higher is told apart.
    mean, error = extrapolated({D: surplus(data, 1.1) for D, data in runs.items()})
    assert largest(mean / error) > 1


# -- one run ------------------------------------------------------------------------------------


def test_one_run_has_no_z_score(noisy, runs):
    one = hf.compare(noisy, runs[DIMENSION].isel(seed=[0]))
    for name in ("m", "R", "risk"):
        assert np.all(np.isnan(one[f"{name}_z"].values[1:])), name
    assert np.isnan(one.attrs["largest_z"]) and np.all(np.isnan(one.bound))
    assert one.attrs["passed"] == 0 and one.attrs["comparisons"] == 0

# notation: m, R alignments and overlaps; tau = steps * eta / D; W Gram matrix of the tokens' rest.
"""Online SGD: two simulators that share no step, exact values, and the same bits in any order."""

from __future__ import annotations

import json

import numpy as np
import pytest

import headflow as hf
from headflow.store import kernels_for
from numerics.monte_carlo import Model, finite_dimension_risk
from numerics.sgd import advance as advancing
from numerics.sgd import plan as planning
from numerics.sgd import reduced, runner, simulate
from numerics.sgd.plan import Plan
from numerics.sgd.reduced import ReducedRuns
from numerics.sgd.runs import Runs
from numerics.sgd.start import starting_heads
from numerics.sgd.vectors import VectorRuns
from numerics.statistics import family_bound, sample_mean, z_score
from tests.points import PRIOR, random_point

# Each family of comparisons below is wrongly rejected once in a million.
ALPHA = 1e-6
LENGTHS = {2: 0.4, 5: 0.6}
FREE = {"bias": "norm+free", "gain": "free"}
SMALL = {"learning_rate": 1.5, "time": 1.0, "seeds": 5}


def kernels(name, **overrides):
    return kernels_for(hf.activation(name, **overrides))


def run(name="softmax-1-norm", dimension=40, tokens=3, heads=3, act=None, **options):
    m, R = random_point(heads, 2, 1)
    given = {"m0": m, "R0": R, **SMALL, **options}
    return simulate(kernels(name, **(act or {})), PRIOR, tokens, heads, dimension, **given)


@pytest.fixture
def short_blocks(monkeypatch):
    """Blocks of few steps, so that a short run has many."""
    for simulator in planning.BLOCK_NUMBERS:
        monkeypatch.setitem(planning.BLOCK_NUMBERS, simulator, 500)


def last(data):
    """All that was recorded last, one row a run."""
    names = [n for n in ("m", "R", "loss", "beta", "gain") if n in data]
    return np.concatenate(
        [data[n].values[:, -1].reshape(data.sizes["seed"], -1) for n in names], axis=1
    )


def largest_z(first, second):
    """The largest |z| of means and of variances of two samples (n, q), in units of its bound."""
    scores = []
    for one, other in (
        (first, second),
        ((first - first.mean(axis=0)) ** 2, (second - second.mean(axis=0)) ** 2),
    ):
        error = np.sqrt(one.var(axis=0, ddof=1) / len(one) + other.var(axis=0, ddof=1) / len(other))
        scores.append((one.mean(axis=0) - other.mean(axis=0)) / error)
    scores = np.concatenate(scores)
    return np.max(np.abs(scores)) / family_bound(scores.size, ALPHA)


CASES = {
    "softmax": dict(name="softmax", dimension=60, seeds=1000),
    "softmax-200": dict(name="softmax", dimension=200, time=0.5, seeds=500),
    "softmax-1-norm": dict(name="softmax-1-norm", dimension=60, batch=2, seeds=800),
    "softmax-1-norm-200": dict(name="softmax-1-norm", dimension=200, time=0.5, seeds=500),
    "bayes-softmax": dict(name="bayes-softmax", dimension=30, heads=2, tokens=5, seeds=800),
    "free": dict(
        name="softmax-1", act=FREE, tokens=LENGTHS, dimension=60, beta0=[0.3, -0.2, 0.1],
        gain0=0.8, batch=2, seeds=500,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_both_simulators_have_the_same_means_and_variances(case):
    both = [
        last(
            run(simulator=simulator, seed=seed, times=[CASES[case].get("time", 1.0)], **CASES[case])
        )
        for seed, simulator in enumerate(("reduced", "vectors"))
    ]
    assert largest_z(*both) < 1


def without_rest(rows):
    """A wrong step: what the tokens hold outside spikes and heads is dropped."""
    rows[..., rows.shape[1] :] = 0
    TURN(rows)


def with_half_the_rest(rows):
    rows[..., rows.shape[1] :] /= np.sqrt(2)
    TURN(rows)


TURN = reduced.turn


@pytest.mark.parametrize("wrong", [without_rest, with_half_the_rest])
def test_a_wrong_step_is_told_apart(monkeypatch, wrong):
    case = {**CASES["softmax"], "times": [1.0]}
    right = last(run(simulator="vectors", seed=1, **case))
    monkeypatch.setattr(reduced, "turn", wrong)
    assert largest_z(last(run(seed=0, **case)), right) > 2


def first_step_of_linear_attention(eta, D):
    """D E[m] and D E[R] after one step from zero with L = 2, F = H = 1, theta = 1.

    k = (2 eta / D^2) (|X_0|^2 X_0 + (X_0 . X_1) X_1), and |X_0|^2 is chi-square with D degrees of
    freedom and noncentrality 1, whose cumulants are known.
    """
    first, second, third = D + 1, 2 * (D + 2), 8 * (D + 3)
    squares = first**2 + second
    cubes = first**3 + 3 * first * second + third
    R = 4 * eta**2 / D**3 * (cubes + 2 * squares + (D + 2) * first)
    return 2 * eta * (1 + 4 / D), R


@pytest.mark.parametrize("simulator", ["reduced", "vectors"])
@pytest.mark.parametrize("dimension", [5, 20, 300])
def test_first_step_of_linear_attention_from_zero(simulator, dimension):
    eta, tau = 0.7, 0.7 / dimension
    data = simulate(
        kernels("linear", gain="sum"), hf.FiniteSupport([[1.0]], [1.0]), 2, 1, dimension,
        learning_rate=eta, time=tau, seeds=3000, m0=[[0.0]], R0=[[0.0]], simulator=simulator,
        times=[tau], seed=3,
    )  # fmt: skip
    exact = first_step_of_linear_attention(eta, dimension)
    for name, value in zip(("m", "R"), exact, strict=True):
        mean = sample_mean(dimension * data[name].values.ravel())
        assert abs(z_score(name, value, 0.0, mean).z) < family_bound(2, ALPHA)


def test_first_step_of_linear_attention_has_its_limit():
    limits = first_step_of_linear_attention(0.7, 1e6)
    assert limits == pytest.approx((2 * 0.7, 4 * 0.7**2), rel=2e-5)


@pytest.mark.parametrize("name", ["softmax", "softmax-1-norm", "erf"])
def test_mean_step_is_the_drift_of_the_flow(name):
    """At D = 1e6 what is left of the O(1/D) correction is far below the standard error."""
    D, eta, seeds = 10**6, 0.9, 3000
    m, R = random_point(3, 2, 1)
    data = run(name, D, tokens=4, learning_rate=eta, time=eta / D, seeds=seeds, times=[eta / D])
    slope = hf.PopulationRisk(name, PRIOR, tokens=4).gradient(m, R)
    drift = kernels(name).drift_m(slope.m, slope.R, m)
    steps = (data.m.values[:, 0] - m) * (D / eta)
    error = steps.std(axis=0, ddof=1) / np.sqrt(seeds)
    z = (steps.mean(axis=0) - drift) / error
    assert np.max(np.abs(z)) < family_bound(z.size, ALPHA)


def plan(name="softmax-1", simulator="reduced", heads=3, tokens=4, dimension=30, act=FREE, **kw):
    options = dict(learning_rate=1.3, time=1.0, times=None, batch=1, simulator=simulator, seed=2)
    return Plan.of(kernels(name, **act), PRIOR, tokens, heads, dimension, **{**options, **kw})


def starting(plan, seeds=3):
    heads = starting_heads(plan, seeds, *random_point(plan.heads, 2, 1))
    return Runs.starting(heads, np.linspace(-0.3, 0.4, plan.heads), 0.8)


def test_reduced_step_is_the_update_of_alignments_and_overlaps():
    """Against the generated along_spikes, along_rest and beyond, with W the Gram matrix."""
    one = plan()
    runs = ReducedRuns(one, starting(one))
    runs.draw([one.stream(i, 0) for i in range(3)], 1)
    tokens, F = runs.tokens[:, 0].copy(), 2
    before = runs.heads[..., : one.frame].copy()
    delta = runs._backward(tokens, runs.sizes[:, 0])[0].copy()
    runs.step(0)
    parts, k = (tokens[..., :F], tokens[..., F : one.frame]), one.kernels
    rest = tokens[..., one.frame :]
    m = before[..., :F] - one.rate * k.along_spikes(delta, parts[0], before[..., :F])
    q = before[..., F:] - one.rate * k.along_rest(delta, parts[1], before[..., F:])
    outside = one.rate**2 * k.beyond(delta, rest @ np.swapaxes(rest, 1, 2))
    R = m @ np.swapaxes(m, 1, 2) + q @ np.swapaxes(q, 1, 2) + outside
    assert runs.heads[..., :F] == pytest.approx(m, rel=1e-13, abs=1e-15)
    assert runs.R == pytest.approx(R, rel=1e-12, abs=1e-14)
    assert np.all(runs.heads[..., one.frame :] == 0)


def test_vector_step_is_the_gradient_by_finite_differences():
    """Of |y - yhat|^2 / D written from its definition, by heads, biases and gain."""
    one = plan(simulator="vectors", dimension=11)
    runs = VectorRuns(one, starting(one))
    runs.draw([one.stream(i, 0) for i in range(3)], 1)
    X, D, run = runs.X[1, 0, 0] if runs.X.shape[0] == 3 else runs.X[0, 1, 0], one.dimension, 1
    at = [array[run].copy() for array in runs.state]

    def loss(heads, beta, gain):
        logits = X @ heads.T + one.kernels.bias(heads @ heads.T, beta)
        weights = gain * one.kernels.attention(logits).sum(axis=1)
        return np.sum((X[0] - weights @ X) ** 2) / D

    losses = runs.step(0)
    assert losses[0, run] == pytest.approx(loss(*at), rel=1e-12)
    for which, array in enumerate(at):
        for place in np.ndindex(np.shape(array)):
            sides = []
            for sign in (1, -1):
                moved = [np.array(a) for a in at]
                moved[which][place] += sign * 1e-5
                sides.append(loss(*moved))
            slope = (sides[0] - sides[1]) / 2e-5
            change = runs.state[which][run][place] - array[place]
            assert change == pytest.approx(-one.rate * slope, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("simulator", ["reduced", "vectors"])
def test_runs_start_at_what_is_given_and_lose_what_heads_there_lose(simulator):
    m, R = random_point(3, 2, 1)
    # At this rate heads stay where they are, so that every sample has the same law.
    data = run(
        simulator=simulator,
        learning_rate=1e-9,
        time=4e-8,
        times=[0.0, 4e-8],
        seeds=4,
        tokens=LENGTHS,
    )
    assert data.m.values[:, 0] == pytest.approx(np.repeat(m[None], 4, axis=0), abs=1e-14)
    assert data.R.values[:, 0] == pytest.approx(np.repeat(R[None], 4, axis=0), abs=1e-14)
    assert np.all(np.isnan(data.loss.values[:, 0]))
    model = Model.of(kernels("softmax-1-norm"), PRIOR, LENGTHS, 3)
    exact = finite_dimension_risk(model, m, R, dimension=40, samples=8000, seed=1).single
    losses, errors = data.loss.values[:, 1], data.loss_error.values[:, 1]
    z = (losses - exact.mean) / np.hypot(errors, exact.standard_error)
    assert np.max(np.abs(z)) < family_bound(4, ALPHA)


def test_heads_drawn_at_random_are_normal_vectors():
    """D k k^T is Wishart_H(D) and sqrt(D) m normal: means and variances of all entries."""
    D, seeds, H = 12, 4000, 3
    one = plan(heads=H, tokens=2, dimension=D)
    rng = np.random.default_rng(0)
    samples = []
    for heads in (
        starting_heads(one, seeds, None, None),
        rng.standard_normal((seeds, H, D)) / np.sqrt(D),
    ):
        R = heads @ np.swapaxes(heads, 1, 2)
        samples.append(np.hstack([heads[..., :2].reshape(seeds, -1), R.reshape(seeds, -1)]))
    assert largest_z(*samples) < 1


@pytest.mark.parametrize("simulator", ["reduced", "vectors"])
def test_heads_that_are_equal_stay_equal_and_more_heads_than_tokens_start_at_zero(simulator):
    m = np.array([[0.4, -0.2]] * 2)
    R = m @ m.T + 0.3
    data = run("softmax", heads=2, m0=m, R0=R, simulator=simulator)
    assert data.status == "complete"
    assert np.ptp(data.m.values, axis=2).max() < 1e-13
    assert np.ptp(data.R.values, axis=(2, 3)).max() < 1e-12
    zero = run(
        "erf", heads=5, tokens=2, m0=np.zeros((5, 2)), R0=np.zeros((5, 5)), simulator=simulator
    )
    assert zero.status == "complete"
    assert np.all(np.isfinite(zero.R)) and float(zero.R[0, -1, 0, 0]) > 0


def assert_same_bits(one, other, *, runs=None):
    for name in one.data_vars:
        assert np.array_equal(one[name].values[:runs], other[name].values[:runs], equal_nan=True), (
            name
        )


@pytest.mark.parametrize("simulator", ["reduced", "vectors"])
@pytest.mark.parametrize(
    "options",
    [
        dict(name="softmax"),
        dict(name="bayes-softmax", batch=2),
        dict(name="softmax-1", act=FREE, tokens=LENGTHS, batch=2, beta0=[0.3, -0.2, 0.1],
             gain0=0.8),
        dict(name="erf", heads=1),
    ],
    ids=["softmax", "bayes-softmax", "free", "one-head"],
)  # fmt: skip
def test_bits_do_not_depend_on_the_group_or_on_further_seeds(
    monkeypatch, short_blocks, simulator, options
):
    results = {}
    for size in (1, 2, 3, 8):
        monkeypatch.setattr(runner, "GROUP", size)
        results[size] = run(simulator=simulator, **{**options, "seeds": 8})
    for size in (1, 2, 3):
        assert_same_bits(results[size], results[8])
    assert_same_bits(run(simulator=simulator, **{**options, "seeds": 5}), results[8], runs=5)


def test_bits_do_not_depend_on_workers(short_blocks):
    results = [run(workers=workers, m0=None, R0=None) for workers in (1, 2, 4)]
    for other in results[1:]:
        assert_same_bits(results[0], other)
    assert results[0].attrs == results[1].attrs


class Interrupt:
    """Asks to stop at the ``count``-th report of progress."""

    def __init__(self, count):
        self.left = count

    def __call__(self, done, total):
        assert 0 < done <= total
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_a_checkpoint_before_all_groups_have_moved(monkeypatch, short_blocks, tmp_path):
    """Heads that have not moved have fewer coordinates than those in R^D that have."""
    monkeypatch.setattr(runner, "GROUP", 2)
    path = tmp_path / "sgd.npz"
    part = run(checkpoint=path, progress=Interrupt(1), simulator="vectors")
    assert part.status.startswith("interrupted at tau = 0") and path.exists()
    assert_same_bits(run(checkpoint=path, simulator="vectors"), run(simulator="vectors"))


@pytest.mark.parametrize(("simulator", "workers"), [("reduced", 1), ("vectors", 1), ("reduced", 2)])
def test_interrupted_runs_are_returned_and_resume_to_the_same_bits(
    monkeypatch, short_blocks, tmp_path, simulator, workers
):
    monkeypatch.setattr(runner, "TASK_SECONDS", 0.0)
    monkeypatch.setattr(runner, "GROUP", 2)
    options = dict(simulator=simulator, time=3.0, heads=2)
    path = tmp_path / "sgd.npz"
    part = run(checkpoint=path, progress=Interrupt(5), workers=workers, **options)
    assert part.status.startswith("interrupted at tau = ") and path.exists()
    assert np.isfinite(part.m.values[:, 0]).all() and np.isnan(part.m.values[:, -1]).any()
    with pytest.raises(hf.InputError, match="checkpoint: .* belongs to another run") as error:
        run(checkpoint=path, seed=7, **options)
    assert "\n" not in str(error.value)
    resumed = run(checkpoint=path, **options)
    assert resumed.status == "complete" and not path.exists()
    assert list(tmp_path.iterdir()) == []
    whole = run(**options)
    assert_same_bits(resumed, whole)
    done = np.isfinite(part.m.values)
    assert np.array_equal(part.m.values[done], whole.m.values[done])


@pytest.mark.parametrize("simulator", ["reduced", "vectors"])
def test_a_run_that_left_all_bounds_stops_and_the_others_go_on(simulator):
    m, R = random_point(3, 2, 1)
    options = dict(name="linear", seeds=3, simulator=simulator, learning_rate=0.3)
    whole = run(**options)
    scale = np.array([1.0, 1e7, 1.0])[:, None, None]
    data = run(m0=scale * m, R0=scale**2 * R, **options)
    tau = float(data.time[1])
    assert np.array_equal(data.stopped_at.values, [np.nan, tau, np.nan], equal_nan=True)
    assert data.status == f"1 of 3 runs diverged, the first at tau = {tau:.6g}"
    for name in ("m", "R", "loss", "loss_error"):
        assert np.isnan(data[name].values[1, 1:]).all(), name
        others = data[name].values[[0, 2]], whole[name].values[[0, 2]]
        assert np.array_equal(*others, equal_nan=True), name


@pytest.mark.parametrize("simulator", ["reduced", "vectors"])
def test_divergence_at_a_large_learning_rate_is_told(simulator):
    data = run("linear", simulator=simulator, learning_rate=30.0, time=200.0)
    tau = data.stopped_at.values
    assert np.isfinite(tau).all() and np.ptp(tau) > 0
    assert data.status == f"5 of 5 runs diverged, the first at tau = {tau.min():.6g}"
    late = data.time.values >= tau[:, None]
    for name in ("m", "R", "loss"):
        assert np.isnan(data[name].values[late]).all(), name
    assert np.isfinite(data.m.values[~late]).all()


def test_dataset_says_what_it_is():
    data = run(
        "softmax-1", act=FREE, beta0=[0.3, -0.2, 0.1], gain0=0.8, times=[0.0, 0.32, 1.0],
        configuration={"version": "x"},
    )  # fmt: skip
    assert data.m.dims == ("seed", "time", "head", "spike")
    assert data.R.dims == ("seed", "time", "head", "other_head")
    assert data.beta.dims == ("seed", "time", "head") and data.gain.dims == ("seed", "time")
    assert data.time.values == pytest.approx(1.5 / 40 * np.array([0, 9, 27]), rel=1e-15)
    assert data.beta.values[:, 0] == pytest.approx(np.tile([0.3, -0.2, 0.1], (5, 1)))
    for variable in [*data.data_vars.values(), *data.coords.values()]:
        assert variable.attrs["long_name"] and variable.attrs["units"]
    said = json.loads(data.attrs["configuration"])
    assert said["version"] == "x" and said["prior"] == PRIOR.describe() and said["gain0"] == 0.8
    assert said["activation"] == kernels("softmax-1", **FREE).DEFINITION
    default = run()
    assert default.sizes["time"] <= 61 and default.time.values[0] == 0.0
    assert float(default.time[-1]) == pytest.approx(27 * 1.5 / 40)
    # One sample says nothing about its own spread.
    assert np.isnan(default.loss_error.values[:, 1]).all()
    assert np.isfinite(default.loss.values[:, 1]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(dimension=7), "dimension: expected at least F + H + batch * L = 8, got 7"),
        (dict(dimension=9, tokens=LENGTHS), "= 10, got 9"),
        (dict(dimension=10, batch=2), "= 11, got 10"),
        (dict(learning_rate=0.0), "learning_rate: expected a number > 0"),
        (dict(time=-1.0), "time: expected a number > 0"),
        (dict(time=1e-9), "time: expected at least one step"),
        (dict(seeds=0), "seeds: expected an integer >= 1"),
        (dict(workers=0), "workers: expected an integer >= 1"),
        (dict(seed=-1), "seed: expected an integer >= 0"),
        (dict(simulator="exact"), "simulator: expected 'reduced' or 'vectors', got 'exact'"),
        (dict(times=[0.5, 0.2]), "times: expected increasing numbers between 0 and time = 1"),
        (dict(times=[0.0, 1.2]), "times: expected increasing numbers between 0 and time = 1"),
        (dict(times=[0.5, 0.501]), "times: two of them share a step"),
        (dict(R0=None), "m0, R0: give both"),
        (dict(R0=np.zeros((3, 3))), "m0, R0: R - m m^T: must be positive semidefinite"),
        (dict(m0=np.zeros((2, 2)), R0=np.eye(2)), "m0: expected 3 rows"),
        (dict(m0=np.zeros((4, 3, 2)), R0=np.zeros((4, 3, 3))), "for all 5 seeds, got 4 and 4"),
        (dict(beta0=[0.0] * 3), "beta0: this activation has no free bias"),
        (dict(gain0=1.0), "gain0: this activation has a fixed gain"),
        (dict(name="softmax-1", act=FREE, beta0=[0.0] * 3), "gain0: this activation needs a gain"),
        (dict(name="softmax-1", act=FREE, gain0=1.0), "beta0: this activation needs free biases"),
    ],
)
def test_bad_input_is_refused_in_one_line(monkeypatch, options, message):
    monkeypatch.setattr(advancing, "_advance", None)
    with pytest.raises(hf.InputError) as error:
        run(**options)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_score_that_jumps_is_refused():
    jump = kernels_for(hf.Activation("jump", score="step(x)", scope="none", normalizer=None))
    with pytest.raises(hf.InputError, match="jumps"):
        simulate(jump, PRIOR, 3, 2, 40)

"""Gradient flow: against explicit weights, its energy identity, small starts, stops, resuming."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
import numerics.dynamics.vector_field
from numerics.checkpoint import Checkpoint
from numerics.dynamics.state import Packing, State
from tests.points import PRIOR, random_point

DIMENSION = 30
MINE = hf.Activation("softplus-1", score="log(1+exp(x))", offset=1, bias="norm")
TRAINED = hf.activation("softmax-1", bias="norm+free", gain="free")
BETA0, GAIN0 = np.array([0.2, -0.4]), 0.7


def _start(heads: int = 2, seed: int = 3, scale: float = 0.4):
    return random_point(heads, 2, seed, scale)


def _free(act) -> dict:
    return {"beta0": BETA0, "gain0": GAIN0} if act is TRAINED else {}


# -- against gradient descent on explicit weights -----------------------------------------------


def _weights(m, R, rng):
    """Heads and orthonormal spikes in R^30 with the given m and R, in no special direction."""
    frame = np.linalg.qr(rng.normal(size=(DIMENSION, m.shape[1] + len(m))))[0].T
    spikes, rest = frame[: m.shape[1]], frame[m.shape[1] :]
    return m @ spikes + np.linalg.cholesky(R - m @ m.T) @ rest, spikes


@pytest.mark.parametrize(
    "act", ["softmax", "softmax-1", "softmax-1-norm", "bayes-softmax", MINE, TRAINED], ids=str
)
def test_explicit_weights(act):
    """k in R^30 moves against finite differences of the risk in every one of its entries."""
    m, R = _start()
    risk = hf.PopulationRisk(act, PRIOR, tokens=3, rtol=1e-6)
    k, spikes = _weights(m, R, np.random.default_rng(11))
    first = np.concatenate([k.ravel(), *map(np.atleast_1d, _free(act).values())])
    step = 1e-3

    def value(w):
        heads, rest = w[: k.size].reshape(k.shape), w[k.size :]
        free = {"beta": rest[:2], "gain": rest[2]} if rest.size else {}
        return risk(heads @ spikes.T, heads @ heads.T, **free).value

    def descend(w):
        slope = np.empty(w.size)
        for i in range(w.size):
            shift = np.zeros(w.size)
            shift[i] = step
            slope[i] = (value(w + shift) - value(w - shift)) / (2 * step)
        return -slope

    end, w = 0.25, first
    for _ in range(2):  # Runge and Kutta's steps of 0.125: their error is near 1e-6
        a = descend(w)
        b = descend(w + end / 4 * a)
        c = descend(w + end / 4 * b)
        d = descend(w + end / 2 * c)
        w = w + end / 12 * (a + 2 * b + 2 * c + d)
    heads, rest = w[: k.size].reshape(k.shape), w[k.size :]
    flow = hf.gradient_flow(risk, m, R, [end], rtol=1e-7, **_free(act)).isel(time=0)
    # What the differences leave; everything has moved by a thousand times as much.
    tolerance = 1e-5
    assert float(np.abs(flow.m - m).max()) > 1e-2
    assert flow.m.values == pytest.approx(heads @ spikes.T, abs=tolerance)
    assert flow.R.values == pytest.approx(heads @ heads.T, abs=tolerance)
    if act is TRAINED:
        assert flow.beta.values == pytest.approx(rest[:2], abs=tolerance)
        assert float(flow.gain) == pytest.approx(rest[2], abs=tolerance)


# -- energy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["softmax", "bayes-softmax", "erf", TRAINED], ids=str)
def test_the_risk_falls_by_the_squared_gradient(act):
    m, R = _start(heads=2, seed=8)
    risk = hf.PopulationRisk(act, PRIOR, tokens=5)
    s = 1e-2
    middle = np.array([0.3, 1.0, 3.0, 9.0])
    times = np.sort(np.concatenate([middle + i * s for i in range(-2, 3)]))
    flow = hf.gradient_flow(risk, m, R, times, rtol=1e-8, **_free(act))
    values, slack = flow.risk.values, flow.risk_error.values
    assert np.all(np.diff(values) <= slack[1:] + slack[:-1])
    far, near = values[4::5] - values[0::5], values[3::5] - values[1::5]
    slope = (8 * near - far) / (12 * s)
    # Rounding and quadrature of the risk, divided by the step.
    assert slope == pytest.approx(-flow.dissipation.values[2::5], rel=1e-5, abs=1e-7)


def test_twice_the_drift_breaks_the_energy_identity():
    """Negative control: the identity holds for the right gradient only."""
    m, R = _start(seed=8)
    risk = hf.PopulationRisk("softmax", PRIOR, tokens=5)
    flow = hf.gradient_flow(risk, m, R, [0.99, 1.0, 1.01], rtol=1e-8)
    slope = float(flow.risk[2] - flow.risk[0]) / 0.02
    wrong = 2 * float(flow.dissipation[1])
    assert slope != pytest.approx(-wrong, rel=0.1)


# -- small starts and errors --------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-8, 1e-3])
def test_a_small_start_grows_at_the_rate_of_its_spike(size):
    """softmax at the origin, mean 0: heads split at rate (2/H) V (L-1)(L-2) / L^3 for variance V,
    and move together at rate -(2/H) (L-1)(L - (L-3) V) / L^3."""
    L, H = 5, 2
    prior = hf.flipped_spikes([2.0, 1.5])
    m = size * np.array([[1.0, 0.4], [-0.3, 0.7]])
    end = 5.0
    flow = hf.gradient_flow(hf.PopulationRisk("softmax", prior, L), m, 2 * m @ m.T, [end])
    V = np.array([4.0, 2.25])
    split = np.exp(2 / H * V * (L - 1) * (L - 2) / L**3 * end)
    common = np.exp(-2 / H * (L - 1) * (L - (L - 3) * V) / L**3 * end)
    end_m = flow.m.values[0]
    # Corrections are of the square of the size, here below 1e-4 of the growth.
    assert (end_m[0] - end_m[1]) / (m[0] - m[1]) == pytest.approx(split, rel=1e-4)
    assert (end_m[0] + end_m[1]) / (m[0] + m[1]) == pytest.approx(common, rel=1e-4)
    assert np.all(flow.m_error.values < 1e-3 * size * split)


def test_the_stated_error_holds_against_a_far_finer_run():
    m, R = _start(seed=4, scale=0.2)
    risk = hf.PopulationRisk("softmax", PRIOR, tokens=5)
    times = np.geomspace(0.1, 60, 25)
    rough = hf.gradient_flow(risk, m, R, times, rtol=1e-4)
    fine = hf.gradient_flow(risk, m, R, times, rtol=1e-9)
    for name in ("m", "R", "risk", "dissipation"):
        distance = np.abs(rough[name] - fine[name])
        assert np.all(distance <= rough[f"{name}_error"] + fine[f"{name}_error"]), name
    # and says something: it is not far above the truth
    assert float(rough.m_error.max()) < 1e-2


def test_overlaps_beyond_the_spikes_stay_physical():
    m, _ = _start(seed=6)
    risk = hf.PopulationRisk("softmax", PRIOR, tokens=5)
    flow = hf.gradient_flow(risk, m, m @ m.T, [0.0, 5.0, 50.0])
    # R = m m^T at the start: nothing is beyond the spikes, and nothing comes.
    gap = flow.R.values - flow.m.values @ np.swapaxes(flow.m.values, 1, 2)
    assert np.abs(gap).max() < 1e-15
    assert np.abs(flow.rest_eigenvalue.values).max() == 0


# -- the learning-rate term ---------------------------------------------------------------------


def test_halving_the_learning_rate_halves_the_excess_of_overlaps():
    m, R = _start(seed=9)
    risk = hf.PopulationRisk("softmax", PRIOR, tokens=3)

    def at(eta):
        return hf.gradient_flow(risk, m, R, [2.0], eta, rtol=1e-7).isel(time=0)

    free, half, full = at(0.0), at(0.02), at(0.04)
    small, large = half.R.values - free.R.values, full.R.values - free.R.values
    # The second order in eta is about a hundredth of the first here.
    assert large / small == pytest.approx(2.0, abs=0.05)
    assert np.all(np.diag(small) > 10 * half.R_error.max().item())


def test_sgd_from_exactly_zero():
    """Heads at 0 gain overlaps from the first step on: R = eta Sigma tau to first order."""
    risk = hf.PopulationRisk("linear", hf.flipped_spikes([1.0]), tokens=2)
    tau = 1e-3
    flow = hf.gradient_flow(risk, np.zeros((1, 1)), np.zeros((1, 1)), [tau], 0.5, rtol=1e-5)
    # delta = -2 [1, 0] at zero logits, so that Sigma = 4.
    assert float(flow.R[0, 0, 0]) == pytest.approx(4 * 0.5 * tau, rel=5e-2)
    assert flow.attrs["status"] == "complete"


def test_a_mini_batch_divides_the_learning_rate_term():
    m, R = _start(seed=9)
    risk = hf.PopulationRisk("softmax-1-norm", PRIOR, tokens=3)
    one = hf.gradient_flow(risk, m, R, [1.0], 0.5, rtol=1e-5)
    batch = hf.gradient_flow(risk, m, R, [1.0], 2.0, batch=4, rtol=1e-5)
    assert batch.R.values == pytest.approx(one.R.values, abs=1e-12)


# -- stops, resuming, input ---------------------------------------------------------------------


def test_a_trajectory_that_blows_up_keeps_what_it_has():
    m, R = _start()
    risk = hf.PopulationRisk(hf.activation("linear", gain="sum"), PRIOR, tokens=3)
    flow = hf.gradient_flow(risk, m, R, [0.0, 0.001, 1.0, 5.0], 200.0, rtol=1e-4)
    assert flow.attrs["status"].startswith("stopped at tau = ")
    assert "complete" not in flow.attrs["status"]
    assert np.all(np.isfinite(flow.m[:2])) and np.all(np.isnan(flow.m[-1]))
    assert np.all(np.isnan(flow.risk[-1])) and np.isnan(flow.error[-1])


def test_heads_that_outgrow_the_grid_go_on_by_points(monkeypatch):
    """Few enough nodes at the start, too many later: the flow is the same within both errors."""
    risk = hf.PopulationRisk("bayes-softmax", hf.flipped_spikes([2.5], [0.4]), 3)
    m = np.array([[0.3], [-0.2]])
    flows = []
    for most in (numerics.dynamics.vector_field.MOST_GRID_NODES, 20):
        monkeypatch.setattr(numerics.dynamics.vector_field, "MOST_GRID_NODES", most)
        flows.append(hf.gradient_flow(risk, m, m @ m.T, [1.5], rtol=1e-3, method="RK45"))
    grid, points = flows
    assert grid.method.endswith("quadrature") and points.method.endswith("Sobol points")
    assert abs(grid.risk - points.risk).item() <= (grid.risk_error + points.risk_error).item()


def test_a_run_that_was_cut_off_goes_on(tmp_path):
    m, R = _start(seed=2, scale=0.1)
    risk = hf.PopulationRisk("softmax", PRIOR, tokens=5)
    times = np.geomspace(0.5, 30, 7)
    whole = hf.gradient_flow(risk, m, R, times)
    kept = tmp_path / "flow.part"
    calls = 0

    def interrupt(share):
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hf.gradient_flow(risk, m, R, times, checkpoint=kept, progress=interrupt)
    assert list(tmp_path.iterdir())
    with pytest.raises(hf.InputError, match="belongs to another run"):
        hf.gradient_flow(risk, m, R, times, rtol=1e-5, checkpoint=kept)
    resumed = hf.gradient_flow(risk, m, R, times, checkpoint=kept)
    assert resumed.identical(whole)
    assert not list(tmp_path.iterdir())


def test_two_processes_give_the_same_bits():
    m, R = _start(seed=2, scale=0.1)
    risk = hf.PopulationRisk(MINE, PRIOR, tokens=3)
    one, two = (hf.gradient_flow(risk, m, R, [1.0, 4.0], workers=n) for n in (1, 2))
    assert one.identical(two)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"m0": [[2.0, 0.0]], "R0": [[1.0]]}, "positive semidefinite"),
        ({"times": [1.0, 0.5]}, "times: expected increasing"),
        ({"times": []}, "times: expected increasing"),
        ({"times": [-1.0]}, "times: expected increasing"),
        ({"learning_rate": -0.1}, "learning_rate: expected a number >= 0"),
        ({"learning_rate": float("nan")}, "learning_rate: expected"),
        ({"batch": 0}, "batch: expected an integer >= 1"),
        ({"rtol": 1e-14}, "rtol: expected"),
        ({"method": "Radau"}, "method: expected one of DOP853, RK45"),
        ({"beta0": [0.0]}, "beta0: this activation has no free bias"),
    ],
)
def test_bad_input_is_one_line(changes, message):
    risk = hf.PopulationRisk("softmax", PRIOR, tokens=3)
    given = {"m0": [[0.1, 0.2]], "R0": [[1.0]], "times": [1.0], **changes}
    with pytest.raises(hf.InputError, match=message) as caught:
        hf.gradient_flow(risk, **given)
    assert "\n" not in str(caught.value)


def test_activations_without_a_flow_say_so():
    step = hf.PopulationRisk(hf.Activation("jump", score="step(x)", scope="none"), PRIOR, tokens=3)
    with pytest.raises(hf.InputError, match="jumps"):
        hf.gradient_flow(step, [[0.1, 0.2]], [[1.0]], [1.0], 0.5)
    kinked = hf.PopulationRisk(
        hf.Activation("kink", score="relu(x)", scope="heads", offset=1), PRIOR, tokens=3
    )
    with pytest.raises(hf.InputError, match="kink"):
        hf.gradient_flow(kinked, [[0.1, 0.2]], [[1.0]], [1.0])
    free = hf.PopulationRisk(TRAINED, PRIOR, tokens=3)
    with pytest.raises(hf.InputError, match="beta0: this activation needs free biases"):
        hf.gradient_flow(free, [[0.1, 0.2]], [[1.0]], [1.0])
    with pytest.raises(hf.InputError, match="gain0"):
        hf.gradient_flow(free, [[0.1, 0.2]], [[1.0]], [1.0], beta0=[0.1])


def test_packing_returns_what_was_packed():
    m, R = _start(heads=3, seed=1)
    act = hf.PopulationRisk(TRAINED, PRIOR, 3).kernels
    start = State.of(act, 2, m, R, [0.1, 0.2, -0.3], 0.6)
    packing = Packing.of(act, start)
    back = packing.unpack(packing.first())
    for given, found in zip((m, R - m @ m.T, start.beta, 0.6), back, strict=True):
        assert np.array_equal(given, found) or found == pytest.approx(given, abs=1e-16)


def test_a_broken_checkpoint_is_named(tmp_path):
    path = tmp_path / "x.part"
    path.write_bytes(b"no archive")
    with pytest.raises(hf.InputError, match="not readable"):
        Checkpoint(path, {}).load()

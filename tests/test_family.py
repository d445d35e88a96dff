"""The wider family: parameters, powers, normalizers, kinks, lengths, weights of any kind."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest

import headflow as hf
from headflow.store import kernels_for
from numerics.dynamics.state import State
from numerics.saddles.second import Coordinates, carried
from numerics.validation import validate
from tests.points import PRIOR, random_point

POINT = random_point(2, 2, seed=3)
# Definition with parameters, and the same with the numbers typed in.
TYPED = {
    "slope": (
        {"score": "exp(q*x)", "parameters": {"q": 0.7}},
        {"score": "exp(0.7*x)"},
    ),
    "model's name": (
        {"score": "exp(m*x)", "offset": "R", "parameters": {"m": 0.7, "R": 1.25}},
        {"score": "exp(0.7*x)", "offset": 1.25},
    ),
    "two exponents": (
        {"score": "exp(q*x)+exp(-b*x)", "offset": "q+b/2", "parameters": {"q": 0.7, "b": 0.4}},
        {"score": "exp(0.7*x)+exp(-0.4*x)", "offset": 0.9},
    ),
    "closed form": (
        {"score": "exp(q*x)*(1+x)^2", "scope": "none", "parameters": {"q": 0.4}},
        {"score": "exp(0.4*x)*(1+x)^2", "scope": "none"},
    ),
    "kinked closed form": (
        {"score": "step(b*x+a)", "scope": "none", "parameters": {"b": -0.7, "a": 0.2}},
        {"score": "step(-0.7*x+0.2)", "scope": "none"},
    ),
}


def _close(one, other, rel):
    for name in ("value", "m", "R", "beta", "gain"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=rel), name


@pytest.mark.parametrize("name", TYPED)
def test_a_parameter_gives_the_numbers_of_its_value_typed_in(name):
    with_names, typed = (
        hf.PopulationRisk(hf.Activation("a", **entries), PRIOR, tokens=3, rtol=1e-6)
        for entries in TYPED[name]
    )
    _close(with_names.gradient(*POINT), typed.gradient(*POINT), 1e-13)


def test_a_sweep_derives_once():
    """softmax-n from 0 to 1 by other constants in one text, in milliseconds a point."""
    risk = hf.PopulationRisk("softmax-n", PRIOR, tokens=3)
    start = time.perf_counter()
    sweep = [risk.at(n=n) for n in np.linspace(0, 1, 9)]
    assert (time.perf_counter() - start) / len(sweep) < 0.2
    for end, name in ((sweep[0], "softmax"), (sweep[-1], "softmax-1")):
        exact = hf.PopulationRisk(name, PRIOR, tokens=3).gradient(*POINT)
        _close(end.gradient(*POINT), exact, 1e-12)
    values = np.array([one(*POINT).value for one in sweep])
    assert np.all(np.diff(values) < 0) and np.all(np.diff(values, 2) > 0)
    copy = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(sweep[4]))))
    assert copy(*POINT).value == values[4]
    assert copy.kernels.DEFINITION["parameters"] == {"n": 0.5}


def test_temperature_is_a_scale_of_the_heads():
    m, R = POINT
    hot = hf.PopulationRisk(hf.activation("softmax-temperature").at(T=2.5), PRIOR, tokens=4)
    one = hot.gradient(2.5 * m, 6.25 * R)
    other = hf.PopulationRisk("softmax", PRIOR, tokens=4).gradient(m, R)
    assert one.value == pytest.approx(other.value, abs=one.error + other.error)
    assert 2.5 * one.m == pytest.approx(other.m, abs=2.5 * one.error + other.error)
    assert 6.25 * one.R == pytest.approx(other.R, abs=6.25 * one.error + other.error)


def test_an_offset_of_zero_is_as_stable_as_no_offset():
    kernels = kernels_for(hf.activation("softmax-n").at(n=0))
    logits = np.array([[800.0, 0.0], [-800.0, -800.0], [-800.0, -803.0]])[..., None]
    expected = kernels_for(hf.activation("softmax")).attention(logits)
    assert kernels.attention(logits) == pytest.approx(expected, abs=1e-15)


def _forced(risk, **flags):
    """The same kernels told to take another road: no closed form, or no panels."""
    module = type(kernels_for(risk.activation))("forced")
    module.__dict__.update(vars(risk.kernels), **flags)
    other = hf.PopulationRisk(risk.activation, PRIOR, risk.length, rtol=risk.rtol)
    other.kernels = module
    return other


@pytest.mark.parametrize(
    "entries",
    [
        {"score": "relu(x)"},
        {"score": "step(x-1/5)"},
        {"score": "(1+x)^2*exp(x/3)"},
        {"score": "Phi(x)"},
        {"score": "x*cos(x)"},
    ],
    ids=lambda e: e["score"],
)
def test_closed_form_and_quadrature_agree(entries):
    act = hf.Activation("tier", scope="none", **entries)
    closed = hf.PopulationRisk(act, PRIOR, tokens=3, rtol=1e-9)
    one = closed.gradient(*POINT)
    other = _forced(closed, CLOSED=False).gradient(*POINT)
    assert (one.method, other.method) == ("closed form", "quadrature")
    assert one.value == pytest.approx(other.value, abs=one.error + other.error)
    assert one.m == pytest.approx(other.m, abs=one.error + other.error)
    assert one.R == pytest.approx(other.R, abs=one.error + other.error)


KINKED = {
    "relu": {"score": "relu(x)", "offset": 1},
    "abs, power 2": {"score": "abs(x)", "offset": "1/2", "power": 2},
    "window": {"score": "exp(x)*step(x-0.3)", "normalizer": "exp(x)", "offset": "0.1"},
    "no lift": {"score": "sigmoid(x)*relu(x)", "scope": "none"},
}


@pytest.mark.parametrize("name", KINKED)
def test_a_kinked_lift_is_exact(name):
    """Value against Sobol points (no lift), derivatives against differences of the value."""
    m, R = POINT
    risk = hf.PopulationRisk(hf.Activation("kinked", **KINKED[name]), PRIOR, tokens=3, rtol=1e-8)
    gradient = risk.gradient(m, R)
    assert gradient.method == "quadrature" and gradient.error < 1e-8 * 3
    points = _forced(risk, KINKS=None)
    points.rtol = 1e-4
    value = points(m, R)
    assert value.method == "sobol"
    # The error of Sobol points is a few standard errors.
    assert abs(value.value - gradient.value) <= 2 * value.error
    step = 1e-4
    for h, f in ((0, 1), (1, 0)):
        move = np.zeros_like(m)
        move[h, f] = step
        slope = (risk(m + move, R).value - risk(m - move, R).value) / (2 * step)
        assert gradient.m[h, f] == pytest.approx(slope, abs=1e-6)
        move = np.zeros_like(R)
        move[h, f] = move[f, h] = step
        slope = (risk(m, R + move).value - risk(m, R - move).value) / (2 * step)
        assert 2 * gradient.R[h, f] == pytest.approx(slope, abs=1e-6)


def test_second_derivatives_of_a_kinked_lift():
    """Every entry against differences of the gradient."""
    m, R = POINT
    risk = hf.PopulationRisk("relu-normalized", PRIOR, tokens=3, rtol=1e-8)
    state = State.of(risk.kernels, 2, m, R)
    coordinates = Coordinates(*m.shape)
    found = carried(risk, state, lambda second: second.matrix.ravel())
    matrix, step = found.values.reshape(coordinates.size, -1), 1e-4
    for column, unit in enumerate(np.eye(coordinates.size)):
        dm, dR = coordinates.unpack(step * unit)
        ahead, behind = (risk.gradient(m + s * dm, R + s * dR) for s in (1, -1))
        shared = 2 - np.eye(2)  # an off-diagonal entry of R has two places
        change = [(a - b) / (2 * step) for a, b in ((ahead.m, behind.m), (ahead.R, behind.R))]
        by_R = (shared * change[1])[coordinates.upper]
        assert matrix[:, column] == pytest.approx(np.append(change[0], by_R), abs=2e-5)
    assert found.method == "quadrature" and found.error < 1e-6


def test_where_a_kink_has_no_derivative_is_said():
    risk = hf.PopulationRisk("relu-normalized", PRIOR, tokens=3, rtol=1e-4)
    alike = np.array([[0.3, 0.1], [0.3, 0.1]]), np.full((2, 2), 0.5)
    assert risk(*alike).method == "sobol"
    with pytest.raises(hf.InputError, match="two logits are equal"):
        risk.gradient(*alike)


FAMILY = {
    "power 2": {"score": "softplus(x)", "power": 2, "offset": 1},
    "power 1/2": {"score": "exp(x/2)", "normalizer": "exp(x)", "power": "1/2"},
    "sum of squares": {"score": "x", "normalizer": "x^2", "offset": 1, "power": "1/2"},
    "1 + x^2": {"score": "1+x", "normalizer": "1+x^2"},
    "relu": {"score": "relu(x)", "offset": 1},
}


@pytest.mark.parametrize("name", FAMILY)
def test_the_family_is_validated_with_random_lengths_and_free_biases(name):
    """Risk and derivatives against simulation; false-alarm rate 1e-3 for each definition."""
    act = hf.Activation("family", bias="free", **FAMILY[name])
    found = hf.validate(act, PRIOR, {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, 2, samples=20_000, dimension=30)
    assert found.passed, found.table()
    assert len(found.rows) > 20


def test_a_wrong_normalizer_is_rejected():
    """Negative control: theory of power 1 against a simulation of power 2."""
    acts = (hf.Activation("p", score="softplus(x)", offset=1, power=p) for p in (1, 2))
    theory, other = (hf.PopulationRisk(act, PRIOR, 3, rtol=1e-5) for act in acts)
    mixed = _forced(theory, attention=other.kernels.attention)
    assert not validate(mixed, 2, samples=20_000, dimension=30).passed


@pytest.mark.parametrize("name", ["relu-normalized", "softmax-n", "quadratic"])
def test_dynamics_with_random_lengths_and_free_biases(name):
    m, R, beta = 0.3 * POINT[0], 0.2 * POINT[1], [0.2, -0.1]
    act, law = hf.activation(name, bias="free"), {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}
    risk = hf.PopulationRisk(act, PRIOR, law)
    parts = [hf.PopulationRisk(act, PRIOR, n)(m, R, beta=beta) for n in law]
    value = risk.gradient(m, R, beta=beta)
    bound = value.error + sum(part.error for part in parts)
    assert value.value == pytest.approx(np.mean([part.value for part in parts]), abs=bound)
    flow = hf.gradient_flow(risk, m, R, [0.0, 0.1], beta0=beta, rtol=1e-5)
    assert flow.attrs["status"] == "complete"
    # The first step of the flow is down the gradient: dE/dtau = -dissipation.
    assert np.diff(flow["risk"].values)[0] < 0
    runs = hf.simulate_sgd(
        act, PRIOR, law, 2, 40, time=0.2, seeds=2, m0=m, R0=R, beta0=beta, with_risk=False
    )
    assert np.all(np.isfinite(runs["beta"].values))
    modes = hf.weight_spectrum(risk, m, R, beta=beta)
    assert np.all(np.isfinite(modes["eigenvalue"].values))
    with pytest.raises(hf.InputError, match="beta"):
        risk(m, R)


def test_a_value_where_a_formula_divides_by_zero_is_refused():
    """E[step(q x)] is a formula in q / |q|: at q = 0 there is no number, and none is made up."""
    act = hf.Activation("slope", score="step(q*x)", scope="none", parameters={"q": 1})
    risk = hf.PopulationRisk(act, PRIOR, tokens=3)
    assert np.isfinite(risk(*POINT).value)
    with pytest.raises(hf.InputError, match="not a finite number"):
        risk.at(q=0)(*POINT)
    moved = hf.Activation("moved", score="relu(q*x-1)", offset=1, parameters={"q": 1})
    with pytest.raises(hf.InputError, match="divides by 0 at q = 0"):
        hf.PopulationRisk(moved, PRIOR, tokens=3).at(q=0)

"""Second derivatives in m and R, and the Hessian, against differences of the gradient."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
import numerics.quadrature.logits
import numerics.saddles.second
from numerics.dynamics.state import State
from numerics.saddles.hessian import hessian
from numerics.saddles.second import SecondDerivatives, carried
from tests.points import PRIOR, random_point

MINE = hf.Activation("softplus-1", score="log(1+exp(x))", offset=1, bias="norm")
SQUARE = hf.Activation("square root", score="exp(x)+1/3", normalizer="cosh(x)", power="1/2")
ANISOTROPIC = hf.GaussianPrior([0.4, -0.3], [1.7, 0.3])
# Step and truncation of fourth-order differences, and what the gradients' errors leave of them.
STEP, TOLERANCE = 1e-2, 2e-6


def state_at(risk, m, R, free):
    return State.of(risk.kernels, risk.prior.spikes, m, R, free.get("beta"), free.get("gain"))


def along(risk, m, R, moves, **free):
    """Changes of dE/dm and G along each of ``moves``, (n, HF + HH), with an error bound."""
    dm, dR = (np.array(one) for one in zip(*moves, strict=True))

    def changes(found: SecondDerivatives):
        assert np.array_equal(found.matrix, found.matrix.T)
        by_m, by_R = found.along(dm, dR)
        assert np.array_equal(by_R, np.swapaxes(by_R, 1, 2))
        return np.hstack([one.reshape(len(moves), -1) for one in (by_m, by_R)]).ravel()

    found = carried(risk, state_at(risk, m, R, free), changes)
    return found.values.reshape(len(moves), -1), found.error


def by_differences(risk, m, R, dm, dR, **free):
    """Changes of dE/dm and of G along a direction, by five points."""

    def slope(d):
        one = risk.gradient(m + d * dm, R + d * dR, **free)
        return np.concatenate([one.m.ravel(), one.R.ravel()])

    near = (slope(STEP) - slope(-STEP)) / (2 * STEP)
    far = (slope(2 * STEP) - slope(-2 * STEP)) / (4 * STEP)
    return near + (near - far) / 3


def directions(shape, count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        dm, dR = rng.normal(size=shape), rng.normal(size=(shape[0], shape[0]))
        size = np.sqrt(np.sum(dm**2) + np.sum(dR**2))
        yield dm / size, (dR + dR.T) / size / 2


def largest_difference(risk, m, R, seed=3, count=2, **free):
    moves = list(directions(m.shape, count, seed))
    ours, error = along(risk, m, R, moves, **free)
    theirs = [by_differences(risk, m, R, *move, **free) for move in moves]
    return float(np.abs(ours - theirs).max()), error


CASES = [
    ("softmax", PRIOR, 3, 5),
    ("softmax", ANISOTROPIC, 2, {2: 0.3, 5: 0.7}),
    ("softmax-1-norm", PRIOR, 2, 3),
    ("bayes-softmax", PRIOR, 2, 3),
    ("bayes-softmax", ANISOTROPIC, 2, 5),
    (MINE, ANISOTROPIC, 3, 3),
    (SQUARE, PRIOR, 2, 4),
    ("sigmoid", PRIOR, 2, 5),
    ("linear", ANISOTROPIC, 3, 3),
    ("erf", ANISOTROPIC, 3, 5),
    ("relu", PRIOR, 2, 3),
]


@pytest.mark.parametrize("act, prior, heads, tokens", CASES, ids=lambda v: getattr(v, "name", v))
def test_along_random_directions(act, prior, heads, tokens):
    m, R = random_point(heads, 2, seed=17, scale=0.7)
    R = R + 0.2 * np.eye(heads)  # room for the differences inside the physical region
    risk = hf.PopulationRisk(act, prior, tokens, rtol=1e-9)
    worst, error = largest_difference(risk, m, R)
    assert worst <= TOLERANCE + error and error < 1e-8


def test_free_biases_and_gain_stay():
    act = hf.activation("softmax-1", bias="norm+free", gain="free")
    m, R = random_point(2, 2, seed=5, scale=0.8)
    R = R + 0.2 * np.eye(2)
    risk = hf.PopulationRisk(act, PRIOR, 4, rtol=1e-9)
    worst, _ = largest_difference(risk, m, R, beta=np.array([0.3, -0.6]), gain=0.7)
    assert worst <= TOLERANCE


def test_without_the_second_variation_it_is_wrong(monkeypatch):
    """Negative control: one of the two parts is left out."""
    m, R = random_point(2, 2, seed=17, scale=0.7)
    R = R + 0.2 * np.eye(2)
    risk = hf.PopulationRisk("softmax", PRIOR, 5, rtol=1e-9)
    assert largest_difference(risk, m, R, count=1)[0] <= TOLERANCE
    monkeypatch.setattr(
        numerics.quadrature.logits,
        "second_variation",
        lambda changes, _: np.zeros((len(changes),) * 2),
    )
    assert largest_difference(risk, m, R, count=1)[0] > 1e3 * TOLERANCE


ATOMS = PRIOR.support
SINGULAR = {
    "identical heads": np.array([[0.5, -0.8, 0.3]] * 3),
    "two opposite heads": np.array([[0.5, -0.8, 0.3], [-0.5, 0.8, -0.3], [0.2, 0.6, -0.4]]),
    "heads at atoms": np.hstack([ATOMS, np.zeros((3, 1))]),
    "one head of zero": np.array([[0.5, -0.8, 0.3], [0.0, 0.0, 0.0], [0.2, 0.6, -0.4]]),
    "m = 0": np.array([[0.0, 0.0, 0.9], [0.0, 0.0, -0.4], [0.0, 0.0, 0.7]]),
    "origin": np.zeros((3, 3)),
}


@pytest.mark.parametrize("act", ["softmax", MINE, "erf"], ids=str)
@pytest.mark.parametrize("name", SINGULAR)
def test_hessian_at_singular_overlaps(act, name):
    """Heads in R^3 whose overlaps have no inverse, moved along their own axes and a new one."""
    risk = hf.PopulationRisk(act, ANISOTROPIC, 3, rtol=1e-9)
    k = SINGULAR[name]
    found = hessian(risk, State.of(risk.kernels, 2, k[:, :2], k @ k.T))
    heads, width = found.frame.shape
    frame = np.zeros((heads, width + 1))  # the last axis: orthogonal to spikes and heads
    frame[:, :width] = found.frame

    def slope(heads_at):
        one = risk.gradient(heads_at[:, :2], heads_at @ heads_at.T)
        return np.hstack([one.m, np.zeros((heads, width - 1))]) + 2 * one.R @ heads_at

    assert found.gradient == pytest.approx(slope(frame)[:, :width], abs=1e-8)
    v = np.random.default_rng(4).normal(size=frame.shape)
    v /= np.linalg.norm(v)
    near, far = ((slope(frame + d * v) - slope(frame - d * v)) / (2 * d) for d in (STEP, 2 * STEP))
    ours = np.column_stack(
        [(found.inside @ v[:, :width].ravel()).reshape(heads, width), found.noise @ v[:, width]]
    )
    assert ours == pytest.approx(near + (near - far) / 3, abs=TOLERANCE)


def test_points_instead_of_a_grid(monkeypatch):
    """Where a grid would be too large: within five of its standard errors, of some 50 numbers.

    For a normal law that is a false alarm in 3e-5; of six sets Student's law is wider, 0.4%, but
    the error is the largest of all entries'.
    """
    m, R = random_point(3, 1, seed=2, scale=0.6)
    risk = hf.PopulationRisk("bayes-softmax", hf.FiniteSupport([[1.2], [-0.7]], [0.6, 0.4]), 3)
    moves = list(directions(m.shape, 3, seed=8))
    loose = hf.PopulationRisk("bayes-softmax", risk.prior, 3, rtol=1e-4)
    exact, error = along(loose, m, R, moves)
    monkeypatch.setattr(numerics.saddles.second, "MOST_GRID_NODES", 10)
    monkeypatch.setattr(numerics.saddles.second, "LOG2_POINTS", 8)
    found, scatter = along(risk, m, R, moves)
    assert 1e-6 < scatter < 1e-2
    assert np.abs(found - exact).max() <= 5 * scatter + error


def test_a_kink_under_a_shared_normalizer_is_refused():
    act = hf.Activation("kinked", score="relu(x)", scope="heads", offset=1)
    risk = hf.PopulationRisk(act, PRIOR, 3)
    with pytest.raises(hf.InputError, match="kink"):
        hf.weight_spectrum(risk, [[0.3, 0.2]], [[0.9]])

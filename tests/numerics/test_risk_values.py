"""The population risk against answers that share no code with it."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from tests import oracle
from tests.points import ODDS, PRIOR, SUPPORT, random_point

ONE = hf.FiniteSupport([[1.0]], [1.0])


@pytest.mark.parametrize("m, R, theta", [(0.0, 1.0, 1.0), (0.5, 0.9, 1.4), (-0.7, 2.5, 0.8)])
def test_one_head_two_tokens_to_twelve_digits(m, R, theta):
    risk = hf.PopulationRisk("softmax", hf.FiniteSupport([[theta]], [1.0]), tokens=2, rtol=1e-12)
    value = risk([[m]], [[R]])
    exact = float(oracle.softmax_two_tokens(m, R, theta))
    assert abs(value.value - exact) <= value.error
    assert value.error < 5e-12


@pytest.mark.parametrize("tokens", [1, 3, 7, 1000])
@pytest.mark.parametrize("name, offset", [("softmax", 0), ("softmax-1", 1)])
def test_one_head_any_length_against_thirty_digits(name, offset, tokens):
    m, R, theta = 0.6, 1.1, 1.3
    risk = hf.PopulationRisk(name, hf.FiniteSupport([[theta]], [1.0]), tokens=tokens, rtol=1e-10)
    value = risk([[m]], [[R]])
    exact = float(oracle.softmax_many_tokens(m, R, theta, tokens, offset))
    assert abs(value.value - exact) <= value.error + 1e-12
    assert value.error <= max(1e-10 * abs(exact), 4e-12)


@pytest.mark.parametrize("heads", [1, 2, 3, 5])
def test_many_heads_two_tokens(heads):
    m, R = random_point(heads, 2, seed=3)
    value = hf.PopulationRisk("softmax", PRIOR, tokens=2, rtol=1e-9)(m, R)
    exact = oracle.softmax_two_tokens_heads(m, R, SUPPORT, ODDS, 1 / heads)
    assert abs(value.value - exact) <= value.error + 1e-10


def test_field_case_large_overlaps():
    """Field case F04: the transition layer is far narrower than the Gaussian."""
    risk = hf.PopulationRisk("softmax", ONE, tokens=2)
    for R, exact in ((1.0, 0.636838153968369), (400.0, 0.971848275398050)):
        value = risk([[0.0]], [[R]])
        assert abs(value.value - exact) <= value.error
        assert value.error < 1e-8
    far = risk([[0.0]], [[1e4]]).value
    assert far == pytest.approx(1.0, abs=0.01)  # the limit is 2 - 2/L


def test_field_case_singular_overlaps():
    """Field case F13: R = 0, identical heads, L = 1."""
    for tokens in (2, 3):
        risk = hf.PopulationRisk("softmax", ONE, tokens=tokens)
        slope = risk.gradient([[0.0]], [[0.0]])
        assert slope.R[0, 0] == pytest.approx((tokens - 1) / tokens**3 * tokens, abs=1e-9)
        assert slope.value == pytest.approx(1 - 1 / tokens, abs=slope.error)
    risk = hf.PopulationRisk("softmax", ONE, tokens=2)
    near = hf.PopulationRisk("softmax", ONE, tokens=2, rtol=1e-11)([[0.0]], [[1e-6]])
    assert (near.value - 0.5) / 1e-6 == pytest.approx(0.2499998, abs=near.error / 1e-6)
    assert near.error < 1e-11
    twice = risk([[1.0], [1.0]], [[1.0, 1.0], [1.0, 1.0]])
    assert twice.value == pytest.approx(0.324943297662, abs=1e-10)
    alone = hf.PopulationRisk("softmax", PRIOR, tokens=1).gradient(*random_point(2, 2, seed=1))
    assert abs(alone.value) < 1e-12
    assert np.abs(alone.m).max() < 1e-10 and np.abs(alone.R).max() < 1e-10


def test_field_case_priors():
    """Field case F25: second moments and means of theta, duplicate atoms, linear attention."""
    risk = hf.PopulationRisk("linear", hf.FiniteSupport([[0.0], [1.0]], [0.5, 0.5]), tokens=2)
    best = risk.gradient([[0.2]], [[0.04]])
    assert best.value == pytest.approx(0.9, abs=1e-13)
    assert best.m[0, 0] + 2 * best.R[0, 0] * 0.2 == pytest.approx(0, abs=1e-13)
    even = hf.PopulationRisk("linear", hf.flipped_spikes([1.0]), tokens=2)
    assert even.gradient([[0.0]], [[0.0]]).m[0, 0] == pytest.approx(0, abs=1e-15)
    doubled = hf.FiniteSupport([[1.0], [1.0]], [0.5, 0.5])
    values = [
        hf.PopulationRisk("softmax", prior, tokens=3)([[0.4]], [[0.9]]).value
        for prior in (ONE, doubled)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-14)


def test_affine_attention_reaches_its_known_minimum():
    """docs/model.md section 3: score 1 + x, free gain, minimum 1 / (1 + 1/(L-1) + nu/L)."""
    from scipy.optimize import minimize

    tokens, nu = 4, 3.0
    act = hf.Activation("affine", score="1+x", scope="none", gain="free")
    risk = hf.PopulationRisk(act, hf.FiniteSupport([[np.sqrt(nu)]], [1.0]), tokens=tokens)
    found = minimize(
        lambda v: risk([[v[0]]], [[v[0] ** 2 + v[1] ** 2]]).value, [0.3, 0.2], tol=1e-12
    )
    assert found.fun == pytest.approx(1 / (1 + 1 / (tokens - 1) + nu / tokens), abs=1e-9)


@pytest.mark.parametrize("name", ["softmax", "softmax-1-norm", "bayes-softmax", "sigmoid"])
def test_a_gaussian_prior_is_the_limit_of_its_quadrature(name):
    """A Gaussian theta replaced by the atoms of a Gauss-Hermite rule gives the same risk."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    mean, variance = 0.4, 0.8
    atoms = mean + np.sqrt(variance) * nodes[:, None]
    fine = hf.FiniteSupport(atoms, weights / weights.sum())
    m, R = np.array([[0.5], [-0.3]]), np.array([[0.6, -0.1], [-0.1, 0.4]])
    exact = hf.PopulationRisk(name, hf.GaussianPrior([mean], [variance]), tokens=3, rtol=1e-7)
    atomic = hf.PopulationRisk(name, fine, tokens=3, rtol=1e-7)
    one, other = exact.gradient(m, R), atomic.gradient(m, R)
    assert one.value == pytest.approx(other.value, abs=one.error + other.error)
    assert one.m == pytest.approx(other.m, abs=one.error + other.error)
    assert one.R == pytest.approx(other.R, abs=one.error + other.error)


def test_a_law_of_lengths_is_the_average_of_its_lengths():
    m, R = random_point(2, 2, seed=9)
    law = {2: 0.25, 5: 0.6, 1: 0.15}
    mixed = hf.PopulationRisk("softmax-1", PRIOR, tokens=law)(m, R)
    parts = [
        p * hf.PopulationRisk("softmax-1", PRIOR, tokens=n)(m, R).value for n, p in law.items()
    ]
    assert mixed.value == pytest.approx(sum(parts), abs=1e-8)

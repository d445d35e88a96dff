"""Every gradient entry at generic asymmetric points, for every kind of activation, L and H."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from tests.points import KINDS, PRIOR, random_point

STEP = 2e-2
CASES = [(1, 3), (2, 2), (3, 1), (5, 2), (2, 7), (3, 1000)]


def _five_point(function, step=STEP):
    """Central difference of fourth order."""
    near = (function(step) - function(-step)) / (2 * step)
    far = (function(2 * step) - function(-2 * step)) / (4 * step)
    return near + (near - far) / 3


@pytest.mark.parametrize(
    "name, heads, tokens",
    # Bayes-softmax with more heads than quadrature takes has a test of its own below.
    [(n, h, L) for n in KINDS for h, L in CASES if n != "bayes-softmax" or h <= 3],
)
def test_every_entry(name, heads, tokens):
    m, R = random_point(heads, 2, seed=17, scale=0.7)
    R = R + 0.2 * np.eye(heads)  # room for the differences inside the physical region
    rtol = 1e-6 if name == "bayes-softmax" else 1e-8
    risk = hf.PopulationRisk(name, PRIOR, tokens, rtol=rtol)
    slope = risk.gradient(m, R)
    # What is left of the difference is its truncation and the errors of four values.
    noise = 3e-6 if name == "bayes-softmax" else 5e-7
    tolerance = slope.error + noise * max(1.0, abs(slope.value))
    step = STEP / 10 if slope.method == "closed form" else STEP
    for i in range(heads):
        for j in range(2):
            by_m = _five_point(lambda d, at=(i, j): risk(_moved(m, at, d), R).value, step)
            assert slope.m[i, j] == pytest.approx(by_m, abs=tolerance), (i, j)
    for i, j in zip(*np.triu_indices(heads), strict=True):
        shared = {(i, j), (j, i)}
        by_R = _five_point(lambda d, at=tuple(shared): risk(m, _moved(R, *at, d)).value, step)
        assert len(shared) * slope.R[i, j] == pytest.approx(by_R, abs=tolerance), (i, j)
    assert np.array_equal(slope.R, slope.R.T)
    assert slope.value == pytest.approx(risk(m, R).value, abs=2 * slope.error)


def test_five_joint_heads_in_weight_space():
    """Heads in a space of three dimensions: dE/dk = E_m k* + 2 G k, every entry."""
    m, _ = random_point(5, 2, seed=23, scale=0.7)
    k = np.column_stack([m, np.linspace(-0.8, 0.6, 5)])
    risk = hf.PopulationRisk("bayes-softmax", PRIOR, 3, rtol=1e-6)
    slope = risk.gradient(m, k @ k.T)
    expected = np.column_stack([slope.m, np.zeros(5)]) + 2 * slope.R @ k
    for i in range(5):
        for j in range(3):

            def along(d, at=(i, j)):
                moved = _moved(k, at, d)
                return risk(moved[:, :2], moved @ moved.T).value

            assert expected[i, j] == pytest.approx(_five_point(along), abs=slope.error + 3e-6)


def _moved(array, *entries_and_step):
    *entries, step = entries_and_step
    moved = array.copy()
    for entry in entries:
        moved[entry] += step
    return moved


@pytest.mark.parametrize("name", ["softmax", "softmax-1", "bayes-softmax"])
def test_free_biases_and_gain(name):
    act = hf.activation(name, bias="norm+free", gain="free")
    risk = hf.PopulationRisk(act, PRIOR, tokens=4, rtol=1e-9)
    m, R = random_point(2, 2, seed=5)
    beta, gain = np.array([0.3, -0.6]), 0.7
    slope = risk.gradient(m, R, beta=beta, gain=gain)
    for h in range(2):
        shift = np.eye(2)[h]
        by_beta = _five_point(
            lambda d, shift=shift: risk(m, R, beta=beta + d * shift, gain=gain).value
        )
        assert slope.beta[h] == pytest.approx(by_beta, abs=slope.error + 1e-7)
    by_gain = _five_point(lambda d: risk(m, R, beta=beta, gain=gain + d).value)
    assert slope.gain == pytest.approx(by_gain, abs=slope.error + 5e-7)
    best = risk(m, R, beta=beta).value
    assert best <= min(risk(m, R, beta=beta, gain=g).value for g in (0.3, 0.7, 1.0, 1.5)) + 1e-9


def test_a_wrong_factor_is_seen():
    """Negative control: half of an off-diagonal entry is not the entry."""
    m, R = random_point(2, 2, seed=17)
    R = R + 0.2 * np.eye(2)
    risk = hf.PopulationRisk("softmax", PRIOR, 5, rtol=1e-9)
    by_R = _five_point(lambda d: risk(m, _moved(R, (0, 1), (1, 0), d)).value)
    slope = risk.gradient(m, R)
    assert abs(slope.R[0, 1] - by_R) > 1e2 * (slope.error + 5e-7)

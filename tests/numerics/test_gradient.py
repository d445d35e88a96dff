"""Every gradient entry at generic asymmetric points, for every catalogue entry, L and H."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from tests.points import PRIOR, random_point

STEP = 2e-4
CASES = [(1, 3), (2, 2), (3, 1), (5, 2), (2, 7), (3, 1000)]


def _five_point(function, step):
    """Central difference of fourth order, with its own error estimate."""
    near = (function(step) - function(-step)) / (2 * step)
    far = (function(2 * step) - function(-2 * step)) / (4 * step)
    return near + (near - far) / 3


@pytest.mark.parametrize("name", hf.CATALOGUE)
@pytest.mark.parametrize("heads, tokens", CASES)
def test_every_entry(name, heads, tokens):
    spread = name == "bayes-softmax" and heads > 3
    m, R = random_point(heads, 2, seed=17, scale=0.7)
    if spread:  # a generic R of rank 3, so that quadrature and not Sobol answers
        R = m @ m.T + 0.3 * np.outer(np.arange(1, heads + 1), np.arange(1, heads + 1)) / heads**2
    rtol = 1e-7 if name == "bayes-softmax" else 1e-10
    slope = hf.PopulationRisk(name, PRIOR, tokens, rtol=1e-7).gradient(m, R)
    risk = hf.PopulationRisk(name, PRIOR, tokens, rtol=rtol)
    step = 2e-3 if name == "bayes-softmax" else STEP
    noise = 8 * max(rtol, 1e-12) * max(1.0, abs(slope.value)) / step
    tolerance = slope.error + noise + 1e-8
    rng = np.random.default_rng(heads)
    for _ in range(3):
        i, j = rng.integers(heads), rng.integers(2)
        by_m = _five_point(lambda d, i=i, j=j: risk(_moved(m, (i, j), d), R).value, step)
        assert slope.m[i, j] == pytest.approx(by_m, abs=tolerance)
    for _ in range(3):
        i, j = rng.integers(heads, size=2)
        if spread:
            continue
        shared = {(i, j), (j, i)}
        by_R = _five_point(lambda d, shared=shared: risk(m, _moved(R, *shared, d)).value, step)
        assert len(shared) * slope.R[i, j] == pytest.approx(by_R, abs=tolerance)
    assert np.array_equal(slope.R, slope.R.T)
    assert slope.value == pytest.approx(risk(m, R).value, abs=slope.error + 1e-7)


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
            lambda d, shift=shift: risk(m, R, beta=beta + d * shift, gain=gain).value, STEP
        )
        assert slope.beta[h] == pytest.approx(by_beta, abs=slope.error + 1e-7)
    by_gain = _five_point(lambda d: risk(m, R, beta=beta, gain=gain + d).value, 1e-3)
    assert slope.gain == pytest.approx(by_gain, abs=slope.error + 1e-8)
    best = risk(m, R, beta=beta).value
    assert best <= min(risk(m, R, beta=beta, gain=g).value for g in (0.3, 0.7, 1.0, 1.5)) + 1e-9


def test_a_wrong_factor_is_seen():
    """Negative control: half of an off-diagonal entry is not the entry."""
    m, R = random_point(2, 2, seed=17)
    risk = hf.PopulationRisk("softmax", PRIOR, 5, rtol=1e-9)
    by_R = _five_point(lambda d: risk(m, _moved(R, (0, 1), (1, 0), d)).value, STEP)
    slope = risk.gradient(m, R)
    assert abs(slope.R[0, 1] - by_R) > 1e3 * (slope.error + 1e-8)

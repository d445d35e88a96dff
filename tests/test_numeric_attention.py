"""Attention given as a function: its risk with an error, and one line for all that needs more."""

from __future__ import annotations

import pickle

import mpmath
import numpy as np
import pytest

import headflow as hf
from tests.attention_functions import hardmax, sparsemax
from tests.points import ODDS, PRIOR, SUPPORT, random_point

LENGTHS = {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}
FUNCTIONS = {"hardmax": hardmax, "sparsemax": sparsemax}


def _mean_loss(function, m, R, length, samples, seed):
    """The definition, with a Cholesky factor and another random stream: mean, standard error."""
    rng = np.random.default_rng(seed)
    theta = np.asarray(SUPPORT)[rng.choice(len(ODDS), samples, p=ODDS)]
    logits = rng.standard_normal((samples, length, len(m))) @ np.linalg.cholesky(R).T
    logits[:, length - 1] += theta @ np.asarray(m).T
    miss = -np.asarray(function(logits), dtype=float).mean(axis=-1)
    miss[:, length - 1] += 1.0
    loss = np.sum(miss**2, axis=1)
    return loss.mean(), loss.std(ddof=1) / np.sqrt(samples)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("length", [2, 5])
def test_the_risk_against_plain_simulation(name, length):
    """z-score bound 4.4: false-alarm rate 1e-5 for each of four comparisons."""
    m, R = random_point(3, 2, seed=11)
    act = hf.NumericAttention(FUNCTIONS[name])
    value = hf.PopulationRisk(act, PRIOR, tokens=length, rtol=1e-3)(m, R)
    assert value.method == "sobol" and 0 < value.error < 2e-3
    mean, error = _mean_loss(FUNCTIONS[name], m, R, length, 50_000, seed=length)
    assert abs(value.value - mean) < 4.4 * np.hypot(error, value.error)
    # Negative control: another function of the same logits is told apart.
    other, error = _mean_loss(
        FUNCTIONS["hardmax" if name == "sparsemax" else "sparsemax"],
        m,
        R,
        length,
        50_000,
        seed=length,
    )
    assert abs(value.value - other) > 10 * np.hypot(error, value.error)


def test_hardmax_of_one_head_is_a_one_dimensional_integral():
    m, R, theta, tokens = 0.6, 1.3, 1.5, 4
    prior = hf.FiniteSupport([[theta]], [1.0])
    value = hf.PopulationRisk(hf.NumericAttention(hardmax), prior, tokens, rtol=1e-3)([[m]], [[R]])
    shift = mpmath.mpf(m) * theta / mpmath.sqrt(R)
    first = mpmath.quad(
        lambda z: mpmath.npdf(z - shift) * mpmath.ncdf(z) ** (tokens - 1), [-12, 0, 12]
    )
    assert abs(value.value - float(2 * (1 - first))) < 5 * value.error


def test_a_softmax_given_as_a_function_has_the_derived_risk():
    """Neighbouring tiers: Sobol points over all tokens against the lift, lengths random."""

    def softmax(x):
        weights = np.exp(x - x.max(axis=-2, keepdims=True))
        return weights / weights.sum(axis=-2, keepdims=True)

    point = random_point(2, 2, seed=4)
    for bias, gain in (("none", "mean"), ("norm", "sum")):
        act = hf.NumericAttention(softmax, bias=bias, gain=gain)
        sampled = hf.PopulationRisk(act, PRIOR, LENGTHS, rtol=2e-4)(*point)
        derived = hf.activation("softmax", bias=bias, gain=gain)
        exact = hf.PopulationRisk(derived, PRIOR, LENGTHS)(*point)
        assert (sampled.method, exact.method) == ("sobol", "quadrature")
        assert abs(sampled.value - exact.value) < 5 * sampled.error


def test_validation_compares_its_risk_with_vectors():
    found = hf.validate(
        hf.NumericAttention(sparsemax), PRIOR, LENGTHS, 2, samples=20_000, dimension=30
    )
    assert found.passed and len(found.rows) == 6
    assert all("no symbolic equation" in note for note in found.notes if "gradient" in note)


def test_what_needs_an_equation_is_refused_in_one_line():
    act = hf.NumericAttention(sparsemax)
    m, R = random_point(2, 2, seed=4)
    risk = hf.PopulationRisk(act, PRIOR, 3)
    calls = [
        lambda: hf.derive(act),
        lambda: hf.origin_spectrum(act),
        lambda: risk.gradient(m, R),
        lambda: risk.at(q=1),
        lambda: hf.gradient_flow(risk, m, R, [0.0, 1.0]),
        lambda: hf.gradient_flow(risk, m, R, [0.0, 1.0], learning_rate=0.5),
        lambda: hf.weight_spectrum(risk, m, R),
        lambda: hf.fixed_points(risk, heads=2),
        lambda: hf.simulate_sgd(act, PRIOR, 3, dimension=20, time=0.1),
    ]
    for call in calls:
        with pytest.raises((hf.InputError, hf.DefinitionError)) as refused:
            call()
        assert "no symbolic equation" in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "function, words",
    [
        (3.0, "expected a function"),
        (lambda x: x.sum(axis=-2), "shape"),
        (lambda x: x + 1j, "real weights"),
        (lambda x: x / 0.0 if x.size else x, "finite"),
        (lambda x: x[:, :, :, 2], "fails on logits of shape"),
    ],
)
def test_a_function_that_does_not_fit_is_refused(function, words):
    with np.errstate(all="ignore"), pytest.raises(hf.InputError, match=words) as refused:
        hf.NumericAttention(function)
    assert "\n" not in str(refused.value)
    with pytest.raises(hf.InputError, match="gain"):
        hf.NumericAttention(hardmax, gain="free")


def test_its_risk_can_be_pickled():
    risk = hf.PopulationRisk(hf.NumericAttention(hardmax), PRIOR, 3, rtol=1e-2)
    point = random_point(2, 2, seed=4)
    assert pickle.loads(pickle.dumps(risk))(*point) == risk(*point)

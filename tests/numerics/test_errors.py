"""The stated error holds the true one; a missed tolerance is said."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import headflow as hf
from numerics.errors import AccuracyWarning, InputError
from tests.points import PRIOR, random_point, random_prior


def _random_case(seed):
    """Any scale of R from 1e-4 to 1e4, any correlation, odd sizes."""
    rng = np.random.default_rng([77, seed])
    heads, spikes = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    prior = random_prior(int(rng.integers(1, 4)), spikes, seed)
    size = 10 ** rng.uniform(-2, 2)
    m = rng.normal(size=(heads, spikes)) * min(size, 3.0)
    noise = rng.normal(size=(heads, heads)) * size / np.sqrt(heads)
    tokens = int(rng.choice([1, 2, 3, 7, 40, 1000]))
    return prior, tokens, m, m @ m.T + noise @ noise.T


@pytest.mark.parametrize("name, least", [("softmax", 99), ("softmax-1-norm", 99)])
def test_stated_error_holds_the_true_one(name, least):
    """In at least 99 of 100 random points, R up to 1e4, against a much finer computation."""
    held = 0
    for seed in range(100):
        prior, tokens, m, R = _random_case(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            rough = hf.PopulationRisk(name, prior, tokens, rtol=1e-3)(m, R)
            fine = hf.PopulationRisk(name, prior, tokens, rtol=1e-7)(m, R)
        held += abs(rough.value - fine.value) <= rough.error
    assert held >= least


def test_a_tolerance_out_of_reach_is_said():
    """A kink under a shared normalizer has no lift, and points do not reach 1e-9."""
    steep = hf.Activation("steep", score="exp(-abs(x))", scope="heads", offset=1)
    with pytest.warns(AccuracyWarning, match="above the requested"):
        value = hf.PopulationRisk(steep, PRIOR, tokens=3, rtol=1e-9)([[0.1, 0.2]], [[1.0]])
    assert value.error > 0 and value.method == "sobol"


def test_sobol_error_bars_cover():
    """Field case F34: between-replicate errors, 100 seeds, at least 95 within 3 errors."""
    from numerics.quadrature import joint_heads
    from numerics.quadrature.resolution import Resolution
    from numerics.quadrature.sobol import replicated

    risk = hf.PopulationRisk("bayes-softmax", hf.FiniteSupport([[1.0]], [1.0]), tokens=2)
    law = risk.law(np.zeros((1, 1)), np.eye(1), np.zeros(1))
    kernels = risk.kernels

    def evaluate(z):
        nodes = joint_heads.normal_points_nodes(law, z)
        response = joint_heads.respond(kernels, law, risk.length, 1.0, Resolution(20.0), nodes)
        return np.atleast_1d(kernels.risk(response.linear, response.square, 0.0, 1.0))

    inside = 0
    for seed in range(100):
        value, error, *_ = replicated(
            evaluate, 1, seed=seed, tolerance=lambda _: np.inf, smallest=5, largest=5
        )
        inside += abs(value[0] - 0.636838153968369) <= 3 * error[0]
    assert inside >= 95


@pytest.mark.parametrize(
    "m, R, words",
    [
        ([[0.9]], [[0.5]], ["R - m m^T", "-0.31"]),
        ([[0.1], [0.2]], [[1, 0.5], [0.4, 1]], ["symmetric"]),
        ([[0.1, 0.2]], [[1]], ["m", "columns"]),
        ([[0.1]], [[1, 0], [0, 1]], ["R", "shape"]),
        ([[np.nan]], [[1]], ["m", "nan"]),
        ([[0.1]], [[np.inf]], ["R", "inf"]),
        ([0.1], [[1]], ["m", "dimension"]),
        ([["a"]], [[1]], ["m", "real"]),
    ],
)
def test_bad_order_parameters_are_one_line(m, R, words):
    risk = hf.PopulationRisk("softmax", hf.FiniteSupport([[1.0]], [1.0]), tokens=2)
    with pytest.raises(InputError) as refused:
        risk(m, R)
    assert "\n" not in str(refused.value)
    assert all(word in str(refused.value) for word in words), str(refused.value)


@pytest.mark.parametrize("tokens", [0, -1, 2.5, "5", None, {2: 0.5}, {2: 1.5, 3: -0.5}, np.nan])
def test_bad_lengths_are_refused(tokens):
    with pytest.raises(InputError, match="tokens"):
        hf.PopulationRisk("softmax", PRIOR, tokens=tokens)


@pytest.mark.parametrize(
    "make",
    [
        lambda: hf.FiniteSupport([[1.0], [-1.0]], [1.0, 1.0]),
        lambda: hf.FiniteSupport([[1.0], [-1.0]], [1.5, -0.5]),
        lambda: hf.FiniteSupport([[1.0]], [0.5, 0.5]),
        lambda: hf.FiniteSupport([[np.inf]], [1.0]),
        lambda: hf.FiniteSupport([1.0], [1.0]),
        lambda: hf.GaussianPrior([0.0], [-1.0]),
        lambda: hf.GaussianPrior([0.0, 1.0], [1.0]),
        lambda: hf.flipped_spikes([]),
        lambda: hf.flipped_spikes([1.0], mean=[0.0, 1.0]),
    ],
)
def test_bad_priors_are_refused(make):
    with pytest.raises(InputError):
        make()


def test_biases_and_gains_that_do_not_belong():
    m, R = [[0.1, 0.2]], [[1.0]]
    with pytest.raises(InputError, match="beta"):
        hf.PopulationRisk("softmax", PRIOR, 3)(m, R, beta=[0.0])
    with pytest.raises(InputError, match="gain"):
        hf.PopulationRisk("softmax", PRIOR, 3)(m, R, gain=1.0)
    free = hf.PopulationRisk(hf.activation("softmax", bias="free"), PRIOR, 3)
    with pytest.raises(InputError, match="one number a head"):
        free(m, R)
    with pytest.raises(InputError, match="expected 1"):
        free(m, R, beta=[0.0, 1.0])


@pytest.mark.parametrize(
    "score", ["exp(x/2)+1", "exp(x)+1", "1+x^2", "log(1+exp(x))", "1/(1+exp(-x))", "2+sin(x)"]
)
@pytest.mark.parametrize("scale", [0.1, 0.7, 4.0])
def test_one_token_has_no_risk_whatever_the_normalizer(score, scale):
    """With L = 1 and f = g every attention weight is 1: a normalizer that does not grow with x
    like an exponential leaves the lift unsmoothed, and the stated error must know it."""
    m, R = random_point(2, 2, seed=31, scale=scale)
    prior = hf.FiniteSupport([[0.6, 0.2], [-0.3, 0.4]], [0.6, 0.4])
    value = hf.PopulationRisk(hf.Activation("a", score=score), prior, tokens=1, rtol=1e-6)(m, R)
    assert abs(value.value) <= value.error < 1e-8


def test_what_no_lift_resolves_is_refused():
    m, R = random_point(2, 2, seed=31, scale=40.0)
    small = hf.Activation("small", score="1/(1+exp(-x))")
    with pytest.raises(InputError, match="offset"):
        hf.PopulationRisk(small, PRIOR, tokens=2)(m, R)
    wild = hf.Activation("wild", score="exp(exp(x))")
    with pytest.raises(InputError, match="lift"):
        hf.PopulationRisk(wild, PRIOR, tokens=2)([[0.3, 0.2]], [[4.0]])
    with pytest.raises(InputError, match="below"):
        hf.PopulationRisk("softmax", PRIOR, tokens=2)([[1e60, 0.0]], [[1e300]])

"""The Bayes risk against direct sums over tokens, Monte Carlo, and Bayes-softmax at the atoms."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headflow as hf
import numerics.bayes
from numerics.bayes import bayes_risk
from numerics.errors import AccuracyWarning, InputError
from numerics.priors import FiniteSupport, GaussianPrior, flipped_spikes

SKEWED = FiniteSupport([[1.7, 0.4], [-0.9, 1.1], [0.3, -1.5]], [0.5, 0.2, 0.3])


def atoms_evidence(support, odds):
    """Lambda of atoms on one spike, as mpmath functions."""
    pairs = [(mp.mpf(p), mp.mpf(a)) for p, a in zip(odds, support, strict=True)]
    return lambda u: mp.fsum(p * mp.exp(a * u - a * a / 2) for p, a in pairs)


def gaussian_evidence(mean, variance):
    """Lambda of one Gaussian weight, from the density of N(mean, 1 + variance)."""
    return lambda u: mp.npdf(u, mean, mp.sqrt(1 + mp.mpf(variance))) / mp.npdf(u)


def two_tokens(evidence, step, window):
    """1 - E[w_1^2 + w_2^2] at L = 2: a plain double sum over the two tokens.

    Averaged over the location, densities times 2 w_1 w_2 are p q x y / (x + y).
    """
    count = int(window / step)
    nodes = [step * n for n in range(-count, count + 1)]
    noise = [mp.npdf(u) for u in nodes]
    values = [evidence(u) for u in nodes]
    pairs = list(zip(noise, values, strict=True))
    total = mp.fsum(p * p * x / 2 for p, x in pairs)
    for i, (p, x) in enumerate(pairs):
        total += 2 * p * x * mp.fsum(q * y / (x + y) for q, y in pairs[:i])
    return total * step**2


def many_tokens(atom, tokens):
    """1 - int phi'' phi^(L-1) dt for one atom on one spike, in mpmath: no factor L, no E_star."""
    u = [mp.mpf(n) / 8 for n in range(-104, 105 + int(8 * atom))]
    weight = [mp.npdf(x) / 8 for x in u]
    evidence = [mp.exp(atom * x - mp.mpf(atom) ** 2 / 2) for x in u]
    total, step = mp.mpf(0), mp.mpf(1) / 5
    for n in range(-200, 60):
        t = mp.exp(step * n)
        decay = [w * mp.exp(-t * x) for w, x in zip(weight, evidence, strict=True)]
        curvature = mp.fdot(decay, [x * x for x in evidence])
        total += step * t * curvature * mp.fsum(decay) ** (tokens - 1)
    return 1 - total


@pytest.mark.parametrize(
    ("prior", "evidence"),
    [
        (flipped_spikes([0.7]), atoms_evidence([0.7, -0.7], [0.5, 0.5])),
        (flipped_spikes([2.0]), atoms_evidence([2, -2], [0.5, 0.5])),
        (
            FiniteSupport([[1.75], [-0.25], [-1.5]], [0.5, 0.125, 0.375]),
            atoms_evidence([1.75, -0.25, -1.5], [0.5, 0.125, 0.375]),
        ),
        (GaussianPrior([0.625], [1.25]), gaussian_evidence(0.625, 1.25)),
    ],
    ids=["flipped 0.7", "flipped 2", "unequal odds and a mean", "Gaussian"],
)
def test_two_tokens_against_a_30_digit_double_sum(prior, evidence):
    with mp.workdps(30):
        direct = two_tokens(evidence, mp.mpf("0.08"), 13)
        coarser = two_tokens(evidence, mp.mpf("0.11"), 13)
        assert abs(direct - coarser) < mp.mpf(10) ** -17
        for rtol in (1e-4, 1e-8, 1e-12):
            found = bayes_risk(prior, 2, rtol=rtol)
            assert abs(found.value - direct) <= found.error
            assert found.error <= rtol * found.value


@pytest.mark.parametrize("tokens", [3, 70, 10**6])
def test_many_tokens_against_the_other_integral(tokens):
    with mp.workdps(30):
        direct = many_tokens(1.5, tokens)
    found = bayes_risk(FiniteSupport([[1.5]], [1.0]), tokens, rtol=1e-9)
    assert abs(found.value - direct) <= found.error <= 1e-9 * found.value


def test_three_tokens_and_a_random_length_against_a_triple_sum():
    u = np.arange(-9, 9.01, 0.14)
    noise = 0.14 * np.exp(-u * u / 2) / np.sqrt(2 * np.pi)
    x = 0.7 * np.exp(1.2 * u - 0.72) + 0.3 * np.exp(-0.5 * u - 0.125)
    one, two, three = np.meshgrid(x, x, x, indexing="ij")
    odds = np.einsum("i,j,k->ijk", noise * x, noise, noise)
    total = one + two + three
    direct = 1 - np.sum(odds * (one**2 + two**2 + three**2) / total**2)
    prior = FiniteSupport([[1.2], [-0.5]], [0.7, 0.3])
    found = bayes_risk(prior, 3, rtol=1e-10)
    assert abs(found.value - direct) <= found.error + 1e-13
    mixed = bayes_risk(prior, {3: 0.25, 1: 0.15, 40: 0.6}, rtol=1e-10)
    longer = bayes_risk(prior, 40, rtol=1e-10)
    parts = 0.25 * direct + 0.6 * longer.value
    assert abs(mixed.value - parts) <= mixed.error + longer.error + 1e-13


def test_known_values():
    assert round(bayes_risk(flipped_spikes([2.0, 1.5]), 5).value, 4) == 0.3339
    assert round(bayes_risk(flipped_spikes([2.0, 1.5], mean=[1.0, 0.0]), 5).value, 4) == 0.3445


@pytest.mark.parametrize("prior", [SKEWED, GaussianPrior([0.4, -0.3], [1.5, 0.6])])
def test_monte_carlo_of_the_definition(prior):
    rng = np.random.default_rng(11)
    samples, tokens = 100_000, 6
    u = rng.standard_normal((samples, tokens, 2))
    u[:, 0] += prior.sample(rng, samples)
    if isinstance(prior, FiniteSupport):
        norms = np.sum(prior.support**2, axis=1)
        x = np.exp(u @ prior.support.T - norms / 2) @ prior.probabilities
    else:
        spread = 1 + prior.variance
        x = np.exp(np.sum(u * u - (u - prior.mean) ** 2 / spread, axis=-1) / 2)
    weights = x / x.sum(axis=1, keepdims=True)
    loss = (1 - weights[:, 0]) ** 2 + np.sum(weights[:, 1:] ** 2, axis=1)
    z = (loss.mean() - bayes_risk(prior, tokens).value) / (loss.std() / np.sqrt(samples))
    assert abs(z) < 4.5  # false alarms: 7e-6 a test


def test_limits():
    silent = FiniteSupport([[0.0, 0.0]], [1.0])
    for tokens in (1, 2, 5, 1000, 10**6):
        found = bayes_risk(silent, tokens)
        assert found.value == pytest.approx(1 - 1 / tokens, abs=max(found.error, 1e-15))
    assert bayes_risk(SKEWED, 1).error == 0.0
    weak = bayes_risk(flipped_spikes([1e-3]), 4)
    assert 0 <= 0.75 - weak.value < 1e-5


def test_the_risk_grows_with_the_length_and_stays_below_guessing():
    lengths = [1, 2, 3, 10, 100, 10**4, 10**6]
    found = [bayes_risk(SKEWED, tokens) for tokens in lengths]
    values = [one.value for one in found]
    assert values == sorted(values) and len(set(values)) == len(values)
    assert all(v < 1 - 1 / n for v, n in zip(values[1:], lengths[1:], strict=True))
    assert all(one.error <= 1e-8 * one.value for one in found)


@pytest.mark.parametrize("strength", [10.0, 30.0])
def test_exponentially_small_risks_keep_their_relative_accuracy(strength):
    # L = 2 and one atom: x_1 - x_2 is Gaussian, mean and half its variance theta^2.
    with mp.workdps(30):
        a = mp.mpf(strength)
        step, centre = 1 / (20 * a), -a / mp.sqrt(2)
        direct = mp.mpf(0)
        for n in range(-int(8 / step), int(8 / step)):
            z = centre + step * n
            ratio = mp.exp(-(a * a + mp.sqrt(2) * a * z))
            direct += step * 2 * mp.npdf(z) * ratio / (1 + ratio) ** 2
    found = bayes_risk(FiniteSupport([[strength]], [1.0]), 2)
    assert abs(found.value - direct) <= max(found.error, 1e-12 * found.value)
    assert 0 < found.error <= 1e-8 * found.value


def test_a_risk_below_all_digits_is_said_to_be_so():
    with pytest.warns(AccuracyWarning, match="Bayes risk: error"):
        found = bayes_risk(FiniteSupport([[60.0]], [1.0]), 3)
    assert found.value <= found.error < 1e-130


def test_invariances():
    reference = bayes_risk(SKEWED, 7)
    support, odds = SKEWED.support, SKEWED.probabilities
    order = [2, 0, 1]
    c, s = np.cos(0.7), np.sin(0.7)
    padded = np.concatenate([support, np.zeros((3, 3))], axis=1)
    rotation = np.linalg.qr(np.random.default_rng(5).standard_normal((5, 5)))[0]
    same = {
        "permuted": FiniteSupport(support[order], odds[order]),
        "rotated": FiniteSupport(support @ [[c, s], [-s, c]], odds),
        "in five dimensions": FiniteSupport(padded @ rotation, odds),
        "split atom": FiniteSupport([*support, support[1]], [0.5, 0.15, 0.3, 0.05]),
        "atom without odds": FiniteSupport([*support, [9.0, 9.0]], [0.5, 0.2, 0.3, 0.0]),
    }
    for name, prior in same.items():
        found = bayes_risk(prior, 7)
        assert abs(found.value - reference.value) <= found.error + reference.error, name


def test_a_gaussian_without_variance_is_an_atom():
    flat, atom = GaussianPrior([0.8, 1.1], [0.0, 0.0]), FiniteSupport([[0.8, 1.1]], [1.0])
    assert bayes_risk(flat, 9).value == pytest.approx(bayes_risk(atom, 9).value, rel=1e-14)


@pytest.mark.parametrize("prior", [flipped_spikes([1.8, 0.7]), GaussianPrior([0.4, 1.0], [2, 0.3])])
@pytest.mark.parametrize("tokens", [4, 10**4])
def test_sobol_agrees_with_the_grid(monkeypatch, prior, tokens):
    grid = bayes_risk(prior, tokens)
    monkeypatch.setattr(numerics.bayes, "MOST_GRID_RANK", 1)
    found = bayes_risk(prior, tokens, rtol=1e-3, seed=4)
    assert found.method == "sobol"
    assert abs(found.value - grid.value) < 6 * found.error  # 15 degrees of freedom: 2e-5
    assert found == bayes_risk(prior, tokens, rtol=1e-3, seed=4)


@pytest.mark.parametrize(
    ("prior", "tokens", "rtol", "said"),
    [
        ("flipped", 5, 1e-8, "prior: expected FiniteSupport or GaussianPrior"),
        (SKEWED, 0, 1e-8, "tokens: expected an integer >= 1"),
        (SKEWED, 5, -1.0, "rtol: expected a number > 0"),
        (FiniteSupport([[5e3]], [1.0]), 5, 1e-8, "prior: its log evidence ranges over"),
    ],
)
def test_bad_input_is_refused_in_one_line(prior, tokens, rtol, said):
    with pytest.raises(InputError, match=said) as caught:
        bayes_risk(prior, tokens, rtol)
    assert "\n" not in str(caught.value)


def at_the_atoms(prior, tokens, beta):
    risk = hf.PopulationRisk(
        hf.activation("bayes-softmax", bias="norm+free"), prior, tokens, rtol=1e-5
    )
    return risk(prior.support, prior.support @ prior.support.T, beta=beta)


@st.composite
def finite_priors(draw):
    atoms, spikes = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    # Within the ball of radius 2.4, so that one example takes a fraction of a second.
    entry = st.floats(-2.4, 2.4).map(lambda x: x / np.sqrt(spikes))
    support = draw(
        st.lists(st.lists(entry, min_size=spikes, max_size=spikes), min_size=atoms, max_size=atoms)
    )
    odds = np.array(draw(st.lists(st.floats(0.05, 1.0), min_size=atoms, max_size=atoms)))
    return FiniteSupport(support, odds / odds.sum())


@settings(max_examples=25, deadline=None, derandomize=True)
@given(prior=finite_priors(), tokens=st.integers(2, 50))
def test_bayes_softmax_at_the_atoms_has_the_bayes_risk(prior, tokens):
    attention = at_the_atoms(prior, tokens, np.log(prior.probabilities))
    bayes = bayes_risk(prior, tokens, rtol=1e-5)
    assert abs(attention.value - bayes.value) <= attention.error + bayes.error


def test_the_comparison_detects_a_norm_bias_without_its_factor_one_half():
    half = np.sum(SKEWED.support**2, axis=1) / 2
    odds = np.log(SKEWED.probabilities)
    bayes = bayes_risk(SKEWED, 6, rtol=1e-5)
    for beta in (odds - half, odds + half, np.zeros(3)):
        wrong = at_the_atoms(SKEWED, 6, beta)
        assert wrong.value - bayes.value > 10 * (wrong.error + bayes.error)

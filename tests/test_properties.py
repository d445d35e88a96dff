"""What must hold for every prior, length and point: Hypothesis looks for exceptions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headflow as hf
from tests.points import random_point, random_prior

NAMES = ("softmax", "softmax-1", "softmax-1-norm", "bayes-softmax", "sigmoid")
cases = st.tuples(
    st.integers(1, 4), st.integers(1, 3), st.sampled_from([2, 3, 7, 19, 50]), st.integers(0, 10_000)
)


@settings(max_examples=40)
@given(cases, st.sampled_from(NAMES), st.integers(1, 3), st.floats(0.2, 3.0))
def test_nothing_goes_below_the_bayes_risk(case, name, heads, scale):
    atoms, spikes, tokens, seed = case
    prior = random_prior(atoms, spikes, seed)
    m, R = random_point(heads, spikes, seed, scale)
    risk = hf.PopulationRisk(name, prior, tokens, rtol=1e-4)(m, R)
    bayes = hf.bayes_risk(prior, tokens, rtol=1e-5)
    assert risk.value + risk.error >= bayes.value - bayes.error


@settings(max_examples=25)
@given(cases, st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_permutations_and_rotations_change_nothing(case, name, random):
    """Heads, atoms and spikes may be permuted, spikes rotated."""
    atoms, spikes, tokens, seed = case
    prior = random_prior(atoms, spikes, seed)
    m, R = random_point(2, spikes, seed)
    first = hf.PopulationRisk(name, prior, tokens, rtol=1e-5).gradient(m, R)
    order = random.sample(range(atoms), atoms)
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(spikes, spikes)))[0]
    moved = hf.FiniteSupport(prior.support[order] @ rotation, prior.probabilities[order])
    second = hf.PopulationRisk(name, moved, tokens, rtol=1e-5).gradient(
        m[::-1] @ rotation, R[::-1, ::-1]
    )
    error = first.error + second.error
    assert first.value == pytest.approx(second.value, abs=error)
    assert first.m == pytest.approx(second.m[::-1] @ rotation.T, abs=error)
    assert first.R == pytest.approx(second.R[::-1, ::-1], abs=error)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from(["softmax", "softmax-1", "bayes-softmax"]))
def test_identical_heads_act_as_one_where_they_must(seed, name):
    """Field case F10: doubling a head changes no mean of softmaxes, and no joint softmax."""
    prior = random_prior(3, 2, seed)
    m, R = random_point(1, 2, seed)
    twice = np.repeat(m, 2, axis=0), np.full((2, 2), R[0, 0])
    risk = hf.PopulationRisk(name, prior, 4, rtol=1e-6)
    one, two = risk(m, R), risk(*twice)
    assert one.value == pytest.approx(two.value, abs=one.error + two.error)


def test_a_spoiled_bayes_softmax_is_above_the_bayes_risk():
    """Negative control: unequal norms without the norm bias do not reach the Bayes risk."""
    prior = hf.flipped_spikes([2.0, 1.5], mean=[1.0, 0.0])
    m = prior.support
    bayes = hf.bayes_risk(prior, 5, rtol=1e-6)
    right = hf.PopulationRisk("bayes-softmax", prior, 5, rtol=1e-6)(m, m @ m.T)
    plain = hf.activation("bayes-softmax", bias="none")
    wrong = hf.PopulationRisk(plain, prior, 5, rtol=1e-6)(m, m @ m.T)
    assert abs(right.value - bayes.value) <= right.error + bayes.error
    assert wrong.value - bayes.value > 100 * (wrong.error + bayes.error)

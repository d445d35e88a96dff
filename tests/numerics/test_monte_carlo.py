"""The simulators against values known by hand or to 30 digits, and against each other."""

import numpy as np
import pytest

from headflow.store import kernels_for
from numerics.embedding import Vectors, embed
from numerics.errors import InputError
from numerics.monte_carlo import (
    BLOCK,
    Model,
    directional_derivatives,
    finite_dimension_risk,
    reduced_risk,
)
from numerics.priors import FiniteSupport, GaussianPrior
from numerics.statistics import family_bound, z_score
from theory.catalogue import activation

ONE = FiniteSupport([[1.0]], [1.0])
PRIOR = FiniteSupport([[1.7, 0.4], [-0.9, 1.1], [0.3, -1.5]], [0.5, 0.2, 0.3])
# Each comparison below is wrongly rejected once in a million.
LIMIT = family_bound(1, 1e-6)


def model(name, prior, tokens, heads, **free):
    return Model.of(kernels_for(activation(name)), prior, tokens, heads, **free)


def z(simulated, exact):
    return z_score("simulated", exact, 0.0, simulated).z


def attention(name, logits):
    """A of each token at gain mean, from logits given head by head."""
    heads = kernels_for(activation(name)).attention(np.array(logits, dtype=float).T[None])[0]
    return heads.mean(axis=1) if name != "bayes-softmax" else heads.sum(axis=1)


@pytest.mark.parametrize(
    ("name", "logits", "exact"),
    [
        ("softmax-1", [[5, 5]], [0.498321169187] * 2),
        ("softmax-1", [[2, -1]], [0.843794734481, 0.042010066134]),
        ("softmax-1", [[-10, -10]], [4.539580782951e-05] * 2),
        ("softmax-1", [[800, 0, 0]], [1, 0, 0]),
        ("softmax-1", [[-800, -800, -800]], [0, 0, 0]),
        ("softmax-1", [[0, 0, 0]], [0.25] * 3),
        ("softmax", [[800, 0]], [1, 0]),
        ("softmax", [[-800, -800]], [0.5, 0.5]),
        ("softmax", [[6, 0, 0], [0, 3, 0]], [0.52017273, 0.45595476, 0.02387251]),
        ("bayes-softmax", [[6, 0, 0], [0, 3, 0]], [0.94600055, 0.04932124, 0.00467821]),
        ("bayes-softmax", [[3, 0], [-1000, -1000]], [0.952574126822, 0.047425873178]),
        ("softmax-1", [[3, 0], [-1000, -1000]], [0.454721499256, 0.022639250372]),
        ("softmax", [[3, 0], [-1000, -1000]], [0.726287063411, 0.273712936589]),
    ],
)
def test_generated_attention_has_the_known_values(name, logits, exact):
    # The values were given with 8 to 12 digits.
    assert attention(name, logits) == pytest.approx(np.array(exact), abs=6e-9)


def test_softmax_1_is_softmax_with_one_more_logit_at_zero():
    logits = [2.5, -1.0, 700.0, 0.3]
    for shift in (0.0, -690.0, -720.0):
        moved = [x + shift for x in logits]
        longer = attention("softmax", [[*moved, 0.0]])[:-1]
        assert attention("softmax-1", [moved]) == pytest.approx(longer, rel=1e-13, abs=1e-300)


def test_identical_heads_attend_like_one():
    one = attention("softmax", [[6, -1, 0.5]])
    for name in ("softmax", "bayes-softmax"):
        assert attention(name, [[6, -1, 0.5]] * 2) == pytest.approx(one, abs=1e-15)


def test_constants_move_what_they_should():
    both, one = [[7, 1, 1], [1, 4, 1]], [[7, 1, 1], [0, 3, 0]]
    base = [[6, 0, 0], [0, 3, 0]]
    for name in ("softmax", "bayes-softmax"):
        assert attention(name, both) == pytest.approx(attention(name, base), abs=1e-14)
    assert attention("softmax", one) == pytest.approx(attention("softmax", base), abs=1e-14)
    for name, logits in (("bayes-softmax", one), ("softmax-1", both)):
        assert np.max(np.abs(attention(name, logits) - attention(name, base))) > 1e-3


def generic(heads, spikes, seed, rank=None):
    rng = np.random.default_rng(seed)
    m = rng.standard_normal((heads, spikes))
    root = rng.standard_normal((heads, heads if rank is None else rank))
    return m, m @ m.T + root @ root.T


@pytest.mark.parametrize(("heads", "spikes", "rank"), [(1, 1, 0), (3, 2, None), (4, 3, 2)])
@pytest.mark.parametrize("spare", [0, 5])
def test_embedded_vectors_have_the_given_gram_matrix(heads, spikes, rank, spare):
    m, R = generic(heads, spikes, 7, rank)
    vectors = embed(m, R, heads + spikes + spare)
    assert vectors.heads.shape == (heads, heads + spikes + spare)
    # The root of what is singular carries the root of the rounding, squared again by R.
    assert vectors.m == pytest.approx(m, abs=1e-15)
    assert vectors.R == pytest.approx(R, abs=1e-13)
    assert vectors.spikes @ vectors.spikes.T == pytest.approx(np.eye(spikes), abs=0)


def test_embedding_refuses_what_does_not_exist():
    m, R = generic(3, 2, 7)
    with pytest.raises(InputError, match=r"^dimension: expected at least 5[^\n]*got 4$"):
        embed(m, R, 4)
    with pytest.raises(InputError, match=r"smallest eigenvalue is -0\.31"):
        embed([[0.9]], [[0.5]], 10)
    with pytest.raises(InputError, match=r"^m: expected 2 dimension"):
        embed(0.9, [[1.0]], 10)


def test_softmax_at_unit_variance():
    exact = 0.636838153968369
    of = model("softmax", ONE, 2, 1)
    assert abs(z(reduced_risk(of, [[0.0]], [[1.0]]).risk, exact)) < LIMIT
    assert abs(z(finite_dimension_risk(of, [[0.0]], [[1.0]], dimension=20).limit, exact)) < LIMIT


def test_identical_heads_are_one_head():
    # R is singular, and R - m m^T is zero.
    of, exact = model("softmax", ONE, 2, 2), 0.324943297662
    m, R = np.ones((2, 1)), np.ones((2, 2))
    assert abs(z(reduced_risk(of, m, R).risk, exact)) < LIMIT
    assert abs(z(finite_dimension_risk(of, m, R, dimension=20).limit, exact)) < LIMIT


def test_one_token_is_always_found():
    of = model("softmax", PRIOR, 1, 2)
    m, R = generic(2, 2, 1)
    reduced = reduced_risk(of, m, R, samples=100)
    assert (reduced.risk.mean, reduced.risk.standard_error) == (0.0, 0.0)
    assert reduced.relevant.mean == 1.0
    vectors = finite_dimension_risk(of, m, R, dimension=9, samples=100).limit
    assert (vectors.mean, vectors.standard_error) == (0.0, 0.0)


def test_tokens_without_signal_share_the_attention():
    reduced = reduced_risk(model("softmax", PRIOR, 8, 2), np.zeros((2, 2)), np.eye(2))
    assert abs(z(reduced.relevant, 1 / 8)) < LIMIT
    assert 7 / 8 < reduced.risk.mean < 7 / 4


def linear_risk(m, R, shift=0.0):
    """By hand for L = 2, theta = 1: (1 - x)^2 on the relevant token, x^2 on the other."""
    return (1 - m - shift) ** 2 + R + shift**2 + R


@pytest.mark.parametrize("dimension", [2, 3, 40])
def test_linear_attention_by_hand(dimension):
    of, exact = model("linear", ONE, 2, 1), linear_risk(0.4, 0.7)
    reduced = reduced_risk(of, [[0.4]], [[0.7]])
    assert abs(z(reduced.risk, exact)) < LIMIT
    assert abs(z(reduced.relevant, 0.4)) < LIMIT
    assert abs(z(reduced.squares, 0.4**2 + 2 * 0.7)) < LIMIT
    # Even where D = F + H leaves nothing outside the span, no bias is left in the limit.
    vectors = finite_dimension_risk(of, [[0.4]], [[0.7]], dimension=dimension, samples=200_000)
    assert abs(z(vectors.limit, exact)) < LIMIT


def test_finite_dimension_without_extrapolation_is_detected():
    of = model("linear", ONE, 2, 1)
    vectors = finite_dimension_risk(of, [[0.4]], [[0.7]], dimension=10, samples=100_000)
    assert abs(z(vectors.single, linear_risk(0.4, 0.7))) > LIMIT


def test_lengths_are_averaged_by_their_odds():
    lengths = {2: 0.5, 3: 0.3, 7: 0.2}
    exact = sum(odds * (1 - 1 / length) for length, odds in lengths.items())
    of = model("softmax", PRIOR, lengths, 2)
    m, R = np.zeros((2, 2)), np.zeros((2, 2))
    assert abs(z(reduced_risk(of, m, R).risk, exact)) < LIMIT
    assert abs(z(finite_dimension_risk(of, m, R, dimension=20).limit, exact)) < LIMIT
    # Equal weight for each length is another number, and is seen to be.
    equal = sum((1 - 1 / length) / 3 for length in lengths)
    assert abs(z(reduced_risk(of, m, R).risk, equal)) > LIMIT


@pytest.mark.parametrize("name", ["softmax", "softmax-1-norm", "bayes-softmax", "erf"])
def test_both_simulators_agree_at_a_generic_point(name):
    m, R = generic(3, 2, 4)
    prior = GaussianPrior([0.7, -0.3], [1.4, 0.2])
    of = model(name, prior, 4, 3)
    reduced = reduced_risk(of, m / 2, R / 4, seed=1).risk
    vectors = finite_dimension_risk(of, m / 2, R / 4, dimension=30, seed=2).limit
    error = np.hypot(reduced.standard_error, vectors.standard_error)
    assert abs(reduced.mean - vectors.mean) < LIMIT * error


def test_derivatives_of_linear_attention_by_hand():
    of = model("linear", ONE, 2, 1)
    k = np.array([[0.4, -0.6]])
    along = np.array([[[1.0, 0.0]], [[0.3, 0.8]], [[0.0, 0.0]]])
    shifts = np.array([[0.0], [0.5], [1.0]])
    simulated = directional_derivatives(of, Vectors(np.eye(1, 2), k), along, shifts)

    def risk(t, direction, shift):
        moved = (k + t * direction)[0]
        return linear_risk(moved[0], moved @ moved, t * shift)

    for direction, (shift,), one in zip(along, shifts, simulated, strict=True):
        # The risk is quadratic in t, so this difference is exact.
        exact = (risk(1.0, direction, shift) - risk(-1.0, direction, shift)) / 2
        assert abs(z(one, exact)) < LIMIT
        assert abs(z(one, 2 * exact)) > LIMIT


def test_norm_bias_moves_with_the_heads():
    # One token, one head, no signal: a = e^x / (1 + e^x), x = g - R/2, so that only R counts.
    of = model("softmax-1-norm", FiniteSupport([[0.0]], [1.0]), 1, 1)
    k, step = np.array([[0.0, 1.1]]), 0.05
    along = np.array([[[0.0, 1.0]]])
    (slope,) = directional_derivatives(of, Vectors(np.eye(1, 2), k), along, samples=200_000)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)

    def risk(size):
        x = size * nodes - size**2 / 2
        return weights @ (1 / (1 + np.exp(x))) ** 2 / weights.sum()

    ahead, behind = (risk(1.1 + s) - risk(1.1 - s) for s in (step, 2 * step))
    exact = (8 * ahead - behind) / (12 * step)
    assert abs(z(slope, exact)) < LIMIT
    assert slope.standard_error < abs(exact) / 10


def test_a_seed_fixes_every_number():
    of = model("softmax", PRIOR, {3: 0.4, 5: 0.6}, 2)
    m, R = generic(2, 2, 3)
    vectors = embed(m, R, 4)
    along = np.random.default_rng(0).standard_normal((2, 2, 4))

    def everything(seed):
        return (
            reduced_risk(of, m, R, samples=9000, seed=seed),
            finite_dimension_risk(of, m, R, dimension=10, samples=900, seed=seed),
            directional_derivatives(of, vectors, along, samples=900, seed=seed),
        )

    assert everything(5) == everything(5)
    for first, second in zip(everything(5), everything(6), strict=True):
        assert first != second
    # A sequence that has spawned before is not used up.
    sequence = np.random.SeedSequence(5)
    assert everything(sequence) == everything(sequence) == everything(5)
    different = finite_dimension_risk(of, m, R, dimension=10, samples=900)
    assert different.single.mean != different.double.mean


def test_more_samples_extend_the_ones_already_drawn():
    of = model("softmax", PRIOR, 3, 2)
    m, R = generic(2, 2, 3)
    few = reduced_risk(of, m, R, samples=BLOCK).risk
    more = reduced_risk(of, m, R, samples=BLOCK + 2).risk
    # The loss of a sample lies in [0, 2]: two more add no more than 4, new ones some 50.
    added = more.mean * more.samples - few.mean * few.samples
    assert 0 < added < 4


def test_bad_input_is_refused_in_one_line():
    m, R = generic(2, 2, 3)
    of = model("softmax", PRIOR, 3, 2)
    vectors = embed(m, R, 4)
    free = kernels_for(activation("softmax")), PRIOR, 3, 2
    for call, message in [
        (lambda: Model.of(*free, beta=[0.1, 0.2]), "beta: this activation has no free bias"),
        (lambda: Model.of(*free, gain=0.5), "gain: this activation has a fixed gain"),
        (lambda: Model.of(*free[:3], 0), "heads: expected an integer >= 1"),
        (lambda: reduced_risk(of, m[:1], R[:1, :1]), "m: expected 2 rows"),
        (lambda: reduced_risk(of, m, R, samples=1), "samples: expected an integer >= 2"),
        (lambda: reduced_risk(of, m, R, seed=-1), "seed: expected an integer >= 0"),
        (lambda: finite_dimension_risk(of, m, R, dimension=3), "dimension: expected at least 4"),
        (lambda: directional_derivatives(of, vectors, m[None]), r"directions: expected shape"),
        (
            lambda: directional_derivatives(of, vectors, np.ones((1, 2, 4)), [[1.0]]),
            "shifts: expected shape",
        ),
        (
            lambda: directional_derivatives(of, vectors, np.ones((1, 2, 4)), step=0),
            "step: expected a number > 0",
        ),
    ]:
        with pytest.raises(InputError, match=rf"^{message}[^\n]*$"):
            call()

# notation: m, R alignments and overlaps; beta free biases; a_l^h attention weight of a head.
"""Pruning: against tokens sampled here, and draws of subsets against all draws there are."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import headflow as hf
from numerics.estimate import Estimate
from numerics.pruning.dataset import Removal
from numerics.pruning.removal import subsets_kept
from tests.points import ODDS, PRIOR, SUPPORT, random_point

HEADS, TOKENS, SAMPLES = 3, 5, 100_000
BETA = np.array([0.3, -0.5, 0.1])
M, R = random_point(HEADS, 2, seed=28)
SUBSETS = [list(kept) for left in (3, 2, 1) for kept in combinations(range(HEADS), left)]
# Two-sided z-scores of all activations, conventions and subsets: together they raise a false alarm
# with probability 1e-4.
CASES = {
    "softmax": (hf.activation("softmax"), None),
    "bayes-softmax": (hf.activation("bayes-softmax"), None),
    "bayes-softmax, mean": (hf.activation("bayes-softmax", gain="mean"), None),
    "softmax-1, biases": (hf.activation("softmax-1", bias="norm+free"), BETA),
}
BOUND = stats.norm.isf(1e-4 / 2 / (len(CASES) * 2 * len(SUBSETS)))


@cache
def logits():
    """Of the relevant token (number 0) and the others, shape (SAMPLES, TOKENS, HEADS)."""
    rng = np.random.default_rng(28)
    x = rng.standard_normal((SAMPLES, TOKENS, HEADS)) @ np.linalg.cholesky(R).T
    x[:, 0] += SUPPORT[rng.choice(len(ODDS), SAMPLES, p=ODDS)] @ M.T
    return x


def sampled(act, beta, kept, convention, leaves_normalizer=True):
    """Mean loss and its standard error from token logits, written apart from the product."""
    bias = (-np.diag(R) / 2 if "norm" in act.bias else 0) + (0 if beta is None else beta)
    scores = np.exp(logits() + bias)
    of_all = scores if not leaves_normalizer else scores[:, :, kept]
    axes = (1, 2) if act.scope == "heads" else 1
    total = int(act.offset) + of_all.sum(axis=axes, keepdims=True)
    weights = (scores[:, :, kept] / total).sum(axis=2)
    if act.gain == "mean":
        weights /= len(kept) if convention == "rescaled" else HEADS
    weights[:, 0] -= 1
    loss = (weights**2).sum(axis=1)
    return loss.mean(), loss.std(ddof=1) / np.sqrt(SAMPLES)


def pruned(case, convention):
    act, beta = CASES[case]
    return hf.prune(act, PRIOR, TOKENS, M, R, beta=beta, convention=convention, rtol=1e-6)


def z_scores(data, case, convention, **options):
    found = []
    for kept in SUBSETS:
        i = HEADS - len(kept)
        j = [np.flatnonzero(row).tolist() for row in data.kept.values[i]].index(kept)
        mean, error = sampled(*CASES[case], kept, convention, **options)
        risk, own = float(data.risk[i, j]), float(data.error[i, j])
        found.append((risk - mean) / np.hypot(error, own))
    return np.array(found)


@pytest.mark.parametrize("convention", ["rescaled", "zeroed"])
@pytest.mark.parametrize("case", CASES)
def test_every_subset_against_sampled_tokens(case, convention):
    data = pruned(case, convention)
    assert np.abs(z_scores(data, case, convention)).max() < BOUND
    assert data.attrs["exhaustive"] == [1, 1, 1] and np.all(data.standard_error == 0)
    for i in range(HEADS):
        risks = data.risk.values[i][np.isfinite(data.risk.values[i])]
        assert risks.size == (1, 3, 3)[i] == data.subsets_taken[i]
        assert data.risk_mean[i] == pytest.approx(risks.mean(), rel=1e-14)
        assert data.spread[i] == pytest.approx(risks.std(), rel=1e-12)
        assert (float(data.risk_low[i]), float(data.risk_high[i])) == (risks.min(), risks.max())
        assert float(data.loss_to_full[i]) == data.risk_mean[i] - data.attrs["risk_all_heads"]
    assert data.loss_to_full[0] == 0
    assert all({"units", "long_name"} <= set(one.attrs) for one in data.data_vars.values())


def test_another_convention_is_seen():
    """Negative controls: the other gain, and a head that stays in a normalizer it shares."""
    zeroed = pruned("softmax", "zeroed")
    assert np.abs(z_scores(zeroed, "softmax", "rescaled"))[1:].min() > BOUND
    joint = pruned("bayes-softmax", "rescaled")
    stays = z_scores(joint, "bayes-softmax", "rescaled", leaves_normalizer=False)
    assert np.abs(stays)[1:].min() > BOUND


def test_a_gain_without_a_rule_is_the_same_by_both():
    """Gain sum: the conventions agree, bit for bit, and say so by the gain."""
    one, other = (pruned("bayes-softmax", name) for name in ("rescaled", "zeroed"))
    assert one.equals(other) and np.all(one.gain == 1)


def test_a_free_gain():
    """Rescaled: the bottom of the parabola of each subset. Zeroed: the gain that was given."""
    act = hf.activation("softmax", gain="free")
    risk = hf.PopulationRisk(act, PRIOR, TOKENS, rtol=1e-6)
    best = hf.prune(risk, None, None, M, R, removed=[1])
    held = hf.prune(risk, None, None, M, R, removed=1, convention="zeroed", gain=0.4)
    assert np.isnan(best.gain[0]) and float(held.gain[0]) == 0.4
    for j, kept in enumerate(combinations(range(HEADS), 2)):
        at = [risk(M[[*kept]], R[np.ix_(kept, kept)], gain=g).value for g in (-1.0, 0.0, 1.0, 0.4)]
        slope, bend = (at[2] - at[0]) / 2, (at[2] + at[0]) / 2 - at[1]
        assert float(best.risk[0, j]) == pytest.approx(at[1] - slope**2 / (4 * bend), abs=1e-5)
        assert float(held.risk[0, j]) == pytest.approx(at[3], abs=1e-6)
        assert held.risk[0, j] > best.risk[0, j] + 1e-3


def test_drawn_subsets_are_some_of_all():
    m, overlaps = random_point(5, 2, seed=3)
    case = ("softmax", PRIOR, 3, m, overlaps)
    every = hf.prune(*case, removed=[2], rtol=1e-4)
    some = hf.prune(*case, removed=[4, 2], subsets=6, seed=4, rtol=1e-4)
    assert some["count"].values.tolist() == [2, 4] and some.attrs["exhaustive"] == [0, 1]
    assert "6 of 10 subsets drawn without replacement where 2 are removed" == some.attrs["status"]
    assert np.isnan(some.risk.values[1]).tolist() == [False] * 5 + [True]
    assert not some.kept.values[1, 5].any()
    rows = [row.tolist() for row in every.kept.values[0]]
    places = [rows.index(row.tolist()) for row in some.kept.values[0]]
    assert len(set(places)) == 6
    assert some.risk.values[0].tolist() == every.risk.values[0, places].tolist()
    assert some.standard_error.values[0] > 0 and some.standard_error.values[1] == 0
    assert hf.prune(*case, removed=[2], subsets=6, seed=4, rtol=1e-4).equals(
        some.isel(count=[0]).drop_vars("subset", errors="ignore")
    )
    other = hf.prune(*case, removed=[2], subsets=6, seed=5, rtol=1e-4)
    assert not np.array_equal(other.kept, some.kept.isel(count=[0]))
    assert json.loads(some.attrs["configuration"])["seed"] == 4


def test_every_subset_is_drawn_equally_often():
    """5 of the 20 subsets of 3 of 6 heads, 2000 times; a false alarm has probability 1e-4."""
    draws, taken, possible = 2000, 5, 20
    number = {kept: i for i, kept in enumerate(combinations(range(6), 3))}
    counts = np.zeros(possible)
    for seed in range(draws):
        for row in subsets_kept(6, 3, taken, np.random.default_rng(seed)):
            counts[number[tuple(row.tolist())]] += 1
    share = taken / possible
    # Of a draw without replacement the covariance is that of a multinomial, times a factor.
    variance = draws * share * (1 - share) * possible / (possible - 1)
    statistic = np.sum((counts - draws * share) ** 2) / variance
    assert 1e-4 < stats.chi2.sf(statistic, possible - 1)


def test_the_errors_of_a_draw_are_right_on_average():
    """Over all draws of n of 6 values: E[spread^2] and E[standard error^2] are exact."""
    population = np.array([0.3, 0.34, 0.5, 0.41, 0.77, 0.62])
    for n in (2, 4, 6):
        draws = [population[list(one)] for one in combinations(range(6), n)]
        # 6 heads, one of them removed: 6 subsets.
        removals = [
            Removal(1, 6, np.zeros((n, 5), int), [Estimate(v, 0, "", 0) for v in values], 1.0)
            for values in draws
        ]
        spread = np.mean([one.spread() ** 2 for one in removals])
        error = np.mean([one.standard_error() ** 2 for one in removals])
        assert spread == pytest.approx(population.var(), rel=1e-12)
        assert error == pytest.approx(np.var([v.mean() for v in draws]), rel=1e-12, abs=1e-18)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"convention": "masked"}, "convention: expected 'rescaled' or 'zeroed', got 'masked'"),
        ({"convention": ["zeroed"]}, "convention: expected 'rescaled' or 'zeroed'"),
        ({"removed": [1, 3]}, r"removed: expected fewer than the 3 head\(s\) there are, got 3"),
        ({"removed": [-1]}, "removed: expected an integer >= 0, got -1"),
        ({"removed": []}, "removed: expected numbers of heads"),
        ({"R": R[:2, :2]}, r"R: expected shape \(3, 3\) to fit m \(3, 2\), got \(2, 2\)"),
        ({"beta": BETA}, "beta: this activation has no free bias"),
        ({"gain": 0.5}, "gain: this activation has a fixed gain; leave gain out"),
        ({"subsets": 1}, "subsets: expected an integer >= 2, got 1"),
        ({"act": hf.activation("softmax", gain="free"), "gain": 1}, "leave gain out"),
        (
            {"act": hf.activation("softmax", gain="free"), "convention": "zeroed"},
            "gain: 'zeroed' keeps the free gain of all heads; give gain=",
        ),
    ],
)
def test_bad_input_is_one_line(changes, message):
    case = {"act": "softmax", "prior": PRIOR, "tokens": TOKENS, "m": M, "R": R, **changes}
    with pytest.raises(hf.InputError, match=message) as refused:
        hf.prune(**case)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("convention", ["rescaled", "zeroed"])
def test_named_parameters_are_kept(convention):
    """Softmax at temperature 2 is softmax of half the heads."""
    act = hf.activation("softmax-temperature", bias="none").at(T=2)
    one = hf.prune(act, PRIOR, TOKENS, M, R, convention=convention, rtol=1e-6)
    other = hf.prune("softmax", PRIOR, TOKENS, M / 2, R / 4, convention=convention, rtol=1e-6)
    apart = np.abs(one.risk - other.risk) - one.error - other.error
    assert float(apart.max()) <= 0 and float(one.error.max()) < 1e-5


def test_attention_as_a_function():
    """Without an equation rescaled only; linear attention has known risks to compare with."""
    function = hf.NumericAttention(lambda x: x)
    data = hf.prune(function, PRIOR, 3, M, R, rtol=1e-2)
    exact = hf.prune("linear", PRIOR, 3, M, R)
    risks, known = (one.risk.values[np.isfinite(one.risk.values)] for one in (data, exact))
    z = (risks - known) / data.error.values[np.isfinite(data.error.values)]
    # Student's t of 16 replicates; a false alarm has probability 1e-4.
    assert np.abs(z).max() < stats.t.isf(1e-4 / 2 / z.size, 15)
    with pytest.raises(hf.InputError, match="zeroed"):
        hf.prune(function, PRIOR, 3, M, R, convention="zeroed")

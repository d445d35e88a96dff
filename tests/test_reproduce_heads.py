# notation: m alignments of the heads; R their overlaps.
"""Excursions and pruning as experiments: numbers of one run, and claims that fail on other data."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from headflow.reproduce import excursions, pruning
from headflow.reproduce.excursions import NUMBERS, followed, record_times, taken
from headflow.reproduce.pruning import SUMMARIES, pruned
from numerics.statistics import share_interval

SIGNS = np.array([[2.0, 1.5], [2.0, -1.5], [-2.0, 1.5], [-2.0, -1.5]])


def verdicts(module, data):
    return {claim.name: claim.holds for claim in module.claims(data)}


def failing(module, data):
    return {name for name, holds in verdicts(module, data).items() if not holds}


def test_values_taken_are_those_of_the_signs():
    m = np.random.default_rng(5).standard_normal((40, 3, 2))
    by_signs = [len({tuple(head) for head in np.sign(one)}) for one in m]
    assert taken(m, SIGNS).tolist() == by_signs
    assert len(set(by_signs)) > 1


def test_wilson_interval_by_its_definition():
    # The ends are the p at which the observed share is z of its standard deviations away.
    for successes, trials in ((3, 11), (0, 7), (9, 9)):
        share, low, high = share_interval(successes, trials)
        for p in (low, high):
            distance = (share - p) ** 2 * trials
            assert distance == pytest.approx(1.959963984540054**2 * p * (1 - p), abs=1e-12)
        assert low <= share <= high and low < high
    assert np.isnan(share_interval(0, 0)).all()


def test_a_start_from_which_a_head_moves():
    # Three values have a head at first; the head that moves changes its sign along one direction.
    prior = {"strengths": [2.0, 1.5]}
    numbers, errors = followed("bayes-softmax", prior, 5, 4, 0.5, 90.0, 20, 7)
    own = dict(zip(NUMBERS, numbers, strict=False))
    m = numbers[len(NUMBERS) + 2 :].reshape(20, 4, 2)
    tau = record_times(90.0, 20)
    assert errors.shape == numbers.shape and 0 < errors[0] < 0.01
    assert np.array_equal(m[0], 0.5 * np.random.default_rng(7).standard_normal((4, 2)))
    assert own["taken_last"] == 4 and taken(m[:1], SIGNS)[0] < 4
    assert numbers[len(NUMBERS) : len(NUMBERS) + 2].sum() == 1
    assert 0 < own["left_at"] < own["joined_at"] < tau[-1]
    way = m[:, int(own["mover"]), int(own["direction"])]
    assert np.sign(way[tau < own["left_at"]][-1]) == -np.sign(way[-1])


def runs(bayes_moved, softmax_moved, starts=30):
    """Starts of which the first ones have an excursion, by which one more value gets a head."""
    shape = (2, starts)
    moved = np.arange(starts) < np.array([[bayes_moved], [softmax_moved]])
    number = {name: np.where(moved, 1.0, np.nan) for name in ("mover", "direction", "left_at")}
    last = np.full(shape, 4.0)
    variables = {
        **number,
        "joined_at": np.where(moved, 60.0 + np.arange(starts), np.nan),
        "taken_first": np.where(moved, 3.0, 4.0),
        "taken_last": last,
    }
    m = np.zeros((*shape, 3, 4, 2))
    m[..., 1:, :, :] = SIGNS
    return xr.Dataset(
        {
            **{name: (("activation", "start"), one) for name, one in variables.items()},
            "along": (("activation", "start", "mode"), np.stack([0 * moved, moved], -1)),
            "m": (("activation", "start", "time", "head", "spike"), m),
            "support": (("atom", "spike"), SIGNS),
            "singular": (("mode", "spike"), np.eye(2)),
        },
        {
            "activation": ["bayes-softmax", "softmax"],
            "start": np.arange(starts),
            "time": [0.0, 0.5, 100.0],
        },
    )


def test_claims_on_excursions_fail_where_the_data_say_otherwise():
    assert failing(excursions, runs(15, 2)) == set()
    more, free = "excursions are more frequent with bayes-softmax", "the head that moves finds"
    # 8 of 30 against 2: the intervals overlap, so that nothing is shown.
    assert failing(excursions, runs(8, 2)) == {more}
    lost = runs(15, 2)
    lost["taken_first"][0, :15] = 4.0
    assert {name[: len(free)] for name in failing(excursions, lost)} == {free}
    lost["taken_last"][0, 3:] = 3.0
    assert "every value gets a head" in failing(excursions, lost)
    assert failing(excursions, runs(0, 0)) == {more, f"{free} a free value"}
    for data in (runs(15, 2), runs(0, 0)):
        assert excursions.draw(data).startswith("<svg")


def test_pruned_heads_of_one_training():
    prior, heads = {"strengths": [2.0]}, 3
    blocks = {}
    for name in ("softmax", "bayes-softmax"):
        numbers, errors = pruned(name, prior, 5, heads, 40.0, 1)
        assert errors.shape == numbers.shape and np.all(errors[1:] < 1e-3)
        blocks[name] = numbers[1:].reshape(2, heads, len(SUMMARIES))
        mean, low, high, spread = np.moveaxis(blocks[name], -1, 0)
        assert np.all(low <= mean + 1e-12) and np.all(mean <= high + 1e-12)
        assert np.all(spread[:, 0] == 0) and np.all(spread[:, 1:] > 0)
    assert np.array_equal(*blocks["bayes-softmax"])
    rescaled, zeroed = blocks["softmax"]
    assert rescaled[0] == pytest.approx(zeroed[0], abs=1e-3)
    assert abs(rescaled[1, 0] - zeroed[1, 0]) > 0.01


@pytest.fixture
def removed():
    """Softmax that needs one head of three, Bayes-softmax that needs two; the second start best."""
    low = np.array([[[0.50, 0.50, 0.51], [0.50, 0.60, 0.70]], [[0.20, 0.21, 0.60]] * 2])
    spread = np.array([[0.0, 0.02, 0.03], [0.0, 0.3, 0.2]])
    dims = ("activation", "law", "start", "convention", "count")
    shape = (2, 1, 2, 2, 3)
    worse = np.array([0.1, 0.0])[:, None, None]
    values = {
        "low": np.broadcast_to(low[:, None, None], shape) + worse,
        "mean": np.broadcast_to(low[:, None, None] + 0.02 * np.arange(3), shape) + worse,
        "high": np.broadcast_to(low[:, None, None] + 0.1 * np.arange(3), shape) + worse,
        "spread": np.broadcast_to(spread[:, None, None, None], shape).copy(),
    }
    errors = {f"{name}_error": (dims, np.full(shape, 1e-4)) for name in values}
    return xr.Dataset(
        {
            **{name: (dims, one) for name, one in values.items()},
            **errors,
            "spikes": ("law", [1]),
            "needs": (("activation", "law"), [[1], [2]]),
            "unknowing": 0.8,
        },
        {
            "activation": ["softmax", "bayes-softmax"],
            "law": ["a law"],
            "convention": ["rescaled", "zeroed"],
            "count": np.arange(3),
        },
    )


def test_claims_on_pruning_fail_where_the_data_say_otherwise(removed):
    assert failing(pruning, removed) == set()
    assert pruning.draw(removed).startswith("<svg")
    for needs, lost in ((1, "bayes-softmax can lose 2 heads"), (3, "bayes-softmax cannot lose 1")):
        other = removed.copy(deep=True)
        other["needs"][1, 0] = needs
        assert [name[: len(lost)] for name in failing(pruning, other)] == [lost]
    kept = removed.copy(deep=True)
    kept["low"][0, :, :, 1] = kept["low"][0, :, :, 0]
    assert failing(pruning, kept) == {"zeroed, a law"}
    alike = removed.copy(deep=True)
    alike["spread"][1] = alike["spread"][0]
    assert len(failing(pruning, alike)) == 1

"""Branches of fixed points: against the closed spectrum at the origin, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import headflow as hf
from headflow.continuation import Family
from headflow.store import write_netcdf
from numerics.lengths import SequenceLength
from numerics.parameters import Problem
from numerics.saddles.fixed_points import judged, polished

UNIT = hf.flipped_spikes([1.0])
SKEWED = hf.FiniteSupport([[1.4, 0.5], [-0.6, 0.9]], [0.6, 0.4])
# A mean that is not 0: the heads part in a pitchfork near mean 0.9755.
MOVING = ("softmax", hf.flipped_spikes([1.0], [0.3]), 5)


def test_the_origin_loses_stability_where_its_closed_spectrum_says():
    """Strength s has V = s^2: the common mode turns at V = L / (L - 3), splitting touches at 0."""
    data = hf.continue_fixed_point(
        "softmax", UNIT, 6, 3, "signal", -0.7, 1.9, start_from="origin", points=10
    )
    touch, fork = hf.branch_events(data)
    assert data.attrs["status"] == "complete" and float(data.parameter[-1]) == 1.9
    assert fork.kind == "pitchfork" and fork.block == "heads together" and fork.multiplicity == 1
    assert abs(fork.parameter - np.sqrt(6 / 3)) <= fork.error < 1e-4
    assert touch.kind == "touch" and touch.block == "heads against each other"
    assert touch.multiplicity == 2 and abs(touch.parameter) <= touch.error < 1e-2
    assert fork.null_vectors[0] == pytest.approx(np.full((3, 1), fork.null_vectors[0, 0, 0]))
    closed = hf.origin_spectrum("softmax")
    wanted = [min(closed.evaluate(L=6, H=3, V=float(p) ** 2)) for p in data.parameter]
    assert np.abs(data.lowest.values - wanted).max() <= 2 * data.lowest_error.values.max() + 1e-9
    assert set(data["index"].values) == {2, 3}


def test_even_multiplicity_for_a_prior_with_equal_strengths():
    """Both spikes at once: two common modes cross together, where det keeps its sign."""
    prior = hf.flipped_spikes([1.0, 1.0])
    data = hf.continue_fixed_point(
        "softmax", prior, 5, 3, "signal", 1.4, 1.75, start_from="origin", points=4
    )
    (fork,) = hf.branch_events(data)
    assert fork.multiplicity == 2 and fork.block == "heads together"
    assert abs(fork.parameter - np.sqrt(5 / 2)) <= fork.error
    assert data["index"].values[-1] - data["index"].values[0] == 2


def test_a_pitchfork_is_the_same_event_from_main_and_side_branch(tmp_path):
    main = hf.continue_fixed_point(*MOVING, 2, "mean:1", 0.8, 1.2, points=7)
    (fork,) = hf.branch_events(main)
    assert (fork.kind, fork.block) == ("pitchfork", "heads against each other")
    assert main["index"].values[0] == 1 and main["index"].values[-1] == 0
    # The same eigenvalue by another way: its zero between two points that are solved anew.
    ends = fork.parameter + np.array([-1e-3, 1e-3])
    family = Family.of(*MOVING, "mean:1")
    low = [_splitting(hf.unspecialized_fixed_point(family(p), 2)) for p in ends]
    crossing = ends[0] - low[0] * (ends[1] - ends[0]) / (low[1] - low[0])
    assert low[0] < 0 < low[1] and abs(crossing - fork.parameter) <= fork.error + 1e-5
    side = hf.switch(fork, *MOVING, "mean:1", 0.8, 1.2, points=7)
    assert side.attrs["status"] == "complete" and not hf.branch_events(side)
    assert np.all(side["index"] == 0) and float(side.parameter[-1]) == 0.8
    assert np.abs(np.diff(side.m.values[-1, :, 0])) > 0.5
    m = side.m.values[-1]
    point = judged(family(0.8), m, m @ m.T)
    back = hf.continue_fixed_point(*MOVING, 2, "mean:1", 0.8, 1.2, start_from=point, points=7)
    (met,) = hf.branch_events(back)
    assert met.same_as(fork) and "side branch" in met.note and met.block == fork.block
    write_netcdf(back, tmp_path / "back.nc")
    with xr.open_dataset(tmp_path / "back.nc", engine="h5netcdf") as read:
        (again,) = hf.branch_events(read.load())
    assert vars(again).keys() == vars(met).keys() and again.parameter == met.parameter
    assert np.array_equal(again.null_vectors, met.null_vectors) and again.kind == met.kind


def test_specialized_heads_fold_back_before_they_are_one():
    """A strong spike: the side branch is subcritical, and the specialized state ends in a fold."""
    prior = hf.flipped_spikes([2.5], [1.7])
    data = hf.continue_fixed_point(
        "softmax", prior, 5, 2, "mean:1", 1.7, 2.3, start_from="atoms", points=7
    )
    (fold,) = hf.branch_events(data)
    assert fold.kind == "fold" and 1.9 < fold.parameter < 1.93 and fold.error < 1e-6
    assert data.attrs["message"] == "turned back outside the range at mean:1 = 1.7"
    assert data["index"].values[0] == 0 and data["index"].values[-1] == 1
    assert float(data.parameter.max()) <= fold.parameter + fold.error
    # Two fixed points just before the fold, and none near it just after.
    family = Family.of("softmax", prior, 5, "mean:1")
    near, beyond = (_solutions(family, fold, p) for p in (-4e-3, 4e-3))
    assert len(near) == 2 and abs(np.ptp(near, axis=0)).max() > 0.01 and not beyond


def _splitting(point):
    against = point.spectrum.block == "heads against each other"
    return point.spectrum.eigenvalue[against].values.item()


def _solutions(family, fold, offset):
    """Fixed points near a fold at ``offset`` from it, from both sides along its null vector."""
    risk = family(fold.parameter + offset)
    starts = (fold.x + sign * 0.1 * fold.null_vectors[0] for sign in (1, -1))
    found = (polished(risk, start.ravel(), lambda a: a.reshape(2, 1)) for start in starts)
    return [k for k in found if k is not None and np.abs(k - fold.x).max() < 0.3]


def test_parameters_by_name():
    prior = hf.flipped_spikes([1.5, 0.7], [0.4, -0.2])
    problem = Problem(prior, SequenceLength.of(5))
    moved = problem.at("strength:2", 1.1).at("mean:1", -0.3).prior
    wanted = hf.flipped_spikes([1.5, 1.1], [-0.3, -0.2])
    assert moved.support == pytest.approx(wanted.support, abs=1e-12)
    assert problem.at("signal", 2.0).prior.support == pytest.approx(2 * prior.support)
    gaussian = Problem(hf.GaussianPrior([0.5], [4.0]), problem.length)
    assert gaussian.at("strength:1", 3.0).prior.variance == pytest.approx([9.0])
    assert gaussian.at("signal", 3.0).prior.mean == pytest.approx([1.5])
    assert problem.at("L", 5.0).length == problem.length


def test_real_lengths_only_where_tokens_are_not_sampled():
    """A risk that is linear in L, one that is 1 - 1/L, and one that takes samples of tokens."""
    half = SequenceLength.between(4.5)
    m, R = np.array([[0.4], [-0.3]]), np.array([[0.5, 0.1], [0.1, 0.4]])
    value, low, high = (hf.PopulationRisk("linear", UNIT, L)(m, R).value for L in (half, 4, 5))
    assert value == pytest.approx((low + high) / 2, rel=1e-12) and low != high
    zero = hf.PopulationRisk("softmax", UNIT, half)(0 * m, 0 * R)
    assert abs(zero.value - (1 - 1 / 4.5)) <= zero.error
    kinked = hf.Activation("kinked", score="Max(x, 0)", normalizer="1 + Max(x, 0)", scope="heads")
    with pytest.raises(hf.InputError, match="4.5 is no whole number"):
        hf.PopulationRisk(kinked, UNIT, half)(m, R)
    with pytest.raises(hf.InputError, match="a real length must be >= 2"):
        SequenceLength.between(1.5)


def test_real_lengths_and_offsets_as_parameters():
    by_length = hf.continue_fixed_point(
        "softmax", UNIT, 4, 2, "L", 4.5, 3.5, start_from="origin", points=3
    )
    closed = hf.origin_spectrum("softmax")
    wanted = [min(closed.evaluate(L=float(L), H=2, V=1.0)) for L in by_length.parameter]
    assert by_length.lowest.values == pytest.approx(wanted, abs=1e-6)
    family = Family.of("softmax-1", UNIT, 3, "offset")
    alone = hf.PopulationRisk(hf.activation("softmax-1", offset=1.25), UNIT, 3)
    m = np.array([[0.4]])
    assert family(1.25)(m, m @ m.T).value == alone(m, m @ m.T).value
    assert family(1.25)(m, m @ m.T).value != family(1.0)(m, m @ m.T).value
    with pytest.raises(hf.InputError, match="offset: expected a number >= 0"):
        family(-0.5)


def test_a_temperature_only_rescales_the_heads():
    """exp(x / T) of heads T k is exp(x) of heads k: the branch is known, the risk does not move."""
    warm = hf.activation("softmax-temperature", bias="none")
    branch = hf.continue_fixed_point(
        warm, SKEWED, 3, 2, "T", 1.0, 1.5, start_from="unspecialized", points=5
    )
    assert branch.attrs["status"] == "complete"
    risk, error = branch.risk.values, branch.risk_error.values
    assert np.all(np.abs(risk - risk[0]) <= error + error[0])
    ratio = branch.m / branch.m.isel(point=0)
    assert ratio.values == pytest.approx(
        np.broadcast_to(branch.parameter.values[:, None, None], ratio.shape), abs=1e-6
    )


def test_parameters_of_the_activation_by_name():
    mine = hf.Activation("mine", "exp(q*x)", offset="q/2", parameters={"q": 2})
    with pytest.raises(hf.InputError, match="offset of mine is q/2; vary what it is of"):
        Family.of(mine, UNIT, 3, "offset")
    with pytest.raises(hf.InputError, match="'T' is unknown; expected .*, offset, q$"):
        Family.of(mine, UNIT, 3, "T")
    twice = hf.Activation("twice", "exp(signal*x)", parameters={"signal": 2})
    with pytest.raises(hf.InputError, match="one of the problem and of activation twice"):
        Family.of(twice, UNIT, 3, "signal")
    with pytest.raises(hf.InputError, match="scope 'none' has no denominator"):
        Family.of("erf", UNIT, 3, "offset")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"parameter": "strenght:1"}, "'strenght:1' is unknown; expected signal"),
        ({"parameter": "strength:2"}, "expected a spike from 1 to 1"),
        ({"stop": 0.3}, "the range from 0.3 to 0.3 has no length"),
        ({"start": float("nan")}, "start: entry"),
        ({"points": 1}, "points: expected an integer >= 2"),
        ({"start_from": "origin"}, "no fixed point where the range begins"),
        ({"start_from": "middle"}, "expected one of unspecialized, origin, atoms"),
        ({"parameter": "L", "start": 1.5}, "a real length must be >= 2"),
        ({"act": hf.activation("softmax", gain="free")}, "not searched"),
    ],
)
def test_bad_input_is_one_line(changes, message):
    given = dict(act="softmax", prior=MOVING[1], tokens=5, heads=2, parameter="mean:1")
    given |= {"start": 0.3, "stop": 1.0, **changes}
    with pytest.raises(hf.InputError, match=message) as problem:
        hf.continue_fixed_point(**given)
    assert "\n" not in str(problem.value)


def test_a_start_that_is_no_fixed_point_is_refused():
    family = Family.of(*MOVING, "mean:1")
    point = hf.unspecialized_fixed_point(family(0.3), 2)
    with pytest.raises(hf.InputError, match="no fixed point where the range begins"):
        hf.continue_fixed_point(*MOVING, 2, "mean:1", 0.5, 1.0, start_from=point)


def test_no_branch_leaves_a_fold():
    x, vectors = np.zeros((2, 1)), np.ones((1, 2, 1))
    fold = hf.Event("fold", 0.5, 1e-9, 1, "spikes and heads", x, vectors)
    with pytest.raises(hf.InputError, match="no branch leaves a fold"):
        hf.switch(fold, *MOVING, "mean:1", 0.3, 1.0)
    fork = hf.Event("pitchfork", 0.5, 1e-9, 1, "heads against each other", x, vectors)
    with pytest.raises(hf.InputError, match="not between 0.6 and 1"):
        hf.switch(fork, *MOVING, "mean:1", 0.6, 1.0)
    with pytest.raises(hf.InputError, match="combination of the event's null vectors"):
        hf.switch(fork, *MOVING, "mean:1", 0.3, 1.0, vector=[[1.0], [-1.0]])

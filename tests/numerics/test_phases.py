"""Phases of trajectories made of sigmoids in log tau, whose times are known in closed form."""

import json
import math

import numpy as np
import pytest
import xarray as xr

from numerics.directions import directions
from numerics.dynamics.phases import (
    excursions,
    feature_times,
    phases,
    settled,
    specialization_times,
    unspecialized_end,
)
from numerics.dynamics.plateaus import plateaus
from numerics.errors import InputError
from numerics.priors import FiniteSupport, GaussianPrior, flipped_spikes

TAU = np.concatenate([[0.0], np.geomspace(0.03, 3e5, 701)])
# A prior with generic axes: three atoms, unequal odds, a mean.
PRIOR = FiniteSupport([[1.7, 0.4], [-0.9, 1.1], [0.3, -1.5]], [0.5, 0.2, 0.3])
# A sigmoid of power k is within 5% of its end a factor 19^(1/k) after its middle.
NINETEEN = 19.0


def sigmoid(middle, power=3.0, tau=TAU):
    """Rises from 0 to 1, 1/2 at ``middle``."""
    return tau**power / (tau**power + middle**power)


def along(axes, *paths):
    """m (T, H, F) from the projections (T, H) of the heads on the rows of ``axes``."""
    return np.stack(paths, axis=2) @ axes.singular[: len(paths)]


# ---- directions


def test_directions_are_the_eigenvectors_of_the_covariance_by_falling_variance():
    found = directions(PRIOR)
    atoms = (PRIOR.support - PRIOR.mean) * np.sqrt(PRIOR.probabilities)[:, None]
    _, singular_values, rows = np.linalg.svd(atoms)
    assert found.variances == pytest.approx(singular_values[:2] ** 2, rel=1e-12)
    assert np.abs(np.sum(found.singular * rows, axis=1)) == pytest.approx([1, 1], rel=1e-12)
    assert found.mean @ PRIOR.mean == pytest.approx(np.linalg.norm(PRIOR.mean), rel=1e-12)
    largest = np.abs(found.singular).argmax(1)
    assert np.all(found.singular[[0, 1], largest] > 0)
    assert not found.degenerate.any()


def test_equal_variances_are_said_and_give_the_spikes_whatever_the_rounding():
    rng = np.random.default_rng(3)
    for _ in range(20):
        noise = 1e-14 * rng.standard_normal(3)
        found = directions(GaussianPrior([0, 0, 0], [2, 2, 2] + noise))
        assert found.group.tolist() == [0, 0, 0]
        assert found.singular == pytest.approx(np.eye(3), abs=1e-12)
        assert found.mean is None
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        even = directions(FiniteSupport(np.concatenate([turn, -turn]), np.full(6, 1 / 6)))
        assert even.group.tolist() == [0, 0, 0]
        assert even.singular == pytest.approx(np.eye(3), abs=1e-9)
    apart = directions(GaussianPrior([0, 1, 0], [2, 2.00001, 2]))
    assert apart.group.tolist() == [0, 1, 1]
    assert apart.singular == pytest.approx(np.eye(3)[[1, 0, 2]], abs=1e-12)
    assert apart.degenerate.tolist() == [False, True, True]


def test_one_degenerate_plane_gives_one_basis_whichever_vectors_span_it():
    rng = np.random.default_rng(5)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    bases = []
    for angle in (0.3, 1.1, 2.9):
        plane = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        spans = np.concatenate([plane @ turn[:2], turn[2:]])
        atoms = np.concatenate(
            [
                a * np.sqrt(1.5 * v) * np.array([e, -e])
                for a, v, e in zip([1.0] * 3, (3, 3, 1), spans, strict=True)
            ]
        )
        bases.append(directions(FiniteSupport(atoms, np.full(6, 1 / 6))))
    for other in bases[1:]:
        assert other.singular == pytest.approx(bases[0].singular, abs=1e-9)
    assert bases[0].group.tolist() == [0, 0, 1]
    assert bases[0].singular @ bases[0].singular.T == pytest.approx(np.eye(3), abs=1e-12)


def test_the_rounding_of_atoms_that_cancel_is_no_mean():
    assert directions(flipped_spikes([0.1, 0.7, 1.3])).mean is None
    assert directions(flipped_spikes([0.1, 0.7], mean=[0, -1e-3])).mean == pytest.approx([0, -1])


# ---- plateaus


@pytest.mark.parametrize(
    "power, drops, middles",
    [
        (3.0, (0.11, 0.02), (4.0, 900.0)),
        (4.5, (0.03, 0.2), (0.7, 60.0)),
        (3.0, (0.2, 0.05, 0.017), (1.3, 90.0, 9e3)),
    ],
)
def test_plateaus_begin_and_end_where_the_sigmoids_are_within_five_percent(power, drops, middles):
    risk = 0.8 - sum(d * sigmoid(t, power) for d, t in zip(drops, middles, strict=True))
    found = plateaus(TAU, risk)
    assert len(found) == len(drops) - 1
    factor = NINETEEN ** (1 / power)
    for i, one in enumerate(found):
        # The tails of the neighbours reach the plateau: some 1e-3 of a drop here.
        assert one.level == pytest.approx(0.8 - sum(drops[: i + 1]), abs=2e-3 * max(drops))
        assert one.start == pytest.approx(middles[i] * factor, rel=0.05)
        assert one.end == pytest.approx(middles[i + 1] / factor, rel=0.05)
        assert one.start < one.at < one.end


def test_times_scale_with_tau_and_do_not_depend_on_the_grid():
    def risk(tau):
        return 0.8 - 0.1 * sigmoid(4, 3, tau) - 0.03 * sigmoid(300, 3, tau)

    (one,) = plateaus(TAU, risk(TAU))
    (scaled,) = plateaus(7.3 * TAU, risk(TAU))
    for name in ("at", "start", "end"):
        assert getattr(scaled, name) == pytest.approx(7.3 * getattr(one, name), rel=1e-12)
    even = np.linspace(0, 5000, 20_001)
    (again,) = plateaus(even, risk(even))
    assert again.start == pytest.approx(one.start, rel=5e-3)
    assert again.end == pytest.approx(one.end, rel=5e-3)


@pytest.mark.parametrize(
    "name, risk",
    [
        ("one relaxation", np.exp(-TAU)),
        ("a slow last approach that never speeds up", np.exp(-TAU) + 0.3 * np.exp(-TAU / 500)),
        ("a power law", 1 / (1 + TAU)),
        ("a start at rest", 1 - sigmoid(50.0)),
        ("a second drop of half a percent", 1 - sigmoid(2.0) - 0.005 * sigmoid(900.0)),
        ("nothing happens", np.full(TAU.shape, 0.7)),
    ],
)
def test_no_plateau_without_two_phases_of_fast_descent(name, risk):
    assert plateaus(TAU, risk) == ()


def test_rounding_on_a_plateau_makes_no_further_plateaus():
    risk = 0.8 - 0.1 * sigmoid(2, 6) - 0.05 * sigmoid(5e3, 6)
    rng = np.random.default_rng(1)
    (clean,) = plateaus(TAU, risk)
    for size in (1e-12, 1e-9, 1e-6):
        (noisy,) = plateaus(TAU, risk + size * rng.standard_normal(TAU.size))
        assert noisy.start == pytest.approx(clean.start, rel=1e-2)
        assert noisy.end == pytest.approx(clean.end, rel=1e-2)


def test_a_drop_within_the_error_of_the_risk_is_no_phase():
    risk = 0.8 - 0.1 * sigmoid(2) - 0.01 * sigmoid(900)
    assert len(plateaus(TAU, risk, 0.004)) == 1
    assert plateaus(TAU, risk, 0.006) == ()


@pytest.mark.parametrize(
    "tau, risk, text",
    [
        ([0, 1, 1], [3, 2, 1], "increasing"),
        ([-1, 1, 2], [3, 2, 1], "increasing"),
        ([0, 1, 2], [3, 2], "risk: expected shape"),
        ([0, 1, 2], [3, math.nan, 1], "entry"),
    ],
)
def test_plateaus_refuse_what_is_no_trajectory(tau, risk, text):
    with pytest.raises(InputError, match=text) as refused:
        plateaus(tau, risk)
    assert "\n" not in str(refused.value)


# ---- heads


def test_each_head_specializes_at_its_last_crossing_of_half_its_way():
    base = np.array([0.7, -0.2, 0.1])
    away = np.array([[1.0, 0.3, -0.4], [-0.6, 0.9, 0.2], [-0.4, -1.2, 0.2]])
    # A bump crosses 1/2 at once and falls back: the last crossing counts.
    path = sigmoid(40) + 0.9 * np.exp(-0.5 * (np.log(np.maximum(TAU, 1e-9) / 0.8) / 0.3) ** 2)
    m = base + path[:, None, None] * away
    # Time 40 to the accuracy of a straight line over a step of a factor 1.023.
    assert specialization_times(TAU, m) == pytest.approx([40] * 3, rel=1e-3)


def test_specialization_by_an_independent_dense_search():
    rng = np.random.default_rng(8)
    end = rng.standard_normal((5, 2))
    middles = [3.0, 800.0, 30.0, 90.0, 12.0]

    def trajectory(tau):
        s = np.stack([sigmoid(t, 3, tau) for t in middles], axis=1)
        return np.array([0.8, -0.3]) + s[:, :, None] * end

    found = specialization_times(TAU, trajectory(TAU))
    fine = np.geomspace(0.03, 3e5, 200_001)
    m = trajectory(fine)
    for h in range(5):
        others = m[:, h] - sum(m[:, i] for i in range(5)) / 5
        beyond = np.sum(others * others[-1], axis=1) > np.sum(others[-1] ** 2) / 2
        assert found[h] == pytest.approx(fine[np.flatnonzero(~beyond)[-1]], rel=2e-3)
    order = [3, 0, 4, 2, 1]
    permuted = specialization_times(TAU, trajectory(TAU)[:, order])
    assert permuted == pytest.approx(found[order], rel=1e-12)


def test_heads_that_never_leave_the_mean_have_no_specialization_time():
    away = np.array([[1.0, 0.2], [-0.8, -0.4], [0.0, 0.0], [0.1, 0.1], [-0.3, 0.1]])
    m = np.array([0.7, -0.2]) + sigmoid(20)[:, None, None] * away
    assert np.isnan(specialization_times(TAU, m)).tolist() == [False, False, True, True, False]
    assert np.isnan(specialization_times(TAU, m[:, :1])).all()
    together = np.broadcast_to(m[:, :1], m.shape)
    assert np.isnan(specialization_times(TAU, together)).all()
    assert np.isnan(feature_times(TAU, together, directions(PRIOR))).all()
    apart = np.broadcast_to(m[-1], m.shape)
    assert np.isnan(specialization_times(TAU, apart)[0])


def test_larger_variance_is_learned_first():
    axes = directions(PRIOR)
    first = sigmoid(9)[:, None] * [1.2, 0.9, -1.1] + 0.5
    second = sigmoid(700)[:, None] * [0.8, -1.0, 0.1] - 0.3 * sigmoid(1)[:, None]
    m = along(axes, first, second)
    assert feature_times(TAU, m, axes) == pytest.approx([9, 700], rel=1e-3)
    # Negative control: with the axes exchanged the order is the other way round.
    swapped = along(axes, second, first)
    assert feature_times(TAU, swapped, axes) == pytest.approx([700, 9], rel=1e-3)
    assert np.isnan(feature_times(TAU, along(axes, first, 0 * second), axes)).tolist() == [0, 1]


def test_directions_of_one_variance_share_their_feature_time_in_any_basis():
    even = directions(flipped_spikes([1.5, 1.5]))
    path = sigmoid(9)[:, None] * [1.2, 0.9, -1.1], sigmoid(700)[:, None] * [0.1, -0.5, 0.7]
    m = np.stack(path, axis=2)
    found = feature_times(TAU, m, even)
    assert found[0] == found[1]
    turned = np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert feature_times(TAU, m @ turned, even) == pytest.approx(found, rel=1e-12)


# ---- excursions


def moving(middle=60.0, back=None):
    """Five heads, four against one along the first axis; the fourth then goes over."""
    split = sigmoid(2)[:, None] * [1.0, 1.0, 1.0, 1.0, -1.0]
    over = sigmoid(middle) - (0 if back is None else sigmoid(back))
    split[:, 3] -= 2 * over
    return 0.7 + 1.4 * split


def test_a_head_that_moves_over_is_found_with_its_times():
    axes = directions(PRIOR)
    (one,) = excursions(TAU, along(axes, moving(), 0.3 * moving() ** 0), axes)
    assert (one.head, one.direction) == (3, 0)
    # x = 1 - 2 s crosses 1/2 at s = 1/4 and -1/2 at s = 3/4.
    assert one.left_at == pytest.approx(60 / 3 ** (1 / 3), rel=1e-3)
    assert one.joined_at == pytest.approx(60 * 3 ** (1 / 3), rel=1e-3)


def test_a_head_that_comes_back_makes_two_excursions_and_a_passing_visit_none():
    axes = directions(PRIOR)
    there, back = excursions(TAU, along(axes, moving(60, 900), 0 * moving()), axes)
    assert (there.head, back.head) == (3, 3)
    assert there.joined_at < back.left_at == pytest.approx(900 / 3 ** (1 / 3), rel=1e-2)
    fast = moving()
    fast[:, 3] = fast[:, 0]
    visit = (TAU > 80) & (TAU < 85)
    fast[visit, 3] = fast[visit, 4]
    assert excursions(TAU, along(axes, fast, 0 * fast), axes) == ()


def test_no_excursion_where_heads_only_split_stay_close_or_are_passed():
    axes = directions(PRIOR)
    split = sigmoid(2)[:, None] * [1.0, -0.9, 1.1]
    assert excursions(TAU, along(axes, split, 0.5 * split), axes) == ()
    close = 0.02 * moving()
    assert excursions(TAU, along(axes, close, 0 * close), axes) == ()
    assert excursions(TAU, along(axes, split[:, :1], split[:, :1]), axes) == ()
    # The first head stands still while the others go from below it to above it.
    passed = np.stack([0 * TAU, *[1.5 * sigmoid(2) - 3 * sigmoid(90)] * 2], axis=1)
    found = excursions(TAU, along(axes, passed, 0 * passed), axes)
    assert [one.head for one in found] == [1, 2]


# ---- all together


def flow():
    axes = directions(PRIOR)
    together = sigmoid(1)[:, None] * [0.7, 0.7, 0.7]
    first = together + sigmoid(300)[:, None] * [1.2, 0.9, -1.1]
    m = along(axes, first, sigmoid(2e4)[:, None] * [0.8, -1.0, 0.1])
    risk = 0.8 - 0.1 * sigmoid(1) - 0.04 * sigmoid(300) - 0.02 * sigmoid(2e4)
    return xr.Dataset(
        {
            "m": (("time", "head", "spike"), m),
            "risk": ("time", risk),
            "risk_error": ("time", np.full(TAU.shape, 1e-7)),
        },
        coords={"time": TAU},
    )


def test_phases_of_a_hierarchy_of_two_plateaus():
    found = phases(flow(), PRIOR)
    first, second = found.plateaus
    assert found.unspecialized_end == first.end
    assert first.end < found.feature_times[0] < second.start < found.feature_times[1]
    assert unspecialized_end(found.plateaus, np.array([math.nan] * 2)) == second.end
    assert math.isnan(unspecialized_end(found.plateaus, np.array([0.1, math.nan])))
    text = json.dumps(found.describe(), allow_nan=False)
    assert json.loads(text)["plateaus"][1]["end"] == second.end
    unfinished = phases(flow().isel(time=slice(0, 300)), PRIOR).describe()
    assert unfinished["unspecialized_end"] is None
    assert None in unfinished["feature_times"]


def test_phases_refuse_a_flow_that_is_not_finite_or_has_other_spikes():
    broken = flow()
    broken["m"][500:, 1, 0] = math.nan
    with pytest.raises(InputError, match="nan at some times"):
        phases(broken, PRIOR)
    assert len(phases(broken.dropna("time"), PRIOR).plateaus) == 1
    broken["m"][5, 1, 0] = math.inf
    with pytest.raises(InputError, match="m: entry"):
        phases(broken.dropna("time"), PRIOR)
    with pytest.raises(InputError, match="spike 3"):
        phases(flow(), flipped_spikes([1.0, 2.0, 3.0]))


def test_a_flow_that_still_moves_is_not_settled():
    for tau in (np.geomspace(0.1, 100, 300), np.array([0.0, 40.0, 60.0, 100.0])):
        nothing = np.zeros_like(tau)
        assert settled(tau, np.exp(-tau), nothing)
        assert not settled(tau, np.exp(-tau / 50), nothing)
        # an error as large as the drop hides it
        assert settled(tau, np.exp(-tau / 50), nothing + 1.0)

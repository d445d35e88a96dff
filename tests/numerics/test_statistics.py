"""Means, z-scores and family bounds against mpmath and against plain NumPy."""

import math

import mpmath
import numpy as np
import pytest

from numerics.errors import InputError
from numerics.statistics import (
    Moments,
    SampleMean,
    combination,
    family_bound,
    pooled,
    sample_mean,
    z_score,
)


def test_two_runs_have_mean_two_fifths_and_standard_error_one_fifth():
    estimate = sample_mean([0.2, 0.6])
    assert estimate.mean == pytest.approx(0.4, rel=1e-15)
    assert estimate.standard_error == pytest.approx(0.2, rel=1e-15)
    assert (estimate.samples, estimate.ddof) == (2, 1)


def test_one_run_has_no_standard_error():
    estimate = sample_mean([0.4])
    assert (estimate.mean, estimate.samples) == (0.4, 1)
    assert math.isnan(estimate.standard_error)
    assert math.isnan(z_score("m", 0.4, 0.0, estimate).z)


def skewed(size, seed):
    """An awkward sample: far from zero, skewed, so that a naive E[x^2] - E[x]^2 loses digits."""
    return 1e6 + np.random.default_rng(seed).gamma(0.7, 1.3, size)


def test_blocks_pool_to_the_mean_of_all_samples_in_any_order():
    values = skewed(997, 3)
    blocks = [Moments.of(part) for part in np.split(values, [1, 4, 300, 301, 750])]
    together = pooled(blocks)
    assert together.samples == 997
    assert together.mean == pytest.approx(values.mean(), rel=1e-14)
    error = values.std(ddof=1) / np.sqrt(997)
    assert together.standard_error == pytest.approx(error, rel=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert pooled([blocks[i] for i in rng.permutation(len(blocks))]) == together


def test_largest_share_tells_heavy_tails_from_light_ones():
    rng = np.random.default_rng(5)
    assert sample_mean(rng.standard_normal(10_000)).largest_share < 0.01
    assert sample_mean(np.exp(5 * rng.standard_normal(10_000))).largest_share > 0.3
    assert sample_mean([3.0, 3.0, 3.0]).largest_share == 0.0


@pytest.mark.parametrize("values", [[], [0.1, math.nan], [math.inf, 1.0], [[1.0], [2.0]], "ab"])
def test_unusable_samples_are_refused_in_one_line(values):
    with pytest.raises(InputError, match=r"^samples: [^\n]*$"):
        sample_mean(values)


def test_combination_adds_errors_in_quadrature():
    double, single = SampleMean(0.7, 0.03, 50, 0.1), SampleMean(0.9, 0.08, 20, 0.02)
    limit = combination([(2.0, double), (-1.0, single)])
    assert limit.mean == pytest.approx(0.5, rel=1e-14)
    assert limit.standard_error == pytest.approx(0.1, rel=1e-14)
    assert (limit.samples, limit.largest_share) == (20, 0.1)


def test_z_is_the_difference_in_units_of_both_errors():
    score = z_score("risk", 1.0, 0.3, SampleMean(1.9, 0.4, 100))
    assert score.z == pytest.approx(1.8, rel=1e-14)
    assert not score.theory_dominates
    below = z_score("risk", 1.0, 0.4, SampleMean(0.1, 0.3, 100))
    assert below.z == pytest.approx(-1.8, rel=1e-14)
    assert below.theory_dominates


def test_exact_numbers_agree_exactly_or_infinitely_badly():
    exact = SampleMean(0.25, 0.0, 10)
    assert z_score("risk", 0.25, 0.0, exact).z == 0.0
    assert z_score("risk", 0.26, 0.0, exact).z == -math.inf
    assert z_score("risk", 0.24, 0.0, exact).z == math.inf


@pytest.mark.parametrize(("theory", "error"), [(math.nan, 0.1), (1.0, -0.1), (1.0, math.inf)])
def test_unusable_theory_is_refused(theory, error):
    with pytest.raises(InputError, match=r"^risk: theory[^\n]*$"):
        z_score("risk", theory, error, SampleMean(1.0, 0.1, 10))


def inside_normal(z):
    return mpmath.erf(mpmath.mpf(z) / mpmath.sqrt(2))


def inside_student(z, freedom):
    x = freedom / (freedom + mpmath.mpf(z) ** 2)
    return 1 - mpmath.betainc(mpmath.mpf(freedom) / 2, 0.5, 0, x, regularized=True)


@pytest.mark.parametrize(("scores", "alpha"), [(1, 0.05), (27, 1e-3), (400, 1e-6), (3, 0.9)])
def test_bound_gives_the_family_its_rate_of_false_alarms(scores, alpha):
    with mpmath.workdps(40):
        normal = 1 - inside_normal(family_bound(scores, alpha)) ** scores
        assert float(normal / alpha) == pytest.approx(1, rel=1e-12)
        for samples in (2, 3, 8, 1000):
            bound = family_bound(scores, alpha, samples)
            student = 1 - inside_student(bound, samples - 1) ** scores
            assert float(student / alpha) == pytest.approx(1, rel=1e-10)


def test_few_samples_need_a_wider_bound():
    bounds = [family_bound(27, 1e-3, samples) for samples in (2, 4, 16, 10**6)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] > family_bound(27, 1e-3)


def test_normal_bound_for_four_runs_is_detected_as_too_narrow():
    # Right theory, 4 runs: the t bound keeps its rate, the normal one rejects far too often.
    trials, alpha = 40_000, 0.02
    runs = np.random.default_rng(11).standard_normal((trials, 4))
    z = np.abs(runs.mean(axis=1)) / (runs.std(axis=1, ddof=1) / 2)
    error = np.sqrt(alpha * (1 - alpha) / trials)
    student = np.mean(z > family_bound(1, alpha, 4))
    normal = np.mean(z > family_bound(1, alpha))
    limit = family_bound(1, 1e-6)
    assert abs(student - alpha) < limit * error
    assert abs(normal - alpha) > limit * error


@pytest.mark.parametrize(
    "arguments", [(0, 0.1), (5, 0.0), (5, 1.0), (5, math.nan), (5, 0.1, 1), (2.5, 0.1)]
)
def test_unusable_bounds_are_refused(arguments):
    with pytest.raises(InputError):
        family_bound(*arguments)

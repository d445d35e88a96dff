# notation: tau flow time, T escape time; lambda rate of the unstable modes; z normal.
"""Escape times: the linear law, Kaplan-Meier with censored runs, the flow, and SGD at several D."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

import headflow as hf
import numerics.escape.measure
from numerics.escape import survival
from numerics.escape.saddle import Saddle
from numerics.escape.survival import Times, crossing, observed, slope

ORIGIN = hf.PopulationRisk("softmax", hf.flipped_spikes([2.5, 1.2]), 3)


@pytest.fixture(scope="module")
def origin():
    return hf.origin_fixed_point(ORIGIN, 2)


# -- the law --------------------------------------------------------------------------------------


@pytest.mark.parametrize("modes", [1, 2, 3])
def test_the_law_against_integrals_over_starts(modes):
    """Mean and deviation of ln |z| by quadrature, quantiles by counting their share."""
    law = hf.LinearEscape(rate=0.7, modes=modes, size=0.3, threshold=0.2)
    D, chi = 5e3, stats.chi(modes)

    def time(z):
        return (math.log(law.threshold / law.size) + math.log(D) / 2 - math.log(z)) / law.rate

    def average(function):
        return integrate.quad(lambda z: function(z) * chi.pdf(z), 0, 12, epsabs=1e-12)[0]

    assert law.mean(D) == pytest.approx(average(time), rel=1e-9)
    second = average(lambda z: (time(z) - law.mean(D)) ** 2)
    assert law.deviation() == pytest.approx(math.sqrt(second), rel=1e-8)
    for share in (0.1, 0.5, 0.9):
        # Those who start beyond z have escaped by the time of z.
        assert law.quantile(share, D) == pytest.approx(time(chi.isf(share)), rel=1e-12)


def test_the_slope_is_half_of_one_over_the_rate():
    law = hf.LinearEscape(rate=0.5, modes=1, size=1.0, threshold=0.1)
    times = law.mean(np.array([1e3, 1e4, 1e5, 1e6, 1e7]))
    assert np.diff(times) == pytest.approx(math.log(10), rel=1e-12)
    assert law.slope == 1.0


# -- times of runs --------------------------------------------------------------------------------


@pytest.mark.parametrize("D", [1e4, 1e8, 1e12, 1e16])
def test_crossing_of_a_saturating_mode(D):
    """dm/dtau = m (1 - m^2) from D^(-1/2) reaches 1/2 at (ln(1/3) + ln(D - 1)) / 2."""
    wanted = (math.log(1 / 3) + math.log(D - 1)) / 2
    tau = np.linspace(0, 2 * wanted, 60)
    m = 1 / np.sqrt(1 + (D - 1) * np.exp(-2 * tau))
    found, error = crossing(tau, m, 0.5)
    assert abs(found - wanted) <= error and error < 0.05


def test_what_starts_above_or_stays_below_the_threshold():
    tau = np.array([0.0, 1.0, 2.0])
    assert crossing(tau, np.array([0.5, 0.6, 0.7]), 0.4) == (0.0, 0.0)
    assert np.isnan(crossing(tau, np.array([0.1, 0.2, 0.3]), 0.4)[0])


def test_censored_runs_are_kept():
    """By hand: S falls to 4/5, 3/5, then from two at risk to 3/10; the median is the third."""
    tau = np.array([1.0, 2.0, 2.5, 3.0, 4.0])
    assert Times(tau, np.array([True, True, False, True, False])).median == 3.0
    assert Times(tau, np.array([True, True, True, True, True])).median == 2.5
    assert np.isnan(Times(tau, np.array([True, True, False, False, False])).median)


def test_a_run_that_diverges_is_censored_where_it_did():
    tau = np.linspace(0, 4, 41)
    grows = 0.01 * np.exp(tau)
    lost = np.where(tau < 1.0, grows, np.nan)
    times = observed(tau, np.array([grows, lost]), 0.1, np.array([np.nan, 1.02]))
    assert times.escaped.tolist() == [True, False]
    assert times.tau == pytest.approx([math.log(10), 1.02], rel=1e-9)


def drawn(rng, D, rate, runs, end=np.inf):
    """Runs of the law itself, those that last longer than ``end`` censored."""
    law = hf.LinearEscape(rate=rate, modes=1, size=1.0, threshold=1.0)
    tau = law.quantile(0.5, D) - np.log(np.abs(rng.normal(size=runs)) / 0.67449) / rate
    return Times(np.minimum(tau, end), tau <= end)


def test_the_interval_covers_the_slope(monkeypatch):
    """30 experiments: so few of the 95% intervals cover less than once in 1e4 (binomial).

    Negative control: they miss a slope that is twice as large.
    """
    monkeypatch.setattr(survival, "RESAMPLES", 120)
    rng, D, rate = np.random.default_rng(3), np.array([1e2, 1e3, 1e4]), 0.8
    inside, doubled = 0, 0
    for _ in range(30):
        found = slope(D, [drawn(rng, one, rate, 40, end=9.0) for one in D], rng)
        inside += found.low <= 1 / (2 * rate) <= found.high
        doubled += found.low <= 1 / rate <= found.high
    assert stats.binom.cdf(inside, 30, 0.95) > 1e-4 > stats.binom.cdf(doubled, 30, 0.95)


def test_too_many_censored_runs_leave_no_slope():
    rng, D = np.random.default_rng(4), np.array([1e2, 1e4])
    few = slope(D, [drawn(rng, one, 1.0, 30, end=4.6) for one in D], rng)
    assert np.isnan(few.value) and few.low == -np.inf and few.high == np.inf
    assert np.isfinite(few.median_high[0]) and few.median_high[1] == np.inf


# -- saddles and the flow -------------------------------------------------------------------------


def test_modes_of_degenerate_spikes_and_three_heads():
    """(H - 1) modes for each of two equal spikes, of the closed rate; their span has no mean."""
    risk = hf.PopulationRisk("softmax", hf.flipped_spikes([1.6, 1.6, 0.9]), 4)
    saddle = Saddle.of(risk, hf.origin_fixed_point(risk, 3))
    rate = -hf.origin_spectrum("softmax").evaluate(L=4, H=3, V=1.6**2)[0]
    assert saddle.rate == pytest.approx(rate, abs=saddle.rate_error + 1e-9)
    assert saddle.modes.shape == (4, 3, 3)
    assert np.abs(saddle.modes.sum(axis=1)).max() < 1e-6
    m = np.random.default_rng(5).normal(size=(3, 3))
    apart = (m - m.mean(axis=0))[:, :2]
    assert saddle.amplitude(m) == pytest.approx(np.linalg.norm(apart), rel=1e-6)


def test_the_flow_follows_the_law(origin):
    """Far below saturation: times and slope, up to the cubic terms size^2 and threshold^2."""
    data = hf.escape_times(
        ORIGIN, origin, [10**3, 10**5, 10**7], size=0.01, threshold=0.005, seeds=0
    )
    assert data.attrs["status"] == "complete" and "sgd" not in data
    assert data.attrs["rate"] == pytest.approx(2.5**2 * 2 / 27, abs=1e-5)
    slack = data.flow_error.values + 2e-4 * data.predicted.values
    assert np.all(np.abs(data.flow.values - data.predicted.values) < slack)
    assert data.attrs["flow_slope"] == pytest.approx(data.attrs["slope"], rel=1e-3)


def test_the_unspecialized_saddle_of_a_prior_with_a_mean():
    """Here the rate is the spectrum's at the point that all heads reach together."""
    risk = hf.PopulationRisk("softmax", hf.flipped_spikes([3.0, 1.2], [0.0, 1.0]), 4)
    point = hf.unspecialized_fixed_point(risk, 2)
    data = hf.escape_times(risk, point, [10**4, 10**6], size=0.01, threshold=0.005, seeds=0)
    assert data.attrs["rate"] == pytest.approx(-float(point.spectrum.eigenvalue.min()), rel=1e-6)
    assert data.attrs["flow_slope"] == pytest.approx(data.attrs["slope"], rel=1e-3)


# -- SGD ------------------------------------------------------------------------------------------


def test_sgd_has_the_slope_of_the_spectrum(origin):
    """Four dimensions, 100 runs each: the 95% interval contains 1/(2 lambda).

    By its rate of false alarms this fails for one seed in twenty; the seed is fixed. Negative
    control: 1/lambda, of those who forget the square root, is outside.
    """
    data = hf.escape_times(
        ORIGIN, origin, [100, 200, 400, 800], learning_rate=1.0, seeds=100, seed=1, workers=2
    )
    low, high = data.attrs["sgd_slope_low"], data.attrs["sgd_slope_high"]
    assert low <= data.attrs["slope"] <= high
    assert not low <= 2 * data.attrs["slope"] <= high
    assert 0 < int(data.censored.sum()) < 120
    # With the constant: each median is the law's up to its interval, corrections of order
    # (L + V) / D and learning rate in the time left to 4 of 4, one in 10^3 by chance.
    wide = 1.7 * (data.sgd_high - data.sgd_low).values / 2 + 0.1 * data.predicted.values
    assert np.all(np.abs(data.sgd.values - data.predicted.values) < wide)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"dimensions": [100]}, "dimensions: expected at least two, increasing"),
        ({"dimensions": [400, 100]}, "dimensions: expected at least two, increasing"),
        ({"dimensions": [6, 100]}, "dimensions: expected at least F \\+ H \\+ L = 7"),
        ({"dimensions": [100.5, 200]}, "dimensions: expected an integer"),
        ({"threshold": 0.01}, "threshold: expected at least 3 times"),
        ({"size": -1.0}, "size: expected a number > 0"),
        ({"learning_rate": 0.0}, "learning_rate: expected a number > 0"),
        ({"seeds": -1}, "seeds: expected an integer >= 0"),
        ({"seeds": 5}, "seeds: expected 0 or at least 6, got 5"),
    ],
)
def test_bad_input_is_one_line(origin, options, message):
    with pytest.raises(hf.InputError, match=message):
        hf.escape_times(ORIGIN, origin, **{"dimensions": [100, 200], **options})


def test_runs_that_were_interrupted_are_not_censored(origin, monkeypatch):
    def cut_off(*model, **options):
        return simulate(*model, **options).assign_attrs(status="interrupted at tau = 0.3")

    simulate = numerics.escape.measure.simulate
    monkeypatch.setattr(numerics.escape.measure, "simulate", cut_off)
    with pytest.raises(KeyboardInterrupt):
        hf.escape_times(ORIGIN, origin, [60, 120], size=0.1, seeds=6, learning_rate=1.0)


def test_nothing_escapes_from_a_minimum():
    risk = hf.PopulationRisk("softmax", hf.FiniteSupport([[1.0]], [1.0]), 2)
    point = hf.unspecialized_fixed_point(risk, 1)
    with pytest.raises(hf.InputError, match="no unstable mode"):
        hf.escape_times(risk, point, [100, 200])

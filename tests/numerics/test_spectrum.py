"""The Hessian in weight space: against explicit vectors, closed forms and growth along the flow."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from tests.points import PRIOR, random_point

DIMENSION = 12
MINE = hf.Activation("softplus-1", score="log(1+exp(x))", offset=1, bias="norm")


@pytest.mark.parametrize("act", ["softmax", "softmax-1-norm", "bayes-softmax", MINE], ids=str)
def test_second_differences_of_the_risk_among_vectors(act):
    """Along random changes of the heads in R^12, by five-point differences of the risk."""
    m, R = random_point(2, 2, seed=5, scale=0.6)
    risk = hf.PopulationRisk(act, PRIOR, tokens=3, rtol=1e-10)
    spectrum = hf.weight_spectrum(risk, m, R, dimension=DIMENSION)
    assert int(spectrum.multiplicity.sum()) == 2 * DIMENSION
    rng = np.random.default_rng(7)
    axes = np.linalg.qr(rng.normal(size=(DIMENSION, 4)))[0].T
    values, vectors = np.linalg.eigh(R - m @ m.T)
    frame = np.hstack([m, vectors * np.sqrt(values)])
    k = frame @ axes
    inside = spectrum.where(spectrum.block != "noise directions", drop=True)
    modes = np.concatenate([inside.pattern.values, inside.pattern_rest.values], axis=2)
    noise = 2 * risk.gradient(m, R).R
    step = 0.04

    def value(heads):
        return risk(heads @ axes[:2].T, heads @ heads.T).value

    for _ in range(4):
        v = rng.normal(size=k.shape)
        v /= np.linalg.norm(v)
        near, far = ([value(k + c * s * step * v) for s in (1, -1)] for c in (1, 2))
        wanted = (16 * sum(near) - sum(far) - 30 * value(k)) / (12 * step**2)
        # The eigenvectors were found in their own frame of the part beyond the spikes.
        parts = np.einsum("nha,ha->n", modes, v @ axes.T)
        outside = v - v @ axes.T @ axes
        found = np.sum(inside.eigenvalue.values * parts**2) + np.sum(outside * (noise @ outside))
        assert found == pytest.approx(wanted, rel=1e-6, abs=2e-7)


def test_the_origin_has_its_closed_spectrum():
    prior = hf.flipped_spikes([2.0, 1.5])
    for name in ("softmax", "softmax-1-norm", "bayes-softmax"):
        risk = hf.PopulationRisk(name, prior, 5)
        spectrum = hf.weight_spectrum(risk, np.zeros((3, 2)), np.zeros((3, 3)), dimension=20)
        closed = hf.origin_spectrum(name)
        wanted = [closed.evaluate(L=5, H=3, V=v) for v in (4.0, 2.25, 0.0)]
        splitting, common = zip(*wanted, strict=True)
        blocks = {b: spectrum.eigenvalue[spectrum.block == b].values for b in BLOCKS}
        assert blocks["heads against each other"] == pytest.approx(sorted(splitting[:2]), abs=1e-6)
        assert blocks["heads together"] == pytest.approx(sorted(common[:2]), abs=1e-6)
        expected = sorted([splitting[2], splitting[2], common[2]])
        assert blocks["noise directions"] == pytest.approx(expected, abs=1e-6)
        assert spectrum.multiplicity.values.sum() == 60


def test_one_linear_head_has_a_hessian_known_by_hand():
    """E = (1 - m)^2 + 2 R: curvature 6 along the spike and 4 in each other direction."""
    act = hf.Activation("score", score="x", scope="none")
    risk = hf.PopulationRisk(act, hf.FiniteSupport([[1.0]], [1.0]), 2)
    spectrum = hf.weight_spectrum(risk, [[1 / 3]], [[1 / 9]], dimension=7)
    assert spectrum.eigenvalue.values == pytest.approx([6, 4], abs=1e-12)
    assert spectrum.multiplicity.values.tolist() == [1, 6]
    assert spectrum.attrs["gradient"] < 1e-14
    assert spectrum.attrs["method"] == "second derivatives"


BLOCKS = ("heads together", "heads against each other", "noise directions")


def test_the_order_and_rates_of_specialization():
    """Three unequal variances and a mean: heads part along the unstable modes, each at its rate."""
    prior = hf.flipped_spikes([2.2, 1.7, 1.3], [0.7, 0.4, 0.2])
    risk = hf.PopulationRisk("softmax", prior, 5)
    point = hf.unspecialized_fixed_point(risk, heads=2)
    assert point.residual < 1e-10 and point.index >= 2
    against = point.spectrum.where(
        point.spectrum.block == "heads against each other", drop=True
    ).sortby("eigenvalue")
    unstable = against.where(against.eigenvalue < 0, drop=True)
    patterns = unstable.pattern.values
    size, times = 1e-6, [1.0, 6.0]
    m0 = point.m + size * patterns.sum(axis=0)
    flow = hf.gradient_flow(risk, m0, m0 @ m0.T, times, rtol=1e-7)
    parts = np.einsum("thf,nhf->tn", flow.m.values - point.m, patterns)
    rates = np.log(parts[1] / parts[0]) / (times[1] - times[0])
    assert rates == pytest.approx(-unstable.eigenvalue.values, rel=1e-2)


def test_heads_that_stay_together_leave_an_unstable_origin():
    """Mean 0 and a variance above L/(L-3): the common mode grows, and heads must not part."""
    risk = hf.PopulationRisk("softmax", hf.flipped_spikes([2.0, 1.5]), 5)
    point = hf.unspecialized_fixed_point(risk, heads=3)
    assert np.ptp(point.m, axis=0).max() == 0 and abs(point.m[0, 0]) > 0.1
    assert point.risk.value < 0.8 - 1e-3 and point.index >= 2


def test_atoms_are_a_minimum_of_bayes_softmax():
    prior = hf.flipped_spikes([1.8], [0.3])
    act = hf.activation("bayes-softmax")
    risk = hf.PopulationRisk(act, prior, 4, rtol=1e-10)
    m = prior.support
    spectrum = hf.weight_spectrum(risk, m, m @ m.T)
    assert spectrum.attrs["gradient"] < 1e-9
    assert np.all(spectrum.eigenvalue.values > -spectrum.error.values)
    assert abs(risk(m, m @ m.T).value - hf.bayes_risk(prior, 4).value) < 1e-8
    (best, *_) = hf.fixed_points(risk, heads=2, starts=1)
    assert best.risk.value == pytest.approx(hf.bayes_risk(prior, 4).value, abs=1e-7)
    assert best.index == 0 and best.noise_index == 0


def test_one_head_for_two_atoms_stays_above_the_bayes_risk():
    prior = hf.flipped_spikes([1.8], [0.3])
    risk = hf.PopulationRisk("bayes-softmax", prior, 4)
    best = hf.fixed_points(risk, heads=1, starts=2)[0]
    assert best.risk.value > hf.bayes_risk(prior, 4).value + 1e-2 and best.index == 0


def test_a_plateau_is_no_fixed_point():
    """Negative control: slow is not still."""
    risk = hf.PopulationRisk("softmax", hf.FiniteSupport([[1.7], [-0.9]], [0.6, 0.4]), 5)
    m0 = np.array([[0.011], [0.009]])
    flow = hf.gradient_flow(risk, m0, m0 @ m0.T, [15.0], rtol=1e-6).isel(time=0)
    spectrum = hf.weight_spectrum(risk, flow.m.values, flow.R.values)
    assert spectrum.attrs["gradient"] > 1e-6


def test_bad_input_is_one_line():
    risk = hf.PopulationRisk("softmax", PRIOR, 3)
    with pytest.raises(hf.InputError, match="dimension: expected at least F \\+ rank"):
        hf.weight_spectrum(risk, [[0.1, 0.2]], [[1.0]], dimension=2)
    with pytest.raises(hf.InputError, match="positive semidefinite"):
        hf.weight_spectrum(risk, [[2.0, 0.2]], [[1.0]])
    free = hf.PopulationRisk(hf.activation("softmax", gain="free"), PRIOR, 3)
    with pytest.raises(hf.InputError, match="not searched"):
        hf.fixed_points(free, heads=2)

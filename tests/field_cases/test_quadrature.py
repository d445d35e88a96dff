"""Field cases of quadrature: narrow layers and peaks, too many nodes, too many dimensions."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from numerics.quadrature.gaussian import hermite_nodes, normal_nodes
from numerics.quadrature.sobol import normal_points

ONE = hf.FiniteSupport([[1.0]], [1.0])


def mean_weight(name, prior, tokens, m, R, sign=1.0, **changes):
    """E[A_eps] at gain ``sign``, and its error, from the risk at two gains: E is quadratic."""
    values = [
        hf.PopulationRisk(hf.activation(name, gain=g, **changes), prior, tokens)(m, R)
        for g in (sign, -sign)
    ]
    return (values[1].value - values[0].value) / 4, (values[0].error + values[1].error) / 4


@pytest.mark.parametrize(
    "R, exact", [(1.0, 0.636838153968369), (16.0, None), (400.0, 0.971848275398050)]
)
def test_f04_a_layer_far_narrower_than_the_gaussian(R, exact):
    """The tolerance is met, and two tolerances agree within their errors."""
    rough, fine = (
        hf.PopulationRisk("softmax", ONE, tokens=2, rtol=rtol)([[0.0]], [[R]])
        for rtol in (1e-3, 1e-10)
    )
    assert fine.error <= 1e-10 and rough.error <= 1e-3
    assert abs(rough.value - fine.value) <= rough.error + fine.error
    if exact is not None:
        assert fine.value == pytest.approx(exact, abs=2e-13 + fine.error)


@pytest.mark.parametrize("count", [20, 200, 371, 372, 400, 1000])
def test_f31_moments_are_exact_for_any_number_of_nodes(count):
    for nodes, weights in (hermite_nodes(count), normal_nodes(24.0 / max(count, 50), 12.0)):
        for values, exact in ((nodes**0, 1), (nodes**2, 1), ((2 + 3 * nodes) ** 2, 13)):
            assert weights @ values == pytest.approx(exact, abs=1e-12)


def test_f32_a_peak_far_from_the_origin_and_a_narrow_one():
    far, error = mean_weight("sigmoid", hf.FiniteSupport([[800.0]], [1.0]), 1, [[1.0]], [[1.0]])
    assert far == pytest.approx(1.0, abs=error + 1e-15)
    narrow = hf.FiniteSupport([[3000.0]], [1.0])
    near, error = mean_weight("sigmoid", narrow, 1, [[1e-3]], [[1e-6]])
    assert near == pytest.approx(0.952574106377, abs=1e-12 + error)
    assert error < 1e-8


def test_f33_sixteen_dimensions():
    law = hf.flipped_spikes([1.0])
    m, R = np.zeros((2, 1)), np.eye(2)
    weight, error = mean_weight("softmax", law, 8, m, R, sign=0.5)
    assert weight == pytest.approx(0.5 * 2 / 8, abs=error + 1e-15)
    risk = hf.PopulationRisk("softmax", law, tokens=8)(m, R)
    assert 7 / 8 <= risk.value <= 7 / 4 and risk.error < 1e-7


def test_f34_no_point_of_the_sequence_is_at_infinity():
    """The first unscrambled Sobol point is 0, whose normal quantile is -inf."""
    streams = np.random.SeedSequence(5).spawn(2)
    first, second = (normal_points(3, 10, stream) for stream in streams)
    assert np.isfinite(first).all() and np.isfinite(second).all()
    assert np.abs(first - second).max() > 0.1

# notation: lambda rate at which heads part, minus an eigenvalue of the Hessian in weight space.
"""The predicted order of specialization against the flow."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from numerics.saddles.specialization_plot import specialization_figure

# Three unequal variances and a mean along none of the axes; three heads.
RISK = hf.PopulationRisk("softmax", hf.flipped_spikes([2.2, 1.7, 1.3], [0.5, 0.3, 0.2]), 4)


@pytest.fixture(scope="module")
def order():
    return hf.specialization(RISK, heads=3, horizon=8.0)


def test_rates_along_the_flow_are_the_predicted_ones(order):
    """Within their stated errors, and within 1% for the two that grow well above theirs."""
    assert order.attrs["status"] == "complete"
    gap = np.abs(order.measured - order.predicted).values
    assert np.all(gap <= (order.measured_error + order.predicted_error).values)
    assert np.all(gap[:2] < 0.01 * order.predicted.values[:2])
    assert np.all(np.diff(order.predicted) < 0)


def test_a_rate_of_another_mode_is_seen(order):
    """Negative control: the modes in a wrong order are outside the errors."""
    wrong = np.abs(order.measured.values - np.roll(order.predicted.values, 1))
    assert np.all(wrong > order.measured_error.values)


def test_directions_and_variances(order):
    direction = order.direction.values
    assert np.linalg.norm(direction, axis=1) == pytest.approx(np.ones(3))
    covariance = np.diag(np.square([2.2, 1.7, 1.3]))
    assert order.variance.values == pytest.approx(
        [one @ covariance @ one for one in direction], rel=1e-12
    )


def test_the_figure_holds_every_mode(order):
    svg = specialization_figure(order)
    assert svg.startswith("<svg") and svg == specialization_figure(order)


def test_heads_that_cannot_part_are_refused():
    with pytest.raises(hf.InputError, match="heads: expected at least 2"):
        hf.specialization(RISK, heads=1)
    one_atom = hf.PopulationRisk("softmax", hf.FiniteSupport([[1.0]], [1.0]), 2)
    with pytest.raises(hf.InputError, match="no mode of heads against each other is unstable"):
        hf.specialization(one_atom, heads=2)

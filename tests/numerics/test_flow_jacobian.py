"""The flow Jacobian: closed answers, differences of the drift, its relation to the Hessian."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from numerics.dynamics.jacobian import _errors
from tests.points import PRIOR, random_point

ONE = hf.FiniteSupport([[1.0]], [1.0])
SCORE = hf.Activation("score", score="x", scope="none")


@pytest.mark.parametrize("m, R", [(0.4, 0.9), (1 / 3, 1 / 9)])
def test_one_linear_head(m, R):
    """E = (1 - m)^2 + R + R by hand, at any point."""
    found = hf.flow_jacobian(hf.PopulationRisk(SCORE, ONE, 2), [[m]], [[R]])
    assert found.jacobian.values == pytest.approx(np.array([[-6, 0], [4 - 8 * m, -8]]), abs=1e-12)
    assert found.eigenvalue.values == pytest.approx([-6, -8], abs=1e-12)
    assert np.all(found.real_within_error) and np.all(found.error < 1e-11)


def test_one_softmax_head_at_its_atom():
    risk = hf.PopulationRisk("softmax", ONE, 2)
    found = hf.flow_jacobian(risk, [[1.0]], [[1.0]])
    by_R = risk.gradient([[1.0]], [[1.0]]).R[0, 0]
    assert by_R == pytest.approx(0.1265139, abs=5e-8)
    assert found.eigenvalue.values == pytest.approx([-0.112306, -4 * by_R], abs=5e-7)
    assert -4 * by_R == pytest.approx(-0.506055, abs=1e-6)
    first = found.isel(mode=0)
    assert first.pattern_R.values[0, 0] / first.pattern_m.values[0, 0] == pytest.approx(2, abs=1e-7)


def drift(risk, packed, heads, spikes):
    """dm/dtau and the upper half of dR/dtau, from the page."""
    m = packed[: heads * spikes].reshape(heads, spikes)
    rows, columns = np.triu_indices(heads)
    R = np.zeros((heads, heads))
    R[rows, columns] = R[columns, rows] = packed[heads * spikes :]
    slope = risk.gradient(m, R)
    by_R = slope.m @ m.T + m @ slope.m.T + 2 * (slope.R @ R + R @ slope.R)
    return -np.concatenate([(slope.m + 2 * slope.R @ m).ravel(), by_R[rows, columns]])


@pytest.mark.parametrize("act", ["softmax-1-norm", "bayes-softmax", "erf"])
def test_differences_of_the_drift(act):
    heads, spikes, step = 2, 2, 1e-2
    m, R = random_point(heads, spikes, seed=11, scale=0.7)
    R = R + 0.2 * np.eye(heads)
    risk = hf.PopulationRisk(act, PRIOR, 3, rtol=1e-9)
    found = hf.flow_jacobian(risk, m, R)
    packed = np.concatenate([m.ravel(), R[np.triu_indices(heads)]])
    columns = []
    for unit in np.eye(packed.size):
        near, far = (
            (
                drift(risk, packed + d * unit, heads, spikes)
                - drift(risk, packed - d * unit, heads, spikes)
            )
            / (2 * d)
            for d in (step, 2 * step)
        )
        columns.append(near + (near - far) / 3)
    assert found.jacobian.values == pytest.approx(np.array(columns).T, abs=2e-6)
    modes = found.eigenvalue.values
    assert np.all(np.diff(modes.real) <= 0)
    upper = found.pattern_R.values[:, *np.triu_indices(heads)]
    vectors = np.hstack([found.pattern_m.values.reshape(modes.size, -1), upper])
    assert vectors @ found.jacobian.values.T == pytest.approx(modes[:, None] * vectors, abs=1e-12)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(modes.size))


def test_at_a_fixed_point_it_has_the_rates_of_the_hessian_and_more():
    """Heads within the spikes: each rate along m is minus an eigenvalue of the Hessian."""
    risk = hf.PopulationRisk("softmax", hf.flipped_spikes([2.0, 1.5], [0.6, 0.3]), 5)
    point = hf.unspecialized_fixed_point(risk, heads=2)
    spectrum = hf.weight_spectrum(risk, point.m, point.R)
    inside = spectrum.where(spectrum.block != "noise directions", drop=True)
    noise = spectrum.where(spectrum.block == "noise directions", drop=True)
    found = hf.flow_jacobian(risk, point.m, point.R)
    rates = found.eigenvalue.values
    assert np.all(found.real_within_error)
    for value in inside.eigenvalue.values:
        assert np.abs(rates + value).min() < 1e-6
    # Overlaps beyond the spikes are quadratic in the heads: sums of two rates of noise directions.
    low, high = noise.eigenvalue.values
    for value in (2 * low, low + high, 2 * high):
        assert np.abs(rates + value).min() < 1e-6
    # Negative control: it is not the Hessian, whose sign is the other one.
    assert np.abs(rates - inside.eigenvalue.values.min()).min() > 1e-3


def test_rotation_is_not_dropped():
    """Away from fixed points a pair of complex modes occurs; their imaginary part is no error."""
    risk = hf.PopulationRisk("erf", hf.GaussianPrior([0.4, -0.3], [1.7, 0.3]), 3)
    m, R = random_point(3, 2, seed=1, scale=1.0)
    found = hf.flow_jacobian(risk, m, R)
    turning = found.eigenvalue.values[~found.real_within_error.values]
    assert turning.size >= 2
    assert sorted(turning.imag) == pytest.approx(sorted(-turning.imag))


def test_coinciding_eigenvectors_have_no_first_order_error():
    _, vectors = np.linalg.eig(np.array([[1.0, 1.0], [0.0, 1.0]]))
    assert np.all(np.isinf(_errors(vectors, 1e-10)))
    assert np.all(_errors(np.eye(2), 1e-10) == 1e-10)


def test_bad_input_is_one_line():
    risk = hf.PopulationRisk("softmax", PRIOR, 3)
    with pytest.raises(hf.InputError, match="positive semidefinite"):
        hf.flow_jacobian(risk, [[2.0, 0.2]], [[1.0]])

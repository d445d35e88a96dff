"""Field cases of trajectories: escape from a saddle, false fixed points, events, noise of SGD."""

from __future__ import annotations

from math import log
from types import SimpleNamespace

import numpy as np
import pytest

import headflow as hf
from headflow.store import kernels_for
from numerics.checkpoint import Checkpoint
from numerics.dynamics.integrate import METHODS, trajectory
from numerics.dynamics.plateaus import rises
from numerics.dynamics.state import Packing, State
from numerics.saddles.fixed_points import RESIDUAL
from numerics.sgd import simulate
from numerics.statistics import sample_mean

ONE = hf.FiniteSupport([[1.0]], [1.0])


class Saddle:
    """dm/dt = m (1 - m^2), C at rest: what a flow does at a saddle, with a known escape time."""

    joint_points = None

    def __init__(self, dimension):
        start = State.of(kernels_for(hf.activation("softmax")), 1, [[dimension**-0.5]], [[1.0]])
        self.packing = Packing.of(kernels_for(hf.activation("softmax")), start)

    def start(self):
        return self.packing.first()

    def __call__(self, tau, y):
        m, C, *_ = self.packing.unpack(y)
        return self.packing.pack(m * (1 - m**2), 0 * C, np.zeros(1), 0.0)

    def at(self, y):
        return SimpleNamespace(value=0.0)

    def dissipation(self, y, slope):
        return 0.0


def escape_time(dimension, method, rtol):
    exact = (log(1 / 3) + log(dimension - 1)) / 2
    times = exact + np.linspace(-1e-3, 1e-3, 21)
    curve = trajectory(
        Saddle(dimension), times, rtol, method, Checkpoint(None, {}), lambda tau: None
    )
    return rises(times, curve.states[:, 0], 0.5)[0]


@pytest.mark.parametrize("method", METHODS)
def test_f05_escape_from_a_start_far_below_any_fixed_tolerance(method):
    exact = {1e4: 4.055814, 1e8: 8.661034, 1e12: 13.266204, 1e16: 17.871375}
    found = {D: escape_time(D, method, 1e-9) for D in exact}
    for D, time in exact.items():
        assert found[D] == pytest.approx(time, abs=2e-6), D
    slope = np.polyfit(np.log(list(found)[1:]), list(found.values())[1:], 1)[0]
    assert slope == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("dimension, mean, error", [(200, 4.248, 0.009), (1000, 4.039, 0.007)])
def test_f11_one_step_of_sgd_for_linear_attention(dimension, mean, error):
    """eta = 1, from zero: D E[m_1] -> 2, D E[R_1] -> 4; z-scores below 5 (false alarms 1e-6)."""
    step = 1.0 / dimension
    data = simulate(
        kernels_for(hf.activation("linear")), ONE, 2, 1, dimension, learning_rate=1.0, time=step,
        seeds=4000, m0=[[0.0]], R0=[[0.0]], times=[step], seed=11,
    )  # fmt: skip
    m, R = (sample_mean(dimension * data[name].values.ravel()) for name in ("m", "R"))
    assert abs(m.mean - 2 * (1 + 4 / dimension)) < 5 * m.standard_error
    assert abs(R.mean - mean) < 5 * np.hypot(R.standard_error, error)
    assert R.mean > 100 * R.standard_error  # gradient flow says 0


def test_f11_halving_the_rate_halves_the_excess_over_gradient_flow():
    risk = hf.PopulationRisk("linear", ONE, tokens=2)
    start, times = ([[0.0]], [[0.0]]), [0.001]
    R = {
        eta: float(hf.gradient_flow(risk, *start, times, eta, rtol=1e-6).R.squeeze())
        for eta in (0.0, 0.5, 1.0)
    }
    assert (R[1.0] - R[0.0]) / (R[0.5] - R[0.0]) == pytest.approx(2.0, rel=4e-3)
    assert R[1.0] == pytest.approx(4 * 0.001, rel=0.01)


def test_f14_a_flow_stays_physical():
    """Explicit Euler leaves R = m^2 by -tau^2 (dm/dtau)^2 in its first step."""
    risk = hf.PopulationRisk("linear", ONE, tokens=2)
    flow = hf.gradient_flow(risk, [[1.0]], [[1.0]], [0.0, 0.01, 0.1, 1.0, 5.0])
    assert flow.attrs["status"] == "complete"
    rest = flow.R.values[:, 0, 0] - flow.m.values[:, 0, 0] ** 2
    assert np.abs(rest).max() < 1e-14
    assert flow.m.values[-1, 0, 0] == pytest.approx(1 / 3, abs=1e-6)
    assert flow.risk.values[-1] == pytest.approx(2 / 3, abs=1e-8)


def test_f22_a_dead_plateau_is_no_fixed_point():
    risk = hf.PopulationRisk("softmax", ONE, tokens=2)
    with pytest.raises(hf.InputError, match="-399.99"):
        risk.gradient([[20.0]], [[0.01]])
    with pytest.raises(hf.InputError, match="-399.99"):
        hf.weight_spectrum(risk, [[20.0]], [[0.01]])
    found = hf.fixed_points(risk, heads=1, starts=1)
    assert [point.m[0, 0] for point in found] == pytest.approx([1.0], abs=1e-6)
    assert [point.R[0, 0] for point in found] == pytest.approx([1.0], abs=1e-6)
    assert found[0].residual <= RESIDUAL and found[0].verdict.startswith("minimum")


def test_f22_a_small_gradient_on_the_ray_is_none_of_a_fixed_point():
    """At m = 50 on R = m^2 every entry is below 2e-4, but no terms cancel there."""
    slope = hf.PopulationRisk("softmax", ONE, tokens=2).gradient([[50.0]], [[2500.0]])
    whole = slope.m[0, 0] + 2 * slope.R[0, 0] * 50.0
    assert 1e-5 < abs(whole) < 1e-3
    assert abs(whole) > 1e3 * RESIDUAL * max(abs(slope.m[0, 0]), abs(slope.R[0, 0]))


def test_f24_no_crossing_is_lost():
    t = np.linspace(-3, 3, 4001)
    y = t**3 - 3 * t + 0.5
    shifted = t + 4  # flow times are positive
    up = rises(shifted, y, 0.0) - 4
    down = rises(shifted, -y, 0.0) - 4
    assert y[0] == -17.5
    assert sorted([*up, *down]) == pytest.approx([-1.81003793, 0.16825440, 1.64178353], abs=1e-5)
    assert down == pytest.approx([0.16825440], abs=1e-5)


def test_f24_a_head_that_rises_and_falls_and_a_start_on_the_threshold():
    tau = np.geomspace(0.1, 100, 2001)
    overlap = 0.9 * np.exp(-(np.log(tau / 3) ** 2))
    assert rises(tau, overlap, 0.5).size == 1 and rises(tau, -overlap, -0.5).size == 1
    dip = 0.5 - 0.2 * np.sin(np.log(tau / 0.1))
    assert dip[0] == 0.5
    again = rises(tau, dip, 0.5)
    assert again == pytest.approx([0.1 * np.exp(np.pi)], rel=1e-4)
    assert rises(tau, 0.5 + 0 * tau, 0.5).size == 0

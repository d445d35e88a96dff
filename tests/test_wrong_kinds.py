"""An argument of the wrong kind is told in one line that says what would be right."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf

PRIOR = hf.flipped_spikes([1.0, 2.0])
POINT = 0.1 * np.eye(2), 0.02 * np.eye(2)
SGD = {"heads": 2, "dimension": 50, "learning_rate": 0.5, "time": 1.0, "seeds": 1}
OF_RISK = (
    hf.unspecialized_fixed_point,
    hf.origin_fixed_point,
    hf.fixed_points,
    hf.specialization,
    hf.escape_times,
)
AT_POINT = (hf.weight_spectrum, hf.flow_jacobian, hf.equal_heads)


@pytest.fixture(scope="module")
def risk():
    return hf.PopulationRisk("softmax", PRIOR, tokens=3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: hf.PopulationRisk(None, PRIOR, 3),
        lambda: hf.derive(3),
        lambda: hf.origin_spectrum(None),
        lambda: hf.simulate_sgd(None, PRIOR, 3, **SGD),
        lambda: hf.validate(None, PRIOR, tokens=3, heads=2),
        lambda: hf.prune(None, PRIOR, 3, *POINT),
        lambda: hf.continue_fixed_point(None, PRIOR, 3, 2, "strength", 1.0, 2.0),
    ],
)
def test_no_activation(call):
    with pytest.raises(hf.DefinitionError, match="expected an Activation or a catalogue name, got"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: hf.PopulationRisk("softmax", [1.0], 3),
        lambda: hf.bayes_risk("flipped:1,2", tokens=3),
        lambda: hf.simulate_sgd("softmax", None, 3, **SGD),
        lambda: hf.validate("softmax", None, tokens=3, heads=2),
        lambda: hf.prune("softmax", None, 3, *POINT),
    ],
)
def test_no_prior(call):
    with pytest.raises(hf.InputError, match="prior: expected FiniteSupport or GaussianPrior, got"):
        call()


@pytest.mark.parametrize("function", OF_RISK + AT_POINT, ids=lambda one: one.__name__)
def test_no_risk(function):
    with pytest.raises(hf.InputError, match=r"PopulationRisk\(act, prior, tokens\), got str"):
        function("softmax", *(POINT if function in AT_POINT else (2,)))
    with pytest.raises(hf.InputError, match="risk: expected a PopulationRisk"):
        hf.gradient_flow(None, *POINT, [0.0, 1.0])


def test_no_point_no_heads_no_data(risk):
    with pytest.raises(hf.InputError, match="point: expected a fixed point"):
        hf.escape_times(risk, POINT)
    with pytest.raises(hf.InputError, match="m: expected at least one row"):
        risk(np.zeros((0, 2)), np.zeros((0, 0)))
    flow = hf.gradient_flow(risk, *POINT, [0.0, 1.0], rtol=1e-4)
    with pytest.raises(hf.InputError, match="flow: .* Dataset has no risk_error"):
        hf.phases(flow.drop_vars("risk_error"), PRIOR)
    with pytest.raises(hf.InputError, match="sgd: .* NoneType has no time"):
        hf.compare(flow, None)
    with pytest.raises(hf.InputError, match="data: .* dict has no risk"):
        hf.branch_events({})

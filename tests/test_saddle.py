"""The closed Hessian at the origin: the formulas of softmax, and numbers for every activation."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import headflow as hf
from tests.points import KINDS
from theory import symbols as sym
from theory.saddle import V, mu

L, H = sym.L, sym.H
ACTIVATIONS = [
    *(name for name in KINDS if "relu" not in name),
    hf.Activation("softplus-1", score="log(1+exp(x))", offset=1),
    hf.Activation("squares", score="x+exp(x)", normalizer="1+x^2", power=2, bias="norm", gain=0.7),
    hf.Activation("joint", score="exp(x)", normalizer="cosh(x)", scope="heads", offset="1/2"),
]


def test_softmax_at_the_origin():
    spectrum = hf.origin_spectrum("softmax")
    splitting = -2 * V * (L - 1) * (L - 2) / (H * L**3)
    common = 2 * (L - 1) * (L - (L - 3) * V) / (H * L**3)
    assert sp.simplify(spectrum.splitting.subs(mu, 0) - splitting) == 0
    assert sp.simplify(spectrum.common.subs(mu, 0) - common) == 0
    assert spectrum.thresholds == (None, L / (L - 3))


@pytest.mark.parametrize("act", ACTIVATIONS, ids=str)
@pytest.mark.parametrize("tokens, heads, strength", [(3, 3, 1.7), (6, 2, 0.8)])
def test_numbers_at_small_heads(act, tokens, heads, strength):
    """The gradient in weight space near 0, divided by the distance, for spike and noise."""
    spectrum = hf.origin_spectrum(act)
    risk = hf.PopulationRisk(act, hf.flipped_spikes([strength]), tokens, rtol=1e-10)
    against = np.zeros(heads)
    against[:2] = 1 / np.sqrt(2), -1 / np.sqrt(2)
    together = np.full(heads, 1 / np.sqrt(heads))
    for variance, is_spike in ((strength**2, True), (0.0, False)):
        wanted = spectrum.evaluate(L=tokens, H=heads, V=variance)
        for eigenvalue, direction in zip(wanted, (against, together), strict=True):
            found = [_curvature(risk, direction, is_spike, size) for size in (0.004, 0.008)]
            # The gradient is odd in the size: one step of extrapolation leaves its fourth power.
            extrapolated = found[0] + (found[0] - found[1]) / 3
            assert extrapolated == pytest.approx(eigenvalue, abs=1e-6)


def _curvature(risk, direction, is_spike, size):
    """dE/dk along the direction at k = size times the direction, over size."""
    k = size * direction[:, None]
    m = k if is_spike else np.zeros_like(k)
    slope = risk.gradient(m, k @ k.T)
    by_k = 2 * slope.R @ k + (slope.m if is_spike else 0)
    return float(direction @ by_k[:, 0]) / size


def test_the_gradient_of_a_prior_with_a_mean():
    prior = hf.FiniteSupport([[1.5], [-0.7]], [0.6, 0.4])
    for name in ("softmax", "softmax-1-norm", "erf"):
        risk = hf.PopulationRisk(name, prior, 4)
        slope = risk.gradient(np.zeros((3, 1)), 1e-12 * np.eye(3))
        values = {L: 4, H: 3, mu: float(prior.mean[0])}
        wanted = float(hf.origin_spectrum(name).gradient.subs(values))
        assert slope.m.sum() / np.sqrt(3) == pytest.approx(wanted, abs=1e-8), name


def test_a_kink_at_the_origin_is_refused():
    with pytest.raises(hf.DefinitionError, match="kink at 0"):
        hf.origin_spectrum("relu")


def test_a_wrong_eigenvalue_is_seen():
    """Negative control: the other block's eigenvalue is not this one's."""
    risk = hf.PopulationRisk("softmax", hf.flipped_spikes([1.7]), 3, rtol=1e-10)
    against = np.array([1, -1, 0]) / np.sqrt(2)
    common = hf.origin_spectrum("softmax").evaluate(L=3, H=3, V=1.7**2)[1]
    assert abs(_curvature(risk, against, True, 0.02) - common) > 1e-2


def test_numbers_at_the_origin_are_checked_and_parameters_taken():
    warm = hf.origin_spectrum("softmax-temperature")
    at_two = hf.origin_spectrum(hf.activation("softmax-temperature").at(T=2))
    assert warm.evaluate(5, 3, 2.5, 0.4, T=2) == at_two.evaluate(5, 3, 2.5, 0.4)
    assert warm.evaluate(5, 3, 2.5, 0.4, T=2) != warm.evaluate(5, 3, 2.5, 0.4)
    for bad in ({"V": -1}, {"V": float("nan")}, {"H": 0}, {"H": 2.5}, {"L": 0.5}, {"mu": None}):
        with pytest.raises(hf.DefinitionError, match="expected"):
            warm.evaluate(**{"L": 5, "H": 2, "V": 1.0, **bad})
    with pytest.raises(hf.DefinitionError, match="parameter q: there is no such one here, only T"):
        warm.evaluate(5, 2, 1.0, q=2)

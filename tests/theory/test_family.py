"""Kinks, pieces and removable singularities: one function, whatever its spelling."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest
import sympy as sp

import headflow as hf
from headflow.store import kernels_for
from theory.errors import DefinitionError
from theory.functions import Ramp, Step
from theory.piecewise import kinks
from theory.rules import closed_forms as rules

x = sp.Symbol("x", real=True)
RAMPS = ["relu(x)", "max(0,x)", "x*step(x)", "(x+abs(x))/2", "-min(0,-x)"]
RAMPS += [sp.Max(0, x), sp.Piecewise((x, x > 0), (0, True)), x * sp.Heaviside(x)]
STEPS = ["step(x)", "Heaviside(x)", "(1+sign(x))/2", sp.Piecewise((0, x < 0), (1, True))]


def _act(score, **entries):
    return hf.Activation("a", score=score, scope="none", **entries)


@pytest.mark.parametrize("score", RAMPS, ids=str)
def test_all_spellings_of_a_ramp_are_one(score):
    """Field case F17: value, slope in the mean and slope in the variance, for every spelling."""
    assert _act(score).score == Ramp(x)
    average = rules.single_average(_act(score).score)
    at = {rules.mu: sp.Rational(3, 10), rules.r: 1}
    for value, expected in (
        (average, 0.566761242117210),
        (average.diff(rules.mu), 0.617911422188953),
        (average.diff(rules.r), 0.190693907730262),
    ):
        assert float(value.subs(at).evalf(20)) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("score", STEPS, ids=str)
def test_all_spellings_of_a_step_are_one(score):
    assert _act(score).score == Step(x)
    average = rules.single_average(Step(x))
    at = {rules.mu: sp.Rational(3, 10), rules.r: 1}
    assert float(average.subs(at)) == pytest.approx(0.617911422188953, abs=1e-14)
    assert float(average.diff(rules.mu).subs(at)) == pytest.approx(0.381387815460524, abs=1e-14)


PIECES = {
    "elu": sp.Piecewise((x, x > 0), (sp.exp(x) - 1, True)),
    "clip": sp.Piecewise((-1, x < -1), (x, x < 1), (1, True)),
    "hat": sp.Piecewise((1 - sp.Abs(x), sp.Abs(x) < 1), (0, True)),
    "window": sp.Piecewise((x**2, sp.And(x > sp.Rational(1, 3), x <= 2)), (sp.S(-1), True)),
    "three": sp.Piecewise((sp.exp(x), x < 0), (sp.cos(x), x < 2), (sp.exp(-x), True)),
}


@pytest.mark.parametrize("name", PIECES)
def test_pieces_keep_their_values_and_slopes(name):
    """Against SymPy's own Piecewise, off the kinks, and no overflow where a piece does not hold."""
    act = _act(PIECES[name])
    kernels = kernels_for(act)
    z = np.array([-800.0, -30.0, -2.3, -0.7, -0.1, 0.2, 0.9, 1.4, 2.6, 30.0, 800.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kernels.factors(0.0, z)[1]
    for order in range(2):
        exact = sp.lambdify(x, PIECES[name].diff(x, order).doit(), "mpmath")
        expected = [float(exact(mpmath.mpf(float(one)))) for one in z]
        assert found[order] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_kinks_are_known_and_a_bad_piece_is_refused():
    assert kinks(Ramp(2 * x - 1) + Step(x**2 - 2)) == [-sp.sqrt(2), sp.Rational(1, 2), sp.sqrt(2)]
    assert kinks(Ramp(sp.exp(x) - 1)) is None
    assert _act("relu(q*x-1)", parameters={"q": 2}).kinks == [1 / sp.Symbol("q", real=True)]
    for score, words in (
        (sp.Piecewise((x, x > 0)), "no value where none"),
        (sp.Piecewise((x, sp.sin(x) > 0), (0, True)), "compare x with numbers"),
    ):
        with pytest.raises(DefinitionError, match=words):
            _act(score)


SINGULAR = {
    "raw": (1 - sp.exp(-x)) / x,
    "piecewise": sp.Piecewise(((1 - sp.exp(-x)) / x, sp.Ne(x, 0)), (1, True)),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_a_removable_singularity_is_removed(name):
    """Field case F16, with warnings as errors and a node at 0."""
    act = _act(SINGULAR[name])
    assert act.smooth
    kernels = kernels_for(act)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = kernels.factors(0.0, np.array([0.0, 1e-12, -1e-17, 1e-16]))[1]
        average = kernels.factors(0.0, np.polynomial.hermite_e.hermegauss(21)[0])[1, 0]
    assert np.max(np.abs(near[0] - 1)) < 1e-11
    assert near[1] == pytest.approx(-0.5, abs=1e-11)
    assert near[2] == pytest.approx(1 / 3, abs=1e-11)
    weights = np.polynomial.hermite_e.hermegauss(21)[1]
    assert average @ weights / weights.sum() == pytest.approx(1.1949576619102276, abs=3e-15)


@pytest.mark.parametrize("text", ["sin(x)/x", "(1-cos(x))/x^2", "x/(exp(x)-1)"])
def test_series_and_expression_agree_where_they_meet(text):
    kernels = kernels_for(_act(text))
    z = np.array([-0.7, -0.5, -0.4999999, -0.2, 1e-6, 0.3, 0.4999999, 0.5, 1.1])
    found = kernels.factors(0.0, z)[1]
    expression = sp.sympify(text.replace("^", "**"))
    variable = next(iter(expression.free_symbols))
    with mpmath.workdps(60):
        for order in range(3):
            exact = sp.lambdify(variable, expression.diff(variable, order), "mpmath")
            expected = [float(exact(mpmath.mpf(float(one)))) for one in z]
            assert found[order] == pytest.approx(expected, rel=2e-13, abs=2e-13)


def test_a_kink_stands_in_the_coefficients_of_a_series():
    text = "sin(x)/x + relu(x-1/4)*(1-exp(-x))/x"
    act = _act(text)
    assert act.kinks == [sp.Rational(1, 4)]
    z = np.array([-0.7, -1e-9, 0.0, 1e-6, 0.2, 0.3, 0.4999999, 0.5, 1.1])
    found = kernels_for(act).factors(0.0, z)[1]
    left = sp.sin(x) / x
    right = left + (x - sp.Rational(1, 4)) * (1 - sp.exp(-x)) / x
    for order in range(2):
        for place, one in zip(z, found[order], strict=True):
            side = right if place > 0.25 else left
            exact = side.diff(x, order)
            expected = exact.limit(x, 0) if place == 0 else exact.subs(x, sp.Float(place, 60))
            assert one == pytest.approx(float(expected), rel=2e-13, abs=2e-13)


@pytest.mark.parametrize("text", ["1/x", "sin(x)/x^3", "1/(x-0.3)", "(1-exp(-x))/(x*(x-3))"])
def test_a_pole_is_no_removable_singularity(text):
    with pytest.raises(DefinitionError, match="undefined near x ="):
        _act(text)


@pytest.mark.parametrize("text", ["x/sin(x)", "x*relu(x)/sin(x)"])
def test_a_pole_beside_a_removable_singularity_is_seen(text):
    with pytest.raises(
        DefinitionError, match=r"undefined near x = -?3\.\d+, where sin\(x\) vanishes"
    ):
        _act(text)


@pytest.mark.parametrize(
    "text", ["relu(x)/x", "sin(x)/(x+relu(x))", "min(min(x,0)/1e3/x, max(1,x)^2)"]
)
def test_a_singularity_at_a_kink_is_refused(text):
    with pytest.raises(DefinitionError, match="no value and no power series at x = 0"):
        _act(text)


@pytest.mark.parametrize("score", ["x^2", "(x-0.3)^2", "relu(x)", "abs(x)"])
def test_a_normalizer_with_a_zero_needs_an_offset(score):
    with pytest.raises(DefinitionError, match="vanishes at x = .*offset > 0"):
        hf.Activation("a", score="exp(x)", normalizer=score)
    assert hf.Activation("a", score="exp(x)", normalizer=score, offset=1).offset == 1

"""Field cases of symbolic algebra: names with two meanings, bound letters, lost derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import headflow as hf
from headflow.store import kernels_for
from tests.points import PRIOR, random_point
from theory import symbols as sym
from theory.rules.bonnet_price import logit_derivative

ONE = hf.FiniteSupport([[1.0]], [1.0])
SPELLINGS = {
    "text": "1/(1+exp(-x))",
    "plain": 1 / (1 + sp.exp(-sp.Symbol("x"))),
    "real": 1 / (1 + sp.exp(-sp.Symbol("x", real=True))),
    "positive": 1 / (1 + sp.exp(-sp.Symbol("x", positive=True))),
    "dummy": 1 / (1 + sp.exp(-sp.Dummy("x"))),
    "other name": 1 / (1 + sp.exp(-sp.Symbol("z"))),
    "lambda": lambda x: 1 / (1 + sp.exp(-x)),
    "Lambda": sp.Lambda(sp.Symbol("u"), 1 / (1 + sp.exp(-sp.Symbol("u")))),
}


def sigmoid_slope(score):
    act = hf.Activation("sigmoid", score=score, scope="none")
    assert act == hf.activation("sigmoid")
    risk = hf.PopulationRisk(act, ONE, tokens=2, rtol=1e-12)
    return risk, risk.gradient([[0.5]], [[1.0]])


def test_f01_the_users_symbol_is_the_logit_whatever_it_assumes():
    risk, reference = sigmoid_slope(SPELLINGS["text"])
    up, down = (risk([[0.5 + step]], [[1.0]]).value for step in (1e-4, -1e-4))
    assert reference.m[0, 0] == pytest.approx((up - down) / 2e-4, abs=1e-7)
    assert abs(reference.m[0, 0]) > 0.1
    for score in SPELLINGS.values():
        _, slope = sigmoid_slope(score)
        assert slope.value == pytest.approx(reference.value, abs=1e-14)
        assert slope.m == pytest.approx(reference.m, abs=1e-14)
        assert slope.R == pytest.approx(reference.R, abs=1e-14)


def test_f01_a_symbol_that_is_left_over_raises():
    x, y = sp.symbols("x y")
    for score in (sp.exp(x + y), lambda z: sp.exp(z) + y):
        with pytest.raises(hf.DefinitionError, match="y"):
            hf.Activation("two symbols", score=score)
    left = hf.Activation("one symbol", score=sp.exp(y)).score.free_symbols
    assert left == {sym.logit}


@pytest.mark.parametrize("tokens", [2, 3, 5])
def test_f26_a_sum_and_its_derivative_share_a_letter(tokens):
    """S = sum_i softmax_i^2, dS/dc_i with the letter i again; symbolic against explicit size."""
    c = [0.3, -0.2, 1.1, 0.45, -0.7][:tokens]
    weights = [sp.exp(sym.x[sp.S(i)]) for i in range(1, tokens + 1)]
    explicit = sum(w**2 for w in weights) / sum(weights) ** 2
    at = {sym.x[sp.S(i)]: value for i, value in enumerate(c, start=1)}
    exact = explicit.diff(sym.x[sp.S(1)]).subs(at).evalf()

    def total(power):
        return sp.Sum(sp.exp(power * sym.x[sym.h]), (sym.h, 1, sym.H))

    derivative = logit_derivative(total(2) / total(1) ** 2, sym.h).subs(sym.H, tokens).doit()
    found = derivative.subs(sym.h, 1).subs(at).evalf()
    assert float(found) == pytest.approx(float(exact), abs=1e-12)
    if tokens == 3:
        assert float(found) == pytest.approx(-0.088455772790, abs=1e-12)


def test_every_gradient_is_right_where_no_overlap_vanishes():
    """A derivative rule with its arguments swapped is right on the symmetric manifold only."""
    m, R = random_point(2, 2, seed=17)
    assert np.abs(m).min() > 0.1 and abs(R[0, 1]) > 0.01
    for name in ("softmax", "softmax-1-norm", "bayes-softmax", "sigmoid", "erf"):
        risk = hf.PopulationRisk(name, PRIOR, tokens=3, rtol=1e-9)
        slope, step = risk.gradient(m, R), 1e-4
        for h, f in np.ndindex(m.shape):
            shift = np.zeros_like(m)
            shift[h, f] = step
            difference = (risk(m + shift, R).value - risk(m - shift, R).value) / (2 * step)
            assert slope.m[h, f] == pytest.approx(difference, abs=2e-6), name


def test_floats_and_fractions_are_one_number():
    x = sp.Symbol("x", real=True)
    scores = ["tanh(0.8*x)", "tanh(4/5*x)", sp.tanh(0.8 * x), sp.tanh(sp.Rational(4, 5) * x)]
    acts = [hf.Activation("a", score=score, scope="none") for score in scores]
    acts.append(hf.Activation("a", score="tanh(q*x)", scope="none", parameters={"q": 0.8}))
    assert len({act.typed(act.score) for act in acts}) == 1


def test_the_derivative_of_an_absolute_value_of_a_complex_symbol():
    score = hf.Activation("abs", score=sp.Abs(sp.Symbol("x")), scope="none").score
    slope = score.diff(sym.logit)
    for z in (-2, sp.Rational(-1, 3), sp.Rational(1, 7), 4):
        assert float(slope.subs(sym.logit, z).evalf()) == float(sp.sign(z))


def test_rationals_keep_their_digits():
    """a/b printed as plain Python falls to 15 digits before it is read again."""
    third = hf.Activation("a", score="exp(x/3)").score
    value = third.subs(sym.logit, sp.Rational(7, 10)).evalf(50)
    assert abs(value - sp.exp(sp.Rational(7, 30)).evalf(60)) < sp.Float("1e-48", 50)
    kernels = kernels_for(hf.Activation("a", score="x/3", scope="none"))
    assert kernels.attention(np.array([[1.0]]))[0, 0] == 1 / 3

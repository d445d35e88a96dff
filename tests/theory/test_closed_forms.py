"""Closed forms against quadrature in many digits, by a road that shares no code with them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy import special

from theory import symbols as sym
from theory.functions import BivariateNormalCdf, NormalCdf, Ramp, Step
from theory.rules import closed_forms as rules

x, y = rules.x, rules.y
POINT = {rules.mu: 0.37, rules.nu: -0.62, rules.r: 1.3, rules.v: 0.7, rules.c: -0.41}

SINGLE = {
    "cubic": x**3 - 2 * x + 1,
    "tilted": x**2 * sp.exp(x / 2 - 1),
    "waves": sp.cos(2 * x + 1) * sp.sin(x),
    "erf": sp.erf(x / 3 - 1),
    "phi squared": NormalCdf(x) ** 2,
    "step": Step(2 * x - 1),
    "ramp": Ramp(x - sp.Rational(1, 5)),
    "ramp squared": Ramp(x) ** 2,
    "polynomial times cosine": (x**2 - x) * sp.cos(2 * x + 1),
    "tilted sine": x * sp.exp(x / 3) * sp.sin(x - 1),
    "gaussian": (x**2 + 1) * sp.exp(x - x**2 / 3),
    "gaussian cosine": x * sp.exp(-(x**2) / 2) * sp.cos(x),
    "polynomial times Phi": (x**3 - x) * NormalCdf(2 * x - 1),
    "x Phi squared": x**2 * NormalCdf(x) ** 2,
    "Phi beyond a step": x * NormalCdf(x - 1) * Step(x - sp.Rational(1, 3)),
    "tilted step": sp.exp(x / 2) * Step(sp.Rational(1, 2) - x),
    "hyperbolic": x * sp.cosh(x / 2),
    "pieces": Ramp(x + sp.Rational(1, 2)) - Ramp(x - sp.Rational(1, 5)) + sp.exp(-Ramp(x)),
}
PAIRS = {
    "polynomials": (x**2 + x, y**3 - 1),
    "tilted": (x * sp.exp(x / 3), sp.exp(-y / 2)),
    "waves": (sp.cos(x), sp.sin(2 * y + 1)),
    "erf": (sp.erf(x), sp.erf(y)),
    "steps": (Step(x - sp.Rational(1, 3)), Step(y)),
    "ramps": (Ramp(x), Ramp(2 * y + 1)),
    "polynomial times cosine": (x * sp.cos(x), y**2 * sp.sin(2 * y)),
    "gaussians": (x * sp.exp(-(x**2) / 3), sp.exp(y - y**2)),
    "x Phi": (x * NormalCdf(x), y * NormalCdf(y)),
    "step and Phi": (Step(x - sp.Rational(1, 3)), y * NormalCdf(y)),
    "ramp and erf": (Ramp(x), sp.erf(y)),
    "pieces": (sp.exp(x - Ramp(x)) + Ramp(x), Ramp(y) ** 2),
}


def _numeric(expression, variables):
    special = {
        "NormalCdf": mpmath.ncdf,
        "Step": lambda z: (1 + mpmath.sign(z)) / 2,
        "Ramp": lambda z: max(mpmath.mpf(0), z),
    }
    return sp.lambdify(variables, expression, [special, "mpmath"])


NUMPY = {
    "NormalCdf": special.ndtr,
    "erf": special.erf,
    "Step": lambda z: np.heaviside(z, 0.5),
    "Ramp": lambda z: np.maximum(z, 0.0),
}


def _average(function, mean, variance, breaks=(0,)):
    deviation = mpmath.sqrt(variance)
    ends = sorted({mean + k * deviation for k in (-12, -6, 0, 6, 12)} | set(breaks))
    return mpmath.quad(lambda z: function(z) * mpmath.npdf(z, mean, deviation), ends)


with mpmath.workdps(30):
    BREAKS = tuple(mpmath.mpf(n) / d for n, d in ((0, 1), (1, 2), (1, 5), (1, 3), (-1, 2), (1, 1)))


@pytest.mark.parametrize("name", SINGLE)
def test_single_averages(name):
    """At a generic point, to 25 digits; value and both derivatives that the kernels hold."""
    average = rules.single_average(SINGLE[name])
    with mpmath.workdps(30):
        exact = {z: sp.Rational(str(value)) for z, value in POINT.items()}
        mean, variance = (mpmath.mpf(str(POINT[z])) for z in (rules.mu, rules.r))
        function = _numeric(SINGLE[name], x)
        closed = average.subs(exact).evalf(30)
        direct = _average(function, mean, variance, BREAKS)
        assert abs(mpmath.mpf(closed) - direct) < mpmath.mpf(10) ** -24 * (1 + abs(direct))
        # d/d mean and d/d variance of the density give the same average's derivatives.
        for symbol, weight in (
            (rules.mu, lambda z: (z - mean) / variance),
            (rules.r, lambda z: ((z - mean) ** 2 / variance - 1) / (2 * variance)),
        ):
            closed = average.diff(symbol).subs(exact).evalf(30)
            direct = _average(lambda z, w=weight: function(z) * w(z), mean, variance, BREAKS)
            assert abs(mpmath.mpf(closed) - direct) < mpmath.mpf(10) ** -24 * (1 + abs(direct))


def _panels(mean, variance):
    """Gauss-Legendre nodes and normal weights, in panels that end at the kinks."""
    nodes, weights = np.polynomial.legendre.leggauss(48)
    reach = 10 * np.sqrt(variance)
    ends = sorted({mean - reach, mean + reach, *(b for b in map(float, BREAKS))})
    half, middle = (
        np.diff(ends)[:, None] / 2,
        (np.array(ends)[:-1] + np.array(ends)[1:])[:, None] / 2,
    )
    z = (middle + half * nodes).ravel()
    density = np.exp(-((z - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    return z, (half * weights).ravel() * density


@pytest.mark.parametrize("name", PAIRS)
def test_pair_averages(name):
    """The inner average is over y given x, so the two logits' covariance is really used."""
    first, second = PAIRS[name]
    closed = float(rules.pair_average(first, second).subs(POINT).evalf(20))
    mu, nu, r, q, c = (POINT[s] for s in (rules.mu, rules.nu, rules.r, rules.v, rules.c))
    f, g = (sp.lambdify(z, e, [NUMPY, "numpy"]) for e, z in ((first, x), (second, y)))
    outer, weights = _panels(mu, r)
    direct = 0.0
    for z, weight in zip(outer, weights * f(outer), strict=True):
        inner, inner_weights = _panels(nu + c / r * (z - mu), q - c * c / r)
        direct += weight * float(inner_weights @ g(inner))
    assert closed == pytest.approx(direct, rel=1e-11)


def test_field_case_values():
    """Field cases F17 and F18: step, ramp and probit at logit mean 0.3, variance 1."""
    at = {rules.mu: sp.Rational(3, 10), rules.r: 1}
    step = rules.single_average(Step(x))
    ramp = rules.single_average(Ramp(x))
    assert float(step.subs(at)) == pytest.approx(0.617911422188953, abs=1e-14)
    assert float(step.diff(rules.mu).subs(at)) == pytest.approx(0.381387815460524, abs=1e-14)
    assert float(ramp.subs(at)) == pytest.approx(0.566761242117210, abs=1e-14)
    assert float(ramp.diff(rules.mu).subs(at)) == pytest.approx(0.617911422188953, abs=1e-14)
    assert float(ramp.diff(rules.r).subs(at)) == pytest.approx(0.190693907730262, abs=1e-12)
    probit = rules.single_average((1 + sp.erf(x / sp.sqrt(2))) / 2)
    expected = NormalCdf(rules.mu / sp.sqrt(1 + rules.r))
    assert sp.simplify(probit - expected) == 0


@pytest.mark.parametrize(
    "score",
    [
        sp.tanh(x),
        sp.exp(x**2),
        1 / (1 + x**2),
        sp.exp(sp.exp(x)),
        NormalCdf(x) ** 3,
        sp.cos(x) * Step(x),
        NormalCdf(x**2),
    ],
)
def test_what_no_rule_covers_is_refused(score):
    with pytest.raises(rules.NoClosedForm):
        rules.single_average(score)


def test_orthant_probability_and_its_derivatives():
    h, k, rho = sp.symbols("h k rho", real=True)
    probability = BivariateNormalCdf(h, k, rho)
    at = {h: 0.4, k: -0.7, rho: 0.35}
    assert float(BivariateNormalCdf(0, 0, 0.5).evalf()) == pytest.approx(1 / 3, abs=1e-14)
    for variable, step in ((h, 1e-5), (k, 1e-5), (rho, 1e-5)):
        up, down = ({**at, variable: at[variable] + s} for s in (step, -step))
        difference = (probability.subs(up).evalf() - probability.subs(down).evalf()) / (2 * step)
        derivative = probability.diff(variable).subs(at).evalf()
        assert float(derivative) == pytest.approx(float(difference), rel=1e-7)


def test_the_logit_is_the_model_symbol():
    assert rules.x is sym.logit

# notation: mu, nu means, r, v variances and c covariance of two jointly Gaussian logits x, y.
"""Gaussian averages known in closed form, found by rule and never by a general integrator.

An expression is written as a sum of terms polynomial * exp(quadratic) * events, an event being a
step or a normal distribution function of a linear argument; theory/rules/normal_moments.py
averages each. Ramps and pieces are steps times what they step between, erf is Phi, a cosine is
the real part of an exponential. What no rule covers has no closed form here, and quadrature
takes over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp
from sympy.simplify.fu import TR8

from theory import symbols as sym
from theory.functions import BivariateNormalCdf, NormalCdf, Step
from theory.piecewise import in_steps
from theory.rules.normal_moments import Event, Law, NoClosedForm, average

__all__ = ["BivariateNormalCdf", "NoClosedForm", "pair_average", "single_average"]

NAME = "closed forms"
REASON = (
    "Moments by Stein's recursion, exponentials by tilting the law, cosines as exponentials with "
    "an imaginary slope, $\\Phi$ and erf by one more Gaussian variable, steps and ramps by their "
    "edges."
)

x, y = sym.logit, sp.Symbol("y", real=True)
mu, nu, c = sp.symbols("mu nu c", real=True)
r, v = sp.symbols("r v", positive=True)

# Beyond this many products of terms a formula, with its fourth derivatives, takes minutes to derive
# and is slower than quadrature.
MOST_TERMS = 6

_ONE = Law((x,), (mu,), ((r,),))
_TWO = Law((x, y), (mu, nu), ((r, c), (c, v)))


@dataclass(frozen=True)
class _Term:
    """polynomial * exp(exponent) * wave * events; the wave is 1, a cosine or a sine."""

    polynomial: sp.Expr
    exponent: sp.Expr
    waves: sp.Expr
    events: tuple[Event, ...]

    def times(self, other: _Term) -> _Term:
        return _Term(
            self.polynomial * other.polynomial,
            self.exponent + other.exponent,
            self.waves * other.waves,
            self.events + other.events,
        )


def single_average(expression: sp.Expr) -> sp.Expr:
    """E[expression(x)] for x normal with mean mu and variance r; NoClosedForm if not known."""
    return sum((_average(term, _ONE) for term in _terms(expression, x)), sp.S.Zero)


def pair_average(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """E[first(x) second(y)] for jointly normal x, y; NoClosedForm if not known."""
    left, right = _terms(first, x), _terms(second, y)
    if len(left) * len(right) > MOST_TERMS:
        raise NoClosedForm(first * second)
    return sum((_average(a.times(b), _TWO) for a in left for b in right), sp.S.Zero)


def _terms(expression: sp.Expr, variable: sp.Symbol) -> list[_Term]:
    plain = in_steps(expression.subs(variable, x)).subs(x, variable)
    plain = plain.rewrite((sp.sinh, sp.cosh), sp.exp)
    plain = plain.replace(sp.erf, lambda z: 2 * NormalCdf(sp.sqrt(2) * z) - 1)
    plain = plain.replace(sp.erfc, lambda z: 2 - 2 * NormalCdf(sp.sqrt(2) * z))
    plain = plain.replace(Step, lambda z: _forward(z, variable))
    terms = [_term(one, variable) for one in sp.Add.make_args(sp.expand(plain)) if one != 0]
    # Terms that differ by their polynomials are one.
    grouped: dict[tuple, _Term] = {}
    for term in terms:
        key = term.exponent, term.waves, term.events
        if key in grouped:
            term = replace(term, polynomial=term.polynomial + grouped[key].polynomial)
        grouped[key] = term
    return list(grouped.values())


def _forward(argument: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """A step up at a number, whichever way it was written, so that equal ones look equal."""
    slope, constant = _line(argument, variable)
    if not slope.is_number:
        return Step(argument)
    up = Step(variable + constant / slope)
    return up if slope > 0 else 1 - up


def _line(argument: sp.Expr, variable: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """Slope and constant of a special function's argument, which must be linear."""
    argument = sp.expand(argument)
    slope = argument.coeff(variable)
    constant = sp.expand(argument - slope * variable)
    if slope == 0 or slope.has(x, y) or constant.has(x, y):
        raise NoClosedForm(argument)
    return slope, constant


def _term(product: sp.Expr, variable: sp.Symbol) -> _Term:
    polynomial, exponent, waves = sp.S.One, sp.S.Zero, sp.S.One
    edges: list[sp.Expr] = []
    events: list[Event] = []
    for factor in sp.Mul.make_args(product):
        base, power = factor.as_base_exp()
        if isinstance(factor, sp.exp):
            exponent += factor.args[0]
        elif isinstance(base, (sp.cos, sp.sin)) and base.has(variable):
            waves *= factor
        elif isinstance(base, Step):
            edges.append(base.args[0])  # a step is its own square
        elif isinstance(base, NormalCdf) and base.has(variable):
            if power not in (1, 2):
                raise NoClosedForm(product)
            events += [Event(variable, *_line(base.args[0], variable), True)] * int(power)
        else:
            polynomial *= factor
    if len(edges) > 1:
        # Steps up at numbers: both hold beyond the last one.
        starts = [variable - edge for edge in edges]
        if any(not start.is_number for start in starts):
            raise NoClosedForm(product)
        edges = [variable - max(starts)]
    events += [Event(variable, *_line(edge, variable), False) for edge in edges]
    return _Term(polynomial, exponent, waves, tuple(events))


def _average(term: _Term, law: Law) -> sp.Expr:
    if term.waves == 1:
        return average(term.polynomial, term.exponent, term.events, law)
    if term.events:
        raise NoClosedForm(term.waves)
    total = sp.S.Zero
    for piece in sp.Add.make_args(sp.expand(TR8(term.waves))):
        constant, wave = piece.as_independent(*law.variables, as_Add=False)
        polynomial = constant * term.polynomial
        if wave == 1:
            total += average(polynomial, term.exponent, (), law)
            continue
        if not isinstance(wave, (sp.cos, sp.sin)):
            raise NoClosedForm(term.waves)
        turned = average(polynomial, term.exponent + sp.I * wave.args[0], (), law)
        total += _part(turned, imaginary=isinstance(wave, sp.sin))
    return total


def _part(value: sp.Expr, *, imaginary: bool) -> sp.Expr:
    """Real or imaginary part of factor * exp(A + iB) * (U + iV), all letters real."""
    phase, size, rest = sp.S.Zero, sp.S.Zero, sp.S.One
    for factor in sp.Mul.make_args(value):
        if isinstance(factor, sp.exp):
            real, turn = _split(factor.args[0])
            size, phase = size + real, phase + turn
        else:
            rest *= factor
    real, turn = _split(rest)
    if imaginary:
        return sp.exp(size) * (real * sp.sin(phase) + turn * sp.cos(phase))
    return sp.exp(size) * (real * sp.cos(phase) - turn * sp.sin(phase))


def _split(value: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    expanded = sp.expand(value)
    imaginary = expanded.coeff(sp.I)
    return sp.expand(expanded - sp.I * imaginary), imaginary

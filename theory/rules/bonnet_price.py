# notation: X integrand of an average, x_h logit of head h; mu_h, C_hk its mean and covariance.
"""Derivatives of Gaussian averages: Bonnet's theorem for the mean, Price's for the covariance."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from theory import symbols as sym
from theory.expectation import Average

BONNET = "Bonnet"
BONNET_REASON = (
    r"$\partial \mathbb{E}[X] / \partial \mu_h = \mathbb{E}[\partial X / \partial x_h]$ for a "
    "Gaussian average, applied to each average of the token by the product rule (first variation)."
)
PRICE = "Price"
PRICE_REASON = (
    r"$\partial \mathbb{E}[X] / \partial C_{hh} = \mathbb{E}[\partial^2 X / \partial x_h^2] / 2$, "
    r"and $\partial \mathbb{E}[X] / \partial C_{hk} = \mathbb{E}[\partial^2 X / \partial x_h "
    r"\partial x_k]$ for the shared entry of two heads."
)


def bonnet(expression: sp.Expr, density: sp.Symbol, head: sp.Expr) -> sp.Expr:
    """The derivative of an expression of averages in the mean of one logit of one token."""
    return _by_average(expression, density, lambda X: logit_derivative(X, head))


def price(expression: sp.Expr, density: sp.Symbol, head: sp.Expr, other: sp.Expr) -> sp.Expr:
    """The derivative in a variance (head = other) or in the shared entry of a covariance."""
    factor = sp.Rational(1, 2) if head == other else sp.S.One
    return _by_average(
        expression,
        density,
        lambda X: factor * logit_derivative(logit_derivative(X, head), other),
    )


def _by_average(expression: sp.Expr, density: sp.Symbol, differentiate) -> sp.Expr:
    """Sum over averages of the token: the first variation times the differentiated average."""
    if isinstance(expression, sp.Add):
        return sp.Add(*(_by_average(e, density, differentiate) for e in expression.args))
    if isinstance(expression, sp.Integral):
        whole = expression.function.atoms(Average)
        inner = _by_average(_expanded(expression.function, whole), density, differentiate)
        return sp.Integral(inner, *expression.limits)
    if isinstance(expression, sp.Mul) and expression.has(sp.Integral):
        constant, integral = expression.as_independent(sp.Integral, as_Add=False)
        return constant * _by_average(integral, density, differentiate)
    nodes = sorted(
        (node for node in expression.atoms(Average) if node.density == density),
        key=sp.default_sort_key,
    )
    total = sp.S.Zero
    for node in nodes:
        name = sp.Dummy(real=True)
        slope = expression.xreplace({node: name}).diff(name).xreplace({name: node})
        derivative = differentiate(node.integrand)
        total += slope * sp.Add(*(_average(piece, density) for piece in _pieces(derivative)))
    return total


def _expanded(expression: sp.Expr, whole: Iterable[sp.Expr]) -> sp.Expr:
    """The expression multiplied out, but for parts that stay ``whole``."""
    names = {one: sp.Dummy(real=True) for one in whole}
    parts = {name: one for one, name in names.items()}
    return sp.expand(expression.xreplace(names)).xreplace(parts)


def _pieces(expression: sp.Expr) -> tuple[sp.Expr, ...]:
    """The terms of an expression; denominators stay whole, which multiplied out would overflow."""
    inverse = [p for p in expression.atoms(sp.Pow) if p.base.is_Add and p.exp.is_negative]
    terms: tuple[sp.Expr, ...] = sp.Add.make_args(_expanded(expression, inverse))
    return terms


def _average(piece: sp.Expr, density: sp.Symbol) -> sp.Expr:
    number, rest = piece.as_coeff_Mul()
    return number * Average(rest, density)


def logit_derivative(X: sp.Expr, head: sp.Expr) -> sp.Expr:
    """d X / d x_head, through sums over heads by the chain rule.

    SymPy differentiates a sum over h by x_h wrongly when both use one letter, so a sum is given
    a name first: its derivative by x_head is its own term at that head.
    """
    sums = sorted(X.atoms(sp.Sum), key=sp.default_sort_key)
    names = {one: sp.Dummy(real=True) for one in sums}
    named = X.xreplace(names)
    entry = sp.Dummy(real=True)
    total = named.xreplace({sym.x[head]: entry}).diff(entry).xreplace({entry: sym.x[head]})
    for one, name in names.items():
        (index, _, _) = one.limits[0]
        term = one.function.xreplace({sym.x[index]: entry}).diff(entry)
        total += named.diff(name) * term.xreplace({entry: sym.x[head]})
    return total.xreplace({name: one for one, name in names.items()})

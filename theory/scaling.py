"""Exponentials taken out of f and g, so that generated code never overflows.

The factors X_n = t^(n p) f^n exp(-t g) do not change under t -> t e^kappa, g -> g e^-kappa,
f -> f e^(-p kappa). With kappa the largest exponent in g, everything left is moderate for every
finite logit: for softmax kappa = x and the scaled f, g are the constant 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory import symbols as sym
from theory.activation import Activation

# Stands for kappa where it is a maximum of several exponents, computed first.
KAPPA = sp.Symbol("kappa", real=True)


@dataclass(frozen=True)
class Scaled:
    """kappa(x), and f, g with their first two derivatives in units of e^(p kappa), e^kappa."""

    kappa: sp.Expr
    f: tuple[sp.Expr, ...]
    g: tuple[sp.Expr, ...]


def scaled(activation: Activation, *, derivatives: int = 2, shared: bool = False) -> Scaled:
    """Scale an activation's functions; with ``shared`` the unit is KAPPA, given from outside.

    A normalizer that sums over several logits has one unit for all of them, the largest kappa.
    """
    x = sym.logit
    f = [activation.score.diff(x, n) for n in range(derivatives + 1)]
    if activation.scope == "none":
        return Scaled(sp.S.Zero, tuple(f), tuple(sp.S.Zero for _ in f))
    g = [activation.normalizer.diff(x, n) for n in range(derivatives + 1)]
    exponents = sorted({u for _, u in exponential_terms(g[0])}, key=sp.default_sort_key)
    kappa = exponents[0] if len(exponents) == 1 else sp.Max(*exponents)
    simple = kappa == 0 or (len(exponents) == 1 and not shared)
    unit = kappa if simple else KAPPA
    return Scaled(
        kappa,
        tuple(_in_units(e, activation.power * unit) for e in f),
        tuple(_in_units(e, unit) for e in g),
    )


def log_slope(activation: Activation) -> sp.Expr:
    """d ln g / dx where ln g is linear, else 0: only then averages over x smooth the lift."""
    if activation.scope == "none":
        return sp.S.Zero
    slope = (activation.normalizer.diff(sym.logit) / activation.normalizer).simplify()
    return sp.S.Zero if slope.has(sym.logit) else sp.Abs(slope)


def exponential_terms(expression: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """The expression as a list of (prefactor, u), meaning the sum of prefactor * e^u."""
    result = []
    rewritten = expression.rewrite((sp.sinh, sp.cosh), sp.exp)
    for term in sp.Add.make_args(sp.expand(rewritten)):
        exponent, prefactor = sp.S.Zero, sp.S.One
        for factor in sp.Mul.make_args(term):
            if isinstance(factor, sp.exp):
                exponent += factor.args[0]
            else:
                prefactor *= factor
        result.append((prefactor, exponent))
    return result


def _in_units(expression: sp.Expr, unit: sp.Expr) -> sp.Expr:
    pieces = exponential_terms(expression)
    if unit == 0 and all(u == 0 for _, u in pieces):
        return expression
    return sp.Add(*(prefactor * sp.exp(sp.expand(u - unit)) for prefactor, u in pieces))

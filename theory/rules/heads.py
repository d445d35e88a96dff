"""Attention is a sum over heads: the risk needs single heads and pairs of heads, no more."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import Mean

NAME = "sum over heads"
REASON = (
    r"$A_l = \gamma \sum_h a_{lh}$; a square of a sum is its diagonal and twice its pairs, so that "
    "two heads at once are all that is ever needed."
)


def sum_over_heads(expression: sp.Expr) -> sp.Expr:
    """Replace E[A_l] and E[A_l^2] by sums of single-head and two-head averages."""
    return expression.replace(Mean, _by_heads)


def _by_heads(inner: sp.Expr) -> sp.Expr:
    count, power = inner.as_independent(sp.Indexed, as_Add=False)
    attention, exponent = power.as_base_exp()
    token = attention.indices[0]
    head, other = sym.a[token, sym.h], sym.a[token, sym.k]
    if exponent == 1:
        return sym.gain * sp.Sum(Mean(count * head), (sym.h, 1, sym.H))
    diagonal = sp.Sum(Mean(count * head**2), (sym.h, 1, sym.H))
    pairs = sp.Sum(Mean(count * head * other), (sym.k, sym.h + 1, sym.H), (sym.h, 1, sym.H))
    return sym.gain**2 * (diagonal + 2 * pairs)

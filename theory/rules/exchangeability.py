"""Tokens other than the relevant one are exchangeable, so a sum over L needs two of them."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import LengthPower, Mean, linear

NAME = "exchangeability"
REASON = (
    "Noise tokens are independent and identically distributed: the sum over tokens is its "
    "relevant member and $L - 1$ times any one noise token, written 0."
)


def exchangeability(expression: sp.Expr) -> sp.Expr:
    """Replace E[sum_l F(l)] by E[F(eps)] + (L - 1) E[F(0)] and expand."""
    return expression.replace(Mean, _two_tokens)


def _two_tokens(inner: sp.Expr) -> sp.Expr:
    if not isinstance(inner, sp.Sum):
        return Mean(inner)
    term, (index, _, _) = inner.args
    relevant = linear(Mean, term.subs(index, sym.eps))
    noise = linear(Mean, term.subs(index, sym.NOISE_TOKEN))
    # The factor L - 1 stays inside the mean: there it is right for a random length, too.
    return relevant + noise.replace(Mean, lambda one: Mean(LengthPower(sp.S.One, 1) * one))

"""Tokens are independent: the mean of a product over tokens is a product of averages."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import Average, LengthPower, Mean

NAME = "independence"
REASON = (
    "Given the location, the $L$ tokens are independent: one average for the relevant token, one "
    "for each noise token, and the $L - 1$ equal ones make a power."
)


def independence(expression: sp.Expr) -> sp.Expr:
    """Factorize each mean over all tokens into averages over single tokens."""
    return expression.replace(Mean, _factorize)


def _factorize(inner: sp.Expr) -> sp.Expr:
    spectators, own = _split(inner.subs(LengthPower(sp.S.One, 1), 1))
    tokens = {entry.indices[0] for entry in own.atoms(sp.Indexed)}
    own = _one_token(own)
    if tokens == {sym.eps}:
        return Average(own * spectators, sym.RELEVANT) * LengthPower(
            Average(spectators, sym.NOISE), 0
        )
    # A noise token is singled out: its factor L - 1 and the power L - 2 of the rest are one
    # node, the derivative of phi^(L-1), which carries all that depends on the length.
    return (
        Average(spectators, sym.RELEVANT)
        * Average(own * spectators, sym.NOISE)
        * LengthPower(Average(spectators, sym.NOISE), 1)
    )


def _split(inner: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """One token's share of exp(-t sum over tokens), and the factor of the token singled out."""
    exponent, own = sp.S.Zero, []
    for factor in sp.Mul.make_args(inner):
        if isinstance(factor, sp.exp):
            exponent += factor.args[0].replace(sp.Sum, _drop_token_sum)
        else:
            own.append(factor)
    return sp.exp(exponent), sp.Mul(*own)


def _drop_token_sum(term: sp.Expr, *limits: sp.Tuple) -> sp.Expr:
    kept = [limit for limit in limits if limit[0] != sym.j]
    term = _one_token(term)
    return sp.Sum(term, *kept) if kept else term


def _one_token(expression: sp.Expr) -> sp.Expr:
    """x_l^h becomes x_h: one token is left, so its index says nothing more."""
    return expression.replace(
        lambda e: isinstance(e, sp.Indexed) and e.base == sym.x and len(e.indices) == 2,
        lambda e: sym.x[e.indices[1]],
    )

"""Averaging over the location given all tokens turns its indicator into the posterior weight."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import Mean

NAME = "posterior mean"
REASON = (
    r"Given all tokens, $\mathbf{1}[l = \epsilon]$ has the mean $w_l$, so that "
    r"$\mathbb{E}[\mathbf{1}[l = \epsilon] F_l] = \mathbb{E}[w_l F_l]$ for every $F$ of the "
    "tokens; the weights $w_l$ add up to 1."
)


def posterior_mean(expression: sp.Expr) -> sp.Expr:
    """Rewrite E[sum_l F(1[l = eps], A_l)] for A_l = w_l, the posterior weights themselves."""
    return expression.replace(Mean, _given_tokens)


def _given_tokens(inner: sp.Expr) -> sp.Expr:
    summand, limits = inner.args
    indicator = sp.KroneckerDelta(sym.l, sym.eps)
    weight = sym.A[sym.l]
    total = sp.S.Zero
    for power, factor in sp.Poly(summand, indicator).as_dict().items():
        # An indicator is its own square, cube, ...
        total += factor * (weight if power[0] else 1)
    constant, rest = sp.S.Zero, sp.S.Zero
    for term in sp.Add.make_args(sp.expand(total)):
        if term.as_independent(weight, as_Add=False)[1] == weight:
            constant += term / weight
        else:
            rest += term
    coefficient, body = rest.as_independent(sp.Indexed, as_Add=False)
    return constant + coefficient * Mean(sp.Sum(body, limits))

"""The common gain of all heads stands in front of every attention weight."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import Mean

NAME = "gain"
REASON = r"$A_l = \gamma a_l$, one common gain: the risk is a quadratic polynomial in it."


def take_out_gain(expression: sp.Expr) -> sp.Expr:
    """Replace E[A_l^n] by gamma^n E[a_l^n], a_l the attention at gain 1."""

    def scaled(inner):
        _, power = inner.as_independent(sp.Indexed, as_Add=False)
        attention, exponent = power.as_base_exp()
        return sym.gain**exponent * Mean(inner.xreplace({attention: sym.a[attention.indices]}))

    return expression.replace(Mean, scaled)

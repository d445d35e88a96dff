"""The common gain of all heads stands in front of every attention weight."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import Mean

NAME = "gain"
REASON = "A_l carries one common gain gamma: the risk is a quadratic polynomial in it."


def take_out_gain(expression: sp.Expr) -> sp.Expr:
    """Replace E[A^n] by gamma^n E[A^n at gamma = 1]."""

    def scaled(inner):
        _, power = inner.as_independent(sp.Indexed, as_Add=False)
        return sym.gain ** power.as_base_exp()[1] * Mean(inner)

    return expression.replace(Mean, scaled)

"""Closed forms of the averages of a scope "none" score, as steps of a derivation."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.activation import Activation
from theory.derivation import Step
from theory.expectation import Average
from theory.rules import closed_forms as rules


def closed_averages(activation: Activation) -> tuple[sp.Expr, sp.Expr, sp.Expr] | None:
    """E[f], E[f^2] and E[f(x) f(y)] where the rules know all three, else None."""
    if activation.scope != "none":
        return None
    f = activation.score
    try:
        single = [rules.single_average(e) for e in (f, sp.expand(f**2))]
        return (*single, rules.pair_average(f, f.subs(rules.x, rules.y)))
    except rules.NoClosedForm:
        return None


def closed_steps(activation: Activation) -> tuple[Step, ...]:
    """One step for each average, from its definition to its closed form in mu, r, nu, v, c."""
    averages = closed_averages(activation)
    if averages is None:
        return ()
    x, y = (activation.score.subs(sym.logit, sym.x[head]) for head in (1, 2))
    befores = (Average(x, sym.RELEVANT), Average(x**2, sym.RELEVANT), Average(x * y, sym.RELEVANT))
    return tuple(
        Step(rules.NAME, rules.REASON, before, after, "closed form", sym.RELEVANT)
        for before, after in zip(befores, averages, strict=True)
    )

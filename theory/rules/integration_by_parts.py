"""Integrals over the lift variable of averages that depend on it, by parts."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import Average, linear

NAME = "integration by parts"
REASON = (
    r"$\int_0^{\infty} v G'\, dt = [v G]_0^{\infty} - \int_0^{\infty} v' G\, dt$; every average "
    r"carries $e^{-t \Lambda}$, which is 1 at $t = 0$ and leaves nothing at $t = \infty$, because "
    r"$\Lambda > 0$."
)

RANGE = (sp.Tuple(sym.t, 0, sp.oo),)


def derivative(expression: sp.Expr) -> sp.Expr:
    """d/dt of a formula in averages, by the chain rule: (E[X])' = E[X']."""
    averages = sorted(expression.atoms(Average), key=sp.default_sort_key)
    names = {node: sp.Dummy(real=True) for node in averages}
    named = expression.xreplace(names)
    total = named.diff(sym.t)
    for node, name in names.items():
        total += named.diff(name) * linear(Average, node.integrand.diff(sym.t), node.density)
    return total.xreplace({name: node for node, name in names.items()})


def by_parts(expression: sp.Expr, factor: sp.Expr, primitive: sp.Expr, start: sp.Expr) -> sp.Expr:
    """Rewrite each integral over t of ``factor`` times the derivative of ``primitive``.

    start: factor * primitive at t = 0; at t = oo it is 0. Raises ValueError if the integrand is
    anything else, so that a wrong primitive is no derivation.
    """

    def rewritten(integral):
        remainder = sp.expand(integral.function - factor * derivative(primitive))
        if integral.limits != RANGE or remainder != 0:
            raise ValueError(f"{integral} is not over {factor} times the slope of {primitive}")
        return -start - sp.Integral(derivative(factor) * primitive, *RANGE)

    # Not ``replace``: it would look at its own result again where constants cancel.
    integrals = {integral: rewritten(integral) for integral in expression.atoms(sp.Integral)}
    return sp.expand(expression.xreplace(integrals))

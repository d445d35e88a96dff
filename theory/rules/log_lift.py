"""The lift variable on a logarithmic scale, where every factor is smooth and bounded."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import Average

NAME = "logarithm of the lift"
REASON = (
    "$t = e^s$, $dt = e^s ds$: in $s$ the integrand is smooth on the scale 1 whatever the size of "
    "the logits, and a uniform grid converges exponentially. Powers of $t$ join the score that "
    "they multiply, where the product stays bounded."
)


def log_lift(expression: sp.Expr) -> sp.Expr:
    """Substitute t = e^s in each lift integral."""
    return expression.replace(sp.Integral, _substitute)


def _substitute(integrand: sp.Expr, *limits: sp.Tuple) -> sp.Expr:
    old = [limit[0] for limit in limits]
    integrand = sp.Mul(*old) * integrand
    powers, rest = integrand.as_independent(*(Average,), as_Add=False)
    constants, decay = sp.S.One, sp.S.One
    times = sp.S.One
    for factor in sp.Mul.make_args(powers):
        if isinstance(factor, sp.exp):
            decay *= factor
        elif factor.has(*old):
            times *= factor
        else:
            constants *= factor
    # The power of t belongs to the average that holds the score, not to a bare exponential.
    target = max(
        (f for f in sp.Mul.make_args(rest) if isinstance(f, Average)),
        key=lambda f: (f.has(sym.score), sp.default_sort_key(f)),
    )
    absorbed = rest.xreplace({target: Average(times * target.integrand, target.density)})
    logs = {time: sp.exp(sym.LOG_OF_LIFT[time]) for time in old}
    new_limits = [(sym.LOG_OF_LIFT[time], -sp.oo, sp.oo) for time in old]
    return sp.Integral((constants * decay * absorbed).xreplace(logs), *new_limits)

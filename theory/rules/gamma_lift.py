"""A power of the normalizer becomes an integral of exponentials (Gamma lift)."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import Mean

NAME = "Gamma lift"
REASON = (
    r"$Z^{-q} = \frac{1}{\Gamma(q)} \int_0^{\infty} t^{q-1} e^{-t Z}\, dt$ for $Z > 0$; $Z$ is a "
    "sum over independent tokens, and an exponential of a sum is a product."
)


def gamma_lift(expression: sp.Expr) -> sp.Expr:
    """Replace each negative power of a normalizer inside a mean by its lift integral."""
    return expression.replace(Mean, _lift)


def _lift(inner: sp.Expr) -> sp.Expr:
    lifts = iter((sym.t, sym.u))
    rest, outside, limits = [], [], []
    for factor in sp.Mul.make_args(inner):
        base, exponent = factor.as_base_exp()
        if not base.has(sp.Sum) or not exponent.is_negative:
            rest.append(factor)
            continue
        time, order = next(lifts), -exponent
        offset, normalizer = base.as_independent(sp.Sum, as_Add=True)
        outside.append(time ** (order - 1) / sp.gamma(order) * sp.exp(-offset * time))
        rest.append(sp.exp(-time * normalizer))
        limits.append((time, 0, sp.oo))
    if not limits:
        return Mean(inner)
    return sp.Integral(sp.Mul(*outside) * Mean(sp.Mul(*rest)), *limits)

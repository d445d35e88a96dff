"""Whether an expression is a real, finite function on the whole real line.

Logits are Gaussian, so an activation that is complex or undefined anywhere is undefined.
The check is numeric, on a dense asymmetric set of points with 30 digits: a symbolic proof
does not exist in general, and SymPy's own domain finder can run for minutes.
"""

from __future__ import annotations

import mpmath
import sympy as sp

from theory import symbols as sym
from theory.errors import DefinitionError

# Dense where functions turn, sparse far out; off the integers except for the likeliest
# singular points, which are listed exactly.
_POINTS = tuple(
    sorted(
        {mpmath.mpf(i) / 8 for i in range(-40, 41)}
        | {sign * mpmath.mpf(10) ** (mpmath.mpf(e) / 3) for e in range(-12, 8) for sign in (-1, 1)}
    )
)


def _evaluator(expression: sp.Expr):
    return sp.lambdify(sym.logit, expression, modules=["mpmath", _SPECIAL])


_SPECIAL = {
    "Sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)),
    "Softplus": lambda z: mpmath.log1p(mpmath.exp(z)),
    "NormalCdf": mpmath.ncdf,
    "Step": lambda z: (1 + mpmath.sign(z)) / 2,
    "Ramp": lambda z: max(mpmath.mpf(0), z),
    "DiracDelta": lambda z: mpmath.mpf(0),
}


def require_real(what: str, expression: sp.Expr) -> None:
    """Raise DefinitionError, naming a point, unless the expression is real and finite."""
    if expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        raise DefinitionError(f"{what}: {expression} is not a finite expression")
    others = expression.free_symbols - {sym.logit}
    if others:
        names = ", ".join(sorted(z.name for z in others))
        raise DefinitionError(f"{what}: unknown name {names} in {expression}; the logit is x")
    if expression.has(sp.tan, sp.cot, sp.sec, sp.csc):
        raise DefinitionError(
            f"{what}: {expression} has poles; it must be finite on the whole line"
        )
    _require_no_pole(what, expression)
    for point, value in _values(what, expression):
        if isinstance(value, mpmath.mpc) and value.imag != 0:
            raise DefinitionError(
                f"{what}: {expression} is complex at x = {mpmath.nstr(point, 6)}; "
                "logits are Gaussian, so it must be real on the whole line"
            )
        if not mpmath.isfinite(value):
            raise DefinitionError(
                f"{what}: {expression} is undefined at x = {mpmath.nstr(point, 6)}; "
                "logits are Gaussian, so it must be finite on the whole line"
            )


def _require_no_pole(what: str, expression: sp.Expr) -> None:
    """A denominator that vanishes between two sample points would slip through them."""
    for power in sorted(expression.atoms(sp.Pow), key=sp.default_sort_key):
        base, exponent = power.as_base_exp()
        if not (exponent.is_number and exponent.is_negative and base.has(sym.logit)):
            continue
        if base.is_polynomial(sym.logit):
            roots = sp.Poly(base, sym.logit).real_roots()
            where = [str(root.evalf(6)) for root in roots]
        else:
            signs = [(point, value) for point, value in _values(what, base) if value != 0]
            where = [
                mpmath.nstr((p + q) / 2, 3)
                for (p, left), (q, right) in zip(signs, signs[1:], strict=False)
                if left * right < 0
            ]
        if where:
            raise DefinitionError(
                f"{what}: {expression} is undefined near x = {where[0]}, where {base} vanishes; "
                "logits are Gaussian, so it must be finite on the whole line"
            )


def require_nonnegative(what: str, expression: sp.Expr, *, strict: bool) -> None:
    """Raise DefinitionError unless the expression is >= 0; ``strict`` also forbids a range of 0."""
    zeros = 0
    for point, value in _values(what, expression):
        if value < 0:
            raise DefinitionError(
                f"{what}: {expression} is {mpmath.nstr(value, 6)} at x = {mpmath.nstr(point, 6)}; "
                "a normalizer must be nonnegative"
            )
        zeros = zeros + 1 if value == 0 else 0
        if strict and zeros > 2:
            raise DefinitionError(
                f"{what}: {expression} vanishes on a range around x = {mpmath.nstr(point, 6)}, so "
                "attention is 0/0 there; give an offset > 0"
            )


def _values(what: str, expression: sp.Expr):
    function = _evaluator(expression)
    with mpmath.workdps(30):
        for point in _POINTS:
            try:
                yield point, mpmath.mpmathify(function(point))
            except (ZeroDivisionError, ValueError):
                raise DefinitionError(
                    f"{what}: {expression} is undefined at x = {mpmath.nstr(point, 6)}; "
                    "logits are Gaussian, so it must be finite on the whole line"
                ) from None
            except OverflowError:
                continue  # beyond every float, hence beyond every computation that follows

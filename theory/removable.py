"""Removable singularities: a series near the point, the expression itself elsewhere.

(1 - exp(-x)) / x is 0/0 at 0 and loses all digits near it. Where the limit exists the function is
written as ``Regular``: its Taylor polynomial within a radius, the expression outside, both
differentiated alike. Enough terms are taken for both to agree to rounding where they meet, with
their first two derivatives, which is checked in 40 digits.
"""

from __future__ import annotations

import mpmath
import sympy as sp

from theory import symbols as sym
from theory.audit import SYMPY_FAULTS
from theory.errors import DefinitionError

x = sym.logit
_RADII = (sp.Rational(1, 2), sp.Rational(1, 8))
_TERMS = (12, 18, 26, 40)
_AGREEMENT = mpmath.mpf(10) ** -16


class Away(sp.Function):
    """x, held at a distance of ``radius`` from ``point``: arguments x, point, radius."""

    nargs = 3
    is_extended_real = True

    @classmethod
    def eval(cls, z, point, radius):
        if z.is_number:
            return point + radius if abs(z - point) < radius else z
        return None

    def fdiff(self, argindex=1):
        return sp.S.One  # where it is held its value is not used

    def _latex(self, printer, exp=None):
        text = printer._print(self.args[0])
        return f"{text}^{{{exp}}}" if exp else text

    def _sympystr(self, printer):
        return printer._print(self.args[0])


class Regular(sp.Function):
    """``near`` within ``radius`` of the point, ``far`` elsewhere: near, far, x - point, radius."""

    nargs = 4
    is_extended_real = True

    @classmethod
    def eval(cls, near, far, distance, radius):
        if near == far:
            return near
        if distance.is_number:
            return near if abs(distance) < radius else far
        return None

    def _eval_derivative(self, variable):
        near, far, distance, radius = self.args
        return Regular(near.diff(variable), far.diff(variable), distance, radius)

    def _latex(self, printer, exp=None):
        power = f"^{{{exp}}}" if exp else ""
        return rf"\left({printer._print(self.args[1])}\right){power}"

    def _sympystr(self, printer):
        return f"({printer._print(self.args[1])})"


def regularized(expression: sp.Expr) -> sp.Expr:
    """The expression with a series near each removable singularity.

    Raises DefinitionError, naming the point, for a singularity that is none of that kind.
    """
    quotients = [
        power
        for power in expression.atoms(sp.Pow)
        if power.exp.is_number and power.exp.is_negative and power.base.has(x)
    ]
    if not quotients or expression.free_symbols - {x}:
        return expression
    points = {root for power in quotients for root in _zeros(power.base, expression)}
    result = expression
    for point in sorted(points, key=float):
        if not expression.subs(x, point).is_finite:
            try:
                series, radius = _series(expression, point)
            except DefinitionError:
                raise
            except SYMPY_FAULTS:
                raise DefinitionError(
                    f"{expression} has no value and no power series at x = {point.evalf(6)}; write "
                    "it in another way, such as a Piecewise with a branch for that point"
                ) from None
            far = result.subs(x, Away(x, point, radius))
            result = Regular(sp.horner(series), far, x - point, radius)
    return result


def _zeros(base: sp.Expr, expression: sp.Expr) -> set[sp.Expr]:
    """Real zeros of a denominator: of a polynomial all, else those shared with a polynomial."""
    if base.is_polynomial(x):
        return set(sp.Poly(base, x).real_roots())
    factors = {e for e in expression.atoms(sp.Pow, sp.Add, sp.Symbol) if e.has(x)}
    factors |= {argument for e in factors for argument in e.args if argument.has(x)}
    shared = [e for e in factors if e.is_polynomial(x)]
    roots = {root for e in shared for root in sp.Poly(e, x).real_roots()}
    return {root for root in roots if base.subs(x, root).equals(0)}


def _series(expression: sp.Expr, point: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Taylor polynomial and the radius within which it is as good as the expression."""
    for terms in _TERMS:
        series = sp.series(expression, x, point, terms).removeO()
        if not series.is_polynomial(x):
            raise DefinitionError(
                f"{expression} is undefined near x = {point.evalf(6)}, where it has no limit; "
                "logits are Gaussian, so it must be finite on the whole line"
            )
        for radius in _RADII:
            if _agree(series, expression, point, radius):
                return series, radius
    raise DefinitionError(
        f"{expression} is 0/0 at x = {point.evalf(6)} and its series there converges too slowly; "
        "write it in another way"
    )


def _agree(series: sp.Expr, expression: sp.Expr, point: sp.Expr, radius: sp.Expr) -> bool:
    """Value and two derivatives on both sides of the seam, relative to the largest of them."""
    with mpmath.workdps(40):
        for order in range(3):
            inner, outer = (
                sp.lambdify(x, e.diff(x, order), "mpmath") for e in (series, expression)
            )
            for side in (-1, 1):
                z = mpmath.mpmathify((point + side * radius).evalf(40))
                try:
                    one, other = inner(z), outer(z)
                except ZeroDivisionError:
                    return False  # another singularity is nearer
                if not abs(one - other) <= _AGREEMENT * (1 + abs(other)):
                    return False
    return True

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
from theory.errors import DefinitionError, shown
from theory.functions import KINKED, Ramp, Step

x = sym.logit
_RADII = (sp.Rational(1, 2), sp.Rational(1, 8))
_TERMS = (12, 18, 26, 40)
_AGREEMENT = mpmath.mpf(10) ** -16
# A delta in a second derivative is nothing beside its kink.
_IN_PIECES = {"Ramp": Ramp._mpmath, "Step": Step._mpmath, "DiracDelta": lambda *_: mpmath.mpf(0)}


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
    bent = {kink: sp.Dummy(real=True) for kink in expression.atoms(*KINKED)}
    back = {symbol: kink for kink, symbol in bent.items()}
    result = expression
    for point in sorted(points, key=float):
        if not expression.subs(x, point).is_finite:
            try:
                series, radius = _series(expression, point, bent)
            except DefinitionError:
                raise
            except SYMPY_FAULTS:
                raise _no_series(expression, point) from None
            # A ramp is finite there, and its kink stays where it is.
            far = result.xreplace(bent).subs(x, Away(x, point, radius)).xreplace(back)
            result = Regular(series, far, x - point, radius)
    return result


def _no_series(expression: sp.Expr, point: sp.Expr) -> DefinitionError:
    return DefinitionError(
        f"{shown(expression)} has no value and no power series at x = {point.evalf(6)}; "
        "write it in another way, such as a Piecewise with a branch for that point"
    )


def _zeros(base: sp.Expr, expression: sp.Expr) -> set[sp.Expr]:
    """Real zeros of a denominator: of a polynomial all, else those shared with a polynomial."""
    if base.is_polynomial(x):
        return set(sp.Poly(base, x).real_roots())
    factors = {e for e in expression.atoms(sp.Pow, sp.Add, sp.Symbol) if e.has(x)}
    factors |= {argument for e in factors for argument in e.args if argument.has(x)}
    shared = [e for e in factors if e.is_polynomial(x)]
    roots = {root for e in shared for root in sp.Poly(e, x).real_roots()}
    return {root for root in roots if base.subs(x, root).equals(0)}


def _series(
    expression: sp.Expr, point: sp.Expr, bent: dict[sp.Expr, sp.Symbol]
) -> tuple[sp.Expr, sp.Expr]:
    """Taylor polynomial and the radius within which it is as good as the expression.

    bent: symbols of the ramps and steps, which have no series. They stand in the coefficients,
    which must be finite at the point for the values that they have there.
    """
    back = {symbol: kink for kink, symbol in bent.items()}
    at_point = {symbol: kink.subs(x, point) for symbol, kink in back.items()}
    smooth = expression.xreplace(bent)
    for terms in _TERMS:
        series = sp.series(smooth, x, point, terms).removeO()
        if bent and not (series.is_polynomial(x) and series.subs(at_point).subs(x, 0).is_finite):
            raise _no_series(expression, point)
        if not series.is_polynomial(x):
            raise DefinitionError(
                f"{shown(expression)} is undefined near x = {point.evalf(6)}, where it has no "
                "limit; logits are Gaussian, so it must be finite on the whole line"
            )
        for radius in _RADII:
            if _agree(series.xreplace(back), expression, point, radius):
                return sp.horner(series, x).xreplace(back), radius
    raise DefinitionError(
        f"{shown(expression)} is 0/0 at x = {point.evalf(6)} and its series there converges too "
        "slowly; write it in another way"
    )


def _agree(series: sp.Expr, expression: sp.Expr, point: sp.Expr, radius: sp.Expr) -> bool:
    """Value and two derivatives on both sides of the seam, relative to the largest of them."""
    with mpmath.workdps(40):
        for order in range(3):
            inner, outer = (
                sp.lambdify(x, e.diff(x, order), [_IN_PIECES, "mpmath"])
                for e in (series, expression)
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

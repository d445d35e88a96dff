"""Whether an expression is a real, finite function on the whole real line.

Logits are Gaussian, so an activation that is complex or undefined anywhere is undefined.
The check is numeric, on a dense asymmetric set of points with 30 digits: a symbolic proof
does not exist in general, and SymPy's own domain finder can run for minutes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import mpmath
import sympy as sp

from theory import symbols as sym
from theory.errors import DefinitionError, shown
from theory.evaluation import Number, evaluate, is_complex
from theory.removable import Away

Values = list[tuple[mpmath.mpf, Number]]

# Dense where functions turn, sparse far out; off the integers except for the likeliest
# singular points, which are listed exactly.
_POINTS = tuple(
    sorted(
        {mpmath.mpf(i) / 8 for i in range(-40, 41)}
        | {sign * mpmath.mpf(10) ** (mpmath.mpf(e) / 3) for e in range(-12, 8) for sign in (-1, 1)}
    )
)
# Beyond the turns of an activation.
_FAR = (20, 200)
# Ramps that cancel leave rounding, in 30 digits.
_ROUNDING = mpmath.mpf(10) ** -25


def require_real(what: str, expression: sp.Expr) -> None:
    """Raise DefinitionError, naming a point, unless the expression is real and finite."""
    if expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        raise DefinitionError(f"{what}: {shown(expression)} is not a finite expression")
    others = expression.free_symbols - {sym.logit}
    if others:
        names = ", ".join(sorted(z.name for z in others))
        raise DefinitionError(
            f"{what}: unknown name {names} in {shown(expression)}; the logit is x"
        )
    if expression.has(sp.tan):
        raise DefinitionError(
            f"{what}: {shown(expression)} has poles; it must be finite on the whole line"
        )
    values = _values(expression)
    if not values:
        raise DefinitionError(f"{what}: {shown(expression)} is beyond every number at every logit")
    _require_everywhere(what, expression, values, is_complex, "complex", "real")
    _require_everywhere(what, expression, values, _is_undefined, "undefined", "finite")
    _require_no_pole(what, expression)


def _is_undefined(value: Number) -> bool:
    return not mpmath.isfinite(value)


def _require_everywhere(
    what: str, expression: sp.Expr, values: Values, is_bad: Callable, how: str, right: str
) -> None:
    """DefinitionError that names the first range of sample points at which a value is bad."""
    runs = [
        list(run) for bad, run in itertools.groupby(values, lambda pair: is_bad(pair[1])) if bad
    ]
    if not runs:
        return
    first, last = (mpmath.nstr(run, 6) for run in (runs[0][0][0], runs[0][-1][0]))
    where = f"at x = {first}" if first == last else f"from x = {first} to x = {last}"
    raise DefinitionError(
        f"{what}: {shown(expression)} is {how} {where}; "
        f"logits are Gaussian, so it must be {right} on the whole line"
    )


def _require_no_pole(what: str, expression: sp.Expr) -> None:
    """A denominator that vanishes between two sample points would slip through them."""
    for power in sorted(expression.atoms(sp.Pow), key=sp.default_sort_key):
        base, exponent = power.as_base_exp()
        if not (exponent.is_number and exponent.is_negative and base.has(sym.logit)):
            continue
        # Where a series stands in, the denominator may vanish, and there only.
        resolved = [away.args[1] for away in base.atoms(Away)]
        base = base.replace(Away, lambda z, *held: z)
        if resolved and base.is_polynomial(sym.logit):
            continue  # all its zeros have been looked at
        try:
            # Exact, so that no root hides between two points; SymPy has it for rational numbers.
            roots = sp.Poly(base, sym.logit).real_roots()
            where = [str(root.evalf(6)) for root in roots]
        except (sp.PolynomialError, NotImplementedError):
            values = _values(base)
            signs = [(z, value) for z, value in values if value != 0 and not is_complex(value)]
            gaps = [
                (q - p, (p + q) / 2)
                for (p, left), (q, right) in itertools.pairwise(signs)
                if left * right < 0 and not any(p < at < q for at in resolved)
            ]
            # The narrowest says best where.
            where = [mpmath.nstr(min(gaps)[1], 3)] if gaps else []
        if where:
            raise DefinitionError(
                f"{what}: {shown(expression)} is undefined near x = {where[0]}, "
                f"where {shown(base)} vanishes; "
                "logits are Gaussian, so it must be finite on the whole line"
            )


def require_nonnegative(what: str, expression: sp.Expr, *, strict: bool) -> None:
    """Raise DefinitionError unless the expression is >= 0; ``strict`` also forbids zeros.

    Without an offset a zero leaves attention 0/0 where all logits are there, as at small heads,
    and the lift integral without an end.
    """
    zeros = []
    for point, value in _values(expression):
        if value < -_ROUNDING * (1 + abs(point)):
            raise DefinitionError(
                f"{what}: {shown(expression)} is {mpmath.nstr(value, 6)} at "
                f"x = {mpmath.nstr(point, 6)}; a normalizer must be nonnegative"
            )
        if value == 0:
            zeros.append(mpmath.nstr(point, 6))
    if expression.is_polynomial(sym.logit) and expression.has(sym.logit):
        zeros += [str(root.evalf(6)) for root in sp.Poly(expression, sym.logit).real_roots()]
    if strict and zeros:
        raise DefinitionError(
            f"{what}: {shown(expression)} vanishes at x = {zeros[0]}, where attention is 0/0; "
            "give an offset > 0"
        )


def require_average(what: str, expression: sp.Expr) -> None:
    """Raise DefinitionError where no Gaussian average exists: f grows faster than exp(x^2).

    log|f| / x^2 is compared at two points far out on either side: it stays for exp(c x^2), whose
    average exists for small R at least, and grows in proportion to x for exp(x^3).
    """
    for side in (1, -1):
        near, far = (_growth(expression, side * point) for point in _FAR)
        if mpmath.isinf(near) and near > 0:
            raise DefinitionError(
                f"{what}: {shown(expression)} takes numbers beyond exp(10^300) at "
                f"x = {side * _FAR[0]}; nest fewer exponentials"
            )
        if far > max(1, 1.5 * near):
            raise DefinitionError(
                f"{what}: {shown(expression)} grows faster than exp(x^2) as x goes to "
                f"{'+' if side > 0 else '-'}infinity; its average over Gaussian logits is infinite"
            )


def _growth(expression: sp.Expr, point: int) -> mpmath.mpf:
    with mpmath.workdps(30):
        try:
            value = abs(evaluate(expression, sym.logit, mpmath.mpf(point)))
            return mpmath.log(value) / point**2 if value else -mpmath.inf
        except OverflowError:
            return mpmath.inf
        except (ZeroDivisionError, ValueError):
            return mpmath.nan


def _values(expression: sp.Expr) -> Values:
    """The value at each sample point, nan where there is none; points beyond all numbers left out.

    What overflows here is beyond every float, hence beyond every computation that follows.
    """
    values = []
    with mpmath.workdps(30):
        for point in _POINTS:
            try:
                values.append((point, evaluate(expression, sym.logit, point)))
            except (ZeroDivisionError, ValueError):
                values.append((point, mpmath.nan))
            except OverflowError:
                continue
    return values

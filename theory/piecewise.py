"""Functions in pieces, in one spelling: sums of smooth functions of ramps, and steps.

``Piecewise``, ``Abs``, ``Max``, ``Min``, ``sign`` and ``Heaviside`` all become the ramp
max(0, u) and the unit step. A piece is taken at its argument held within its interval,
e(clip(x)), which is a ramp or two: no piece is ever evaluated, and none can overflow, where it
does not hold, and derivatives are right everywhere, kinks included.
"""

from __future__ import annotations

import itertools
from functools import reduce

import sympy as sp

from theory import symbols as sym
from theory.errors import DefinitionError, shown
from theory.functions import Ramp, Step

x = sym.logit


def in_ramps(expression: sp.Expr) -> sp.Expr:
    """The same function in ramps and steps; DefinitionError for pieces that have no such form."""
    kinked = (sp.Piecewise, sp.Abs, sp.Max, sp.Min, sp.sign, sp.Heaviside, Ramp, Step)
    if not expression.has(*kinked):
        return expression
    expression = expression.replace(sp.Piecewise, _pieces)
    expression = expression.replace(sp.Abs, lambda u: Ramp(u) + Ramp(-u))
    expression = expression.replace(sp.sign, lambda u: 2 * Step(u) - 1)
    expression = expression.replace(sp.Heaviside, lambda u, *at_zero: Step(u))
    expression = expression.replace(sp.Max, lambda *all_: reduce(_larger, all_))
    expression = expression.replace(sp.Min, lambda *all_: -reduce(_larger, [-one for one in all_]))
    return _shortest(_without_removable_jumps(expression))


def kinks(expression: sp.Expr) -> list[sp.Expr] | None:
    """Where a ramp bends or a step jumps; None where that is not known in closed form."""
    found: set[sp.Expr] = set()
    for function in expression.atoms(Ramp, Step):
        zeros = _zeros(sp.expand(function.args[0]))
        if zeros is None:
            return None
        found |= zeros
    return sorted(found, key=lambda z: (float(z) if z.is_number else 0.0, sp.default_sort_key(z)))


def _zeros(argument: sp.Expr) -> set[sp.Expr] | None:
    if argument.is_polynomial(x):
        if argument.free_symbols <= {x}:
            return set(sp.Poly(argument, x).real_roots()) if argument.has(x) else set()
        return {-argument.coeff(x, 0) / argument.coeff(x)} if sp.degree(argument, x) == 1 else None
    inner = kinks(argument)
    if not inner or argument.free_symbols != {x}:
        return None
    found = set()
    for low, high in itertools.pairwise([-sp.oo, *inner, sp.oo]):
        middle = (low + high) / 2 if high != sp.oo else low + 1
        point = high - 1 if low == -sp.oo else middle
        # Between two kinks of the argument every ramp is 0 or its own argument.
        piece = _piece(argument, point)
        zeros = _zeros(sp.expand(piece)) if piece.has(x) else set()
        if zeros is None:
            return None
        found |= {zero for zero in zeros if low < zero < high}
    return found | set(inner)


def _larger(left: sp.Expr, right: sp.Expr) -> sp.Expr:
    """max(left, right); a constant is added to the ramp, which keeps max(0, u) plain."""
    low, other = (left, right) if not left.has(x) else (right, left)
    return low + Ramp(other - low)


def _pieces(*branches: tuple[sp.Expr, sp.Basic]) -> sp.Expr:
    """e_0(x) up to a_1, e_1(x) up to a_2, ...: pieces at clipped arguments, and jumps."""
    whole = sp.Piecewise(*branches)
    ends = sorted({end for _, condition in branches for end in _ends(whole, condition)})
    outer = [ends[0] - 1, *ends, ends[-1] + 1] if ends else [sp.S.Zero, sp.S.Zero]
    inside = [(low + high) / 2 for low, high in itertools.pairwise(outer)]
    chosen = [_at(whole, branches, point) for point in inside]
    kept = [i for i in range(1, len(chosen)) if chosen[i] != chosen[i - 1]]
    knots = [ends[i - 1] for i in kept]
    pieces = [chosen[0], *(chosen[i] for i in kept)]
    if not knots:
        return pieces[0]
    total = pieces[0].subs(x, x - Ramp(x - knots[0]))
    for number, (piece, start) in enumerate(zip(pieces[1:], knots, strict=True)):
        clipped = start + Ramp(x - start)
        if number + 1 < len(knots):
            clipped -= Ramp(x - knots[number + 1])
        before, at_start = pieces[number].subs(x, start), piece.subs(x, start)
        jump = sp.simplify(at_start - before)
        total += piece.subs(x, clipped) - at_start + jump * Step(x - start)
    return total


def _ends(whole: sp.Expr, condition: sp.Basic) -> set[sp.Expr]:
    """The numbers at which a condition on x may change."""
    if condition in (sp.true, sp.false):
        return set()
    try:
        ends = condition.as_set().boundary if condition.free_symbols == {x} else None
    except NotImplementedError:
        ends = None
    if not isinstance(ends, sp.FiniteSet | sp.sets.sets.EmptySet):
        raise DefinitionError(
            f"{shown(whole)}: a condition must compare x with numbers, got {shown(condition)}"
        )
    return set(ends)


def _at(whole: sp.Expr, branches: tuple, point: sp.Expr) -> sp.Expr:
    for expression, condition in branches:
        if condition.subs(x, point) == sp.true:
            return expression
    raise DefinitionError(
        f"{shown(whole)}: no branch holds at x = {point.evalf(4)}; end with (..., True)"
    )


def _without_removable_jumps(expression: sp.Expr) -> sp.Expr:
    """P(x) step(x - a) with P(a) = 0 is P(x) / (x - a) times a ramp."""
    for step in sorted(expression.atoms(Step), key=sp.default_sort_key):
        argument = sp.expand(step.args[0])
        expanded = sp.expand(expression)
        factor = expanded.coeff(step)
        rest = expanded - sp.expand(factor * step)
        plain = factor.is_polynomial(x) and argument.is_polynomial(x) and not rest.has(step)
        if plain and factor != 0 and sp.rem(factor, argument, x) == 0:
            expression = rest + sp.quo(factor, argument, x) * Ramp(argument)
    return expression


def _shortest(expression: sp.Expr) -> sp.Expr:
    """With max(0, -u) = max(0, u) - u where that leaves fewer terms: (x + |x|) / 2 is a ramp."""
    ramps = expression.atoms(Ramp)
    opposite = {
        one: Ramp(-one.args[0]) + one.args[0]
        for one in ramps
        if one.args[0].could_extract_minus_sign() and Ramp(-one.args[0]) in ramps
    }
    if not opposite:
        return expression
    turned = sp.expand(expression.xreplace(opposite))
    shorter = len(sp.Add.make_args(turned)) < len(sp.Add.make_args(sp.expand(expression)))
    return turned if shorter else expression


def in_steps(expression: sp.Expr) -> sp.Expr:
    """The same function as e_0 + (e_1 - e_0) step(x - a_1) + ..., no ramp left in the e_i.

    Where an argument holds a parameter, ramps become u step(u) as they stand.
    """
    if not expression.has(Ramp, Step):
        return expression
    points = kinks(expression)
    named = set().union(*(one.free_symbols for one in expression.atoms(Ramp, Step))) - {x}
    if points is None or named:
        return expression.replace(Ramp, lambda u: u * Step(u))
    if not points:
        return _piece(expression, sp.S.Zero)
    inside = [points[0] - 1, *((a + b) / 2 for a, b in itertools.pairwise(points)), points[-1] + 1]
    pieces = [_piece(expression, point) for point in inside]
    jumps = zip(pieces, pieces[1:], points, strict=False)
    return pieces[0] + sum((after - before) * Step(x - at) for before, after, at in jumps)


def _piece(expression: sp.Expr, point: sp.Expr) -> sp.Expr:
    """The expression that holds around ``point``, which is no kink."""
    plain = expression.replace(Ramp, lambda u: u if u.subs(x, point) > 0 else sp.S.Zero)
    return plain.replace(Step, lambda u: sp.Integer(bool(u.subs(x, point) > 0)))

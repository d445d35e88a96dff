"""Integrals of one range and one sum over heads are written as one."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

NAME = "collection"
REASON = "Terms with the same prefactor, sum over heads and lift variables share one integral."


@dataclass(frozen=True)
class Term:
    """coefficient * sum over heads * lift integral of one integrand."""

    coefficient: sp.Expr
    heads: tuple[sp.Tuple, ...]
    lifts: tuple[sp.Tuple, ...]
    integrand: sp.Expr

    def expression(self) -> sp.Expr:
        body = self.integrand
        if self.lifts:
            body = sp.Integral(body, *self.lifts)
        if self.heads:
            body = sp.Sum(body, *self.heads)
        return self.coefficient * body


def collect(expression: sp.Expr) -> sp.Expr:
    """Write the expression with one integral for each kind of term."""
    constant, terms = collected(expression)
    return sp.Add(constant, *(term.expression() for term in terms))


def collected(expression: sp.Expr) -> tuple[sp.Expr, list[Term]]:
    """The constant of a risk and its terms, in the order single, square, pairs."""
    constant = sp.S.Zero
    groups: dict[tuple[sp.Expr, tuple, tuple], list[sp.Expr]] = {}
    for piece in sp.Add.make_args(sp.expand(expression)):
        coefficient, body = piece.as_independent(sp.Sum, sp.Integral, sp.Indexed, as_Add=False)
        if body == 1:
            constant += coefficient
            continue
        heads, body = _unwrap(sp.Sum, body)
        lifts, body = _unwrap(sp.Integral, body)
        groups.setdefault((coefficient, heads, lifts), []).append(body)
    terms = [Term(c, heads, lifts, sp.Add(*b)) for (c, heads, lifts), b in groups.items()]
    return constant, sorted(terms, key=lambda t: (len(t.heads), sp.default_sort_key(t.coefficient)))


def _unwrap(kind: type[sp.Expr], body: sp.Expr) -> tuple[tuple, sp.Expr]:
    if isinstance(body, kind):
        return tuple(body.limits), body.function
    return (), body

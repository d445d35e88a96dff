"""One token's factors: what an average over logits is taken of, and its derivatives.

Every average of the risk is of a product of factors, one a head (or one for all heads when
they share a normalizer): X_n = t^(n p) f^n exp(-t g), n = 0, 1, 2. They are named by n:
"survival", "score" and "square".
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory import symbols as sym
from theory.expectation import Average
from theory.rules.collection import Term

NAMES = ("survival", "score", "square")

# Names that stand for t and for f, g with their derivatives, at one logit.
t = sp.Symbol("t", positive=True)
f = sp.symbols("f0 f1 f2", real=True)
g = sp.symbols("g0 g1 g2", real=True)


@dataclass(frozen=True)
class Factor:
    """A single-head factor, ``order`` its power of the score, ``local`` its form in t, f0, g0."""

    order: int
    local: sp.Expr

    @property
    def name(self) -> str:
        return NAMES[self.order]


def factorize(node: Average, heads: tuple[sp.Symbol, ...]) -> tuple[Factor, ...]:
    """The factors of an average's integrand, one for each head of ``heads``.

    Raises ValueError if the integrand is not such a product.
    """
    logs = (sym.s, sym.v)
    found = []
    remaining = sp.Mul.make_args(node.integrand)
    for head, log in zip(heads, logs, strict=False):
        own = [e for e in remaining if e.has(sym.x[head]) or e.has(log)]
        remaining = [e for e in remaining if e not in own]
        found.append(_local(sp.Mul(*own), head, log))
    if remaining:
        raise ValueError(f"{node} is not a product of one factor a head")
    return tuple(found)


def _local(expression: sp.Expr, head: sp.Symbol, log: sp.Symbol) -> Factor:
    sums = {
        sp.Sum(sym.score(sym.x[head]), (head, 1, sym.H)): f[0],
        sp.Sum(sym.normalizer(sym.x[head]), (head, 1, sym.H)): g[0],
    }
    local = expression.subs(sums)
    local = local.subs({sym.score(sym.x[head]): f[0], sym.normalizer(sym.x[head]): g[0]})
    local = local.subs(log, sp.log(t))
    return Factor(int(sp.degree(local, f[0])) if local.has(f[0]) else 0, local)


def logit_derivatives(local: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """The factor and its first two derivatives in its logit, by the chain rule through f, g."""

    def chain(expression):
        steps = zip((*f[:2], *g[:2]), (*f[1:], *g[1:]), strict=True)
        return sum(expression.diff(inner) * slope for inner, slope in steps)

    first = chain(local)
    return local, first, chain(first)


def partials(local: sp.Expr) -> dict[str, sp.Expr]:
    """Partial derivatives of a joint factor in the sums S_f, S_g, up to second order."""
    names = {"f": (f[0],), "g": (g[0],), "ff": (f[0],) * 2, "fg": (f[0], g[0]), "gg": (g[0],) * 2}
    return {name: local.diff(*by) for name, by in names.items()}


def averages(term: Term) -> list[Average]:
    """All averages of a term in a stable order."""
    return sorted(term.integrand.atoms(Average), key=sp.default_sort_key)

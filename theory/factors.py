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
from theory.index_notation import factors_of, terms
from theory.rules.collection import Term

NAMES = ("survival", "score", "square")

# Names that stand for t and for f, g with their derivatives, at one logit.
t = sp.Symbol("t", positive=True)
f = sp.symbols("f0:5", real=True)
g = sp.symbols("g0:5", real=True)


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


def logit_derivatives(local: sp.Expr, highest: int = 2) -> tuple[sp.Expr, ...]:
    """The factor and its derivatives in its logit, by the chain rule through f and g."""
    steps = tuple(zip((*f[:-1], *g[:-1]), (*f[1:], *g[1:]), strict=True))
    found = [local]
    for _ in range(highest):
        found.append(sum(found[-1].diff(inner) * slope for inner, slope in steps))
    return tuple(found)


def partial_names(highest: int = 2) -> tuple[str, ...]:
    """Names of the partial derivatives in S_f and S_g, order by order, those in S_f first."""
    orders = range(1, highest + 1)
    return tuple("f" * (n - by_g) + "g" * by_g for n in orders for by_g in range(n + 1))


def partials(local: sp.Expr, highest: int = 2) -> dict[str, sp.Expr]:
    """Partial derivatives of a joint factor in the sums S_f, S_g, up to an order."""
    sums = {"f": f[0], "g": g[0]}
    return {name: local.diff(*(sums[one] for one in name)) for name in partial_names(highest)}


def averages(term: Term) -> list[Average]:
    """All averages of a term in a stable order."""
    return sorted(term.integrand.atoms(Average), key=sp.default_sort_key)


# A node of an average over all heads, its weight, and the two sums S_f, S_g by number.
node = sp.Symbol("n", integer=True)
weight = sp.IndexedBase("weight", real=True)
heads = sp.symbols("h k l o", integer=True)
_SUMS = sp.symbols("A B C D", integer=True)


def sum_derivatives(highest: int) -> tuple[sp.Expr, ...]:
    """Derivatives of M(S_f, S_g) in the logits of heads h, k, ..., by the chain rule.

    In d1[A, n], d2[A, B, n], ...: partial derivatives of M in the sums A, B, ... at node n; and
    x1[A, n, h], x2[A, n, h], ...: derivatives of f (A = 0) or g (A = 1) in the logit of head h.
    """
    d = [sp.IndexedBase(f"d{order}", real=True) for order in range(highest + 1)]
    x = [sp.IndexedBase(f"x{order}", real=True) for order in range(highest + 2)]
    found = [d[0][node]]
    for order in range(highest):
        head, sum_ = heads[order], _SUMS[order]
        total = sp.S.Zero
        for term in terms(found[-1]):
            factors = factors_of(term)
            for position, factor in enumerate(factors):
                if not isinstance(factor, sp.Indexed):
                    continue
                if factor.base in d:
                    *sums, _ = factor.indices
                    moved = (
                        d[d.index(factor.base) + 1][(*sums, sum_, node)] * x[1][sum_, node, head]
                    )
                else:
                    same = sp.KroneckerDelta(factor.indices[-1], head)
                    moved = same * x[x.index(factor.base) + 1][factor.indices]
                total += sp.Mul(*factors[:position], moved, *factors[position + 1 :])
        found.append(sp.expand(total))
    return tuple(found[1:])

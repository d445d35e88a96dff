"""The evidence is the density of a relevant token's projections relative to a noise token's."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.expectation import Average

NAME = "change of measure"
REASON = (
    r"$\Lambda(u)$ is the likelihood ratio of a relevant and a noise token, averaged over "
    r"$\theta$: $\mathbb{E}_\star[F] = \mathbb{E}_0[\Lambda F]$ for every function $F$ of $u$."
)


def to_noise(expression: sp.Expr, evidence: sp.Expr) -> sp.Expr:
    """Replace each E_star[F] by E_0[Lambda F], ``evidence`` being Lambda."""

    def replaced(integrand, density):
        if density == sym.NOISE:
            return Average(integrand, density)
        return Average(evidence * integrand, sym.NOISE)

    return expression.replace(Average, replaced)


def to_relevant(expression: sp.Expr, evidence: sp.Expr) -> sp.Expr:
    """Replace each E_0[Lambda F] by E_star[F], where exactly one factor Lambda is there."""

    def replaced(integrand, density):
        rest = integrand / evidence
        if density == sym.RELEVANT or evidence not in sp.Mul.make_args(integrand):
            return Average(integrand, density)
        return Average(rest, sym.RELEVANT)

    return expression.replace(Average, replaced)

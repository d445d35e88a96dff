"""The Hessian at the origin as Markdown."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.derivation import Step
from theory.rendering import latex
from theory.saddle import REASON, RULE, OriginSpectrum


def sections(spectrum: OriginSpectrum) -> list[str]:
    """The last section of equations.md: what the eigenvalues are made of, and the eigenvalues."""
    thresholds = [
        f"the {name} mode changes sign at $V = {latex(root)}$"
        for name, root in zip(("splitting", "common"), spectrum.thresholds, strict=True)
        if root is not None
    ]
    return [
        "## Saddle at the origin",
        "The Hessian of $E$ in weight space at $k = 0$, for unit perturbations along a direction "
        "in which $\\theta$ has variance $V$ and mean $\\mu$ (a noise direction: both 0).",
        f"**{RULE}.** {REASON}",
        *(_derivative(step) for step in spectrum.steps),
        "**logits to second order.** Logits of different tokens are independent, those of one "
        "token have second moments $R_{hk}$, on the relevant token $R_{hk} + m_h m_k (V + \\mu^2)$ "
        "in all; a bias that holds $R_{hh}$ moves on every token. Heads against each other "
        "(multiplicity $H - 1$), heads together (multiplicity 1), and the gradient along the "
        "latter:",
        _formula("\\lambda_{\\mathrm{splitting}}", spectrum.splitting),
        _formula("\\lambda_{\\mathrm{common}}", spectrum.common),
        _formula("\\partial E", spectrum.gradient),
        *([f"With mean 0, {' and '.join(thresholds)}."] if thresholds else []),
    ]


def _derivative(step: Step) -> str:
    token = r"\star" if step.density == sym.RELEVANT else "0"
    below = " ".join(rf"\partial x^{token}_{'hk'[head - 1]}" for head in step.heads)
    power = f"^{len(step.heads)}" if len(step.heads) > 1 else ""
    return _formula(rf"\frac{{\partial{power} \ell}}{{{below}}}", step.after)


def _formula(left: str, right: sp.Expr) -> str:
    return f"$${left} = {latex(right)}$$"

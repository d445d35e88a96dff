"""The Hessian at the origin as a section."""

from __future__ import annotations

from collections.abc import Sequence

from theory.document.parts import Block, Equation, Section, paragraph
from theory.printing import latex
from theory.rendering_steps import Entry, letters, rendered, token
from theory.saddle import OriginSpectrum


def saddle(entries: Sequence[Entry], spectrum: OriginSpectrum | None) -> Section:
    """What the eigenvalues are made of, the eigenvalues, and where they change sign."""
    blocks: list[Block] = [
        paragraph(
            "The Hessian of $E$ in weight space at $k = 0$, for unit perturbations along a "
            r"direction in which $\theta$ has variance $V$ and mean $\mu$ (a noise direction: both "
            "0)."
        )
    ]
    if spectrum is None:
        kink = "The activation has a kink at 0: there the risk has no second derivative."
        return Section("Saddle at the origin", (*blocks, paragraph(kink)))
    blocks += rendered(entries, [_derivative(entry) for entry in entries])
    blocks += [
        paragraph(
            "**Logits to second order.** Logits of different tokens are independent, those of one "
            r"token have second moments $R_{hk}$, on the relevant token $R_{hk} + m_h m_k (V + "
            r"\mu^2)$ in all; a bias that holds $R_{hh}$ moves on every token. Heads against each "
            "other (multiplicity $H - 1$), heads together (multiplicity 1), and the gradient along "
            "the latter:"
        ),
        Equation(rf"\lambda_{{\mathrm{{splitting}}}} = {latex(spectrum.splitting)}"),
        Equation(rf"\lambda_{{\mathrm{{common}}}} = {latex(spectrum.common)}"),
        Equation(rf"\partial E = {latex(spectrum.gradient)}"),
        paragraph(_thresholds(spectrum)),
    ]
    return Section("Saddle at the origin", tuple(blocks))


def _thresholds(spectrum: OriginSpectrum) -> str:
    found = [
        f"the {name} mode changes sign at $V = {latex(root)}$"
        for name, root in zip(("splitting", "common"), spectrum.thresholds, strict=True)
        if root is not None
    ]
    if not found:
        return "With mean 0, no variance changes the sign of either."
    return f"With mean 0, {' and '.join(found)}."


def _derivative(entry: Entry) -> str:
    step = entry.step
    below = " ".join(rf"\partial x^{{{token(step)}}}_{{{head}}}" for head in letters(step))
    power = f"^{len(step.heads)}" if len(step.heads) > 1 else ""
    return rf"\frac{{\partial{power} \ell}}{{{below}}} = {latex(step.after)}"

"""Second derivatives: of averages, and along directions of m, R and the heads."""

from __future__ import annotations

from collections.abc import Sequence

from theory.document.parts import Section, paragraph
from theory.printing import latex, tensor_latex
from theory.rendering_steps import Entry, letters, rendered, token

# Averages of derivatives of any order, which the first order calls slope and curvature.
_NAMES = {"{slope}": "{M^1}", "{curvature}": "{M^2}"}
_LEFTS = (
    r"\delta_z E[M]",
    r"\delta_y \delta_z E[M]",
    r"\delta_z \mu_{ah} - \delta_z b_h",
    r"\delta_z C_{ahk} - \delta_z R_{hk}",
    r"\delta_y \delta_z C_{ahk}",
    r"\delta_z m_{ij}",
    r"\delta_z R_{ij}",
    r"\delta_z \frac{\partial E}{\partial k_{ie}}",
    r"\delta_z \frac{dm_{ij}}{d\tau}",
    r"\delta_z \frac{dR_{ij}}{d\tau}",
)


def second(averages: Sequence[Entry], tensors: Sequence[Entry]) -> Section:
    """The same theorems once more, then changes along directions."""
    return Section(
        "Second derivatives",
        (
            *rendered(averages, [_average(n, entry) for n, entry in enumerate(averages)]),
            paragraph(
                "Along directions $z$, $y$ of $m$ and $R$, changes dotted; $M$ is the first "
                "variation of the risk and $M^n$ the averages of its $n$-th derivatives in the "
                "logits, of rows $a$ (components of the prior and the noise token) with weights "
                "$w_a$. To the second change of $E[M]$ comes the second variation, in which two "
                "averages change."
            ),
            *rendered(
                tensors,
                [
                    f"{left} = {tensor_latex(entry.step.after, entry.step.free, _NAMES)}"
                    for entry, left in zip(tensors, _LEFTS, strict=True)
                ],
            ),
        ),
    )


def _average(number: int, entry: Entry) -> str:
    """By a noise token's covariance, of the derivative in its mean or the other's covariance."""
    step = entry.step
    heads = letters(step)
    first = rf"\mu^{{0}}_{{{heads[0]}}}" if number % 2 == 0 else rf"C^{{\star}}_{{{heads}}}"
    below = rf"\partial C^{{{token(step)}}}_{{{heads}}} \partial {first}"
    return rf"\frac{{\partial^2 E}}{{{below}}} \ni {latex(step.after)}"

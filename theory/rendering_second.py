"""Second derivatives as Markdown: of averages, and along directions of m, R and the heads."""

from __future__ import annotations

from theory import symbols as sym
from theory.derivation import Step
from theory.index_notation import latex as tensor_latex
from theory.rendering import latex

_NAMES = {
    "{d_{mean}}": r"\dot{\mu}",
    "{d_{covariance}}": r"\dot{C}",
    "{dE_{m}}": r"\dot{E}^m",
    "{dG}": r"\dot{G}",
    "{dm}": r"\dot{m}",
    "{dR}": r"\dot{R}",
    "{dk}": r"\dot{k}",
    "{E_{m}}": r"{E^m}",
    "{slope}": "M^1",
    "{curvature}": "M^2",
    "{third}": "M^3",
    "{fourth}": "M^4",
}
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


def sections(averages: tuple[Step, ...], tensors: tuple[Step, ...]) -> list[str]:
    """The section on second derivatives of equations.md."""
    return [
        "## Second derivatives",
        *(_average(step) for step in averages),
        "Along directions $z$, $y$ of $m$ and $R$, changes dotted; $M$ is the first variation of "
        "the risk and $M^n$ the averages of its $n$-th derivatives in the logits, of rows $a$ "
        "(components of the prior and the noise token) with weights $w_a$. To the second change of "
        "$E[M]$ comes the second variation, in which two averages change.",
        *_tensors(tensors),
    ]


def _average(step: Step) -> str:
    token = r"\star" if step.density == sym.RELEVANT else "0"
    letters = "".join("hk"[head - 1] for head in step.heads)
    left = rf"\partial / \partial C^{token}_{{{letters}}}"
    return f"**{step.rule}**\n\n$${left}\\left({latex(step.before)}\\right) = {latex(step.after)}$$"


def _tensors(steps: tuple[Step, ...]) -> list[str]:
    parts, last = [], ""
    for step, left in zip(steps, _LEFTS, strict=True):
        text = tensor_latex(step.after, step.free)
        for name, spelling in _NAMES.items():
            text = text.replace(name, spelling)
        heading = "" if step.reason == last else f"**{step.rule}.** {step.reason}\n\n"
        parts.append(f"{heading}$${left} = {text}$$")
        last = step.reason
    return parts

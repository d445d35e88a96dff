"""The dynamics as sections: gradient flow, and what online SGD adds to it."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from theory import flow
from theory import symbols as sym
from theory.document.parts import Equation, Section, paragraph
from theory.noise import NoiseEquations
from theory.printing import latex, tensor_latex
from theory.rendering_steps import Entry, rendered

_FREE = (flow.i, flow.j, flow.e)
_FLOW_LEFTS = (
    r"\frac{\partial E}{\partial k_{ie}}",
    r"\frac{dm_{ij}}{d\tau}",
    r"\frac{dR_{ij}}{d\tau}",
    r"\frac{dm_{ij}}{d\tau}",
    r"\frac{dC_{ij}}{d\tau}",
    r"-\frac{dE}{d\tau}",
    r"-\frac{dE}{d\tau}",
)
_SAMPLE_LEFTS = (
    r"\partial \ell / \partial c_i",
    r"\nabla_{k_i} \ell \cdot s_j",
    r"\nabla_{k_i} \ell \cdot q_j",
    r"(\nabla_{k_i} \ell \cdot \nabla_{k_j} \ell)_{\mathrm{outside}}",
)


def gradient_flow(entries: Sequence[Entry]) -> Section:
    """Gradient descent on the heads, closed in the order parameters."""
    lead = paragraph(
        r"$\tau$ = (steps) $\eta / D$ with the learning rate $\eta$; "
        r"$E^m = \partial E / \partial m$ and $G$ as above. Free biases and a free gain move by "
        r"$-\partial E / \partial \beta_h$ and $-\partial E / \partial \gamma$."
    )
    return Section("Gradient flow", (lead, *rendered(entries, _tensors(entries, _FLOW_LEFTS))))


def online_sgd(entries: Sequence[Entry], noise: NoiseEquations) -> Section:
    """The learning-rate term, and one step at finite D."""
    first, second = entries[: len(noise.steps)], entries[len(noise.steps) :]
    return Section(
        "Online SGD",
        (
            *rendered(first, [_noise(entry, noise) for entry in first]),
            paragraph(r"Together, with a fresh sample (a mini-batch of $B$) each step:"),
            *map(Equation, flow_lines()),
            paragraph(
                r"At finite $D$, without vectors of that dimension: tokens $X_l = \sum_f u_{lf} "
                r"s_f + \sum_n v_{ln} q_n + O_l$ with orthonormal $s$ (spikes) and $q$ (heads "
                r"beyond them), $k_i = \sum_f m_{if} s_f + \sum_n Q_{in} q_n$, $W_{ln} = O_l "
                r"\cdot O_n$, $\Gamma_{ln} = X_l \cdot X_n$, $c_l = \mathbf{1}[l = \epsilon] - "
                r"A_l$."
            ),
            *rendered(second, _tensors(second, _SAMPLE_LEFTS)),
        ),
    )


def flow_lines() -> list[str]:
    """LaTeX of the closed equations of training, one line each."""
    equations = flow.flow_equations()
    free = (flow.i, flow.j)
    return [
        rf"\frac{{dm_{{ij}}}}{{d\tau}} = {tensor_latex(equations.drift_m, free)}",
        rf"\frac{{dR_{{ij}}}}{{d\tau}} = {tensor_latex(equations.drift_R, free)} "
        r"+ \frac{\eta}{B} \Sigma_{ij}",
    ]


def _tensors(entries: Sequence[Entry], lefts: Sequence[str]) -> list[str]:
    lines = []
    for entry, left in zip(entries, lefts, strict=True):
        after = entry.step.after
        free = tuple(index for index in _FREE if index in after.free_symbols)
        lines.append(f"{left} = {tensor_latex(after, free)}")
    return lines


def _noise(entry: Entry, noise: NoiseEquations) -> str:
    if entry.step.after == noise.noise:
        return f"{latex(sym.delta[sym.l, sym.h])} = {latex(noise.delta)}"
    return rf"\Sigma_{{hk}} = {latex(sp.sympify(entry.step.after))}"

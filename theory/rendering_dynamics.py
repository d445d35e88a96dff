"""The dynamics as Markdown: gradient flow, and what online SGD adds to it."""

from __future__ import annotations

import sympy as sp

from theory import flow
from theory import symbols as sym
from theory.derivation import Step
from theory.flow import FlowEquations
from theory.index_notation import latex as tensor_latex
from theory.noise import NoiseEquations
from theory.online import SampleStep
from theory.rendering import latex

_FREE = (flow.i, flow.j, flow.e)
_NAMES = {"{E_{m}}": r"{E^m}", r"{\delta}": r"\delta", r"{\Gamma}": r"\Gamma"}


def sections(equations: FlowEquations, noise: NoiseEquations, sample: SampleStep) -> list[str]:
    """The last two sections of equations.md."""
    flow_lefts = (
        r"\frac{\partial E}{\partial k_{ie}}",
        r"\frac{dm_{ij}}{d\tau}",
        r"\frac{dR_{ij}}{d\tau}",
        r"\frac{dm_{ij}}{d\tau}",
        r"\frac{dC_{ij}}{d\tau}",
        r"-\frac{dE}{d\tau}",
        r"-\frac{dE}{d\tau}",
    )
    sample_lefts = (
        r"\partial \ell / \partial c_i",
        r"\nabla_{k_i} \ell \cdot s_j",
        r"\nabla_{k_i} \ell \cdot q_j",
        r"(\nabla_{k_i} \ell \cdot \nabla_{k_j} \ell)_{\mathrm{outside}}",
    )
    return [
        "## Gradient flow",
        "$\\tau$ = (steps) $\\eta / D$; $E^m = \\partial E / \\partial m$ and $G$ as above. Free "
        "biases and a free gain move by $-\\partial E/\\partial\\beta_h$, "
        "$-\\partial E/\\partial\\gamma$.",
        *_tensors(equations.steps, flow_lefts),
        "## Online SGD",
        *(_noise(step, noise) for step in noise.steps),
        "At finite D, without vectors of that dimension: tokens $X_l = \\sum_f u_{lf} s_f + "
        "\\sum_n v_{ln} q_n + O_l$ with orthonormal $s$ (spikes) and $q$ (heads beyond them), "
        "$k_i = \\sum_f m_{if} s_f + \\sum_n Q_{in} q_n$, $W_{ln} = O_l \\cdot O_n$, "
        "$\\Gamma_{ln} = X_l \\cdot X_n$, $c_l = 1[l = \\epsilon] - A_l$.",
        *_tensors(sample.steps, sample_lefts),
    ]


def flow_lines() -> list[str]:
    """LaTeX of the closed equations of gradient flow, one line each."""
    equations = flow.flow_equations()
    free = (flow.i, flow.j)
    return [
        rf"\frac{{dm_{{ij}}}}{{d\tau}} = {_tensor(equations.drift_m, free)}",
        rf"\frac{{dR_{{ij}}}}{{d\tau}} = {_tensor(equations.drift_R, free)} + \eta \Sigma_{{ij}}",
    ]


def _tensor(expression: sp.Expr, free: tuple[sp.Symbol, ...]) -> str:
    text = tensor_latex(expression, free)
    for name, spelling in _NAMES.items():
        text = text.replace(name, spelling)
    return text


def _tensors(steps: tuple[Step, ...], lefts: tuple[str, ...]) -> list[str]:
    parts, last = [], ""
    for step, left in zip(steps, lefts, strict=True):
        free = tuple(index for index in _FREE if index in step.after.free_symbols)
        text = _tensor(step.after, free)
        heading = "" if step.reason == last else f"**{step.rule}.** {step.reason}\n\n"
        parts.append(f"{heading}$${left} = {text}$$")
        last = step.reason
    return parts


def _noise(step: Step, noise: NoiseEquations) -> str:
    is_backward = step.after == noise.noise
    left, right = r"\Sigma_{h k}", step.after
    if is_backward:
        left, right = latex(sym.delta[sym.l, sym.h]), noise.delta
    return f"**{step.rule}.** {step.reason}\n\n$${left} = {latex(sp.sympify(right))}$$"

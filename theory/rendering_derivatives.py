"""Closed forms, first derivatives and the chain rule to the order parameters, as sections."""

from __future__ import annotations

from collections.abc import Sequence

from theory import order_parameters as op
from theory.activation import Activation
from theory.document.parts import Block, Equation, Section, paragraph
from theory.printing import latex, tensor_latex
from theory.rendering_steps import Entry, letters, rendered, token

_PAIRS = (
    r"The sign $\ni$ says that the risk's derivative is a sum of such terms: those of head $h$ by "
    "itself, then those of every pair $h$, $k$."
)
_TERMS = {
    "none": _PAIRS,
    "tokens": _PAIRS,
    "heads": "Sums over $h$ are over all heads, and $x_k$ is the logit of any one of them.",
}


def closed_forms(entries: Sequence[Entry]) -> list[Section]:
    """The averages that are known; nothing where none is."""
    if not entries:
        return []
    equations = [f"{latex(e.step.before)} = {latex(e.step.after)}" for e in entries]
    lead = paragraph(
        r"Averages over $x_1 \sim N(\mu, r)$ and $x_2 \sim N(\nu, v)$ with covariance $c$; they "
        r"turn the risk and its derivatives into elementary formulas."
    )
    return [Section("Closed forms", (lead, *rendered(entries, equations)))]


def gradient(activation: Activation, entries: Sequence[Entry]) -> Section:
    """Bonnet's and Price's theorems, then the chain rule to m, R and the biases."""
    blocks: list[Block] = []
    if entries:
        blocks.append(
            paragraph(
                r"Bonnet's and Price's theorems give the derivative of each kind of term in the "
                r"mean $\mu_h$ and the covariance $C_{hk}$ of the logits of the relevant token "
                rf"($\star$) and of a noise token ($0$). {_TERMS[activation.scope]}"
            )
        )
    elif activation.scope == "none":
        blocks.append(
            paragraph(
                "The score has a kink, so that its second derivative is not a function; the closed "
                "forms are differentiated instead."
            )
        )
    else:
        blocks.append(
            paragraph(
                "Score or normalizer have a kink, so that a second derivative is not a function "
                "and Price's theorem says nothing: only the risk itself is evaluated."
            )
        )
    blocks += rendered(entries, [_derivative(entry) for entry in entries])
    return Section("First derivatives", (*blocks, *_order_parameters(activation)))


def _derivative(entry: Entry) -> str:
    step = entry.step
    mark = token(step)
    variable = rf"\mu^{{{mark}}}_{{{letters(step)}}}"
    if step.relation == "covariance":
        variable = rf"C^{{{mark}}}_{{{letters(step)}}}"
    sign = "=" if letters(step).startswith("k") else r"\ni"
    return rf"\partial E / \partial {variable} {sign} {latex(step.after)}"


def _order_parameters(activation: Activation) -> list[Block]:
    rule = op.chain_rule(activation)
    ij, i = (op.i, op.j), (op.i,)
    formulas = [
        rf"\mu_{{ah}} = {tensor_latex(op.mean(), (op.a, op.h))}",
        rf"C_{{ahk}} = {tensor_latex(op.covariance(), (op.a, op.h, op.k))}",
        rf"\frac{{\partial E}}{{\partial m_{{ij}}}} = {tensor_latex(rule.m, ij)}",
        rf"G_{{ij}} = {tensor_latex(rule.R, ij)}",
        rf"\frac{{\partial E}}{{\partial \beta_i}} = {tensor_latex(rule.beta, i)}",
    ]
    lead = paragraph(
        "**Chain rule to the order parameters.** Logits of the relevant token have mean "
        r"$\mu_{ah}$ and covariance $C_{ahk}$ for component $a$ of the prior (odds $p_a$, mean "
        r"$\theta_a$, covariance $V_a$; an atom has covariance 0), those of a noise token $b_h$ "
        r"and $R_{hk}$. With $s^{\star}_{ah} = (\partial E / \partial \mu_{ah}) / p_a$, "
        r"$c^{\star}_{ahk} = 2 (\partial E / \partial C_{ahk}) / p_a$ and $s^0$, $c^0$ for noise, "
        r"the chain rule gives ($G$: symmetric matrix gradient in $R$)"
    )
    return [lead, *map(Equation, formulas)]

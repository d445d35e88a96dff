"""Derivations as documents: LaTeX, Markdown, MathML."""

from __future__ import annotations

import sympy as sp
from sympy.printing.latex import LatexPrinter

from theory import order_parameters as op
from theory import symbols as sym
from theory.activation import Activation
from theory.checking import Check
from theory.derivation import Derivation, Step
from theory.expectation import Average, LengthPower, Mean
from theory.index_notation import latex as tensor_latex
from theory.rules.collection import collected


class _Printer(LatexPrinter):
    """LaTeX as one would write it: x_h for logits, m_{hf} for tensors, upright names."""

    def _print_Indexed(self, expression):
        base = self._print(expression.base.label)
        indices = " ".join(self._print(index) for index in expression.indices)
        return rf"{base}_{{{indices}}}"

    def _print_KroneckerDelta(self, expression, exp=None):
        # An indicator: delta is the name of the backpropagated error.
        left, right = (self._print(index) for index in reversed(expression.args))
        power = f"^{{{exp}}}" if exp else ""
        return rf"\mathbf{{1}}[{left} = {right}]{power}"

    def _print_Mul(self, expression):
        # SymPy looks for a denominator by simplifying every exponent, which takes seconds;
        # products without negative powers have none but a number's.
        if not expression.is_Mul or any(
            factor.is_Pow and factor.exp.is_negative for factor in expression.args
        ):
            return super()._print_Mul(expression)
        number, rest = expression.as_coeff_Mul()
        factors = rest.as_ordered_factors()
        texts = [self._factor(factor, factor is factors[-1]) for factor in factors]
        sign = "- " if number < 0 else ""
        size = [] if abs(number) == 1 else [self._print(abs(number))]
        return sign + " ".join([*size, *texts])

    def _factor(self, factor, last):
        if self._needs_mul_brackets(factor, last=last):
            return rf"\left({self._print(factor)}\right)"
        return self._print(factor)

    def _needs_mul_brackets(self, expr, first=False, last=False):
        # Averages and exponentials close themselves, whatever sums stand inside.
        if isinstance(expr, (Average, LengthPower, sp.exp)):
            return False
        return super()._needs_mul_brackets(expr, first=first, last=last)

    def _print_Sum(self, expression):
        if len(expression.limits) < 2 or expression.limits[0][1] != sym.h + 1:
            return super()._print_Sum(expression)
        body = self._print(expression.function)
        bracketed = rf"\left({body}\right)" if expression.function.is_Add else body
        return rf"\sum_{{1 \leq h < k \leq H}} {bracketed}"


_TENSOR_NAMES = {
    "noise_slope": r"s^0",
    "noise_curvature": r"c^0",
    "slope": r"s^\star",
    "curvature": r"c^\star",
}


def latex(expression: sp.Expr) -> str:
    """LaTeX of any expression of this package."""
    return _Printer({"ln_notation": True}).doprint(expression)


def equations(
    activation: Activation,
    risk: Derivation,
    closed_forms: tuple[Step, ...],
    gradient: tuple[Step, ...],
    dynamics: list[str],
) -> str:
    """The whole derivation of one activation, as Markdown with display formulas."""
    parts = [
        f"# {activation.name}",
        "Derived by `headflow derive`; do not edit. Every step below is checked by numbers in "
        "`checks.md`, and `kernels.py` evaluates the last one.",
        _definition(activation),
        "## Population risk",
        *(_step(number, step) for number, step in enumerate(risk.steps)),
    ]
    if closed_forms:
        parts += [
            "## Closed forms",
            "Averages over $x_1 \\sim N(\\mu, r)$ and $x_2 \\sim N(\\nu, q)$ with covariance $c$.",
            *(_pair_of_sides(step) for step in closed_forms),
        ]
    if gradient:
        parts += [
            "## First derivatives",
            "Bonnet's and Price's theorems give the derivative of each kind of term in the mean "
            "$\\mu_h$ and the covariance $C_{hk}$ of the logits of the relevant token ($\\star$) "
            "and of a noise token ($0$).",
            *(_derivative(step) for step in gradient),
        ]
    parts += ["## Order parameters", _order_parameters(activation), *dynamics]
    return "\n\n".join(parts) + "\n"


def checks(activation: Activation, checked: tuple[tuple[Step, Check], ...]) -> str:
    """The numeric check of every step, as a Markdown table."""
    rows = [
        "| step | left | right | tolerance | holds |",
        "|---|---|---|---|---|",
    ]
    for number, (step, result) in enumerate(checked):
        what = f"{number}. {step.rule}{_of(step)}"
        # The difference itself is rounding, and differs between machines.
        rows.append(
            f"| {what} | {result.left:.6f} | {result.right:.6f} | {result.tolerance:.0e} "
            f"| {'yes' if result.passed else 'NO'} |"
        )
    head = (
        f"# Checks of {activation.name}\n\n"
        "Both sides of every step as numbers. Equalities: on a toy law of the logits with all "
        "tokens written out (L = 3, H = 2, unequal odds). Derivatives and closed forms: on "
        "Gaussian logits at an asymmetric point, derivatives against central differences. "
        "Dynamics: on random vectors, contracted with one array of unequal numbers."
    )
    return head + "\n\n" + "\n".join(rows) + "\n"


def _definition(activation: Activation) -> str:
    x = sym.logit
    rows = [
        ("score $f(x)$", f"${latex(activation.score)}$"),
        ("normalizer $g(x)$", f"${latex(activation.normalizer)}$"),
        ("scope of $Z$", activation.scope),
        ("offset $c$", f"${latex(activation.offset)}$"),
        ("power $p$", f"${latex(activation.power)}$"),
        ("bias $b_h$", f"${latex(op.bias(activation))}$"),
        ("gain $\\gamma$", f"${latex(op.gain(activation))}$"),
    ]
    if activation.scope == "none":
        rows = [row for row in rows if row[0].split()[0] not in ("normalizer", "offset", "power")]
    table = "\n".join(["| entry | value |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])
    fraction = "" if activation.scope == "none" else r" / (c + Z)^p"
    formula = rf"a_l^h = f({x}_l^h){fraction}"
    return f"$${formula}, \\qquad x_l^h = \\chi_l^h + b_h$$\n\n{table}"


def _step(number: int, step: Step) -> str:
    lines = risk_lines(step.after, "&E")
    body = lines[0] if len(lines) == 1 else " \\\\ ".join(lines)
    formula = rf"\begin{{aligned}}{body}\end{{aligned}}"
    return f"**{number}. {step.rule}.** {step.reason}\n\n$${formula}$$"


def risk_lines(expression: sp.Expr, left: str) -> list[str]:
    """LaTeX of ``left = expression``, one line for each kind of term once they are collected."""
    if not expression.is_Add or expression.has(Mean):
        return [f"{left} = {latex(expression)}"]
    constant, terms = collected(expression)
    pieces = [constant, *(term.expression() for term in terms)]
    if sp.Add(*pieces) != expression:
        return [f"{left} = {latex(expression)}"]
    first, *others = [latex(sp.Add(*pieces[:2])), *(latex(piece) for piece in pieces[2:])]
    indent = "&" if left.startswith("&") else ""
    rest = (line if line.startswith("-") else f"+ {line}" for line in others)
    return [f"{left} = {first}", *(rf"{indent}\quad {line}" for line in rest)]


def _pair_of_sides(step: Step) -> str:
    return f"$${latex(step.before)} = {latex(step.after)}$$"


def _of(step: Step) -> str:
    """What a derivative step differentiates by, in plain text."""
    if step.relation not in ("mean", "covariance"):
        return ""
    token = "relevant" if step.density == sym.RELEVANT else "noise"
    letters = "".join("hk"[head - 1] for head in step.heads)
    return f" ({'mean' if step.relation == 'mean' else 'covariance'} {letters}, {token})"


def _derivative(step: Step) -> str:
    token = r"\star" if step.density == sym.RELEVANT else "0"
    letters = "".join("hk"[head - 1] for head in step.heads)
    variable = rf"\mu^{token}_{{h}}" if step.relation == "mean" else rf"C^{token}_{{{letters}}}"
    return f"**{step.rule}**\n\n$$\\partial E / \\partial {variable} \\ni {latex(step.after)}$$"


def _order_parameters(activation: Activation) -> str:
    rule = op.chain_rule(activation)
    ij, i = (op.i, op.j), (op.i,)

    def tensor(expression, free):
        text = tensor_latex(expression, free)
        for name, symbol in sorted(_TENSOR_NAMES.items(), key=lambda item: -len(item[0])):
            text = text.replace(latex_name(name), symbol)
        return text

    formulas = [
        rf"\mu_{{ah}} = {tensor(op.mean(), (op.a, op.h))}",
        rf"C_{{ahk}} = {tensor(op.covariance(), (op.a, op.h, op.k))}",
        rf"\frac{{\partial E}}{{\partial m_{{ij}}}} = {tensor(rule.m, ij)}",
        rf"G_{{ij}} = {tensor(rule.R, ij)}",
        rf"\frac{{\partial E}}{{\partial \beta_i}} = {tensor(rule.beta, i)}",
    ]
    text = (
        "Logits of the relevant token have mean $\\mu_{ah}$ and covariance $C_{ahk}$ for component "
        "$a$ of the prior (odds $p_a$, mean $\\theta_a$, covariance $V_a$), those of a noise token "
        "$b_h$ and $R_{hk}$. With $s^\\star_{ah} = \\partial E / \\partial \\mu_{ah} / p_a$, "
        "$c^\\star_{ahk} = 2\\, \\partial E / \\partial C_{ahk} / p_a$ and $s^0, c^0$ for noise, "
        "the chain rule gives ($G$: symmetric matrix gradient in $R$)"
    )
    return text + "\n\n" + "\n\n".join(f"$${formula}$$" for formula in formulas)


def latex_name(name: str) -> str:
    """How SymPy's LaTeX printer spells the base of a tensor of this name."""
    return sp.latex(sp.Symbol(name))

"""Expressions of this package in LaTeX, as one would write them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import sympy as sp
from sympy.printing.latex import LatexPrinter

from theory import symbols as sym
from theory.expectation import Average, LengthPower, Mean
from theory.index_notation import latex as indexed
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


# How SymPy spells the bases of tensors, and how they are written here; longer names first.
_SPELLINGS = {
    r"noise_{curvature}": r"c^0",
    r"noise_{slope}": r"s^0",
    r"curvature": r"c^\star",
    r"slope": r"s^\star",
    r"{third}": r"{M^3}",
    r"{fourth}": r"{M^4}",
    r"{d_{mean}}": r"\dot{\mu}",
    r"{d_{covariance}}": r"\dot{C}",
    r"{dE_{m}}": r"\dot{E}^m",
    r"{dG}": r"\dot{G}",
    r"{dm}": r"\dot{m}",
    r"{dR}": r"\dot{R}",
    r"{dk}": r"\dot{k}",
    r"{E_{m}}": r"{E^m}",
    r"{\delta}": r"\delta",
    r"{\Gamma}": r"\Gamma",
}


def latex(expression: sp.Expr) -> str:
    """LaTeX of any expression of this package."""
    return _Printer({"ln_notation": True}).doprint(expression)


def tensor_latex(
    expression: sp.Expr,
    free: tuple[sp.Symbol, ...],
    names: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """LaTeX of a formula with implied sums; ``free`` are the indices that are not summed.

    names: how bases are spelled here that are called otherwise elsewhere.
    """
    text = indexed(expression, free)
    for name, spelling in (*names.items(), *_SPELLINGS.items()):
        text = text.replace(name, spelling)
    return text


def collected_latex(expression: sp.Expr) -> str:
    """LaTeX of a risk: its constant and single terms first, once they are collected."""
    if not expression.is_Add or expression.has(Mean):
        return latex(expression)
    constant, terms = collected(expression)
    pieces = [constant, *(term.expression() for term in terms)]
    if sp.Add(*pieces) != expression:
        return latex(expression)
    texts = [latex(piece) for piece in pieces if piece != 0]
    return " ".join([texts[0], *(t if t.startswith("-") else f"+ {t}" for t in texts[1:])])

"""Averages that stay unevaluated: over everything, over one token, over the sequence length.

Each node is linear in its first argument and prints as it is written on paper. What a node
is worth on numbers is decided elsewhere (theory/measures.py, generated code), so that a rule
can be tested against any distribution, not only the Gaussian one.
"""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym


class Mean(sp.Expr):
    """The average over theta, the location and all L tokens: E[expression]."""

    is_commutative = True
    is_extended_real = True

    def __new__(cls, expression):
        expression = sp.sympify(expression)
        return expression if expression.is_Number else sp.Expr.__new__(cls, expression)

    def _latex(self, printer):
        return rf"\mathbb{{E}}\left[{printer._print(self.args[0])}\right]"


class Average(sp.Expr):
    """The average over the logits of one token: E_star[X] (relevant) or E_0[X] (noise)."""

    is_commutative = True
    is_extended_real = True

    def __new__(cls, expression, density):
        expression = sp.sympify(expression)
        if expression.is_Number:
            return expression
        return sp.Expr.__new__(cls, expression, density)

    @property
    def integrand(self) -> sp.Expr:
        return self.args[0]

    @property
    def density(self) -> sp.Symbol:
        return self.args[1]

    def _latex(self, printer, exp=None):
        name = r"\star" if self.density == sym.RELEVANT else "0"
        power = f"^{{{exp}}}" if exp else ""
        return rf"\mathbb{{E}}_{{{name}}}\left[{printer._print(self.integrand)}\right]{power}"

    def _sympystr(self, printer):
        name = "E_star" if self.density == sym.RELEVANT else "E_0"
        return f"{name}[{printer._print(self.integrand)}]"


class LengthPower(sp.Function):
    """The n-th derivative of phi^(L-1) in phi: what the L-1 noise tokens contribute.

    For a random sequence length it is the derivative of E_L[phi^(L-1)], so that no formula
    below changes. Arguments: phi, n.
    """

    nargs = 2
    is_extended_real = True

    @classmethod
    def eval(cls, phi, order):
        return sp.S.One if phi == 1 and order == 0 else None

    def fdiff(self, argindex=1):
        phi, order = self.args
        return LengthPower(phi, order + 1)

    def explicit(self) -> sp.Expr:
        """The same as a power of phi."""
        phi, order = self.args
        return sp.ff(sym.L - 1, order) * phi ** (sym.L - 1 - order)

    def _latex(self, printer, exp=None):
        phi, order = self.args
        prefactor = "".join(rf"\left(L-{i + 1}\right) " for i in range(int(order)))
        if phi == 1:
            return prefactor
        return rf"{prefactor}{printer._print(phi)}^{{L-{int(order) + 1}}}"

    def _sympystr(self, printer):
        phi, order = self.args
        prefactor = "".join(f"(L-{i + 1})*" for i in range(int(order)))
        return f"{prefactor}{printer._print(phi)}^(L-{int(order) + 1})"


def linear(node: type[sp.Expr], expression: sp.Expr, *rest: sp.Expr) -> sp.Expr:
    """Distribute an average over a sum and pull out what carries no random quantity."""
    random = (sp.Indexed,)
    terms = []
    for term in sp.Add.make_args(sp.expand(expression)):
        constant, varying = term.as_independent(*random, as_Add=False)
        terms.append(constant * node(varying, *rest))
    return sp.Add(*terms)

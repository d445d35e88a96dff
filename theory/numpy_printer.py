"""NumPy source text for expressions: stable exponentials, shared subexpressions, fixed order."""

from __future__ import annotations

from textwrap import fill, indent

import sympy as sp
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.precedence import precedence

# A temporary of generated code starts with this; user's names never reach generated code,
# the model's own names do not start so (checked by name in ``lines``).
TEMPORARY = "w_"


class InnerExp(sp.Function):
    """An exponential inside another one: generated modules bound it, see their ``_exp``."""

    nargs = 1
    is_extended_real = True


def _mark_inner(expression: sp.Expr, inside: bool = False) -> sp.Expr:
    """Tell inner exponentials from outer ones before shared subexpressions tear them apart."""
    if not expression.has(sp.exp):
        return expression
    exponential = isinstance(expression, sp.exp)
    arguments = [_mark_inner(argument, inside or exponential) for argument in expression.args]
    return InnerExp(*arguments) if exponential and inside else expression.func(*arguments)


class KernelPrinter(NumPyPrinter):
    """NumPy printer that spells the stable special functions and the length powers."""

    def __init__(self):
        super().__init__({"fully_qualified_modules": False, "precision": 17})

    def _module_format(self, fqn, register=True):
        # One import style everywhere: np.exp, special.erf
        module, _, name = fqn.rpartition(".")
        short = {"numpy": "np", "scipy.special": "special"}.get(module, module)
        return f"{short}.{name}" if short else name

    def _special(self, name, expression):
        return f"{name}({', '.join(self._print(argument) for argument in expression.args)})"

    def _print_Sigmoid(self, expression):
        return self._special("special.expit", expression)

    def _print_Softplus(self, expression):
        return f"np.logaddexp(0.0, {self._print(expression.args[0])})"

    def _print_NormalCdf(self, expression):
        return self._special("special.ndtr", expression)

    def _print_Step(self, expression):
        return f"np.heaviside({self._print(expression.args[0])}, 0.5)"

    def _print_Ramp(self, expression):
        return f"np.maximum({self._print(expression.args[0])}, 0.0)"

    def _print_Away(self, expression):
        z, point, radius = (self._print(argument) for argument in expression.args)
        return f"np.where(np.abs({z} - ({point})) < {radius}, {point} + {radius}, {z})"

    def _print_Regular(self, expression):
        near, far, distance, radius = (self._print(argument) for argument in expression.args)
        return f"np.where(np.abs({distance}) < {radius}, {near}, {far})"

    def _print_DiracDelta(self, expression):
        # Almost everywhere; a kink's delta is never met by a grid (numerics asks for SMOOTH)
        return f"(0.0 * {self._print(expression.args[0])})"

    def _print_erf(self, expression):
        return self._special("special.erf", expression)

    def _print_erfc(self, expression):
        return self._special("special.erfc", expression)

    def _print_BivariateNormalCdf(self, expression):
        return self._special("_bivariate_normal_cdf", expression)

    def _print_InnerExp(self, expression):
        return self._special("_exp", expression)

    def _print_Rational(self, expression):
        return repr(float(expression))

    def _print_Max(self, expression):
        first, *others = (self._print(a) for a in expression.args)
        for other in others:
            first = f"np.maximum({first}, {other})"
        return first

    def _print_Pow(self, expression, rational=False):
        if expression.exp == -1:
            return f"1.0/{self.parenthesize(expression.base, precedence(expression))}"
        if expression.base.is_Symbol and expression.exp in (3, 4, 5, 6):
            # NumPy's power is many times slower than products
            return "(" + "*".join([self._print(expression.base)] * int(expression.exp)) + ")"
        if expression.exp == sp.Rational(1, 2):
            return f"np.sqrt({self._print(expression.base)})"
        if expression.exp == -sp.Rational(1, 2):
            return f"1.0/np.sqrt({self._print(expression.base)})"
        return super()._print_Pow(expression, rational=rational)


def source(expression: sp.Expr) -> str:
    """NumPy source of one expression."""
    return KernelPrinter().doprint(_mark_inner(sp.sympify(expression)))


def lines(targets: list[tuple[str, sp.Expr]]) -> list[str]:
    """Assignments that compute all targets, common subexpressions named and shared.

    The text depends on the expressions only, never on hashes or on the order of sets.
    """
    names = {s.name for _, e in targets for s in sp.sympify(e).free_symbols}
    if any(name.startswith(TEMPORARY) for name in names):
        raise ValueError(f"a name starts with {TEMPORARY}, which temporaries use")
    temporaries = (sp.Symbol(f"{TEMPORARY}{i}", real=True) for i in range(10_000))
    marked = [_mark_inner(sp.sympify(e)) for _, e in targets]
    shared, reduced = sp.cse(marked, symbols=temporaries, order="canonical")
    text = [f"{name.name} = {source(value)}" for name, value in shared]
    return text + [f"{name} = {source(e)}" for (name, _), e in zip(targets, reduced, strict=True)]


def function(signature: str, doc: str, body: list[str]) -> str:
    """Source text of one function: its docstring is the equation that it evaluates."""
    doc = "\n".join(fill(part, 92, break_long_words=False) for part in doc.split("\n"))
    closing = '\n"""' if "\n" in doc else '"""'
    text = "\n".join([f'"""{doc}{closing}', *body])
    return f"def {signature}:\n{indent(text, '    ')}\n"

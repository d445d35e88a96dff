"""The value of typed text by Python's own grammar and mpmath: nothing of headflow, no SymPy.

An expression of headflow is one of Python once ^ is spelled **. Intermediate values may be complex
or undefined; only the final value is compared.
"""

from __future__ import annotations

import ast
import operator
import re

import mpmath


def _ordered(function):
    """A function of real numbers only: what has no order has no value."""

    def value(*arguments):
        if any(mpmath.im(z) != 0 for z in arguments):
            raise Incomparable("complex")
        return function(*(mpmath.re(z) for z in arguments))

    return value


def _step(z):
    return (1 + mpmath.sign(z)) / 2


FUNCTIONS = {
    **{name: getattr(mpmath, name) for name in "exp log ln sqrt sin cos tan".split()},
    **{name: getattr(mpmath, name) for name in "tanh sinh cosh atan erf erfc".split()},
    "arctan": mpmath.atan,
    "Phi": lambda z: mpmath.erfc(-z / mpmath.sqrt(2)) / 2,
    "sigmoid": lambda z: mpmath.exp(z) / (1 + mpmath.exp(z)),
    "softplus": lambda z: mpmath.log(1 + mpmath.exp(z)),
    "relu": _ordered(lambda z: (z + mpmath.fabs(z)) / 2),
    "step": _ordered(_step),
    "Heaviside": _ordered(_step),
    "abs": mpmath.fabs,
    "Abs": mpmath.fabs,
    "sign": _ordered(mpmath.sign),
    "max": _ordered(max),
    "Max": _ordered(max),
    "min": _ordered(min),
    "Min": _ordered(min),
}
_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg}
# Values beyond this are not compared: mpmath would write them out.
_LARGE = mpmath.mpf(10) ** 6


class Incomparable(Exception):
    """The text has no value that two evaluations could share."""


def value(text: str, x: float, digits: int, **parameters: float):
    """The value of the text at x in ``digits`` digits; Incomparable where it has none."""
    # Python refuses 007, and line breaks outside brackets; headflow reads both.
    plain = re.sub(r"(?<![\w.])0+(?=[0-9])", "", text.replace("^", "**"))
    tree = ast.parse(" ".join(plain.split()), mode="eval").body
    with mpmath.workdps(digits):
        names = {"x": mpmath.mpf(x), "pi": +mpmath.pi}
        names |= {name: mpmath.mpf(one) for name, one in parameters.items()}
        try:
            result = _value(tree, plain, names)
        except (ZeroDivisionError, OverflowError, ValueError, TypeError) as problem:
            raise Incomparable(str(problem)) from None
        if not mpmath.isfinite(result):
            raise Incomparable("not finite")
        return result


def _value(node: ast.expr, text: str, names: dict):
    found = _raw(node, text, names)
    parts = [part for part in (mpmath.re(found), mpmath.im(found)) if part]
    most = _LARGE if len(parts) < 2 else 500
    if any(not mpmath.isfinite(part) or abs(mpmath.mag(part)) > most for part in parts):
        raise Incomparable("too large or too small")
    return found


def _raw(node: ast.expr, text: str, names: dict):
    if isinstance(node, ast.Constant):
        return mpmath.mpf(ast.get_source_segment(" ".join(text.split()), node))
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_value(node.operand, text, names))
    if isinstance(node, ast.Call):
        arguments = [_value(argument, text, names) for argument in node.args]
        _require_moderate(*arguments)
        return FUNCTIONS[node.func.id](*arguments)
    left, right = (_value(side, text, names) for side in (node.left, node.right))
    if isinstance(node.op, ast.Pow):
        _require_moderate(right)
    return _BINARY[type(node.op)](left, right)


def _require_moderate(*arguments):
    if any(mpmath.isfinite(z) and abs(z) > _LARGE for z in arguments):
        raise Incomparable("too large")

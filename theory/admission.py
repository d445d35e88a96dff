"""Which SymPy expressions can be an activation: real functions that are known in full.

SymPy builds far more than NumPy can evaluate or a derivation can differentiate: complex
functions, integrals, sums, functions that are only a name. What is not on the list is refused by
name before anything is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from theory.audit import MAX_SIZE
from theory.errors import DefinitionError, shown
from theory.evaluation import CONDITIONS, FUNCTIONS

MAX_DEPTH = 100  # functions and operators inside one another; printers take ten frames for each

_ATOMS = (sp.Number, sp.NumberSymbol, sp.Symbol, sp.logic.boolalg.BooleanAtom)
_KNOWN = (*FUNCTIONS, *CONDITIONS, sp.Piecewise, sp.functions.elementary.piecewise.ExprCondPair)
_OPERATORS = (sp.Add, sp.Mul, sp.Pow)


def as_expression(what: str, given: Any, logit: sp.Symbol) -> sp.Expr:
    """A SymPy expression, or what a function makes of the logit, as an expression."""
    is_expression = isinstance(given, sp.Expr) and not isinstance(given, sp.Lambda)
    if callable(given) and not is_expression and not isinstance(given, type):
        try:
            given = given(logit)
        except (AttributeError, TypeError, ValueError):
            given = None
        if not isinstance(given, sp.Expr):
            raise DefinitionError(
                f"{what}: this function makes no expression of a symbol; "
                "write it with SymPy's functions, or as text in x"
            )
    if not isinstance(given, sp.Expr):
        raise DefinitionError(
            f"{what} must be text in x, a SymPy expression or a function that makes one, "
            f"got {type(given).__name__}"
        )
    return given


def require_known(what: str, expression: sp.Expr) -> None:
    """Raise DefinitionError unless a user's expression is of moderate size and known in full."""
    for node, depth in _walk(what, expression):
        if depth > MAX_DEPTH:
            raise DefinitionError(
                f"{what}: nested too deeply; the limit is {MAX_DEPTH} levels inside one another"
            )
        if isinstance(node, _ATOMS) or node is sp.I or not node.args and not node.is_finite:
            continue  # domain.py says what is wrong with I, nan and infinities
        if node.func not in _KNOWN:
            raise DefinitionError(f"{what}: {_unknown(node)}")
        if isinstance(node, sp.Piecewise) and node.args[-1].cond != sp.true:
            raise DefinitionError(
                f"{what}: {shown(node)} has no value where none of its conditions holds; "
                "let its last branch be (value, True)"
            )


def _walk(what: str, expression: sp.Basic) -> Iterator[tuple[sp.Basic, int]]:
    """Every node with its level, without recursion: the expression may be deeper than the stack."""
    waiting = [(expression, 1)]
    count = 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        if count > MAX_SIZE:
            raise DefinitionError(
                f"{what}: too large; the limit is {MAX_SIZE} numbers, names and operations"
            )
        yield node, depth
        waiting += [(argument, depth + 1) for argument in node.args]


def _unknown(node: sp.Basic) -> str:
    name = getattr(node.func, "__name__", str(node.func))
    if isinstance(node, sp.core.function.AppliedUndef) or _is_users_own(node):
        return (
            f"function {name} has no formula, only a name or numbers, so it has no derivative; "
            "write the expression itself"
        )
    if isinstance(node, sp.LambertW):
        return "function LambertW is complex in NumPy, and logits need real values"
    known = sorted({kind.__name__ for kind in FUNCTIONS if kind not in _OPERATORS}, key=str.lower)
    return f"unknown function {name}; known functions: {', '.join(known)}, Piecewise"


def _is_users_own(node: sp.Basic) -> bool:
    return isinstance(node, sp.Function) and not type(node).__module__.startswith("sympy.")

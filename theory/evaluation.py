"""Values of activation expressions in many digits, without any number that fills the memory.

One table says which functions an expression may hold and what each is worth. mpmath has numbers
of any size: it would write out 10^9 bits for ``exp(exp(exp(22)))`` before it reduced them modulo
log(2), so an argument of that kind gives the function's limit here, or an OverflowError.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

import mpmath
import sympy as sp

from theory.functions import NormalCdf, Ramp, Sigmoid, Softplus, Step
from theory.removable import Away, Regular

# An argument of a transcendental function is below 2^MOST_BITS, or infinite.
MOST_BITS = 1000

Number = Any  # mpf, or mpc where an expression is complex
_NAN = mpmath.nan


def _bounded(function: Callable[[Number], Number], below: Any = None, above: Any = None):
    """The same function, with its limits for arguments out of all proportion.

    Where a limit is None there is none, and the value is beyond all numbers: OverflowError.
    """

    def value(z: Number) -> Number:
        if not mpmath.isfinite(z) or mpmath.mag(z) <= MOST_BITS:
            return function(z)
        limit = below if mpmath.re(z) < 0 else above
        if limit is None or is_complex(z):
            raise OverflowError
        return mpmath.mpf(limit)

    return value


def _power(base: Number, exponent: Number) -> Number:
    if mpmath.isfinite(exponent) and mpmath.mag(exponent) > MOST_BITS:
        raise OverflowError
    return base**exponent


def _extreme(choose: Callable[..., Number]) -> Callable[..., Number]:
    def value(*arguments: Number) -> Number:
        # A complex argument has no order; handing it on lets the caller say that it is complex.
        complex_ones = [z for z in arguments if is_complex(z)]
        return complex_ones[0] if complex_ones else choose(arguments)

    return value


def _step(z: Number, at_zero: Number = 0.5) -> Number:
    if is_complex(z):
        return z
    return mpmath.mpf(at_zero if z == 0 else z > 0)


FUNCTIONS: Mapping[type[sp.Basic], Callable[..., Number]] = MappingProxyType(
    {
        sp.Add: lambda *terms: reduce(operator.add, terms),
        sp.Mul: lambda *factors: reduce(operator.mul, factors),
        sp.Pow: _power,
        sp.exp: _bounded(mpmath.exp, below=0),
        sp.log: mpmath.log,
        sp.sin: _bounded(mpmath.sin, _NAN, _NAN),
        sp.cos: _bounded(mpmath.cos, _NAN, _NAN),
        sp.tan: _bounded(mpmath.tan, _NAN, _NAN),
        sp.sinh: _bounded(mpmath.sinh),
        sp.cosh: _bounded(mpmath.cosh),
        sp.tanh: _bounded(mpmath.tanh, -1, 1),
        sp.asinh: mpmath.asinh,
        sp.atan: mpmath.atan,
        sp.erf: _bounded(mpmath.erf, -1, 1),
        sp.erfc: _bounded(mpmath.erfc, 2, 0),
        sp.Abs: mpmath.fabs,
        sp.sign: mpmath.sign,
        sp.Max: _extreme(max),
        sp.Min: _extreme(min),
        sp.Heaviside: _step,
        Sigmoid: _bounded(lambda z: 1 / (1 + mpmath.exp(-z)), 0, 1),
        Softplus: _bounded(lambda z: mpmath.log1p(mpmath.exp(z)), below=0),
        NormalCdf: _bounded(lambda z: mpmath.erfc(-z / mpmath.sqrt(2)) / 2, 0, 1),
        Step: _step,
        Ramp: lambda z: z if is_complex(z) else max(mpmath.mpf(0), z),
        Away: lambda z, point, radius: point + radius if abs(z - point) < radius else z,
        Regular: lambda near, far, z, radius: near if abs(z) < radius else far,
    }
)
_RELATIONS = {
    sp.StrictGreaterThan: operator.gt,
    sp.GreaterThan: operator.ge,
    sp.StrictLessThan: operator.lt,
    sp.LessThan: operator.le,
    sp.Equality: operator.eq,
    sp.Unequality: operator.ne,
}
_LOGIC = {sp.And: all, sp.Or: any}
CONDITIONS = (*_RELATIONS, *_LOGIC, sp.Not)


def is_complex(value: Number) -> bool:
    """Whether a value has an imaginary part."""
    return isinstance(value, mpmath.mpc) and value.imag != 0


def evaluate(expression: sp.Expr, variable: sp.Symbol, point: mpmath.mpf) -> Number:
    """The value of ``expression`` at ``point``, in the digits that mpmath works with now.

    Raises ZeroDivisionError or ValueError where it is undefined, OverflowError where a number on
    the way is out of all proportion, KeyError for a function that is not in FUNCTIONS.
    """
    known: dict[sp.Basic, Any] = {variable: point}

    def value(node: sp.Basic) -> Any:
        if node not in known:
            known[node] = _moderate(_value(node, value))
        return known[node]

    return value(expression)


def _moderate(found: Any) -> Any:
    """A complex number on the real line as a real one, which has an order.

    mpmath adds the squares of both parts without rounding, so their exponents must be moderate.
    """
    if not isinstance(found, mpmath.mpc):
        return found
    if not found.imag:
        return found.real
    if any(part and abs(mpmath.mag(part)) > MOST_BITS for part in (found.real, found.imag)):
        raise ValueError("a complex value out of all proportion")
    return found


def _value(node: sp.Basic, value: Callable[[sp.Basic], Any]) -> Any:
    if isinstance(node, sp.Rational):
        return mpmath.mpf(node.p) / node.q
    if node is sp.I:
        return mpmath.mpc(0, 1)
    if isinstance(node, (sp.Number, sp.NumberSymbol)):
        return mpmath.mpf(node._to_mpmath(mpmath.mp.prec))
    if isinstance(node, sp.Piecewise):
        # Only the piece in force is asked for: the others may be undefined here.
        return value(next(piece for piece, holds in node.args if value(holds)))
    if isinstance(node, sp.logic.boolalg.BooleanAtom):
        return bool(node)
    if node.func in _RELATIONS:
        left, right = (value(side) for side in node.args)
        if is_complex(left) or is_complex(right):
            raise ValueError("a complex value has no order")
        return _RELATIONS[node.func](left, right)
    if node.func in _LOGIC:
        return _LOGIC[node.func](value(part) for part in node.args)
    if node.func is sp.Not:
        return not value(node.args[0])
    return FUNCTIONS[node.func](*(value(argument) for argument in node.args))

"""Building SymPy expressions from operands that nobody vouches for, in bounded time.

SymPy simplifies whatever it builds. That may write out a number digit by digit, evaluate a
constant to more digits than there is memory, or take exponential time, as in
``exp(1e12*log(2))``, ``abs(exp(exp(exp(20))) - 1)`` and ``1/(x + sqrt(1/(x + sqrt(...))))``.
The first two happen inside a single long-integer operation, so an audit refuses the numbers
that lead to them; a count of calls bounds everything else.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple

import sympy as sp
from sympy.core.cache import clear_cache

MAX_DIGITS = 400  # of a numerator, a denominator or the integer part of a constant
MAX_EXPONENT = 1000  # of any number in an exponent, in absolute value
MAX_SIZE = 2500  # nodes of the SymPy tree, which spells a/b as a*b**(-1)
MAX_WORK = 2_000_000  # calls and returns: some two seconds, 20 times the usual need

_LARGEST = 10**MAX_DIGITS
_OUT_OF_RANGE = ("gives a number out of range", f"numbers have at most {MAX_DIGITS} digits")
_LARGE_EXPONENT = (
    "has too large an exponent",
    f"numbers in exponents are at most {MAX_EXPONENT} in absolute value",
)
_NOT_REAL = ("gives a value that is not a real number", "check its arguments")
_UNDECIDED = ("has arguments that cannot be compared", "check that they are real and distinct")


class Refused(Exception):
    """An operation that is not carried out: why, and what would be right."""

    def __init__(self, why: str, advice: str) -> None:
        super().__init__(why, advice)
        self.why, self.advice = why, advice


class _Exhausted(Exception):
    pass


@contextmanager
def limited_work() -> Iterator[None]:
    """Raise Refused from the block if it makes more than MAX_WORK calls, or fills the stack.

    Counting calls is the one limit that holds in any thread, and alike on every machine. A
    profiler already at work is left alone, and the calls are not limited then.
    """
    calls = itertools.count()

    def count(frame: FrameType, event: str, argument: object) -> None:
        # An exception would be lost in a generator being closed or in a callback of the
        # garbage collector, and the limit with it: raise from an ordinary call of SymPy's.
        if next(calls) > MAX_WORK and event == "call" and _is_plain_call(frame):
            raise _Exhausted

    available = sys.getprofile() is None
    if available:
        sys.setprofile(count)
    try:
        yield
    except (_Exhausted, RecursionError):
        # SymPy was interrupted, so its cache may hold half-made conclusions.
        clear_cache()
        raise Refused("is too hard to simplify", "nest and repeat less") from None
    finally:
        if available:
            sys.setprofile(None)


def _is_plain_call(frame: FrameType) -> bool:
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package in ("sympy", "mpmath") and not frame.f_code.co_flags & inspect.CO_GENERATOR


class _Measure(NamedTuple):
    size: int
    value: sp.Expr | None  # approximate; None for what depends on a symbol


class Audit:
    """Builds real expressions of moderate size, one operation at a time.

    Every part of every result has passed the audit, so that an operation need only be
    checked for what it does to operands which are harmless in themselves.
    """

    def __init__(self) -> None:
        self._measures: dict[sp.Basic, _Measure] = {}

    def build(self, function: Callable[..., sp.Expr], *operands) -> sp.Expr:
        """The value of `function` at `operands`; raises Refused, with the reason."""
        if function is operator.pow:
            _check_power(*operands)
        elif function is sp.exp:
            _check_exponential(*operands)
        try:
            result = function(*operands)
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            raise Refused(*_UNDECIDED) from None
        self._measure(result)
        return result

    def _measure(self, node: sp.Basic) -> _Measure:
        """Check the parts of `node` not seen before, the innermost first."""
        if node not in self._measures:
            parts = [self._measure(argument) for argument in node.args]
            size = 1 + sum(part.size for part in parts)
            if size > MAX_SIZE:
                raise Refused("makes the expression too large", f"the limit is {MAX_SIZE} nodes")
            if node.is_Rational and max(abs(node.p), node.q) > _LARGEST:
                raise Refused(*_OUT_OF_RANGE)
            if isinstance(node, sp.Pow) and _is_large_exponent(node.exp):
                raise Refused(*_LARGE_EXPONENT)
            if isinstance(node, sp.exp):
                _check_exponential(node.exp)
            value = _approximate(node, [part.value for part in parts])
            self._measures[node] = _Measure(size, value)
        return self._measures[node]


def _approximate(node: sp.Expr, parts: list[sp.Expr | None]) -> sp.Expr | None:
    """The value of a constant from the values of its parts, or None for a variable."""
    if any(part is None for part in parts) or not (parts or node.is_number):
        return None
    try:
        value = node.func(*parts) if parts else node.evalf()
    except (ArithmeticError, ValueError):
        raise Refused(*_NOT_REAL) from None
    if not (value.is_Number and value.is_finite):
        raise Refused(*_NOT_REAL)
    if abs(value) > _LARGEST:
        raise Refused(*_OUT_OF_RANGE)
    return value


def _check_exponential(argument: sp.Expr) -> None:
    # SymPy turns exp(c*log(b)) into b**c.
    if argument.has(sp.log) and _is_large_exponent(argument):
        raise Refused(*_LARGE_EXPONENT)


def _check_power(base: sp.Expr, exponent: sp.Expr) -> None:
    if _is_large_exponent(exponent):
        raise Refused(*_LARGE_EXPONENT)
    if exponent.is_Rational:
        return
    # SymPy turns (a**b)**c into a**(b*c), where b*c may collapse to a number of any size, as
    # in b = x*1000**(2/3), c = 1000**(1/3)/x, unless both are plain.
    for inner in _exponents(base):
        if inner.is_Rational:
            harmless = not _is_large_exponent(inner)
        else:
            harmless = _is_plain(inner) and _is_plain(exponent) and not _is_large_exponent(base)
        if not harmless:
            raise Refused("raises a power to a power", "write (a^b)^c as a^(b*c)")


def _exponents(base: sp.Expr) -> Iterator[sp.Expr]:
    for factor in sp.Mul.make_args(base):
        root, exponent = factor.as_base_exp()
        if exponent != 1:
            yield exponent
            yield from _exponents(root)


def _is_plain(exponent: sp.Expr) -> bool:
    powers = exponent.atoms(sp.Pow)
    return not exponent.has(sp.exp, sp.log) and all(
        power.exp.is_Rational and not power.base.is_number for power in powers
    )


def _is_large_exponent(exponent: sp.Expr) -> bool:
    return any(abs(number) > MAX_EXPONENT for number in exponent.atoms(sp.Number))

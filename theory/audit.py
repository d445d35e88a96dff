"""Building SymPy expressions from operands that nobody vouches for, in bounded time.

SymPy simplifies whatever it builds, and may not come back: it writes out the power in
``exp(1e12*log(2))``, evaluates ``abs(exp(exp(exp(20))) - 1)`` to more digits than there is
memory, and needs exponential time for ``1/(x + sqrt(1/(x + sqrt(...))))``. An audit of each
expression built keeps its constants real and its numbers moderate; a watch over SymPy's own
calls keeps it from working with too many digits, and from working for too long.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple

import sympy as sp
from sympy.core.cache import clear_cache
from sympy.core.evalf import evalf

MAX_DIGITS = 400  # of a numerator, a denominator or the integer part of a constant
MAX_EXPONENT = 1000  # of any number in an exponent, in absolute value
MAX_SIZE = 2500  # nodes of the SymPy tree, which spells a/b as a*b**(-1)
MAX_WORK = 2_000_000  # calls and returns: some two seconds, 20 times the usual need
MAX_BITS = 4_000_000  # of an integer on the way to a result
MAX_PRECISION = 5000  # bits, of an evaluation on the way to a result

_LARGEST = 10**MAX_DIGITS
_OUT_OF_RANGE = ("gives a number out of range", f"numbers have at most {MAX_DIGITS} digits")
_LARGE_EXPONENT = ("has too large an exponent", f"numbers in exponents are at most {MAX_EXPONENT}")
_NOT_REAL = ("gives a value that is not a real number", "check its arguments")
_UNDECIDED = ("has arguments that cannot be compared", "check that they are real and distinct")
_TOO_LONG = ("needs numbers with too many digits", "shorten the numbers and the exponents")
_TOO_HARD = ("is too hard to simplify", "nest and repeat less")

# Where SymPy raises a fraction to a power, and where it evaluates an expression.
_POWER_CODES = (sp.Integer._eval_power.__code__, sp.Rational._eval_power.__code__)
_EVALUATION_CODE = evalf.__code__


# What SymPy raises, from deep inside, when an expression is undefined somewhere: nan and zoo have
# few of the methods of numbers, absolute values and steps no series.
SYMPY_FAULTS = (
    sp.PoleError,
    ArithmeticError,
    AttributeError,
    LookupError,
    NameError,
    NotImplementedError,
    TypeError,
    ValueError,
)


class Refused(Exception):
    """An operation that is not carried out: why, and what would be right."""

    def __init__(self, why: str, advice: str) -> None:
        super().__init__(why, advice)
        self.why, self.advice = why, advice


class _Interrupted(Exception):
    pass


@contextmanager
def limited_work(most: int = MAX_WORK) -> Iterator[None]:
    """Raise Refused from the block when SymPy takes on too much in it, or fills the stack.

    most: calls and returns, of a block within another one too.

    SymPy has no limits of its own, so this watches its calls, as a profiler would. That works
    in any thread, and alike on every machine. Under a profiler proper, nothing is watched.
    """
    before = sys.getprofile()
    watch: Any = _watch(_Budget(itertools.count())) if before is None else before
    budget = getattr(watch, "budget", _Budget(itertools.count()))
    outer = budget.last
    # The counter only moves on; reading it is one more call.
    budget.last = min(outer, next(budget.calls) + most)
    if before is None:
        sys.setprofile(watch)
    try:
        yield
    except (_Interrupted, RecursionError, SystemError) as error:
        # SystemError is what Python makes of a stack that is full when the watch is called.
        clear_cache()  # It may hold half-made conclusions.
        reason = error.args if isinstance(error, _Interrupted) else _TOO_HARD
        raise Refused(*reason) from None
    finally:
        budget.last = outer
        if before is None:
            sys.setprofile(None)


@dataclass
class _Budget:
    """Calls so far, and the last one allowed."""

    calls: Iterator[int]
    last: int = sys.maxsize


def _watch(budget: _Budget) -> Any:
    """A profile function that interrupts SymPy when its budget is used up."""

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and _needs_too_many_digits(frame):
            raise _Interrupted(*_TOO_LONG)
        if next(budget.calls) > budget.last and event in ("call", "c_call"):
            if _is_interruptible(frame):
                raise _Interrupted(*_TOO_HARD)

    named: Any = watch
    named.budget = budget
    return named


def _needs_too_many_digits(frame: FrameType) -> bool:
    if frame.f_code is _EVALUATION_CODE:
        return frame.f_locals["prec"] > MAX_PRECISION
    if frame.f_code in _POWER_CODES:
        base, exponent = frame.f_locals["self"], frame.f_locals["expt"]
        bits = max(abs(base.p), base.q).bit_length()
        # With q in the exponent's denominator, SymPy takes q-th powers of the base's factors.
        return exponent.is_Rational and bits * max(abs(exponent), exponent.q) > MAX_BITS
    return False


def _is_interruptible(frame: FrameType) -> bool:
    # An exception would be lost in a generator that is being closed, or in a callback of the
    # garbage collector, and the watch with it.
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package in ("sympy", "mpmath") and not frame.f_code.co_flags & inspect.CO_GENERATOR


class _Measure(NamedTuple):
    size: int
    value: sp.Expr | None  # approximate; None for what depends on a symbol


class Audit:
    """Builds real expressions of moderate size, one operation at a time."""

    def __init__(self) -> None:
        self._measures: dict[sp.Basic, _Measure] = {}

    def build(self, function: Callable[..., sp.Expr], *operands) -> sp.Expr:
        """The value of `function` at `operands`; raises Refused, with the reason."""
        if function is operator.pow:
            _check_exponent(operands[1])
        try:
            result = function(*operands)
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            # SymPy's comparisons end in any of these.
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
            if isinstance(node, sp.Pow):
                _check_exponent(node.exp)
            value = _approximate(node, [part.value for part in parts])
            self._measures[node] = _Measure(size, value)
        return self._measures[node]


def _check_exponent(exponent: sp.Expr) -> None:
    if any(abs(number) > MAX_EXPONENT for number in exponent.atoms(sp.Number)):
        raise Refused(*_LARGE_EXPONENT)


def _approximate(node: sp.Expr, parts: list[sp.Expr | None]) -> sp.Expr | None:
    """The value of a constant from the values of its parts, or None for a variable."""
    if None in parts or not (parts or node.is_number):
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

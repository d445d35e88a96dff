"""Expressions typed as text, read into SymPy by a parser that never evaluates the text.

The language is arithmetic and a short list of functions. Text may come from anyone, so no
input may run code, exhaust the stack or keep the process busy: this module bounds the text,
and `theory.audit` what SymPy makes of it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import NoReturn

import sympy as sp

from theory.audit import MAX_DIGITS, Audit, Refused, limited_work
from theory.errors import DefinitionError, ExpressionError
from theory.vocabulary import (
    CHARACTER_HINTS,
    DEFAULT_HINT,
    FUNCTIONS,
    MODEL_NAMES,
    NAME_HINTS,
    SYMBOL_HINTS,
)

MAX_CHARACTERS = 1000
MAX_LEVELS = 100  # of brackets, calls, signs and exponents inside one another
MAX_NODES = 500  # numbers, names, operators and calls in the text

# Operator -> (how tightly it binds, what it does); a sign binds between * and ^.
_OPERATORS: dict[str, tuple[int, Callable[..., sp.Expr]]] = {
    "+": (1, operator.add),
    "-": (1, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "^": (4, operator.pow),
}
_SIGN_BINDING = 3
_SIGNS: dict[str, Callable[..., sp.Expr]] = {"+": operator.pos, "-": operator.neg}

_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE](?P<ten>[+-]?[0-9]+))?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<symbol>\*\*|[-+*/^(),])"
    r"|(?P<space>[ \t\r\n]+)"
)


@dataclass(frozen=True)
class Token:
    """A piece of the text: its kind (a symbol is its own kind), spelling and position."""

    kind: str
    text: str
    position: int


def parse_expression(
    text: str,
    *,
    variable: sp.Symbol,
    parameters: Mapping[str, sp.Expr] = MappingProxyType({}),
) -> sp.Expr:
    """The SymPy expression that `text` spells, with exact numbers.

    The name of `variable` stands for it, and each name in `parameters` for the value given
    there, ahead of any constant or function so named. Raises ExpressionError (a
    DefinitionError) for any text that is not a real expression of moderate size.
    """
    if variable.name in parameters:
        raise DefinitionError(f"parameter {variable.name!a} has the name of the logit; rename it")
    values = {"pi": sp.pi, **parameters, variable.name: variable}
    return _Parser(text, values, variable.name).parse()


def parse_number(text: str) -> sp.Rational | None:
    """The exact number that `text` spells, as in 0.8, 4/5, -2e-3; None for anything else."""
    try:
        value = _Parser(text, {}, "").parse()
    except ExpressionError:
        return None
    return value if isinstance(value, sp.Rational) else None


def _short(name: str) -> str:
    return name if len(name) <= 30 else name[:27] + "..."


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            found = text[position]
            hints = (hint for group, hint in CHARACTER_HINTS.items() if found in group)
            hint = next(hints, DEFAULT_HINT)
            raise ExpressionError(f"unexpected {found!a}", text, position, hint)
        if match["ten"] and abs(int(match["ten"])) > MAX_DIGITS:
            limit = f"the power of ten is at most {MAX_DIGITS}"
            raise ExpressionError("number out of range", text, position, limit)
        if match["symbol"]:
            yield Token("^" if match[0] == "**" else match[0], match[0], position)
        elif not match["space"]:
            yield Token("number" if match["number"] else "name", match[0], position)
        position = match.end()
    yield Token("end", "", len(text))


class _Parser:
    """A Pratt parser: an operator takes the operands that bind tighter than itself."""

    def __init__(self, text: str, values: Mapping[str, sp.Expr], logit: str) -> None:
        self.text, self.values, self.logit = text, values, logit
        self.tokens = _tokens(text)
        # The token under consideration, the one before it, and the last one built upon.
        self.token = self.previous = self.built = Token("start", "", 0)
        self.nodes = 0
        self.audit = Audit()

    def parse(self) -> sp.Expr:
        if len(self.text) > MAX_CHARACTERS:
            limit = f"the limit is {MAX_CHARACTERS} characters"
            raise ExpressionError("text too long", self.text, MAX_CHARACTERS, limit)
        try:
            with limited_work():
                self._advance()
                self.built = self.token
                value = self._expression(0, 0)
        except Refused as refused:
            self._fail(f"{_short(self.built.text)!r} {refused.why}", self.built, refused.advice)
        if self.token.kind != "end":
            self._fail_at_symbol()
        return value

    def _expression(self, binding: int, level: int) -> sp.Expr:
        """An operand, and the operators after it that bind tighter than `binding`."""
        if level > MAX_LEVELS:
            self._fail("text nested too deeply", self.token, f"the limit is {MAX_LEVELS} levels")
        left = self._operand(level)
        while self.token.kind in _OPERATORS and _OPERATORS[self.token.kind][0] > binding:
            token = self._advance()
            tightness, function = _OPERATORS[token.kind]
            # A power is right associative: its exponent may be a power in turn.
            is_power = token.kind == "^"
            right = self._expression(tightness - is_power, level + is_power)
            if token.kind == "/" and right == 0:
                self._fail("division by zero", token, "the divisor must not be zero")
            left = self._build(token, function, left, right)
        if self.token.kind in ("number", "name", "("):
            self._fail_to_multiply()
        return left

    def _operand(self, level: int) -> sp.Expr:
        token = self.token
        if token.kind not in ("number", "name", "(", *_SIGNS):
            found = f"unexpected {token.text!r}" if token.text else "unexpected end"
            self._fail(found, token, "a number, a name or a bracket belongs here")
        self._advance()
        if token.kind == "number":
            number = Fraction(token.text)
            return self._build(token, sp.Rational, number.numerator, number.denominator)
        if token.kind == "name":
            is_function = token.text in FUNCTIONS or self.token.kind == "("
            if is_function and token.text not in self.values:
                return self._call(token, level)
            return self._build(token, operator.pos, self._value(token))
        if token.kind == "(":
            value = self._expression(0, level + 1)
            self._close(token)
            return value
        operand = self._expression(_SIGN_BINDING, level + 1)
        return self._build(token, _SIGNS[token.kind], operand)

    def _call(self, token: Token, level: int) -> sp.Expr:
        name = _short(token.text)
        if token.text not in FUNCTIONS:
            known = ", ".join(sorted(FUNCTIONS, key=str.lower))
            self._fail(f"unknown function {name!r}", token, f"known functions: {known}")
        function, arity = FUNCTIONS[token.text]
        example = f"write {name}(x)" if arity else f"write {name}(0, x)"
        if self.token.kind != "(":
            self._fail(f"{name} is a function", token, example)
        opening = self._advance()
        arguments = [self._expression(0, level + 1)]
        while self.token.kind == ",":
            self._advance()
            arguments.append(self._expression(0, level + 1))
        self._close(opening)
        if len(arguments) != arity if arity else len(arguments) < 2:
            self._fail(f"wrong number of arguments for {name}", token, example)
        return self._build(token, function, *arguments)

    def _value(self, token: Token) -> sp.Expr:
        if token.text in self.values:
            return self.values[token.text]
        if token.text in NAME_HINTS:
            self._fail(f"{token.text} is not a known name", token, NAME_HINTS[token.text])
        advice = f"the logit is {self.logit}, and other names must be given as parameters"
        if token.text in MODEL_NAMES:
            owned = f"{token.text} is a name of the model ({MODEL_NAMES[token.text]})"
            self._fail(owned, token, advice)
        self._fail(f"unknown name {_short(token.text)!r}", token, advice)

    def _build(self, token: Token, function: Callable[..., sp.Expr], *operands) -> sp.Expr:
        self.built = token
        self.nodes += 1
        if self.nodes > MAX_NODES:
            limit = f"the limit is {MAX_NODES} numbers, names, operators and calls"
            self._fail("text too complex", token, limit)
        return self.audit.build(function, *operands)

    def _advance(self) -> Token:
        self.previous, self.token = self.token, next(self.tokens)
        return self.previous

    def _close(self, opening: Token) -> None:
        if self.token.kind == "end":
            self._fail("'(' is never closed", opening, "add the missing )")
        if self.token.kind != ")":
            self._fail_at_symbol()
        self._advance()

    def _fail_at_symbol(self) -> NoReturn:
        self._fail(f"unexpected {self.token.text!r}", self.token, SYMBOL_HINTS[self.token.kind])

    def _fail_to_multiply(self) -> NoReturn:
        if self.token.kind == "name" and self.token.text not in FUNCTIONS:
            self._value(self.token)  # An unknown name is the likelier mistake, as in: x if x
        left, right = (
            "(...)" if token.kind in ("(", ")") else _short(token.text)
            for token in (self.previous, self.token)
        )
        self._fail("missing operator", self.token, f"write {left}*{right}")

    def _fail(self, what: str, token: Token, advice: str) -> NoReturn:
        raise ExpressionError(what, self.text, token.position, advice) from None

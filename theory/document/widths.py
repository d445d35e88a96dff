"""How wide a formula is when it is set, in em: an estimate, on the safe side of Computer Modern."""

from __future__ import annotations

import re

from theory.document.formula import Bracket, Command, Group, Item, Leaf, Row, Scripted

# Operators with the space around them, which scripts leave out.
BINARY = {"+": 1.23, "-": 1.23, r"\times": 1.23, r"\cdot": 0.73, "/": 0.5}
RELATIONS = {
    "=": 1.34,
    r"\ni": 1.23,
    r"\in": 1.23,
    r"\sim": 1.34,
    r"\leq": 1.34,
    r"\geq": 1.34,
    "<": 1.34,
    ">": 1.34,
}
LARGE = {r"\sum": 1.6, r"\int": 1.15, r"\prod": 1.4}
_SPACES = {r"\,": 0.17, r"\:": 0.23, r"\;": 0.28, r"\!": -0.17, r"\quad": 1.0, r"\qquad": 2.0}
_FUNCTIONS = re.compile(r"\\(exp|ln|log|a?(?:sin|cos|tan)h?|coth|max|min)")
_SCRIPT, _SMALLEST = 0.72, 0.52


def width(row: Row, level: int = 0) -> float:
    """Width of a row in em of the text; level 0 is displayed, 1 a script, 2 a script's script."""
    return sum(_item(item, level) for item in row)


def _scale(level: int) -> float:
    return (1.0, _SCRIPT, _SMALLEST)[min(level, 2)]


def _item(item: Item, level: int) -> float:
    match item:
        case Leaf(text):
            return _leaf(text, level) * _scale(level)
        case Group(inner):
            return width(inner, level)
        case Bracket(_, inner, _):
            return width(inner, level) + 1.3 * _scale(level)
        case Command(name, _, arguments):
            return _command(name, arguments, level)
        case Scripted(base, below, above):
            scripts = [width(row, level + 1) for row in (below, above) if row is not None]
            if isinstance(base, Leaf) and base.text in (r"\limits", *LARGE):
                # Below and above a displayed operator, beside it in a script.
                sizes = _item(base, level), *scripts
                return (max(sizes) if level == 0 else sizes[0] + max(scripts)) + 0.2
            return _item(base, level) + max(scripts) + 0.06


def _command(name: str, arguments: tuple[Row, ...], level: int) -> float:
    if name == r"\frac":
        return max(width(row, level) for row in arguments) + 0.25 * _scale(level)
    if name == r"\sqrt":
        return width(arguments[0], level) + 1.0 * _scale(level)
    return max(width(row, level) for row in arguments) + 0.2 * _scale(level)


def _leaf(text: str, level: int) -> float:
    if text.startswith(r"\begin"):
        return max(0.6 * len(re.sub(r"\\[A-Za-z]+|[{}]", "", line)) for line in text.split(r"\\"))
    if text in BINARY or text in RELATIONS:
        spaced = {**BINARY, **RELATIONS}[text]
        return spaced if level == 0 else 0.8
    if text == r"\limits":
        return 0.0
    for known in (LARGE, _SPACES):
        if text in known:
            return known[text]
    if _FUNCTIONS.fullmatch(text):
        return 0.56 * len(text)
    if text.startswith("\\"):
        return 0.7
    if text.isdigit() or text.islower():
        return 0.56 * len(text)
    return 0.3 if text in "()[]|,.:;" else 0.8

r"""LaTeX formulas as trees: brackets, scripts and arguments, read and written back.

Covers what the printers of this package write: commands, ``{}``, ``_``, ``^``, pairs of
``\left`` and ``\right``, and environments, which stay whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Commands that take arguments in braces, and how many.
ARGUMENTS = {
    r"\frac": 2,
    r"\sqrt": 1,
    r"\mathbb": 1,
    r"\mathbf": 1,
    r"\mathrm": 1,
    r"\operatorname": 1,
    r"\text": 1,
    r"\overline": 1,
    r"\hat": 1,
    r"\dot": 1,
}
# Of these, the ones whose argument is a word.
WORDS = (r"\operatorname", r"\text", r"\mathrm")
_TOKENS = re.compile(r"\\[A-Za-z]+|\\.|\s+|\d+(?:\.\d+)?|.", re.DOTALL)


@dataclass(frozen=True)
class Leaf:
    """A symbol, a number, an operator, a space or a whole environment."""

    text: str


@dataclass(frozen=True)
class Group:
    """``{inner}``."""

    inner: Row


@dataclass(frozen=True)
class Bracket:
    r"""``\left( inner \right)``, whatever the delimiters."""

    left: str
    inner: Row
    right: str


@dataclass(frozen=True)
class Command:
    r"""``\frac{...}{...}`` and other commands with arguments; ``option`` is that of a root."""

    name: str
    option: str
    arguments: tuple[Row, ...]


@dataclass(frozen=True)
class Scripted:
    """A base with a subscript, a superscript or both."""

    base: Item
    below: Row | None
    above: Row | None


Item = Leaf | Group | Bracket | Command | Scripted
Row = tuple[Item, ...]


def parse(latex: str) -> Row:
    """The tree of a formula; ValueError when its braces or brackets do not match."""
    tokens = [token for token in _TOKENS.findall(latex) if not token.isspace()]
    row, rest = _row(tokens, 0, None)
    assert rest == len(tokens)
    return row


def is_low(item: Item) -> bool:
    """Whether brackets around an item may have the size of a letter."""
    match item:
        case Leaf(text):
            return text not in (r"\sum", r"\int", r"\limits") and not text.startswith(r"\begin")
        case Group(inner) | Bracket(_, inner, _):
            return all(map(is_low, inner))
        case Command(name, _, arguments):
            return name not in (r"\frac", r"\sqrt") and all(map(is_low, arguments[0]))
        case Scripted(base, _, above):
            return is_low(base) and (
                above is None or len(above) == 1 and isinstance(above[0], Leaf)
            )


def write(row: Row) -> str:
    """LaTeX of a tree: what it was read from, but for spaces, braces and brackets that need not
    stretch."""
    return " ".join(_write(item) for item in row)


def _write(item: Item) -> str:
    match item:
        case Leaf(text):
            return text
        case Group(inner):
            return f"{{{write(inner)}}}"
        case Bracket(left, inner, right):
            if all(map(is_low, inner)):
                return f"{left}{write(inner)}{right}"
            return rf"\left{left} {write(inner)} \right{right}"
        case Command(name, option, arguments):
            return name + option + "".join(f"{{{write(row)}}}" for row in arguments)
        case Scripted(base, below, above):
            scripts = ((mark, row) for mark, row in (("_", below), ("^", above)) if row is not None)
            return _write(base) + "".join(f"{mark}{{{write(row)}}}" for mark, row in scripts)


def _row(tokens: list[str], at: int, closing: str | None) -> tuple[Row, int]:
    """Items up to the token that closes them, and the position of that token."""
    items: list[Item] = []
    while at < len(tokens) and tokens[at] != closing:
        if tokens[at] in ("}", r"\right"):
            raise ValueError(f"formula: {tokens[at]} closes nothing")
        if tokens[at] in ("_", "^"):
            script, after = _argument(tokens, at + 1)
            items.append(_with_script(items.pop() if items else Group(()), tokens[at], script))
            at = after
        else:
            item, at = _item(tokens, at)
            items.append(item)
    if closing is not None and at == len(tokens):
        raise ValueError(f"formula: {closing} is missing")
    return tuple(items), at


def _with_script(base: Item, mark: str, script: Row) -> Item:
    below, above = (script, None) if mark == "_" else (None, script)
    if isinstance(base, Scripted) and (base.below if mark == "_" else base.above) is None:
        return Scripted(base.base, base.below or below, base.above or above)
    if isinstance(base, Scripted):
        raise ValueError(f"formula: two scripts {mark}")
    return Scripted(base, below, above)


def _argument(tokens: list[str], at: int) -> tuple[Row, int]:
    """What a script or a command applies to: a group's inside, or one item."""
    item, after = _item(tokens, at)
    return (item.inner if isinstance(item, Group) else (item,)), after


def _item(tokens: list[str], at: int) -> tuple[Item, int]:
    if at >= len(tokens):
        raise ValueError("formula: an argument is missing")
    token = tokens[at]
    if token == "{":
        inner, end = _row(tokens, at + 1, "}")
        return Group(inner), end + 1
    if token == r"\left":
        inner, end = _row(tokens, at + 2, r"\right")
        return Bracket(tokens[at + 1], inner, tokens[end + 1]), end + 2
    if token == r"\begin":
        end = _end_of_environment(tokens, at)
        return Leaf(_joined(tokens[at:end])), end
    if token in ARGUMENTS:
        return _command(tokens, at)
    return Leaf(token), at + 1


def _command(tokens: list[str], at: int) -> tuple[Command, int]:
    name, option = tokens[at], ""
    at += 1
    if name == r"\sqrt" and tokens[at] == "[":
        end = tokens.index("]", at)
        option, at = "".join(tokens[at : end + 1]), end + 1
    arguments = []
    for _ in range(ARGUMENTS[name]):
        start = at
        row, at = _argument(tokens, at)
        if name in WORDS:
            row = (Leaf(_joined(tokens[start:at]).removeprefix("{").removesuffix("}")),)
        arguments.append(row)
    return Command(name, option, tuple(arguments)), at


def _joined(tokens: list[str]) -> str:
    """Tokens side by side, with a space where a command's name has to end."""
    return "".join(f"{t} " if re.fullmatch(r"\\[A-Za-z]+", t) else t for t in tokens).strip()


def _end_of_environment(tokens: list[str], at: int) -> int:
    r"""The position after ``\end{name}``."""
    depth = 0
    for position in range(at, len(tokens)):
        depth += {r"\begin": 1, r"\end": -1}.get(tokens[position], 0)
        if depth == 0:
            return tokens.index("}", position) + 1
    raise ValueError(r"formula: \end is missing")

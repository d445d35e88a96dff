"""What theory/ says when a definition cannot be used."""

from __future__ import annotations

import sympy as sp

MAX_SHOWN = 100  # characters of an expression in a message


class DefinitionError(ValueError):
    """One line that says what is wrong with a definition, where, and what would be right."""


class ExpressionError(DefinitionError):
    """A fault in the text of an expression, at the 0-based `position` in `text`."""

    def __init__(self, what: str, text: str, position: int, advice: str) -> None:
        super().__init__(what, text, position, advice)
        self.what, self.text, self.position, self.advice = what, text, position, advice

    def __str__(self) -> str:
        excerpt, _ = self._excerpt()
        return f'{self.what} at character {self.position + 1} of "{excerpt}"; {self.advice}'

    def caret(self) -> str:
        """Two lines: the text, and a caret under the offending character."""
        excerpt, column = self._excerpt()
        return f"{excerpt}\n{' ' * column}^"

    def _excerpt(self) -> tuple[str, int]:
        """About 60 characters around the position, printable, and its column in them."""
        start, end = max(0, self.position - 30), self.position + 30
        before = "..." * (start > 0) + _printable(self.text[start : self.position])
        after = _printable(self.text[self.position : end]) + "..." * (end < len(self.text))
        return before + after, len(before)


def shown(expression: sp.Basic) -> str:
    """An expression as one line of a message, shortened in the middle."""
    text = " ".join(str(expression).split())
    half = MAX_SHOWN // 2
    return text if len(text) <= MAX_SHOWN else f"{text[:half]} ... {text[-half:]}"


def _printable(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii")

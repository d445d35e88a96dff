"""What a document is made of: sections of paragraphs, equations, tables and verdicts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "math", "code", "strong"]

_MARKS = re.compile(
    r"\$(?P<math>[^$]+)\$|`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\\(?P<text>.)"
)


@dataclass(frozen=True)
class Span:
    """A run of text of one kind; LaTeX where it is math."""

    text: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Text:
    """Words with formulas between them."""

    spans: tuple[Span, ...]

    @classmethod
    def of(cls, marked: str) -> Text:
        r"""Read ``$formula$``, `` `code` `` and ``**strong**``; a backslash makes a mark plain.

        >>> Text.of("risk $E$").spans
        (Span(text='risk ', kind='text'), Span(text='E', kind='math'))
        """
        spans: list[Span] = []
        end = 0
        for match in _MARKS.finditer(marked):
            spans.append(Span(marked[end : match.start()]))
            kind: Kind = match.lastgroup  # type: ignore[assignment]
            spans.append(Span(match[kind], kind))
            end = match.end()
        spans.append(Span(marked[end:]))
        return cls(tuple(span for span in spans if span.text))


@dataclass(frozen=True)
class Paragraph:
    """One paragraph."""

    text: Text


@dataclass(frozen=True)
class Equation:
    """A displayed formula in LaTeX, as long as it is; writers break it (breaking.py)."""

    latex: str


@dataclass(frozen=True)
class Table:
    """Rows under a header; the first cell of a row names it."""

    header: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True)
class Verdict:
    """Both sides of a step as numbers, how far apart they may be, and whether they agree."""

    left: float
    right: float
    tolerance: float
    passed: bool

    def __str__(self) -> str:
        word = "holds" if self.passed else "DOES NOT HOLD"
        return (
            f"Numbers: left {self.left:.8f}, right {self.right:.8f}, difference "
            f"{abs(self.left - self.right):.1e}, tolerance {self.tolerance:.0e}: {word}."
        )


Block = Paragraph | Equation | Table | Verdict


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A title, what comes before the first heading, and sections."""

    title: Text
    lead: tuple[Block, ...]
    sections: tuple[Section, ...]


def plain(text: str) -> str:
    r"""Text that a user chose, so that none of its characters is taken for a mark.

    >>> "".join(span.text for span in Text.of(plain("2**x $")).spans)
    '2**x $'
    """
    return re.sub(r"([\\$`*])", r"\\\1", text)


def paragraph(marked: str) -> Paragraph:
    """A paragraph from text with marks."""
    return Paragraph(Text.of(marked))


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """A table from cells with marks."""
    return Table(
        tuple(Text.of(cell) for cell in header),
        tuple(tuple(Text.of(cell) for cell in row) for row in rows),
    )

"""Documents as HTML: one file with MathML, which needs no network and no script."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files

from latex2mathml.converter import convert

from theory.document.breaking import broken
from theory.document.parts import Block, Document, Equation, Paragraph, Span, Table, Text, Verdict

_OVER = r"<munderover>\1</munderover>"
# What the converter takes for operators or marks in a way that browsers no longer read.
_REPAIRS = (
    (re.compile(r'<mn mathvariant="bold">1</mn>'), "<mn>&#x1D7CF;</mn>"),
    (re.compile(r"<mo>&#x0221E;</mo>"), "<mi>&#x221E;</mi>"),
    (re.compile(r"<mi>&#x0007E;</mi>"), "<mo>&#x223C;</mo>"),
    # Limits of a sum stand below and above it where there is room, inside brackets as well.
    (re.compile(r"<msubsup>(<mo>&#x02211;</mo>(?:(?!<msubsup>).)*?)</msubsup>"), _OVER),
    (re.compile(r"<msub>(<mo>&#x02211;</mo>(?:(?!<msub>).)*?)</msub>"), r"<munder>\1</munder>"),
    (re.compile(r"<mo>([A-Za-z]+)</mo>"), r'<mi mathvariant="normal">\1</mi>'),
)


def write(document: Document) -> str:
    """The whole page."""
    title = "".join(span.text for span in document.title.spans)
    links = "".join(
        f'<li><a href="#s{number}">{escape(section.heading)}</a></li>'
        for number, section in enumerate(document.sections, start=1)
    )
    parts = [
        *map(block, document.lead),
        f"<nav><ol>{links}</ol></nav>",
        *(
            f'<section id="s{number}"><h2>{escape(section.heading)}</h2>'
            + "\n".join(map(block, section.blocks))
            + "</section>"
            for number, section in enumerate(document.sections, start=1)
        ),
    ]
    return page(title, parts, text(document.title))


def page(title: str, parts: list[str], heading: str | None = None, style: str = "") -> str:
    """A self-contained page; ``style`` is added to that of documents."""
    css = files("theory.document").joinpath("document.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{css}{style}</style></head><body><main>",
            f"<h1>{heading or escape(title)}</h1>",
            *parts,
            "</main></body></html>",
            "",
        ]
    )


def block(part: Block) -> str:
    """One block."""
    match part:
        case Paragraph(words):
            return f"<p>{text(words)}</p>"
        case Equation(latex):
            return equation(latex)
        case Table(header, rows):
            head = "".join(f"<th>{text(cell)}</th>" for cell in header)
            body = "".join(_table_row(row) for row in rows)
            return (
                f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
                f"<tbody>{body}</tbody></table></div>"
            )
        case Verdict():
            kind = "check" if part.passed else "check failed"
            return f'<p class="{kind}">{escape(str(part))}</p>'


def equation(latex: str) -> str:
    """A displayed formula, broken into lines, in a box of its own that scrolls when narrow."""
    lines = []
    for line in broken(latex):
        # A sign that begins a line is still one between two terms.
        markup = mathml(f"{{}} {line.latex}" if line.indent else line.latex, block=True)
        lines.append(f'<div style="margin-left:{1.2 * line.indent:.1f}em">{markup}</div>')
    return f'<div class="scroll equation" tabindex="0">{"".join(lines)}</div>'


def mathml(latex: str, *, block: bool = False) -> str:
    """MathML of a formula, set as browsers understand it."""
    markup = convert(latex, display="block" if block else "inline")
    for pattern, replacement in _REPAIRS:
        markup = pattern.sub(replacement, markup)
    return markup


def text(words: Text) -> str:
    """Words with formulas between them."""
    return "".join(map(_span, words.spans))


def _table_row(row: tuple[Text, ...]) -> str:
    name, *cells = map(text, row)
    columns = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{name}</th>{columns}</tr>'


def _span(span: Span) -> str:
    if span.kind == "math":
        return mathml(span.text)
    tag = {"code": "code", "strong": "strong"}.get(span.kind)
    return f"<{tag}>{escape(span.text)}</{tag}>" if tag else escape(span.text)

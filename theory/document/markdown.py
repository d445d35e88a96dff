"""Documents as Markdown with LaTeX formulas, as code hosts show it."""

from __future__ import annotations

import re

from theory.document.breaking import aligned, broken
from theory.document.parts import Block, Document, Equation, Paragraph, Span, Table, Text, Verdict


def write(document: Document) -> str:
    """The whole document."""
    parts = [f"# {_text(document.title)}", *map(block, document.lead)]
    for section in document.sections:
        parts += [f"## {section.heading}", *map(block, section.blocks)]
    return "\n\n".join(parts) + "\n"


def block(part: Block) -> str:
    """One block."""
    match part:
        case Paragraph(text):
            return _text(text)
        case Equation(latex):
            return _equation(latex)
        case Table(header, rows):
            lines = [header, tuple(Text((Span("---"),)) for _ in header), *rows]
            return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)
        case Verdict():
            return f"*{part}*"


def _equation(latex: str) -> str:
    lines = broken(latex)
    if len(lines) == 1:
        return f"$${lines[0].latex}$$"
    return "$$\\begin{aligned}\n" + aligned(lines) + "\n\\end{aligned}$$"


def _text(text: Text) -> str:
    return "".join(map(_span, text.spans))


def _span(span: Span) -> str:
    marks = {"math": "$", "code": "`", "strong": "**", "text": ""}
    inner = re.sub(r"([\\*$`_<])", r"\\\1", span.text) if span.kind == "text" else span.text
    return f"{marks[span.kind]}{inner}{marks[span.kind]}"


def _cell(text: Text) -> str:
    # A bar would end the cell, in a formula as well.
    spans = (
        Span(re.sub(r"\\?\|", r"\\vert ", s.text), "math") if s.kind == "math" else s
        for s in text.spans
    )
    return "".join(_span(span).replace("|", r"\|") for span in spans)

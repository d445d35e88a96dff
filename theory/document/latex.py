"""Documents as LaTeX: a whole article that needs amsmath and nothing unusual."""

from __future__ import annotations

from theory.document.breaking import aligned, broken
from theory.document.parts import Block, Document, Equation, Paragraph, Span, Table, Text, Verdict

# Lines of LINE em at 10 points fit between these margins. Formulas start at the left: broken
# ones would otherwise begin at another place each.
PREAMBLE = r"""\documentclass[10pt,a4paper,fleqn]{article}
\usepackage[margin=19mm]{geometry}
\usepackage{amsmath,amssymb}
\usepackage{longtable}
\setlength{\mathindent}{1em}
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.5em}
\allowdisplaybreaks
"""
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}


def write(document: Document) -> str:
    """The whole article."""
    title = rf"{{\LARGE {_text(document.title)}\par}}"
    parts = [PREAMBLE + r"\begin{document}", title, _blocks(document.lead)]
    for section in document.sections:
        parts += [rf"\section{{{escape(section.heading)}}}", _blocks(section.blocks)]
    return "\n\n".join([*parts, r"\end{document}"]) + "\n"


def escape(text: str) -> str:
    r"""Plain text as LaTeX; a character that no default font has is written by its number.

    >>> escape("a_b & \u2603")
    'a\\_b \\& U+2603'
    """
    return "".join(_ESCAPES.get(c, c if " " <= c < "\x7f" else f"U+{ord(c):04X}") for c in text)


def _blocks(blocks: tuple[Block, ...]) -> str:
    text = ""
    for block in blocks:
        # An empty line before a displayed formula would make a paragraph of it.
        gap = "\n" if isinstance(block, Equation) else "\n\n"
        text += (gap if text else "") + _block(block)
    return text


def _block(block: Block) -> str:
    match block:
        case Paragraph(text):
            return _text(text)
        case Equation(latex):
            return _equation(latex)
        case Table(header, rows):
            return _table(header, rows)
        case Verdict():
            return rf"{{\small\itshape {escape(str(block))}\par}}"


def _equation(latex: str) -> str:
    lines = broken(latex)
    if len(lines) == 1:
        return f"\\begin{{equation*}}\n{lines[0].latex}\n\\end{{equation*}}"
    return "\\begin{align*}\n" + aligned(lines) + "\n\\end{align*}"


def _table(header: tuple[Text, ...], rows: tuple[tuple[Text, ...], ...]) -> str:
    def line(cells: tuple[Text, ...]) -> str:
        return " & ".join(map(_text, cells)) + r" \\"

    # Columns that break their lines: an entry may be as long as a user's formula.
    share = 0.7 / max(1, len(header) - 1)
    columns = "l" + rf"p{{{share:.3f}\textwidth}}" * (len(header) - 1)
    body = [line(header), r"\hline \endhead", *map(line, rows)]
    return "\n".join([rf"\begin{{longtable}}{{{columns}}}", *body, r"\end{longtable}"])


def _text(text: Text) -> str:
    return "".join(map(_span, text.spans))


def _span(span: Span) -> str:
    if span.kind == "math":
        return f"${span.text}$"
    command = {"code": r"\texttt", "strong": r"\textbf"}.get(span.kind)
    return rf"{command}{{{escape(span.text)}}}" if command else escape(span.text)

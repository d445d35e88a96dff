"""One self-contained HTML page: MathML equations, SVG figures, tables; no network needed."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from math import floor, log10
from typing import Any

from latex2mathml.converter import convert

from theory import rendering
from theory.derived import Derived


def page(title: str, sections: list[str]) -> str:
    """The whole document."""
    style = files("headflow").joinpath("page.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{style}</style></head><body><main>",
            f"<h1>{escape(title)}</h1>",
            *sections,
            "</main></body></html>",
            "",
        ]
    )


def section(heading: str, *parts: str) -> str:
    """A heading and what stands under it."""
    return "\n".join([f"<section><h2>{escape(heading)}</h2>", *parts, "</section>"])


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def table(header: list[str], rows: list[list[Any]]) -> str:
    """A table whose first column names the row; numbers come as finished text."""
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = []
    for name, *cells in rows:
        columns = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        body.append(f'<tr><th scope="row">{escape(str(name))}</th>{columns}</tr>')
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def number(value: float, error: float) -> str:
    """A value with as many digits as its error lets stand, and the error."""
    digits = 12 if error <= 0 else min(12, max(2, 1 - floor(log10(error))))
    # Adding 0.0 turns a rounded -0 into 0
    return f"{round(value, digits) + 0.0:.{digits}f} ± {error:.1g}"


def math(latex: str, *, block: bool = True) -> str:
    """MathML of a LaTeX formula."""
    markup = convert(latex, display="block" if block else "inline")
    return f'<div class="scroll">{markup}</div>' if block else markup


def derivation(derived: Derived) -> str:
    """The final equation, and every step behind a fold."""
    equation = "".join(math(line) for line in rendering.risk_lines(derived.risk, "E"))
    steps = []
    for step in derived.derivation.steps:
        formulas = "".join(math(line) for line in rendering.risk_lines(step.after, "E"))
        steps.append(
            f"<li><strong>{escape(step.rule)}.</strong> {escape(step.reason)}{formulas}</li>"
        )
    return (
        f"<h3>{escape(derived.activation.name)}</h3>{equation}"
        f"<details><summary>{len(steps)} steps from the definition</summary>"
        f'<ol start="0">{"".join(steps)}</ol></details>'
    )

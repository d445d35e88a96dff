"""One self-contained HTML page: MathML equations, SVG figures, tables; no network needed."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from math import floor, log10
from typing import Any

from sympy import Expr

from theory.derived import Derived
from theory.document import html
from theory.document.parts import Text
from theory.printing import collected_latex


def page(title: str, sections: list[str]) -> str:
    """The whole document."""
    style = files("headflow").joinpath("page.css").read_text(encoding="utf-8")
    return html.page(title, sections, style=style)


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


def math(latex: str) -> str:
    """MathML of a displayed formula."""
    return html.equation(latex)


def derivation(derived: Derived) -> str:
    """The final equation, and every step behind a fold."""
    steps = "".join(
        f"<li><strong>{escape(step.rule)}.</strong> {html.text(Text.of(step.reason))}"
        f"{_risk(step.after)}</li>"
        for step in derived.derivation.steps
    )
    return (
        f"<h3>{escape(derived.activation.name)}</h3>{_risk(derived.risk)}"
        f"<details><summary>{len(derived.derivation.steps)} steps from the definition</summary>"
        f'<ol start="0">{steps}</ol></details>'
    )


def _risk(expression: Expr) -> str:
    return math(f"E = {collected_latex(expression)}")

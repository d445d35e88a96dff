"""One self-contained HTML page: MathML equations, SVG figures, tables; no network needed."""

from __future__ import annotations

import hashlib
import re
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
    """The whole document: what comes before the first section, links to sections, sections."""
    style = files("headflow").joinpath("page.css").read_text(encoding="utf-8")
    found = [re.match(r'<section id="(.*?)"><h2>(.*?)</h2>', one) for one in sections]
    links = "".join(f'<li><a href="#{one[1]}">{one[2]}</a></li>' for one in found if one)
    lead = next((i for i, one in enumerate(found) if one), len(found))
    parts = [*sections[:lead], f"<nav><ol>{links}</ol></nav>", *sections[lead:]]
    return html.page(title, parts, style=style)


def section(heading: str, *parts: str) -> str:
    """A heading and what stands under it."""
    name = re.sub(r"\W+", "-", heading.lower()).strip("-")
    return "\n".join([f'<section id="{name}"><h2>{escape(heading)}</h2>', *parts, "</section>"])


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def words(marked: str) -> str:
    """A paragraph of our own text with ``$formulas$``, ``**strong**`` words and `` `code` ``."""
    return f"<p>{html.text(Text.of(marked))}</p>"


def bullets(texts: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"


def subheading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def figure(svg: str, caption: str) -> str:
    """A figure that shows its parts (data-parts of ``svg_text``) one by one on a narrow screen."""
    boxes = re.search(r'data-parts="(.*?)"', svg)
    if boxes is None:
        return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
    label = escape(caption.split(". ")[0])
    name = f"figure-{hashlib.sha256(svg.encode()).hexdigest()[:12]}"
    opening, inside = svg.rstrip().removesuffix("</svg>").split(">", 1)
    whole = (
        f'{opening} class="whole" role="img" aria-label="{label}"><g id="{name}">{inside}</g></svg>'
    )
    parts = "".join(
        f'<svg viewBox="{box}" width="{box.split()[2]}pt" aria-hidden="true">'
        f'<use href="#{name}"/></svg>'
        for box in boxes[1].split(";")
    )
    note = ""
    if boxes[1].count(";") > 1:
        note = '<p class="note">Panels stand under one another: what is left comes first.</p>'
    return (
        f'<figure>{whole}<div class="parts">{parts}{note}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table(header: list[str], rows: list[list[Any]]) -> str:
    """A table whose first column names the row; numbers come as finished text.

    On a narrow screen (page.css) every row becomes a list, in which each cell says its column.
    """
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = []
    for name, *cells in rows:
        columns = "".join(
            f'<td data-label="{escape(str(label))}">{escape(str(cell))}</td>'
            for label, cell in zip(header[1:], cells, strict=True)
        )
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
        f"<h3><code>{escape(derived.activation.name)}</code></h3>{_risk(derived.risk)}"
        f"<details><summary>{len(derived.derivation.steps)} steps from the definition</summary>"
        f'<ol start="0">{steps}</ol></details>'
    )


def _risk(expression: Expr) -> str:
    return math(f"E = {collected_latex(expression)}")

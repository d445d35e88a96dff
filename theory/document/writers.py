"""The formats that a document can be written in."""

from __future__ import annotations

from collections.abc import Callable

from theory.document import html, latex, markdown
from theory.document.parts import Document
from theory.errors import DefinitionError

WRITERS: dict[str, Callable[[Document], str]] = {
    "latex": latex.write,
    "markdown": markdown.write,
    "html": html.write,
}


def writer(name: str) -> Callable[[Document], str]:
    """The writer of a format; DefinitionError for an unknown one."""
    if name not in WRITERS:
        raise DefinitionError(f"format: expected one of {', '.join(WRITERS)}, got {name!r}")
    return WRITERS[name]

"""Rows of the benchmark: what was measured, on both sides, and whether a target is met."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

HEADINGS = ("what", "ours", "theirs", "ratio", "target", "met")


@dataclass(frozen=True)
class Row:
    """One comparison. ``kind`` of target: "at least" or "at most" ``target``, or "" for none.

    measured: the number that the target is about, nan when it could not be measured. ours,
    theirs: text for the reader.
    """

    what: str
    measured: float
    kind: str = ""
    target: float = 0.0
    unit: str = ""
    ours: str = ""
    theirs: str = ""

    @property
    def met(self) -> bool | None:
        if not self.kind:
            return None
        if self.kind == "at least":
            return self.measured >= self.target
        return self.measured <= self.target

    def cells(self) -> tuple[str, ...]:
        known = self.measured == self.measured
        measured = number(self.measured) + self.unit if known else "not measured"
        target = f"{self.kind} {number(self.target)}{self.unit}" if self.kind else "-"
        met = {True: "yes", False: "NO", None: "-"}[self.met]
        return (self.what, self.ours, self.theirs, measured, target, met)

    def record(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}


def number(value: float) -> str:
    """Three digits, thousands with commas."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def seconds(value: float) -> str:
    """A duration in the unit that suits it."""
    if value >= 1:
        return f"{number(value)} s"
    return f"{1e3 * value:.3g} ms" if value >= 1e-3 else f"{1e6 * value:.3g} us"


def table(rows: list[Row]) -> str:
    """All rows in columns."""
    cells = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEADINGS))]
    ruled = ["-" * width for width in widths]
    lines = [cells[0], ruled, *cells[1:]]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
    )

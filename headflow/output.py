"""What commands print and write: results, refusals, failures, progress."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent
from typing import Any

# What to say to those who stop a run.
GO_ON = "; with --out, the same command goes on where it was"


def given(act: Any) -> Any:
    """The activation of a command that needs one."""
    if act is None:
        from numerics.errors import InputError

        raise InputError("Missing argument 'activation': a catalogue name or a score in x")
    return act


def refuse(message: str, picture: str = "") -> None:
    """Bad input: one line, a picture of where in the text it is, and exit status 2."""
    print(f"headflow: {message}" if message else "headflow: see --help", file=sys.stderr)
    if picture:
        print(indent(picture, "  "), file=sys.stderr)
    raise SystemExit(2) from None


def fail(message: str) -> None:
    """A result that does not hold: one line and exit status 1."""
    print(f"headflow: {message}", file=sys.stderr)
    raise SystemExit(1)


def emit(result: Any, text: str, as_json: bool, out: Path | None) -> None:
    """Print a result as JSON or text, and write the same to a file."""
    printed = json.dumps(_finite(result), indent=2, default=str) if as_json else text
    if out is not None:
        from headflow.store import write_whole

        write_whole(out, printed + "\n")
    print(printed)


def _finite(value: Any) -> Any:
    """The same with null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def text_table(rows: list[dict[str, str]]) -> str:
    """Columns of plain text, as wide as their widest entry."""
    names = list(rows[0])
    widths = [max(len(name), *(len(row[name]) for row in rows)) for name in names]
    lines = [names, *([row[name] for name in names] for row in rows)]
    padded = ([cell.ljust(w) for cell, w in zip(line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def progress_bar(items: list[Any], what: str) -> Iterator[Any]:
    """Yield the items behind a progress bar on stderr that says what is going on."""
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=what, console=Console(stderr=True))


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Say on a terminal's stderr what goes on, for work of some seconds whose share is unknown."""
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def share_bar(what: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on stderr that is told the share done, from 0 to 1, and starts when it is."""
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=1.0)

    def tell(share: float) -> None:
        bar.start()
        bar.update(task, completed=share)

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()

"""The command `headflow sweep`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from headflow.dynamics_output import some_of
from headflow.options import JsonOpt
from headflow.output import emit, fail, text_table


def sweep(
    study: Annotated[Path, typer.Argument(help="TOML file: quantity, fixed, axes, seeds.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the Zarr store; default: the study's name.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Dask scheduler tcp://host:port, or 'local' to start one.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of processes; default: all processors.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Compute failed points again.")] = False,
    as_json: JsonOpt = False,
) -> None:
    """Evaluate a quantity over a grid of parameters and seeds; exit status 1 if a point failed.

    A sweep that was cut off goes on when the same command is given again.
    """
    from headflow.store import require_writable
    from headflow.sweeps import sweep as run
    from numerics.sweep.outcome import DONE, FAILED

    path = out or Path(f"{study.stem}.zarr")
    require_writable(path)
    try:
        with _bar(study.stem, shown=not as_json and sys.stderr.isatty()) as progress:
            data = run(
                study, path, cluster=cluster, workers=workers, retry=retry, progress=progress
            )
    except KeyboardInterrupt:
        print("headflow: interrupted; the same command goes on where it was", file=sys.stderr)
        raise SystemExit(130) from None
    points, failed = data.status.size, int((data.status == FAILED).sum())
    reasons: dict[str, int] = {}
    for reason in data.reason.values[data.status.values == FAILED]:
        reasons[reason] = reasons.get(reason, 0) + 1
    result = {
        "name": data.attrs["name"],
        "quantity": data.attrs["quantity"],
        "axes": {name: data[name].values.tolist() for name in data.status.dims},
        "points": points,
        "done": int((data.status == DONE).sum()),
        "failed": failed,
        "reasons": reasons,
        "seconds": float(data.seconds.sum()),
        "configuration_hash": data.attrs["configuration_hash"],
        "store": str(path),
    }
    emit(result, f"{_table(data)}\n\n{points} points, {failed} failed: {path}", as_json, None)
    if failed:
        most = max(reasons, key=lambda reason: reasons[reason])
        fail(f"sweep: {failed} of {points} points failed, {reasons[most]} of them with: {most}")


def _table(data: Any) -> str:
    """Some points with their values; of an array the first entry."""
    import numpy as np

    rows = []
    for i in some_of(data.status.size):
        place = np.unravel_index(i, data.status.shape)
        row = {
            name: str(data[name].values[k]) for name, k in zip(data.status.dims, place, strict=True)
        }
        value, error = (data[name].values[place] for name in ("value", "error"))
        more = " ..." if value.size > 1 else ""
        row["value"] = f"{value.flat[0]:.8g}{more}"
        row["error"] = f"{error.flat[0]:.1e}{more}"
        row["reason"] = str(data.reason.values[place])[:60]
        rows.append(row)
    return text_table(rows)


@contextmanager
def _bar(what: str, shown: bool) -> Iterator[Callable[[Any], None]]:
    """A line on stderr with the points done, those failed, and the time that is left."""
    if not shown:
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    failed = TextColumn("{task.fields[failed]} failed,")
    with Progress(
        *columns, failed, Remaining(), TextColumn("left"), console=Console(stderr=True)
    ) as bar:
        task = bar.add_task(what, total=None, failed=0)

        def tell(now: Any) -> None:
            # Points of an earlier run tell nothing about the pace of this one.
            bar.update(
                task, total=now.total - now.kept, completed=now.done - now.kept, failed=now.failed
            )

        yield tell

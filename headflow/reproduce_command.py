"""The command `headflow reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headflow.options import JsonOpt
from headflow.output import emit, fail, share_bar


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments; all of them if left out.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller grids: minutes in all.")] = False,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("reproduced"),
    as_json: JsonOpt = False,
) -> None:
    """Compute the model's results and check them; exit status 1 if a claim does not hold."""
    from headflow.reproduce.run import reproduce as run
    from headflow.store import require_writable

    require_writable(out)
    found = run(names or [], quick, out, share_bar)
    verdict = {True: "holds", False: "FAILS"}
    result = {
        name: [{**vars(claim), "holds": claim.holds} for claim in claims]
        for name, claims in found.items()
    }
    lines = [
        f"{name}: {verdict[claim.holds]}: {claim.text}"
        for name, claims in found.items()
        for claim in claims
    ]
    emit(result, "\n".join([*lines, f"written: {out}/index.html"]), as_json, None)
    failed = [f"{n}: {c.name}" for n, claims in found.items() for c in claims if not c.holds]
    if failed:
        fail(f"reproduce: {len(failed)} claim(s) do not hold: {'; '.join(failed)}")

"""Experiments one after the other: data and figure of each, and the page of all that are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

from headflow.reproduce import NAMES
from headflow.reproduce.claim import Claim
from headflow.reproduce.experiment import Experiment
from headflow.reproduce.pages import Result, whole_page
from headflow.reproduce.work import Work
from headflow.store import write_netcdf, write_whole
from numerics.sweep.executor import LocalExecutor

# A progress bar of that name, as a context that gives whom to tell the share done.
Bar = Callable[[str], AbstractContextManager[Callable[[float], None]]]


def reproduce(names: Sequence[str], quick: bool, folder: Path, bar: Bar) -> dict[str, list[Claim]]:
    """Run experiments, all if ``names`` is empty; the claims of each.

    Writes <name>.nc and <name>.svg into ``folder`` as each is done, and index.html, which also
    shows what earlier runs left there. bar: a context that takes the share done. Raises InputError
    before any work for an unknown name.
    """
    todo = [Experiment.of(name) for name in names or NAMES]
    found = {}
    with closing(LocalExecutor()) as executor:
        for one in todo:
            with bar(one.name) as progress:
                data = one.run(quick, Work(executor, progress))
            write_netcdf(data, folder / f"{one.name}.nc")
            write_whole(folder / f"{one.name}.svg", one.draw(data))
            found[one.name] = one.claims(data)
            write_whole(folder / "index.html", whole_page(_results(folder)))
    return found


def _results(folder: Path) -> list[Result]:
    """All experiments whose data are in the folder, as read back from there."""
    results = []
    for one in map(Experiment.of, NAMES):
        data = one.stored(folder)
        if data is not None:
            results.append(Result(one, data, one.claims(data), one.draw(data)))
    return results

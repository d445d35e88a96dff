"""Sweeps: any quantity over any grid of parameters and seeds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import xarray as xr

from headflow.built_in import BuiltIn
from headflow.inputs import read_file
from headflow.quantities import QUANTITIES
from headflow.user_function import UserFunction
from headflow.versions import versions
from numerics.checks import count
from numerics.errors import InputError
from numerics.sweep.axes import put
from numerics.sweep.cluster import DaskExecutor
from numerics.sweep.dataset import open_sweep
from numerics.sweep.executor import Executor, LocalExecutor
from numerics.sweep.run import Progress, run
from numerics.sweep.store import SweepStore
from numerics.sweep.study import Study


def sweep(
    study: Path | str | Mapping[str, Any],
    out: Path | str | None = None,
    *,
    cluster: str | None = None,
    workers: int | None = None,
    retry: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> xr.Dataset:
    """A quantity over a grid of parameters and seeds, as a Dataset over the axes and ``seed``.

    study: a TOML file, or its content (docs/sweeps.md). out: folder of the Zarr store, by which a
    sweep that was cut off goes on; without it nothing is kept. cluster: address of a Dask
    scheduler, or "local" for one started here; processes of this machine without it. workers:
    how many of them, all processors if not given. retry: compute failed points again.

    Variables value, error, status (0 pending, 1 done, 2 failed), reason, seconds (of wall time).
    The bits of value and error do not depend on executor, workers, order or a resume. A script
    must guard its main part (``__name__ == "__main__"``), since processes are spawned. Raises
    InputError or DefinitionError, before any work, for what cannot be computed.
    """
    grid, quantity = read_study(study)
    number = None if workers is None else count("workers", workers)
    # Before a store is made: an address that nothing answers at leaves nothing behind.
    executor: Executor = LocalExecutor(number) if cluster is None else DaskExecutor(cluster, number)
    with closing(executor):
        return sweep_on(executor, grid, quantity, out, retry, progress)


def read_study(given: Path | str | Mapping[str, Any]) -> tuple[Study, BuiltIn | UserFunction]:
    """The grid and the quantity of a study, its parameters checked one by one."""
    table, folder = (
        (given, Path.cwd())
        if isinstance(given, Mapping)
        else (read_file("study", str(given)), Path(given).resolve().parent)
    )
    study = Study.of(table)
    quantity: BuiltIn | UserFunction
    if ":" in study.quantity:
        quantity = UserFunction.of(study.quantity, folder, versions())
        study = replace(study, source=quantity.digest)
    elif study.quantity in QUANTITIES:
        quantity = BuiltIn(study.quantity, versions())
        if study.dims:
            raise InputError(f"dims: {study.quantity} is a number; leave dims out")
    else:
        raise InputError(
            f"quantity: unknown {study.quantity!r}; known are {', '.join(QUANTITIES)}, "
            "and 'module:function'"
        )
    for parameters in _samples(study):
        if isinstance(quantity, UserFunction):
            quantity.require_parameters(parameters, len(study.seeds))
        else:
            quantity.require_parameters(parameters)
    return study, quantity


def _samples(study: Study) -> Any:
    """Parameters in which every value of every axis occurs."""
    first = study.point(0).parameters
    yield first
    for axis in study.axes:
        for value in axis.values[1:]:
            parameters = deepcopy(first)
            put(parameters, axis, value)
            yield parameters


def sweep_on(
    executor: Executor,
    study: Study,
    quantity: BuiltIn | UserFunction,
    out: Path | str | None = None,
    retry: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> xr.Dataset:
    """``sweep`` of what ``read_study`` gave, on workers that the caller has, and keeps."""
    if out is None:
        with tempfile.TemporaryDirectory() as folder:
            return sweep_on(executor, study, quantity, Path(folder) / "sweep", retry, progress)
    about = quantity.about()
    # An axis over a part of a parameter means what the parameter means.
    parts = {axis.name: about.get(axis.parameter, {}) for axis in study.axes}
    store = SweepStore(Path(out), study, quantity.versions, {**about, **parts}, retry)
    with closing(store):
        run(study, quantity, executor, store, progress)
    return open_sweep(Path(out))

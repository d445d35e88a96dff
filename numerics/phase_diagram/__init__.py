# notation: m, R alignments and overlaps.
"""Phase diagrams over two parameters: which kind of state is stable and of least risk where."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from numerics.checkpoint import Checkpoint
from numerics.checks import count, real_array
from numerics.errors import InputError
from numerics.phase_diagram.kept import Kept
from numerics.phase_diagram.states import NAMES, NOT_FOUND, Place, failed, place_at
from numerics.risk import PopulationRisk
from numerics.saddles.fixed_points import require_fixed
from numerics.workers import executor_for

__all__ = ["NAMES", "NOT_FOUND", "diagram"]

RiskAt = Callable[[float, float], PopulationRisk]


def diagram(
    risk_at: RiskAt,
    heads: int,
    names: tuple[str, str],
    first: Any,
    second: Any,
    *,
    workers: int = 1,
    checkpoint: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> xr.Dataset:
    """The diagram of risks ``risk_at(first, second)`` that are given; as headflow.phase_diagram.

    risk_at: can be sent to other processes.
    """
    heads, workers = count("heads", heads), count("workers", workers)
    values = tuple(_axis(*one) for one in zip(("first", "second"), (first, second), strict=True))
    if names[0] == names[1]:
        raise InputError(f"second: {names[1]!r} is the first parameter already; name another one")
    corner = risk_at(float(values[0][0]), float(values[1][0]))
    require_fixed(corner)
    configuration = {
        **corner.describe(),
        "heads": heads,
        "first": {"name": names[0], "values": values[0].tolist()},
        "second": {"name": names[1], "values": values[1].tolist()},
    }
    keeper = Checkpoint(checkpoint, configuration)
    arrays = keeper.load()
    shape = (values[0].size, values[1].size)
    kept = Kept.nothing(shape, heads, corner.prior.spikes) if arrays is None else Kept(arrays)
    complete = _fill(kept, risk_at, heads, values, workers, keeper, progress)
    if complete:
        keeper.remove()
    return _dataset(kept, names, values, corner.prior.spikes, configuration, complete)


def task(risk_at: RiskAt, heads: int, a: float, b: float, neighbour: np.ndarray | None) -> Place:
    """One place; what cannot be evaluated there is a reason, not an error."""
    try:
        return place_at(risk_at(a, b), heads, neighbour)
    except InputError as problem:
        return failed(str(problem))


def _fill(
    kept: Kept,
    risk_at: RiskAt,
    heads: int,
    values: tuple[np.ndarray, ...],
    workers: int,
    keeper: Checkpoint,
    progress: Callable[[int, int], None] | None,
) -> bool:
    """Compute what is missing; False if a KeyboardInterrupt came before the end.

    Each place waits for the one before it with the same first parameter, whose best state it
    tries, so that nothing depends on the number of workers or on what was kept.
    """
    total, size = kept.arrays["done"].size, values[1].size
    following = kept.next_of_rows
    waiting = [i for i, n in enumerate(following) if n < size]
    executor = executor_for(min(workers, max(1, len(waiting))))
    working: dict[Future, int] = {}
    try:
        while waiting or working:
            while waiting and len(working) < workers:
                i = waiting.pop(0)
                j = following[i]
                before = kept.heads_at((i, j - 1)) if j else None
                a, b = float(values[0][i]), float(values[1][j])
                working[executor.submit(task, risk_at, heads, a, b, before)] = i
            for future in wait(working, return_when=FIRST_COMPLETED).done:
                i, place = working.pop(future), future.result()
                kept.put((i, following[i]), place)
                following[i] += 1
                if following[i] < size:
                    waiting.append(i)
            keeper.offer(lambda: kept.arrays)
            if progress is not None:
                progress(int(kept.arrays["done"].sum()), total)
    except KeyboardInterrupt:
        pass
    finally:
        executor.shutdown(cancel_futures=True)
        complete = bool(kept.arrays["done"].all())
        if not complete:
            keeper.save(kept.arrays)
    return complete


def _axis(name: str, given: Any) -> np.ndarray:
    values = real_array(f"{name}: values", given, 1)
    if values.size < 1 or np.any(np.diff(values) <= 0):
        raise InputError(f"{name}: expected values in increasing order, got {given!r}"[:200])
    return values


def _dataset(
    kept: Kept,
    names: tuple[str, str],
    values: tuple[np.ndarray, ...],
    spikes: int,
    configuration: dict[str, Any],
    complete: bool,
) -> xr.Dataset:
    arrays, dims = kept.arrays, ("first", "second")
    known = arrays["done"]
    heads = arrays["heads"]
    # Where no stable state is known there are no heads to tell of.
    there = (arrays["width"] > 0)[..., None, None]

    def over(name: str, long_name: str) -> tuple[Any, ...]:
        array = arrays[name]
        if array.dtype.kind == "f":
            array = np.where(known, array, np.nan)
        return dims, array, {"long_name": long_name, "units": "1"}

    failures = int(np.sum(known & (arrays["state"] == NOT_FOUND)))
    told = f"complete; no stable state at {failures} of {known.size} places"
    status = told if complete else f"interrupted: {int(known.sum())} of {known.size} places"
    return xr.Dataset(
        {
            "state": (dims, arrays["state"], {"flag_meanings": ", ".join(NAMES)}),
            "unspecialized_index": over(
                "unspecialized_index", "unstable modes of the unspecialized point, -1: not found"
            ),
            "noise_index": over("noise_index", "the same in each noise direction"),
            "risk": over("risk", "population risk of the best stable state"),
            "risk_error": over("risk_error", "its error"),
            "above_bayes": over("above", "that above the Bayes risk"),
            "above_bayes_error": over("above_error", "error of that"),
            "m": ((*dims, "head", "spike"), np.where(there, heads[..., :spikes], np.nan)),
            "R": (
                (*dims, "head", "other_head"),
                np.where(there, heads @ np.swapaxes(heads, -1, -2), np.nan),
            ),
            "reason": (dims, arrays["reason"].astype(object)),
        },
        coords={
            dim: (dim, axis, {"long_name": name})
            for dim, axis, name in zip(dims, values, names, strict=True)
        },
        attrs={"status": status, "configuration": json.dumps(configuration)},
    )

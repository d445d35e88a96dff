"""What one point came to: a value with its error, or the reason why there is none."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

# Imported so that its own linear algebra library is there when threads are limited.
import scipy.linalg  # noqa: F401
from threadpoolctl import ThreadpoolController

from numerics.sweep.study import Point

PENDING, DONE, FAILED = 0, 1, 2
# Of a reason, what fits a line.
LENGTH = 300
# Filters of warnings belong to the process, and so do caches of SymPy: a worker with several
# threads takes its points one by one.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Outcome:
    """value, error: arrays of the shape of a value, nan where there is none. reason: why the
    point failed, or what it warned of. seconds: of wall time."""

    index: int
    status: int
    value: np.ndarray
    error: np.ndarray
    reason: str
    seconds: float


def evaluate(
    function: Callable[[dict[str, Any], np.random.SeedSequence], Any],
    shape: tuple[int, ...],
    point: Point,
) -> Outcome:
    """The outcome of one point, by one thread; whatever the function raises is a reason."""
    nothing = np.full(shape, np.nan)
    _keep_to_one_thread()
    with _ONE_AT_A_TIME, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        try:
            value, error = value_and_error(function(point.parameters, point.stream()), shape)
            problem = "" if np.isfinite(value).any() else "the value is not finite"
        except Exception as raised:
            problem = f"{type(raised).__name__}: {raised}"
        seconds = time.perf_counter() - begin
    if problem:
        return Outcome(point.index, FAILED, nothing, nothing, _line(problem), seconds)
    said = "; ".join(dict.fromkeys(str(one.message) for one in caught))
    return Outcome(point.index, DONE, value, error, _line(said), seconds)


def value_and_error(given: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """A number, an array, a pair (value, error) or an Estimate as arrays of ``shape``.

    The error is nan where none was given. Raises ValueError for anything else.
    """
    if hasattr(given, "value") and hasattr(given, "error"):
        given = (given.value, given.error)
    value, error = given if isinstance(given, tuple) and len(given) == 2 else (given, np.nan)
    arrays = []
    for name, one in (("value", value), ("error", error)):
        array = np.asarray(one)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"returned a {name} that is no real number: {one!r}"[:LENGTH])
        arrays.append(array.astype(float))
    if arrays[0].shape != shape:
        raise ValueError(
            f"returned shape {arrays[0].shape}, expected {shape}: the study's dims say which"
        )
    return arrays[0], np.broadcast_to(arrays[1], shape)


@cache
def _keep_to_one_thread() -> None:
    """For as long as this worker lives: sums then have the same order on every machine's cores."""
    ThreadpoolController().limit(limits=1)


def _line(text: str) -> str:
    """One line without what could not be stored."""
    return " ".join(text.split()).encode("utf-8", "replace").decode()[:LENGTH]

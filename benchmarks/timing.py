"""Times of functions that take turns, so that a slow moment of the machine touches all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# Seconds that the repetitions of one comparison may take, and their number.
PATIENCE, MOST = 8.0, 41


def interleaved(
    ours: Callable[[], Any], theirs: Callable[[], Any], clock: Callable[[], float] | None = None
) -> list[list[float]]:
    """Times of both, taken in turn, as many as PATIENCE allows."""
    first = timings([ours, theirs], 1, clock)
    repetitions = min(MOST, int(PATIENCE / sum(times[0] for times in first)))
    return timings([ours, theirs], repetitions, clock) if repetitions > 1 else first


def timings(
    calls: list[Callable[[], Any]], repetitions: int, clock: Callable[[], float] | None = None
) -> list[list[float]]:
    """Times of every call in turn; each was called before, so none compiles here.

    clock: wall time when not given, time.process_time for CPU time.
    """
    clock = clock or time.perf_counter
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(repetitions):
        for call, times in zip(calls, taken, strict=True):
            start = clock()
            call()
            times.append(clock() - start)
    return taken

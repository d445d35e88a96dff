"""Where tasks run: one small interface, and the processes of this machine behind it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from numerics.workers import WorkerPool

# Tasks given out at once, for each worker: one it works on, one that waits for it.
AHEAD = 2
# Whoever consumes results hears something this often, be it that there are none.
HEARTBEAT = 0.5
# Times that a task is tried with nothing else running, after it was lost among others.
ALONE = 1


@dataclass(frozen=True)
class Lost:
    """A task whose workers were lost, one after the other."""

    task: Any
    reason: str


class Executor(Protocol):
    """Applies a function to tasks in other processes, in any order."""

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[list[Any]]:
        """What has finished since the last time, perhaps nothing, at least every HEARTBEAT.

        Tasks are taken from their iterator as there is room for them. One whose worker is lost is
        tried again; a Lost stands for one that lost every worker it got. What the function raises
        ends everything.
        """

    def close(self) -> None:
        """End the workers that were started for this executor."""


class Backend(Protocol):
    """What ``in_window`` needs of a pool of workers; futures are those of concurrent.futures."""

    @property
    def workers(self) -> int: ...

    def submit(self, function: Callable[[Any], Any], task: Any) -> Any: ...

    def lost(self, problem: BaseException) -> bool:
        """Whether this says that a worker was lost, not that the function failed."""


@dataclass(frozen=True)
class _Trial:
    """A task, and how often it was lost."""

    task: Any
    losses: int = 0


@dataclass
class _Window:
    """Trials that are out, and those that have to be repeated alone."""

    running: dict[int, tuple[Any, _Trial]] = field(default_factory=dict)
    suspects: deque[_Trial] = field(default_factory=deque)
    finished: SimpleQueue[int] = field(default_factory=SimpleQueue)
    number: int = 0


def in_window(
    backend: Backend, function: Callable[[Any], Any], tasks: Iterable[Any]
) -> Iterator[list[Any]]:
    """``Executor.map_unordered`` with a bounded number of tasks out at a time.

    Which of the tasks that were out has ended a worker is not known. Each is tried again with
    nothing else running, so that none is blamed for another.
    """
    window, waiting = _Window(), iter(tasks)
    while True:
        _hand_out(backend, function, waiting, window)
        if not window.running:
            return
        results = []
        for number in _arrived(window.finished):
            future, trial = window.running.pop(number)
            try:
                results.append(future.result())
            except BaseException as problem:
                if not backend.lost(problem):
                    raise
                if trial.losses < ALONE:
                    window.suspects.append(_Trial(trial.task, trial.losses + 1))
                else:
                    results.append(Lost(trial.task, f"lost its worker {1 + ALONE} times"))
        yield results


def _hand_out(
    backend: Backend, function: Callable[[Any], Any], waiting: Iterator[Any], window: _Window
) -> None:
    room = AHEAD * backend.workers
    while len(window.running) < room:
        if any(trial.losses for _, trial in window.running.values()):
            return
        if window.suspects:
            if window.running:
                return
            trial = window.suspects.popleft()
        else:
            try:
                trial = _Trial(next(waiting))
            except StopIteration:
                return
        future = backend.submit(function, trial.task)
        window.number += 1
        window.running[window.number] = (future, trial)
        future.add_done_callback(partial(_tell, window.finished, window.number))


def _tell(finished: SimpleQueue[int], number: int, future: Any) -> None:
    finished.put(number)


def _arrived(finished: SimpleQueue[int]) -> Iterator[int]:
    """All that have finished; none if nothing does within HEARTBEAT."""
    try:
        yield finished.get(timeout=HEARTBEAT)
        while True:
            yield finished.get_nowait()
    except Empty:
        return


class LocalExecutor:
    """Processes of this machine, as many as it has processors unless told."""

    def __init__(self, workers: int | None = None):
        self.workers = workers or processors()
        self._pool = WorkerPool.of(self.workers)

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[list[Any]]:
        return in_window(self, function, tasks)

    def submit(self, function: Callable[[Any], Any], task: Any) -> Any:
        try:
            return self._pool.executor.submit(function, task)
        except BrokenExecutor:
            # A pool that has lost a worker takes no more tasks.
            self.close()
            self._pool = WorkerPool.of(self.workers)
            return self._pool.executor.submit(function, task)

    def lost(self, problem: BaseException) -> bool:
        return isinstance(problem, BrokenExecutor)

    def close(self) -> None:
        self._pool.stop()


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""Where tasks run: here, or in worker processes that leave Ctrl-C to the main process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any


def executor_for(workers: int) -> Executor:
    """One that runs each task at once for one worker, else that many spawned processes."""
    if workers == 1:
        return _Here()
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=_leave_interrupts)


@dataclass(frozen=True)
class WorkerPool:
    """A pool of fresh interpreters that end when ``stop`` is called or this process is gone."""

    executor: ProcessPoolExecutor
    lifeline: Connection

    @classmethod
    def of(cls, workers: int) -> WorkerPool:
        # A fresh interpreter for each: forking one that holds threads can hang.
        context = get_context("spawn")
        theirs, ours = context.Pipe(duplex=False)
        executor = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(theirs,))
        return cls(executor, ours)

    def stop(self) -> None:
        """End all workers at once, whatever they are doing."""
        self.lifeline.close()
        self.executor.shutdown(cancel_futures=True)


class _Here(Executor):
    """Runs a task at once, in this process."""

    def submit(self, fn: Callable, /, *args: Any, **kwargs: Any) -> Future:
        future: Future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def _leave_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal; only the main one answers it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _begin(lifeline: Connection) -> None:
    _leave_interrupts()
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    """Nothing is ever sent: what arrives is the end of the other side, killed or not.

    Without this a worker whose parent is killed waits for tasks for ever.
    """
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)

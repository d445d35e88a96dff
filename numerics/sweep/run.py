"""A sweep: points that are not done yet go out in groups, outcomes are stored as they come."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from numerics.sweep.executor import Executor, Lost
from numerics.sweep.group import Group, Quantity
from numerics.sweep.outcome import FAILED, Outcome
from numerics.sweep.store import SweepStore
from numerics.sweep.study import Point, Study

# Seconds of a group: long against sending it to a worker, short for whoever is interrupted.
GROUP_SECONDS = 0.5
MOST_IN_GROUP = 64
# Seconds between two writes.
PAUSE = 0.5


@dataclass(frozen=True)
class Progress:
    """Points done, failed ones among them, of all; of these ``kept`` were there before."""

    done: int
    failed: int
    total: int
    kept: int


def run(
    study: Study,
    quantity: Quantity,
    executor: Executor,
    store: SweepStore,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Evaluate all points of ``study`` that ``store`` does not hold, and write them to it.

    A point that fails is stored with its reason. Points whose group lost its workers go out again
    one by one, so that only the one that ends its worker fails. An exception, Ctrl-C among them,
    leaves all that has arrived in the store.
    """
    group = Group(quantity, tuple(study.dims.values()))
    pending = store.pending()
    book = _Book(store, progress, study.size, study.size - pending.size)
    try:
        for number in (MOST_IN_GROUP, 1):
            groups = _groups(study, pending, book, number)
            lost = _pass(group, groups, executor, book, last=number == 1)
            pending = np.array(sorted(lost), dtype=int)
            if not lost:
                break
    finally:
        book.write()


@dataclass
class _Book:
    """Outcomes that are not written yet, and what is known of the pace."""

    store: SweepStore
    progress: Callable[[Progress], None]
    total: int
    kept: int
    waiting: list[Outcome] = field(default_factory=list)
    written: float = float("-inf")
    done: int = 0
    seconds: float = 0.0

    def add(self, outcomes: Iterable[Outcome]) -> None:
        for one in outcomes:
            self.waiting.append(one)
            self.done += 1
            # nan for a point whose worker was lost.
            self.seconds += one.seconds if math.isfinite(one.seconds) else 0.0
        if self.waiting and time.monotonic() - self.written >= PAUSE:
            self.write()

    def write(self) -> None:
        if self.waiting:
            # Kept until they are written: an interruption of the write repeats it.
            self.store.write(self.waiting)
            self.waiting = []
        self.written = time.monotonic()
        self.progress(Progress(self.kept + self.done, self.store.failed, self.total, self.kept))

    def pace(self) -> int:
        """Points that take about GROUP_SECONDS."""
        return int(GROUP_SECONDS * self.done / max(self.seconds, 1e-9)) if self.done else 1


def _groups(study: Study, pending: np.ndarray, book: _Book, most: int) -> Iterator[list[Point]]:
    """Points in order, in groups whose size follows the pace; made as they are asked for."""
    first = 0
    while first < pending.size:
        size = min(most, max(1, book.pace()))
        yield [study.point(index) for index in pending[first : first + size]]
        first += size


def _pass(
    group: Group, groups: Iterator[list[Point]], executor: Executor, book: _Book, last: bool
) -> set[int]:
    """Run the groups; the points that lost their workers, which in the last pass have failed."""
    lost: set[int] = set()
    for results in executor.map_unordered(group, groups):
        for one in results:
            if not isinstance(one, Lost):
                book.add(one)
            elif last:
                book.add(_failed(point, one.reason, group.shape) for point in one.task)
            else:
                lost |= {point.index for point in one.task}
        book.add(())
    return lost


def _failed(point: Point, reason: str, shape: tuple[int, ...]) -> Outcome:
    nothing = np.full(shape, np.nan)
    return Outcome(point.index, FAILED, nothing, nothing, reason, float("nan"))

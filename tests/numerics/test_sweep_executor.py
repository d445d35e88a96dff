"""The window of tasks that are out: bounded, and nobody is blamed for another's crash."""

from __future__ import annotations

import threading
from concurrent.futures import BrokenExecutor, Future

import pytest

from numerics.sweep.executor import AHEAD, ALONE, Lost, in_window


class Fragile:
    """A pool of which a task that is ``bad`` takes down all that is out, or only itself.

    It does so the first time when the task after it comes in, and later on its own: how fast the
    machine is decides nothing.
    """

    workers = 2

    def __init__(self, bad=None, whole=True):
        self.bad, self.whole, self.out, self.lock = bad, whole, {}, threading.Lock()
        self.most, self.crashes = 0, []

    def submit(self, function, task):
        future = Future()
        with self.lock:
            self.out[future] = task
            self.most = max(self.most, len(self.out))
            bad = [one for one, what in self.out.items() if what == self.bad and not self.crashes]
        if future not in bad:
            threading.Timer(0.03, self._work, (function, future)).start()
            for one in bad:
                self._work(function, one)
        return future

    def lost(self, problem):
        return isinstance(problem, BrokenExecutor)

    def _work(self, function, future):
        with self.lock:
            if future not in self.out:
                return
            fallen = [future]
            if self.out[future] == self.bad:
                self.crashes.append(len(self.out))
                fallen = list(self.out) if self.whole else fallen
            tasks = {one: self.out.pop(one) for one in fallen}
        for one, task in tasks.items():
            if self.bad in tasks.values():
                one.set_exception(BrokenExecutor())
                continue
            try:
                one.set_result(function(task))
            except ValueError as problem:
                one.set_exception(problem)


def square(number):
    if number < 0:
        raise ValueError("negative")
    return number**2


def test_all_tasks_are_done_and_never_more_than_the_window_are_out():
    backend, taken = Fragile(), []

    def tasks():
        for number in range(40):
            taken.append(number)
            # Taken as there is room, not all at once.
            assert len(taken) <= len(done) + AHEAD * backend.workers
            yield number

    done = []
    for results in in_window(backend, square, tasks()):
        done += results
    assert sorted(done) == [number**2 for number in range(40)]
    assert backend.most == AHEAD * backend.workers


@pytest.mark.parametrize("whole", [True, False])
def test_only_the_task_that_ends_its_worker_is_lost(whole):
    backend = Fragile(bad=7, whole=whole)
    done = [one for results in in_window(backend, square, range(20)) for one in results]
    (lost,) = [one for one in done if isinstance(one, Lost)]
    assert lost.task == 7 and f"{1 + ALONE} times" in lost.reason
    assert sorted(one for one in done if one is not lost) == [n**2 for n in range(20) if n != 7]
    # Among others first, which then is no proof; alone afterwards.
    assert len(backend.crashes) == 1 + ALONE and backend.crashes[0] > 1
    assert set(backend.crashes[1:]) == {1}


def test_what_the_function_raises_ends_everything():
    with pytest.raises(ValueError, match="negative"):
        for _ in in_window(Fragile(), square, [1, -2, 3]):
            pass

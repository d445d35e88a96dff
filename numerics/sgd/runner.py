"""Groups of runs advanced task by task, here or in worker processes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

import numpy as np

from numerics.sgd.advance import Record, advance
from numerics.sgd.plan import Plan
from numerics.sgd.records import Records
from numerics.sgd.runs import Runs
from numerics.workers import executor_for

# Runs of one group at most, fewer where the samples of their block would exceed 64 MB.
GROUP = 256
GROUP_NUMBERS = 1 << 23
# Seconds of a task: long against sending it to a worker, short for one who waits for Ctrl-C.
TASK_SECONDS = 1.0


@dataclass(frozen=True)
class Group:
    """Runs ``ids`` before block number ``block``; tasks advance it by ``pace`` blocks."""

    ids: tuple[int, ...]
    block: int
    runs: Runs
    pace: int = 1


def groups_of(plan: Plan, runs: Runs, blocks: np.ndarray, workers: int) -> list[Group]:
    """Groups for all ``runs``, of which run i is before block ``blocks[i]``."""
    numbers = plan.block_steps * plan.tokens * plan.width
    groups = []
    for block in np.unique(blocks):
        ids = np.flatnonzero(blocks == block)
        most = max(1, min(GROUP, GROUP_NUMBERS // numbers, -(-ids.size // workers)))
        for part in np.array_split(ids, -(-ids.size // most)):
            groups.append(Group(tuple(part.tolist()), int(block), runs.take(part)))
    return groups


def run_all(
    plan: Plan,
    groups: list[Group],
    records: Records,
    workers: int,
    progress: Callable[[int, int], None] | None,
    keep: Callable[[list[Group]], None],
    save: Callable[[list[Group]], None],
) -> bool:
    """Advance ``groups`` in place to their end; False if a KeyboardInterrupt came first.

    After each task ``keep`` is offered the groups; ``save`` gets them if the end is not reached.
    """
    executor = executor_for(min(workers, len(groups)))
    waiting = deque(i for i, group in enumerate(groups) if group.block < plan.blocks)
    working: dict[Future, int] = {}
    try:
        while waiting or working:
            while waiting and len(working) < workers:
                i = waiting.popleft()
                working[executor.submit(task, plan, groups[i])] = i
            for future in wait(working, return_when=FIRST_COMPLETED).done:
                i, (group, made) = working.pop(future), future.result()
                for record in made:
                    records.put(group.ids, record)
                # After its records, in one assignment: an interruption cannot come between.
                groups[i] = group
                if group.block < plan.blocks:
                    waiting.append(i)
            keep(groups)
            if progress is not None:
                progress(*_progress(plan, groups))
    except KeyboardInterrupt:
        pass
    finally:
        executor.shutdown(cancel_futures=True)
        complete = all(group.block == plan.blocks for group in groups)
        if not complete:
            save(groups)
    return complete


def task(plan: Plan, group: Group) -> tuple[Group, list[Record]]:
    """A group some blocks later, and what it recorded; the next task takes about a second."""
    begin = time.monotonic()
    runs, records = group.runs, []
    end = min(group.block + group.pace, plan.blocks)
    for block in range(group.block, end):
        runs, made = advance(plan, group.ids, runs, block)
        records += made
    seconds = (time.monotonic() - begin) / (end - group.block)
    return Group(group.ids, end, runs, max(1, int(TASK_SECONDS / seconds))), records


def _progress(plan: Plan, groups: list[Group]) -> tuple[int, int]:
    """Steps of runs that are done, and all of them."""
    done = sum(len(group.ids) * min(group.block * plan.block_steps, plan.steps) for group in groups)
    return done, sum(len(group.ids) for group in groups) * plan.steps

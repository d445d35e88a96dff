"""Tasks on a Dask cluster: one that is there, or one started on this machine."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from numerics.errors import InputError
from numerics.sweep.executor import in_window, processors

# Seconds that a scheduler gets to answer.
ANSWER = 10.0
# Workers come and go; they are counted again after as many seconds.
RECOUNT = 1.0
# A cluster may be without workers for a while; after as many seconds this is told.
LONELY = 30.0
LOCAL = "local"
GONE = "cluster: the scheduler is gone; with it back, the same command goes on where it was"


class DaskExecutor:
    """Workers of a Dask cluster, at ``address`` or, for "local", started on this machine.

    Raises InputError without Dask and where no scheduler answers.
    """

    def __init__(self, address: str, workers: int | None = None):
        try:
            import distributed
        except ImportError:
            raise InputError(
                "cluster: Dask is not installed; pip install 'headflow[cluster]'"
            ) from None
        if address != LOCAL and workers is not None:
            raise InputError(f"workers: those at {address} are used; leave this option out")
        self._cluster: Any = None
        self._losses = (distributed.scheduler.KilledWorker,)
        self._cancelled = (distributed.client.FutureCancelledError,)
        if address == LOCAL:
            self._cluster = distributed.LocalCluster(
                n_workers=workers or processors(),
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                # in_window tries again, as it does on the processes of this machine.
                scheduler_kwargs={"allowed_failures": 0},
                # What its processes say when they are ended is for nobody.
                silence_logs=logging.CRITICAL,
            )
        try:
            self._client = distributed.Client(self._cluster or address, timeout=ANSWER)
        except (OSError, ValueError, TypeError) as problem:
            raise InputError(
                f"cluster: no Dask scheduler answers at {address} ({type(problem).__name__}); "
                "give its address, such as tcp://10.0.0.1:8786, or 'local'"
            ) from None
        # A connection that is lost is said here in one line, not there in a traceback.
        self._log = logging.getLogger("distributed.client")
        self._level = self._log.level
        self._log.setLevel(logging.CRITICAL)
        self._counted, self._number = float("-inf"), 0
        self._alone_since: float | None = None

    @property
    def workers(self) -> int:
        """Workers that are there now; one where there are none, so that tasks wait for it."""
        now = time.monotonic()
        if now - self._counted >= RECOUNT:
            try:
                self._counted, self._number = now, len(self._client.nthreads())
            except OSError:
                raise InputError(GONE) from None
            self._alone_since = None if self._number else self._alone_since or now
            if self._alone_since and now - self._alone_since > LONELY:
                self._alone_since = now
                warnings.warn("cluster: there are no workers; waiting for some", stacklevel=2)
        return max(1, self._number)

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[list[Any]]:
        return in_window(self, function, tasks)

    def submit(self, function: Callable[[Any], Any], task: Any) -> Any:
        return self._client.submit(function, task, pure=False)

    def lost(self, problem: BaseException) -> bool:
        if isinstance(problem, self._cancelled):
            raise InputError(GONE) from None
        return isinstance(problem, self._losses)

    def close(self) -> None:
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()
        self._log.setLevel(self._level)

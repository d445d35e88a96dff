"""What experiments compute on: worker processes that all share, and who hears of the progress."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr

from headflow.sweeps import read_study, sweep_on
from numerics.errors import AccuracyWarning
from numerics.sweep.executor import Executor
from numerics.sweep.outcome import FAILED


@dataclass(frozen=True)
class Work:
    """executor: processes that outlive a sweep, since starting them and loading kernels takes
    seconds. progress: told the share of the experiment that is done, from 0 to 1.
    """

    executor: Executor
    progress: Callable[[float], None]

    def sweep(self, study: Mapping[str, Any], first: float = 0.0, last: float = 1.0) -> xr.Dataset:
        """hf.sweep of a study, by which the experiment goes from the share first to last.

        A failed point is nan in value and error, and warned of with its reason.
        """
        data = sweep_on(
            self.executor,
            *read_study(study),
            progress=lambda now: self.progress(first + (last - first) * now.done / now.total),
        )
        failed = data.reason.values[data.status.values == FAILED]
        if failed.size:
            warnings.warn(
                f"{study['name']}: {failed.size} of {data.status.size} points failed, the first "
                f"with: {failed[0]}",
                AccuracyWarning,
                stacklevel=2,
            )
        return data

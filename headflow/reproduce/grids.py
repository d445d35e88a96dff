"""Sweeps inside an experiment: their points run on all processors, failed ones are said."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import xarray as xr

from headflow.reproduce.experiment import Progress
from headflow.sweeps import sweep
from numerics.errors import AccuracyWarning
from numerics.sweep.outcome import FAILED


def swept(study: Mapping[str, Any], progress: Progress, share: tuple[float, float]) -> xr.Dataset:
    """hf.sweep of a study, whose progress goes from one share of the experiment to the other.

    A failed point is nan in value and error, and warned of with its reason.
    """
    first, last = share
    data = sweep(
        study, progress=lambda now: progress(first + (last - first) * now.done / now.total)
    )
    failed = data.reason.values[data.status.values == FAILED]
    if failed.size:
        warnings.warn(
            f"{study['name']}: {failed.size} of {data.status.size} points failed, the first with: "
            f"{failed[0]}",
            AccuracyWarning,
            stacklevel=2,
        )
    return data

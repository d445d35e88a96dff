"""Escape times with the versions that produced them."""

from __future__ import annotations

from functools import wraps
from typing import Any

import xarray as xr

import numerics.escape
from headflow.versions import with_versions


@wraps(numerics.escape.escape_times)
def escape_times(*args: Any, **options: Any) -> xr.Dataset:
    return with_versions(numerics.escape.escape_times(*args, **options))

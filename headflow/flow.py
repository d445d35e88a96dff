"""Gradient flow with the versions that produced it."""

from __future__ import annotations

from functools import wraps
from typing import Any

import xarray as xr

import numerics.flow
from headflow.versions import with_versions


@wraps(numerics.flow.gradient_flow)
def gradient_flow(*args: Any, **options: Any) -> xr.Dataset:
    return with_versions(numerics.flow.gradient_flow(*args, **options))

"""A sweep's store as an xarray Dataset."""

from __future__ import annotations

from pathlib import Path

import xarray as xr
import zarr

from numerics.errors import InputError
from numerics.sweep.layout import ABOUT


def open_sweep(path: Path | str) -> xr.Dataset:
    """The results in a store, finished or not, over the axes of its study and ``seed``.

    Variables: value and error (nan where a point is pending or failed), status (0 pending, 1 done,
    2 failed), reason, seconds. Attributes: name, quantity, configuration and versions as JSON,
    configuration_hash. Raises InputError for a folder that holds no sweep.
    """
    try:
        data = xr.open_zarr(path, chunks=None, consolidated=False).load()
        if not set(ABOUT) <= set(data.data_vars):
            raise KeyError
    except (OSError, KeyError, ValueError, zarr.errors.BaseZarrError):
        raise InputError(f"sweep: {path} holds no sweep") from None
    # Texts as Python's own, which every other format can hold.
    for name in [n for n, one in data.variables.items() if one.dtype.kind == "T"]:
        data[name] = data[name].astype(object)
    return data

"""What the Zarr store of a sweep looks like: arrays over the grid, named for xarray."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from numerics.sweep.outcome import DONE, FAILED, PENDING
from numerics.sweep.study import Study

# Points in one chunk, at most: a chunk is what one write replaces.
CHUNK = 1024
ABOUT: dict[str, dict[str, Any]] = {
    "value": {"long_name": "value", "units": "1"},
    "error": {"long_name": "error of the value, nan where none was given", "units": "1"},
    "status": {
        "long_name": "whether the point is done",
        "units": "1",
        "flag_values": [PENDING, DONE, FAILED],
        "flag_meanings": "pending done failed",
    },
    "reason": {"long_name": "why the point failed, or what it warned of", "units": "text"},
    "seconds": {"long_name": "wall time of the point", "units": "s"},
}


def configuration_hash(study: Study) -> str:
    text = json.dumps(study.configuration(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def create(
    path: Path, study: Study, versions: Mapping[str, str], about: Mapping[str, Mapping[str, Any]]
) -> None:
    """Make the store aside and move it to its place, so that there never is half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        root = zarr.open_group(
            aside / "store",
            mode="w",
            attributes={
                "name": study.name,
                "quantity": study.quantity,
                "configuration": json.dumps(study.configuration()),
                "configuration_hash": configuration_hash(study),
                "versions": json.dumps(dict(versions)),
            },
        )
        inner = tuple(study.dims.values())
        for name, kind, fill, sizes in (
            ("value", "f8", math.nan, inner),
            ("error", "f8", math.nan, inner),
            ("reason", str, "", ()),
            ("seconds", "f8", math.nan, ()),
            ("status", "i1", PENDING, ()),
        ):
            root.create_array(
                name,
                shape=study.shape + sizes,
                chunks=_chunks(study.shape) + sizes,
                dtype=kind,
                fill_value=fill,
                dimension_names=(*study.names, *study.dims)[: len(study.shape + sizes)],
                attributes={**ABOUT[name], **about.get(name, {})},
            )
        for name, values in _coordinates(study):
            axis = root.create_array(
                name,
                shape=values.shape,
                chunks=values.shape,
                dtype=str if values.dtype.kind == "U" else values.dtype,
                dimension_names=(name,),
                attributes={"long_name": name, "units": "1", **about.get(name, {})},
            )
            axis[...] = values
        (aside / "store").rename(path)
    finally:
        shutil.rmtree(aside)


def _coordinates(study: Study) -> Iterator[tuple[str, np.ndarray]]:
    for axis in study.axes:
        yield axis.name, np.asarray(axis.coordinate())
    yield "seed", np.asarray(study.seeds)
    for name, size in study.dims.items():
        yield name, np.arange(size)


def _chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Whole trailing dimensions, as many points as CHUNK has room for."""
    found, room = [], CHUNK
    for size in reversed(shape):
        found.append(min(size, room))
        room = max(1, room // found[-1])
    return tuple(reversed(found))

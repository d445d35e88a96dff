"""The Zarr store of a sweep: arrays over the grid, written whole chunk by whole chunk."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from numerics.errors import InputError
from numerics.sweep.layout import configuration_hash, create
from numerics.sweep.outcome import FAILED, PENDING, Outcome
from numerics.sweep.study import Study

# status is the last to be written: a point is done when everything else of it is there.
ORDER = ("value", "error", "reason", "seconds", "status")


class SweepStore:
    """Results of one study in the folder ``path``; held by one process at a time.

    versions: of what computes. about: attributes of "value" and of axes, such as long_name. retry:
    compute failed points again. Raises InputError for a folder that holds anything else, another
    study, or results of other versions.
    """

    def __init__(
        self,
        path: Path,
        study: Study,
        versions: Mapping[str, str],
        about: Mapping[str, Mapping[str, Any]] | None = None,
        retry: bool = False,
    ):
        if not path.exists():
            create(path, study, versions, about or {})
        root = _opened(path)
        _require_same(path, root, study, versions)
        self._lock = _locked(path)
        for left in path.rglob("*.partial"):
            # Of a write that was killed; its chunk is still the old one.
            left.unlink()
        self._arrays = {name: root[name] for name in ORDER}
        self._held = {name: array[...] for name, array in self._arrays.items()}
        self._grid = study.shape
        # Those of the grid; a value of several entries is whole in its chunk.
        self._chunks = self._arrays["status"].chunks
        self.failed = int((self._held["status"] == FAILED).sum())
        if retry:
            self._held["status"][self._held["status"] == FAILED] = PENDING
            self.failed = 0

    def pending(self) -> np.ndarray:
        """Flat indices of the points that are not done."""
        return np.flatnonzero(self._held["status"].ravel() == PENDING)

    def write(self, outcomes: Iterable[Outcome]) -> None:
        """Store outcomes; a kill at any moment leaves each of them done or still to do."""
        touched = set()
        for one in outcomes:
            place = np.unravel_index(one.index, self._grid)
            for name in ORDER:
                self._held[name][place] = getattr(one, name)
            touched.add(tuple(int(i) // n for i, n in zip(place, self._chunks, strict=True)))
        for name in ORDER:
            for corner in sorted(touched):
                block = tuple(
                    slice(i * n, (i + 1) * n) for i, n in zip(corner, self._chunks, strict=True)
                )
                self._arrays[name][block] = self._held[name][block]
        self.failed = int((self._held["status"] == FAILED).sum())

    def close(self) -> None:
        os.close(self._lock)


def _opened(path: Path) -> Any:
    try:
        root = zarr.open_group(path, mode="r+")
        if {"configuration", "versions"} <= set(root.attrs) and set(ORDER) <= set(root):
            return root
    except (OSError, ValueError, zarr.errors.BaseZarrError):
        pass
    raise InputError(f"out: {path} is there and holds no sweep; give another --out")


def _require_same(path: Path, root: Any, study: Study, versions: Mapping[str, str]) -> None:
    found, mine = root.attrs["configuration_hash"], configuration_hash(study)
    if found != mine:
        kept = json.loads(root.attrs["configuration"])
        changed = [k for k, v in study.configuration().items() if kept.get(k) != v]
        raise InputError(
            f"out: {path} holds another study (configuration {found}, this one is {mine}; "
            f"changed: {', '.join(changed)}); give another --out"
        )
    then = json.loads(root.attrs["versions"])
    for name, version in versions.items():
        if then.get(name) != version:
            raise InputError(
                f"out: {path} was computed with {name} {then.get(name)}, this is {version}; "
                "go on with that version or give another --out"
            )


def _locked(path: Path) -> int:
    """Hold the store until this process ends, however it does.

    The lock is on a file that is never replaced; Zarr warns of files that are not its own.
    """
    handle = os.open(path / "zarr.json", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise InputError(f"out: another sweep is writing to {path}; wait for it") from None
    return handle

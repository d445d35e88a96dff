"""Arrays kept in a file, so that a long run that was cut off goes on where it was."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from numerics.errors import InputError

# Seconds between two writes.
PAUSE = 2.0
_CONFIGURATION = "configuration"


class Checkpoint:
    """One file of named arrays that belong to one configuration; ``path`` None keeps nothing."""

    def __init__(self, path: Path | None, configuration: Mapping[str, Any]):
        self.path = path
        self.configuration = json.dumps(configuration, sort_keys=True)
        # The first offer is written at once: a short run is worth keeping, too.
        self._written = -math.inf

    def load(self) -> dict[str, np.ndarray] | None:
        """What was kept, None if nothing; InputError for a file of another run or a broken one."""
        if self.path is None or not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                kept = {name: file[name] for name in file.files}
            found = str(kept.pop(_CONFIGURATION))
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as problem:
            raise InputError(
                f"checkpoint: {self.path} is not readable ({problem}); remove it to start anew"
            ) from None
        if found != self.configuration:
            raise InputError(
                f"checkpoint: {self.path} belongs to another run; remove it or write elsewhere"
            )
        return kept

    def offer(self, arrays: Callable[[], Mapping[str, Any]]) -> None:
        """Write the arrays if the last write is long enough ago."""
        if self.path is not None and time.monotonic() - self._written >= PAUSE:
            self.save(arrays())

    def save(self, arrays: Mapping[str, Any]) -> None:
        """Write the arrays; an interruption leaves the old file."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".", suffix=".npz")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **{_CONFIGURATION: self.configuration, **arrays})
        os.replace(name, self.path)
        self._written = time.monotonic()

    def remove(self) -> None:
        """The run is done: what was kept is of no use."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

"""What a checkpoint keeps of a simulation, from which it goes on to the same bits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numerics.sgd.records import Records
from numerics.sgd.runner import Group
from numerics.sgd.runs import Runs


def identity(configuration: Mapping[str, Any], start: Runs) -> dict[str, Any]:
    """What must be the same for a checkpoint to be of this simulation."""
    bits = hashlib.sha256(b"".join(array.tobytes() for array in start.arrays().values()))
    return {**configuration, "start": bits.hexdigest()}


def pack(groups: Sequence[Group], records: Records) -> dict[str, np.ndarray]:
    """Blocks done (n,), the runs and their records as named arrays, in the order of the runs."""
    order = np.argsort(np.concatenate([group.ids for group in groups]))
    runs = Runs.joined([group.runs for group in groups]).take(order)
    blocks = np.repeat([group.block for group in groups], [len(group.ids) for group in groups])
    return {
        "blocks": blocks[order],
        **{f"runs_{name}": array for name, array in runs.arrays().items()},
        **{f"records_{name}": array for name, array in records.arrays().items()},
    }


def unpack(kept: Mapping[str, np.ndarray]) -> tuple[np.ndarray, Runs, Records]:
    """Blocks done (n,), runs and records from what ``pack`` made."""

    def under(prefix: str) -> dict[str, np.ndarray]:
        return {k.removeprefix(prefix): array for k, array in kept.items() if k.startswith(prefix)}

    return kept["blocks"], Runs(**under("runs_")), Records(**under("records_"))

"""What runs have recorded so far, nan where a run has not been."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from numerics.sgd.advance import Record
from numerics.sgd.plan import Plan


@dataclass(frozen=True)
class Records:
    """m (n, T, H, F), R (n, T, H, H), loss, loss_error and gain (n, T), beta (n, T, H)."""

    m: np.ndarray
    R: np.ndarray
    loss: np.ndarray
    loss_error: np.ndarray
    beta: np.ndarray
    gain: np.ndarray

    @classmethod
    def empty(cls, plan: Plan, seeds: int) -> Records:
        H, F = plan.heads, plan.prior.spikes
        shapes = {"m": (H, F), "R": (H, H), "loss": (), "loss_error": (), "beta": (H,), "gain": ()}
        lead = (seeds, len(plan.records))
        return cls(**{name: np.full((*lead, *rest), np.nan) for name, rest in shapes.items()})

    def put(self, ids: Sequence[int], record: Record) -> None:
        """Enter a record of the runs ``ids``; entering it twice changes nothing."""
        for name, array in self.arrays().items():
            array[list(ids), record.index] = getattr(record, name)

    def arrays(self) -> dict[str, np.ndarray]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

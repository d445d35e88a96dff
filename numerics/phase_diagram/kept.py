# notation: k heads (H, w) by coordinates, spikes first.
"""All places of a diagram as arrays: what a checkpoint keeps, and a Dataset is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.phase_diagram.states import Place

# Reasons are cut to so many characters.
LONGEST = 300
_NUMBERS = {
    "state": np.int8,
    "unspecialized_index": np.int16,
    "noise_index": np.int16,
    "risk": np.float64,
    "risk_error": np.float64,
    "above": np.float64,
    "above_error": np.float64,
}


@dataclass(frozen=True)
class Kept:
    """Arrays over (n1, n2): done, the numbers of Place, reason; heads (n1, n2, H, F + H), width.

    Heads are filled up with axes of no extent.
    """

    arrays: dict[str, np.ndarray]

    @classmethod
    def nothing(cls, shape: tuple[int, int], heads: int, spikes: int) -> Kept:
        numbers = {name: np.zeros(shape, dtype=kind) for name, kind in _NUMBERS.items()}
        return cls(
            {
                **numbers,
                "done": np.zeros(shape, dtype=bool),
                "width": np.zeros(shape, dtype=np.int16),
                "heads": np.zeros((*shape, heads, spikes + heads)),
                "reason": np.full(shape, "", dtype=f"U{LONGEST}"),
            }
        )

    def put(self, at: tuple[int, int], place: Place) -> None:
        for name in _NUMBERS:
            self.arrays[name][at] = getattr(place, name)
        self.arrays["reason"][at] = place.reason[:LONGEST]
        if place.heads is not None:
            width = place.heads.shape[1]
            self.arrays["width"][at] = width
            self.arrays["heads"][at][:, :width] = place.heads
        self.arrays["done"][at] = True

    def heads_at(self, at: tuple[int, int]) -> np.ndarray | None:
        """Heads of the best state at a place that is done; None if there is none."""
        width = int(self.arrays["width"][at])
        return self.arrays["heads"][at][:, :width].copy() if width else None

    @property
    def next_of_rows(self) -> list[int]:
        """For each value of the first parameter the number of the next place, n2 for none."""
        return [int(n) for n in self.arrays["done"].sum(axis=1)]

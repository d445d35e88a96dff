"""What a worker does: a quantity at a group of points. It imports no more than that needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from numerics.sweep.outcome import Outcome, evaluate
from numerics.sweep.study import Point


class Quantity(Protocol):
    """What is evaluated; it crosses to other processes by pickle."""

    def require_ready(self) -> None:
        """Raise an InputError in a process that would not compute the same; ends the sweep."""

    def __call__(self, parameters: dict[str, Any], stream: np.random.SeedSequence) -> Any:
        """A number, an array, (value, error) or an Estimate; raises where there is none."""


@dataclass(frozen=True)
class Group:
    """Applies a quantity to points, in a worker."""

    quantity: Quantity
    shape: tuple[int, ...]

    def __call__(self, points: list[Point]) -> list[Outcome]:
        self.quantity.require_ready()
        return [evaluate(self.quantity, self.shape, point) for point in points]

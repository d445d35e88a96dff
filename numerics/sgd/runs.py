"""The state of runs between blocks of steps, and the mean loss since the last record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np


def at_least_two(runs: np.ndarray) -> np.ndarray:
    """``runs``, a lone one twice.

    NumPy drops an axis of length 1 and may then sum the others in another order; with two runs
    or more the bits of each do not depend on how many there are.
    """
    return np.repeat(runs, 2) if runs.size == 1 else runs


@dataclass(frozen=True)
class Runs:
    """n runs after the same number of steps.

    heads (n, H, width), beta (n, H), gain (n,); stopped (n,): the step at which a run left all
    bounds, else nan; samples, mean, squares (n,): of the losses since the last record, squares
    the sum of squared deviations.
    """

    heads: np.ndarray
    beta: np.ndarray
    gain: np.ndarray
    stopped: np.ndarray
    samples: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def starting(cls, heads: np.ndarray, beta: np.ndarray, gain: float) -> Runs:
        n = len(heads)
        zeros = np.zeros(n)
        return cls(
            heads, np.tile(beta, (n, 1)), np.full(n, gain), np.full(n, np.nan), zeros, zeros, zeros
        )

    @property
    def size(self) -> int:
        return len(self.heads)

    def take(self, which: np.ndarray | slice) -> Runs:
        return Runs(**{name: array[which] for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, np.ndarray]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def joined(parts: Sequence[Runs]) -> Runs:
        """All runs; heads that have not moved yet have fewer coordinates, the others being 0."""
        width = max(part.heads.shape[-1] for part in parts)
        arrays = [part.widened(width).arrays() for part in parts]
        return Runs(**{name: np.concatenate([one[name] for one in arrays]) for name in arrays[0]})

    def widened(self, width: int) -> Runs:
        missing = width - self.heads.shape[-1]
        return replace(self, heads=np.pad(self.heads, ((0, 0), (0, 0), (0, missing))))


@dataclass
class Window:
    """Count, mean and summed squared deviations (n,) of the losses since the last record."""

    samples: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def add(self, losses: np.ndarray) -> None:
        """Add losses (N, n)."""
        more = len(losses)
        if more == 0:
            return
        mean = losses.mean(axis=0)
        squares = ((losses - mean) ** 2).sum(axis=0)
        total = self.samples + more
        shift = mean - self.mean
        self.squares = self.squares + squares + shift**2 * (self.samples * more / total)
        self.mean = self.mean + shift * (more / total)
        self.samples = total

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard error (n,), nan where there are too few; the window starts anew."""
        n = self.samples
        nan = np.full_like(self.mean, np.nan)
        mean = np.where(n > 0, self.mean, nan)
        error = np.sqrt(np.divide(self.squares, (n - 1) * n, out=nan, where=n > 1))
        self.samples, self.mean, self.squares = (np.zeros_like(n) for _ in range(3))
        return mean, error

"""The sequence length: a number, or a law of lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.checks import count, real_array
from numerics.errors import InputError

ODDS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class SequenceLength:
    """Lengths (n,) with their odds (n,); a fixed length has one."""

    lengths: tuple[int, ...]
    odds: tuple[float, ...]

    @classmethod
    def of(cls, tokens: Any) -> SequenceLength:
        """From an integer L >= 1 or a mapping {L: probability}; InputError otherwise."""
        if isinstance(tokens, SequenceLength):
            return tokens
        if not isinstance(tokens, Mapping):
            return cls((count("tokens", tokens),), (1.0,))
        lengths = tuple(count("tokens", length) for length in tokens)
        odds = real_array("tokens: probabilities", list(tokens.values()), 1)
        if np.any(odds < 0) or abs(odds.sum() - 1) > ODDS_TOLERANCE:
            raise InputError(
                f"tokens: probabilities must be >= 0 and sum to 1, got {odds.sum():.12g}"
            )
        return cls(lengths, tuple(float(p) for p in odds / odds.sum()))

    @property
    def longest(self) -> int:
        return max(self.lengths)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Random lengths of the given shape; a fixed length takes nothing from ``rng``."""
        if len(self.lengths) == 1:
            return np.full(shape, self.lengths[0])
        return rng.choice(self.lengths, size=shape, p=self.odds)

    def describe(self) -> dict[str, float]:
        """Lengths and their odds, as JSON can hold them."""
        return dict(zip(map(str, self.lengths), self.odds, strict=True))

    def powers(self, phi: np.ndarray, derivatives: int = 2) -> np.ndarray:
        """phi^(L-1) and its derivatives in phi, averaged over L: shape (derivatives + 1, ...)."""
        out = np.zeros((derivatives + 1, *np.shape(phi)))
        for length, odds in zip(self.lengths, self.odds, strict=True):
            factor = odds
            for order in range(min(derivatives + 1, length)):
                out[order] += factor * phi ** (length - 1 - order)
                factor *= length - 1 - order
        return out

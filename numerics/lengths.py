"""The sequence length: a number, or a law of lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.checks import count, positive, real_array
from numerics.errors import InputError

ODDS_TOLERANCE = 1e-9
# Below two tokens the risk of a real length has no meaning that anything could check.
LEAST_REAL = 2


@dataclass(frozen=True)
class SequenceLength:
    """Lengths (n,) with their odds (n,); a fixed length has one.

    Lengths are whole, but for what ``between`` makes.
    """

    lengths: tuple[Any, ...]
    odds: tuple[float, ...]

    @classmethod
    def between(cls, length: float) -> SequenceLength:
        """A real length >= 2, at which L is no more than the exponent it is in the lifted risk.

        For derivatives and continuation in L; sampling it is refused.
        """
        length = positive("tokens", length)
        if length < LEAST_REAL:
            raise InputError(f"tokens: a real length must be >= {LEAST_REAL}, got {length:.10g}")
        return cls((int(length) if length.is_integer() else length,), (1.0,))

    def require_whole(self) -> None:
        """InputError for a length between two integers, where tokens are to be sampled."""
        if not all(float(length).is_integer() for length in self.lengths):
            raise InputError(
                f"tokens: {self.lengths[0]:.10g} is no whole number, and tokens are sampled here; "
                "only a smooth activation can be continued in L"
            )

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
    def longest(self) -> Any:
        return max(self.lengths)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Random lengths of the given shape; a fixed length takes nothing from ``rng``."""
        self.require_whole()
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
            # Of a whole length the derivatives from order L on are 0.
            whole = float(length).is_integer()
            for order in range(min(derivatives + 1, int(length)) if whole else derivatives + 1):
                out[order] += factor * _power(phi, length - 1 - order)
                factor *= length - 1 - order
        return out


def _power(phi: np.ndarray, exponent: float) -> np.ndarray:
    """phi^exponent, 0 where phi has underflowed.

    The exponent is negative only for real lengths, and times a factor that vanishes like phi.
    """
    if exponent >= 0:
        return phi**exponent
    return np.power(phi, exponent, where=phi > 0, out=np.zeros_like(phi))

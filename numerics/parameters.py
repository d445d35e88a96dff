# notation: theta latent weights, mu their mean; L number of tokens.
"""Parameters of the problem by name: what a value of one does to the prior and the length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.priors import FiniteSupport, GaussianPrior, Prior

SIGNAL, STRENGTH, MEAN, TOKENS = "signal", "strength", "mean", "L"
OF_PROBLEM = (SIGNAL, STRENGTH, MEAN, TOKENS)
FORMS = (
    "signal (a factor on theta), strength:i (standard deviation of theta along spike i = 1, 2, "
    "...), mean:i, L"
)


@dataclass(frozen=True)
class Problem:
    """A law of theta and a law of lengths, with some parameters at values of their own."""

    prior: Prior
    length: SequenceLength

    def at(self, name: str, value: float) -> Problem:
        """The same with parameter ``name`` at ``value``.

        signal: theta times the value. strength:i: theta along spike i (from 1) drawn away from its
        mean until its standard deviation is the value, which for flipped spikes is their strength;
        a negative value mirrors it. mean:i: theta along spike i shifted until its mean is the
        value. L: the number of tokens, any real number from 2 on. InputError for another name, a
        spike that is not there, or a strength of what does not vary.
        """
        kind, spike = parsed(name, self.prior.spikes)
        if kind == TOKENS:
            return Problem(self.prior, SequenceLength.between(value))
        if kind == SIGNAL:
            return Problem(moved(self.prior, np.full(self.prior.spikes, value)), self.length)
        unit = np.eye(self.prior.spikes)[spike]
        if kind == MEAN:
            shift = (value - self.prior.mean) * unit
            return Problem(moved(self.prior, np.ones_like(unit), shift), self.length)
        spread = float(np.sqrt(self.prior.covariance[spike, spike]))
        if spread == 0:
            raise InputError(f"{name}: theta does not vary along that spike; scale it by signal")
        factor = 1 + (value / spread - 1) * unit
        return Problem(moved(self.prior, factor, (1 - factor) * self.prior.mean), self.length)


def parsed(name: str, spikes: int, more: Sequence[str] = ()) -> tuple[str, int]:
    """Kind of a parameter and number of its spike, from 0; InputError for an unknown name.

    more: names of parameters that are of the activation.
    """
    kind, colon, text = name.partition(":")
    if name in (SIGNAL, TOKENS, *more):
        return name, 0
    if kind in (STRENGTH, MEAN) and colon:
        if not text.isdigit() or not 1 <= int(text) <= spikes:
            raise InputError(f"parameter: {name!r}: expected a spike from 1 to {spikes}")
        return kind, int(text) - 1
    known = ", ".join([FORMS, *more])
    raise InputError(f"parameter: {name!r} is unknown; expected {known}")


def moved(prior: Prior, factor: np.ndarray, shift: np.ndarray | float = 0.0) -> Prior:
    """The law of factor * theta + shift, entry by entry."""
    if isinstance(prior, FiniteSupport):
        return FiniteSupport(prior.support * factor + shift, prior.probabilities)
    return GaussianPrior(prior.mean * factor + shift, prior.variance * factor**2)

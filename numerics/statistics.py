# notation: alpha rate of false alarms of a whole family of comparisons.
"""Means and shares with their errors, and theory compared with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import stats

from numerics.checks import count, real_array
from numerics.errors import InputError


@dataclass(frozen=True)
class SampleMean:
    """The mean of independent samples with its standard error.

    standard_error: sqrt(variance / samples) with the variance's ddof = 1; nan for one sample,
    which says nothing about its own spread. largest_share: the share of the summed squared
    deviations that the farthest sample holds; where it is not small, the standard error rests
    on a few samples and cannot be trusted.
    """

    mean: float
    standard_error: float
    samples: int
    largest_share: float = 0.0
    ddof: ClassVar[int] = 1


@dataclass(frozen=True)
class Moments:
    """What a block of samples adds to a mean: count, mean, squared deviations, extremes."""

    samples: int
    mean: float
    squares: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Any) -> Moments:
        """Of at least one finite number (n,); InputError otherwise."""
        values = real_array("samples", values, 1)
        if values.size == 0:
            raise InputError("samples: expected at least one number, got none")
        mean = float(values.mean())
        squares = float(np.sum((values - mean) ** 2))
        return cls(values.size, mean, squares, float(values.min()), float(values.max()))


def pooled(blocks: Sequence[Moments]) -> SampleMean:
    """The mean over all samples of all blocks, the same bits in whatever order they come."""
    # math.fsum rounds the exact sum once, so the order of its terms cannot show.
    samples = sum(block.samples for block in blocks)
    mean = math.fsum(block.samples * block.mean for block in blocks) / samples
    squares = math.fsum(
        [block.squares for block in blocks]
        + [block.samples * (block.mean - mean) ** 2 for block in blocks]
    )
    farthest = max(max(block.highest - mean, mean - block.lowest) for block in blocks)
    free = samples - SampleMean.ddof
    return SampleMean(
        mean=mean,
        standard_error=math.sqrt(squares / free / samples) if free else math.nan,
        samples=samples,
        largest_share=min(1.0, farthest**2 / squares) if squares > 0 else 0.0,
    )


def sample_mean(values: Any) -> SampleMean:
    """Mean and standard error of independent samples (n,); InputError unless n >= 1, finite.

    >>> estimate = sample_mean([0.2, 0.6])
    >>> round(estimate.mean, 12), round(estimate.standard_error, 12), estimate.samples
    (0.4, 0.2, 2)
    """
    return pooled([Moments.of(values)])


def combination(terms: Sequence[tuple[float, SampleMean]]) -> SampleMean:
    """The sum of coefficient * mean over independent means.

    samples is that of the smallest sample and largest_share that of the worst: a bound from
    either errs on the safe side.
    """
    return SampleMean(
        mean=math.fsum(c * one.mean for c, one in terms),
        standard_error=math.hypot(*(c * one.standard_error for c, one in terms)),
        samples=min(one.samples for _, one in terms),
        largest_share=max(one.largest_share for _, one in terms),
    )


@dataclass(frozen=True)
class ZScore:
    """Theory against simulation in units of their combined error.

    z = (simulation - theory) / sqrt(theory_error^2 + standard_error^2); nan when an error is
    unknown, and infinite when two exact numbers differ.
    """

    quantity: str
    theory: float
    theory_error: float
    simulation: float
    standard_error: float
    samples: int
    z: float

    @property
    def theory_dominates(self) -> bool:
        """Whether theory's own error is the larger: a small z then says little."""
        return self.theory_error > self.standard_error


def z_score(quantity: str, theory: float, theory_error: float, simulated: SampleMean) -> ZScore:
    """Compare a theory value, of known error >= 0, with a simulated mean; InputError if not."""
    theory = float(real_array(f"{quantity}: theory", theory, 0))
    theory_error = float(real_array(f"{quantity}: theory_error", theory_error, 0))
    if theory_error < 0:
        raise InputError(f"{quantity}: theory_error must be >= 0, got {theory_error:.6g}")
    difference = simulated.mean - theory
    error = math.hypot(theory_error, simulated.standard_error)
    if error == 0:
        z = 0.0 if difference == 0 else math.copysign(math.inf, difference)
    else:
        z = difference / error
    return ZScore(
        quantity,
        theory,
        theory_error,
        simulated.mean,
        simulated.standard_error,
        simulated.samples,
        z,
    )


def family_bound(scores: int, alpha: float, samples: int | None = None) -> float:
    """The |z| that all of ``scores`` right comparisons stay below with probability 1 - alpha.

    Sidak's bound, two-sided: for normal scores it holds however they are correlated (Sidak,
    J. Amer. Statist. Assoc. 62, 626 (1967)). samples: of the smallest sample; Student's t with
    samples - 1 degrees of freedom takes the place of the normal law. Raises InputError unless
    scores >= 1, 0 < alpha < 1 and samples >= 2.

    >>> round(family_bound(1, 0.05), 6), round(family_bound(1, 0.05, samples=2), 4)
    (1.959964, 12.7062)
    """
    scores = count("scores", scores)
    alpha = float(real_array("alpha", alpha, 0))
    if not 0 < alpha < 1:
        raise InputError(f"alpha: expected a rate between 0 and 1, got {alpha:.6g}")
    one = -math.expm1(math.log1p(-alpha) / scores)
    if samples is None:
        return float(stats.norm.isf(one / 2))
    return float(stats.t.isf(one / 2, count("samples", samples, least=2) - 1))


def share_interval(successes: int, trials: int) -> tuple[float, float, float]:
    """Share, and the ends of its 95% interval by Wilson; nan where there were no trials."""
    if trials == 0:
        return np.nan, np.nan, np.nan
    ends = stats.binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    return successes / trials, float(ends.low), float(ends.high)

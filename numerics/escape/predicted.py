# notation: lambda rate of the fastest unstable modes, D token dimension.
"""The escape time of one saddle at one dimension, by the law of its spectrum."""

from __future__ import annotations

import numpy as np

from numerics.checks import count
from numerics.errors import InputError
from numerics.escape.saddle import Saddle
from numerics.estimate import Estimate
from numerics.risk import PopulationRisk
from numerics.saddles.fixed_points import FixedPoint


def predicted_escape_time(
    risk: PopulationRisk, point: FixedPoint, dimension: int, size: float, threshold: float
) -> Estimate:
    """Median tau at which heads that start at ``point`` plus size N(0, I / D) are beyond threshold.

    tau = steps * learning rate / D; the law, and what it holds for, is that of LinearEscape. The
    error is what that of the rate makes of it. Raises InputError for a point from which nothing
    escapes, for D < F + H, and where starts are not well below the threshold.
    """
    saddle = Saddle.of(risk, point)
    heads, spikes = point.m.shape
    if count("dimension", dimension) < heads + spikes:
        raise InputError(f"dimension: expected at least F + H = {heads + spikes}, got {dimension}")
    law = saddle.law(size, threshold)
    law.require_room(np.array([float(dimension)]))
    value = float(law.quantile(0.5, float(dimension)))
    # A time is proportional to 1 / rate.
    error = value * saddle.rate_error / (saddle.rate - saddle.rate_error)
    return Estimate(value, error, "law of the spectrum", 0)

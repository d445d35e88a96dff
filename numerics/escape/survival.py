# notation: T escape times; tau their unit.
"""Escape times of runs, some of them censored: Kaplan-Meier, and the slope in ln D."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq
from scipy.stats import CensoredData, ecdf

# Resamples of the runs behind each interval.
RESAMPLES = 1000
TAILS = (0.025, 0.975)


@dataclass(frozen=True)
class Times:
    """Escape times (n,) of runs; of a run that is censored, how long it was seen to stay."""

    tau: np.ndarray
    escaped: np.ndarray

    @property
    def median(self) -> float:
        """Kaplan-Meier median; nan where fewer than half of the runs are known to escape."""
        survival = ecdf(CensoredData(self.tau[self.escaped], right=self.tau[~self.escaped])).sf
        reached = np.flatnonzero(survival.probabilities <= 0.5)
        return float(survival.quantiles[reached[0]]) if reached.size else float("nan")

    def resampled(self, rng: np.random.Generator) -> Times:
        drawn = rng.integers(self.tau.size, size=self.tau.size)
        return Times(self.tau[drawn], self.escaped[drawn])


@dataclass(frozen=True)
class Slope:
    """Least-squares slope of medians in ln D with its 95% interval, and those of the medians."""

    value: float
    low: float
    high: float
    median_low: np.ndarray
    median_high: np.ndarray


def crossing(tau: np.ndarray, amplitude: np.ndarray, threshold: float) -> tuple[float, float]:
    """The first time at which an amplitude (T,) rises to the threshold, and its error.

    ln amplitude is nearly linear on the way, and is interpolated so; the error is the difference
    from a straight line. (nan, nan) where it does not get there.
    """
    above = np.flatnonzero(amplitude >= threshold)
    if above.size == 0:
        return float("nan"), float("nan")
    last = int(above[0])
    if last == 0:
        return float(tau[0]), 0.0
    logs = np.log(np.maximum(amplitude[: last + 2], 1e-300) / threshold)
    shape = PchipInterpolator(tau[: last + 2], logs)
    found = brentq(lambda one: float(shape(one)), tau[last - 1], tau[last], xtol=1e-14)
    share = -logs[last - 1] / (logs[last] - logs[last - 1])
    straight = tau[last - 1] + share * (tau[last] - tau[last - 1])
    return float(found), float(abs(found - straight))


def observed(
    tau: np.ndarray, amplitude: np.ndarray, threshold: float, stopped: np.ndarray
) -> Times:
    """Escape times of runs from amplitudes (n, T); a run that diverged is censored where it did."""
    times, escaped = np.empty(len(amplitude)), np.zeros(len(amplitude), dtype=bool)
    for run, one in enumerate(amplitude):
        seen = np.isfinite(one)
        found, _ = crossing(tau[seen], one[seen], threshold)
        escaped[run] = np.isfinite(found)
        end = stopped[run] if np.isfinite(stopped[run]) else tau[-1]
        times[run] = found if escaped[run] else end
    return Times(times, escaped)


def slope_weights(dimensions: np.ndarray) -> np.ndarray:
    """Weights (n,) whose product with values at each D is their least-squares slope in ln D."""
    logs = np.log(dimensions)
    weights: np.ndarray = (logs - logs.mean()) / np.sum((logs - logs.mean()) ** 2)
    return weights


def slope(dimensions: np.ndarray, all_times: list[Times], rng: np.random.Generator) -> Slope:
    """Slope of the medians in ln D, and its interval from resampled runs.

    With runs censored so early that a median is not reached the slope is nan, and where that
    happens among resamples its interval is unbounded. Otherwise the interval is that of
    percentiles: it covers in 95% of all experiments, up to a share that falls like 1/n in the
    number n of runs.
    """
    weights = slope_weights(dimensions)
    drawn = np.array([[one.resampled(rng).median for one in all_times] for _ in range(RESAMPLES)])
    # A resample whose median is not reached lies beyond all others.
    low, high = np.quantile(
        np.where(np.isnan(drawn), np.inf, drawn), TAILS, axis=0, method="closest_observation"
    )
    value = float(np.array([one.median for one in all_times]) @ weights)
    if np.any(np.isnan(drawn)):
        # Nothing is known of a slope through a median that may be anywhere beyond.
        return Slope(value, -np.inf, np.inf, low, high)
    ends = np.quantile(drawn @ weights, TAILS)
    return Slope(value, float(ends[0]), float(ends[1]), low, high)

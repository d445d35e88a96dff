# notation: tau flow time = number of SGD steps * learning_rate / D.
"""Plateaus of the population risk, between two phases of fast descent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.checks import real_array
from numerics.errors import InputError

# The descent must slow down, and speed up again, by this factor around a plateau.
FACTOR = 2.0
# A phase of descent counts when it takes this share of the whole drop of the risk.
LEAST_DROP = 0.01
# A plateau begins and ends this share of the drop before and after away from its level.
MARGIN = 0.05


@dataclass(frozen=True)
class Plateau:
    """A stretch of slow descent: the risk's level at its slowest time ``at``, start and end in tau.

    start and end are nan when the risk does not cross the margin.
    """

    level: float
    at: float
    start: float
    end: float


def times(given: Any) -> np.ndarray:
    """``given`` as flow times (T,): at least two, increasing, the first >= 0; or InputError."""
    tau = real_array("time", given, 1)
    if tau.size < 2 or tau[0] < 0 or np.any(np.diff(tau) <= 0):
        raise InputError("time: expected at least two increasing flow times, the first >= 0")
    return tau


def rises(tau: np.ndarray, values: np.ndarray, level: float) -> np.ndarray:
    """All times at which ``values`` (T,) rises to ``level``, linear in log tau between times."""
    steps = np.flatnonzero((values[:-1] < level) & (values[1:] >= level))
    share = (level - values[steps]) / (values[steps + 1] - values[steps])
    return np.array([_between(tau, int(i), float(s)) for i, s in zip(steps, share, strict=True)])


def _between(tau: np.ndarray, step: int, share: float) -> float:
    """The time a ``share`` of the way from tau[step] to the next, on a logarithmic scale.

    On a linear scale for the step that begins at tau = 0, which has no logarithm.
    """
    first, last = float(tau[step]), float(tau[step + 1])
    if first == 0:
        return share * last
    return first ** (1 - share) * last**share


def plateaus(tau: Any, risk: Any, risk_error: Any = 0.0) -> tuple[Plateau, ...]:
    """Plateaus of ``risk`` (T,) against flow time ``tau`` (T,), in their order.

    The rate is the drop of the risk a unit of tau, from one time to the next. A plateau is where
    the rate has a minimum, at most half of its maximum on either side, between two phases that
    each lower the risk by at least 1% of its whole drop and by more than ``risk_error`` (a bound,
    scalar or (T,)). Along a gradient flow the rate grows only where the risk curves downwards, so
    this is the passage of a saddle. A slow last approach, which on a logarithmic axis looks like
    a second phase but never speeds up, makes no plateau, and neither does a start at rest.

    level: the risk in the middle of the slowest step. start: the last time before it at which the
    risk comes within 5% of the drop before (from the last plateau or the start) of the level.
    end: the first time after it at which the risk is below the level by 5% of the drop after (to
    the next plateau or the end). Both lie within the right step between two times; inside it they
    are interpolated, linear in log tau.

    Raises InputError for times that do not increase, a wrong shape, or an entry not finite.

    >>> import numpy as np
    >>> tau = np.geomspace(0.1, 300, 2000)
    >>> fall = np.exp(-tau) + 0.5 / (1 + np.exp((tau - 100) / 8))
    >>> [(round(p.level, 3), round(p.start, 1), round(p.end, 1)) for p in plateaus(tau, fall)]
    [(0.5, 3.1, 76.4)]
    """
    tau, risk = times(tau), real_array("risk", risk, 1)
    if risk.shape != tau.shape:
        raise InputError(f"risk: expected shape {tau.shape} of the times, got {risk.shape}")
    error = real_array("risk_error", np.broadcast_to(risk_error, tau.shape), 1)
    rate = -np.diff(risk) / np.diff(tau)
    middle = (risk[:-1] + risk[1:]) / 2
    slow = _phases_apart(_slow_steps(rate), rate, risk, error)
    levels = [float(risk[0]), *(float(middle[i]) for i in slow), float(risk[-1])]
    found = []
    for i, before, level, after in zip(slow, levels, levels[1:], levels[2:], strict=False):
        at = _between(tau, i, 0.5)
        starts = rises(tau, -risk, -(level + MARGIN * (before - level)))
        ends = rises(tau, -risk, -(level - MARGIN * (level - after)))
        start = float(np.max(starts[starts < at], initial=-math.inf))
        end = float(np.min(ends[ends > at], initial=math.inf))
        found.append(
            Plateau(
                level,
                at,
                start if start >= 0 else math.nan,
                end if end < math.inf else math.nan,
            )
        )
    return tuple(found)


def _slow_steps(rate: np.ndarray) -> list[int]:
    """Steps where the rate has a minimum that is deep by FACTOR on both sides."""
    found: list[int] = []
    peak, lowest = float(rate[0]), -1
    for i, now in enumerate(rate):
        if lowest < 0:
            peak = max(peak, float(now))
            if now * FACTOR < peak:
                lowest = i
        elif now < rate[lowest]:
            lowest = i
        elif now > FACTOR * max(float(rate[lowest]), 0.0):
            found.append(lowest)
            peak, lowest = float(now), -1
    return found


def _phases_apart(
    slow: list[int], rate: np.ndarray, risk: np.ndarray, error: np.ndarray
) -> list[int]:
    """The slow steps that are left when phases with too small a drop join their neighbour.

    Ripples of the rate on a plateau, where the risk changes by rounding only, go this way.
    """
    slow = list(slow)
    total = float(risk[0] - risk[-1])
    while slow:
        ends = np.array([0, *slow, len(rate)])
        level = (risk[ends] + risk[np.minimum(ends + 1, len(rate))]) / 2
        level[0], level[-1] = risk[0], risk[-1]
        excess = -np.diff(level) - np.maximum(
            LEAST_DROP * total, error[ends[:-1]] + error[ends[1:]]
        )
        worst = int(np.argmin(excess))
        if excess[worst] >= 0:
            break
        neighbours = [k for k in (worst - 1, worst) if 0 <= k < len(slow)]
        del slow[max(neighbours, key=lambda k: rate[slow[k]])]
    return slow

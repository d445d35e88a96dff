# notation: m, R alignments and overlaps of heads k_h, all of them in the span of the spikes.
"""What training reaches: the lowest risk that gradient flow leads to from several starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.checks import count, positive
from numerics.errors import InputError
from numerics.estimate import Estimate
from numerics.flow import gradient_flow
from numerics.risk import PopulationRisk

# Starts are normal with this standard deviation: heads far from each other, logits of order 1.
SIZE = 0.5
RTOL = 1e-3


@dataclass(frozen=True)
class Reached:
    """The end of the best of several flows.

    risk: population risk there, with the error of the flow. falling: how much it still fell in the
    second half of the time, so that a flow on a plateau is not taken for one at rest. m (H, F).
    """

    risk: Estimate
    falling: float
    m: np.ndarray


def reached(
    risk: PopulationRisk, heads: int, *, starts: int = 3, time: float = 400.0, seed: int = 0
) -> Reached:
    """Follow gradient flow from ``starts`` random points to flow time ``time``; keep the lowest.

    Heads start in the span of the spikes, which gradient flow never leaves; free biases start at
    0 and a free gain at 1/H. It is an upper bound of the least risk: other starts may end lower.
    Raises InputError for bad sizes and for what gradient_flow refuses.
    """
    heads, starts = count("heads", heads), count("starts", starts)
    times = [positive("time", time) / 2, time]
    rng = np.random.default_rng(count("seed", seed, least=0))
    ends = []
    for _ in range(starts):
        m = SIZE * rng.standard_normal((heads, risk.prior.spikes))
        flow = gradient_flow(
            risk, m, m @ m.T, times, rtol=RTOL, method="RK45", **_free(risk, heads)
        )
        if flow.attrs["status"] != "complete":
            continue
        middle, last = (float(value) for value in flow.risk)
        error, evaluations = float(flow.risk_error[-1]), int(flow.attrs["evaluations"])
        end = Estimate(last, error, "gradient flow", evaluations)
        ends.append(Reached(end, middle - last, flow.m.values[-1]))
    if not ends:
        raise InputError("reached: no flow came to its end; a shorter time may help")
    return min(ends, key=lambda end: end.risk.value)


def _free(risk: PopulationRisk, heads: int) -> dict[str, Any]:
    """Where free biases and a free gain start."""
    start: dict[str, Any] = {}
    if risk.kernels.FREE_BIAS:
        start["beta0"] = np.zeros(heads)
    if risk.kernels.FREE_GAIN:
        start["gain0"] = 1.0 / heads
    return start

# notation: m, R alignments and overlaps of heads k_h; beta free biases.
"""What training reaches: the lowest risk that gradient flow leads to from several starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.checks import count, positive
from numerics.dynamics.flow import gradient_flow
from numerics.errors import InputError
from numerics.estimate import Estimate
from numerics.risk import PopulationRisk

# Starts are normal with this standard deviation: heads far from each other, logits of order 1.
SIZE = 0.5
RTOL = 1e-3


class NotReached(InputError):
    """No flow came to its end; the argument is the status of the last one."""

    def __str__(self) -> str:
        return f"reached: no flow came to its end; the last one {self.args[0]}"


@dataclass(frozen=True)
class Reached:
    """The end of the best of several flows.

    risk: population risk there, with the error of the flow. falling: how much it still fell in the
    second half of the time, so that a flow on a plateau is not taken for one at rest. m (H, F),
    each entry with an error up to m_error, R (H, H). beta (H,) and gain: where they are trained,
    None otherwise.
    """

    risk: Estimate
    falling: float
    m: np.ndarray
    m_error: float
    R: np.ndarray
    beta: np.ndarray | None
    gain: float | None


def reached(
    risk: PopulationRisk,
    heads: int,
    *,
    starts: int = 3,
    time: float = 400.0,
    seed: int = 0,
    beyond: float = 0.0,
    rtol: float = RTOL,
    progress: Callable[[float], None] = lambda share: None,
) -> Reached:
    """Follow gradient flow from ``starts`` random points to flow time ``time``; keep the lowest.

    Heads start in the span of the spikes, which gradient flow never leaves, plus ``beyond`` times a
    vector of norm about 1 orthogonal to it, for which heads that share a normalizer take a grid of
    rank H. rtol: of each step of the flow. Free biases start at 0 and a free gain at 1/H. It is an
    upper bound of the least risk: other starts may end lower. progress: told the share of the
    starts done. Raises NotReached, an InputError, where no flow comes to its end, and
    InputError for bad sizes and for what gradient_flow refuses.
    """
    heads, starts = count("heads", heads), count("starts", starts)
    times = [positive("time", time) / 2, time]
    rng = np.random.default_rng(count("seed", seed, least=0))
    ends, stopped = [], ""
    for i in range(starts):
        m = SIZE * rng.standard_normal((heads, risk.prior.spikes))
        R = m @ m.T
        if beyond:
            rest = rng.standard_normal((heads, heads)) * (beyond / np.sqrt(heads))
            R = R + rest @ rest.T
        flow = gradient_flow(risk, m, R, times, rtol=rtol, method="RK45", **_free(risk, heads))
        progress((i + 1) / starts)
        if flow.attrs["status"] != "complete":
            stopped = flow.attrs["status"]
            continue
        if not np.isfinite(flow.risk_error[-1]):
            stopped = "stopped where its steps are coarser, so that it has no error"
            continue
        middle, last = (float(value) for value in flow.risk)
        error, evaluations = float(flow.risk_error[-1]), int(flow.attrs["evaluations"])
        end = Estimate(last, error, "gradient flow", evaluations)
        state = flow.isel(time=-1)
        ends.append(
            Reached(
                risk=end,
                falling=middle - last,
                m=state.m.values,
                m_error=float(state.m_error.max()),
                R=state.R.values,
                beta=state["beta"].values if "beta" in state else None,
                gain=float(state["gain"]) if "gain" in state else None,
            )
        )
    if not ends:
        raise NotReached(stopped)
    return min(ends, key=lambda end: end.risk.value)


def _free(risk: PopulationRisk, heads: int) -> dict[str, Any]:
    """Where free biases and a free gain start."""
    start: dict[str, Any] = {}
    if risk.kernels.FREE_BIAS:
        start["beta0"] = np.zeros(heads)
    if risk.kernels.FREE_GAIN:
        start["gain0"] = 1.0 / heads
    return start

# notation: tau flow time; m, R alignments and overlaps; eta learning rate.
"""Numbers of a whole flow: the risk where it comes to rest, and when its heads part."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.checks import positive
from numerics.dynamics.flow import COARSER, LOOSEST, gradient_flow
from numerics.dynamics.phases import settled, specialization_times
from numerics.errors import InputError
from numerics.estimate import Estimate
from numerics.risk import SAFETY, PopulationRisk

# Records by which a parting is found, log-spaced over DECADES, and then once more between two.
RECORDS, DECADES = 100, 4.0


def final_risk(risk: PopulationRisk, m0: Any, R0: Any, time: float, **options: Any) -> Estimate:
    """The risk at rest of a flow from (m0, R0), which is followed to tau = ``time``.

    options: as in gradient_flow. The error is that of the flow plus the change of the risk over
    the last half of tau: what remains is less where the approach is as fast as 1 / tau or faster.
    A plateau longer than that half passes for rest. Raises InputError for bad input, for a flow
    that stops, and where more than 1% of the risk's drop falls into the last half.
    """
    end = positive("time", time)
    data = gradient_flow(risk, m0, R0, [0.0, end / 2, end], **options)
    _require_complete(data)
    value, error = data.risk.values, data.risk_error.values
    if not settled(data.time.values, value, error):
        raise InputError(f"time: not at rest at tau = {end:g}; follow the flow for longer")
    return Estimate(
        float(value[-1]),
        float(error[-1] + abs(value[-1] - value[1])),
        "gradient flow to rest",
        int(data.attrs["evaluations"]),
    )


def specialization_time(
    risk: PopulationRisk, m0: Any, R0: Any, time: float, rtol: float = 1e-6, **options: Any
) -> Estimate:
    """tau at which the first head specializes: has gone half of its way from the mean over heads.

    The way is that of the flow from (m0, R0) to tau = ``time`` (numerics.dynamics.phases).
    options: as in gradient_flow. The error is twice the change from a flow of coarser tolerance,
    plus the distance between the records the time lies between. Raises InputError for bad input,
    for a flow that stops, and where no head specializes, or one is apart from the start.
    """
    end = positive("time", time)
    records = np.concatenate([[0.0], np.geomspace(end * 10**-DECADES, end, RECORDS)])
    coarse = positive("rtol", rtol) * COARSER
    if coarse > LOOSEST:
        raise InputError(f"rtol: expected at most {LOOSEST / COARSER:g} for a time, got {rtol:g}")
    first, evaluations = _parting(risk, m0, R0, records, rtol=coarse, **options)
    i = int(np.clip(np.searchsorted(records, first), 1, records.size - 1))
    # Neighbours on both sides: the finer flow may part a little earlier or later.
    around = np.linspace(records[max(i - 2, 0)], records[min(i + 1, RECORDS)], RECORDS)
    records = np.unique(np.concatenate([[0.0], around, [end]]))
    values = []
    for tolerance in (coarse, rtol):
        value, more = _parting(risk, m0, R0, records, rtol=tolerance, **options)
        values.append(value)
        evaluations += more
    i = int(np.clip(np.searchsorted(records, values[1]), 1, records.size - 1))
    error = SAFETY * abs(values[1] - values[0]) + records[i] - records[i - 1]
    return Estimate(values[1], float(error), "gradient flow at two tolerances", evaluations)


def _parting(
    risk: PopulationRisk, m0: Any, R0: Any, records: np.ndarray, **options: Any
) -> tuple[float, int]:
    data = gradient_flow(risk, m0, R0, records, **options)
    _require_complete(data)
    times = specialization_times(records, data.m.values)
    if np.isnan(times).all():
        raise InputError(f"specialization time: no head specializes up to tau = {records[-1]:g}")
    return float(np.nanmin(times)), int(data.attrs["evaluations"])


def _require_complete(data: Any) -> None:
    if data.attrs["status"] != "complete":
        raise InputError(f"flow: {data.attrs['status']}")

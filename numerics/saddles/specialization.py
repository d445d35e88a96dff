# notation: tau flow time; m alignments; lambda rate at which a mode grows, minus its eigenvalue.
"""The order in which heads specialize: predicted at the unspecialized point, seen in the flow."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr

from numerics.checks import count, positive
from numerics.dynamics.flow import gradient_flow
from numerics.dynamics.state import TAU
from numerics.errors import InputError
from numerics.risk import PopulationRisk
from numerics.saddles.fixed_points import FixedPoint, unspecialized_fixed_point
from numerics.saddles.spectrum import AGAINST

# Rates are measured between these times in units of 1 / (largest rate), while modes are small.
EARLY, LATE = 0.5, 3.0
TIMES = 120
RTOL = 1e-6


def specialization(
    risk: PopulationRisk, heads: int, *, size: float = 1e-4, horizon: float = 14.0
) -> xr.Dataset:
    """How heads part: each mode of heads against each other at the unspecialized point, in order.

    The flow starts ``size`` away from that point along every such mode and is followed for
    ``horizon`` / (largest rate). Variables over mode, fastest first: predicted, minus the
    eigenvalue of the Hessian in weight space, with predicted_error; measured, the growth rate of
    the mode's part of m while it is small, with measured_error (from the flow's error; terms left
    out are of order (size e^3)^2); variance of theta along the mode, and direction (mode, spike),
    of length 1. Over time and mode: part, the length of m - m_unspecialized along the mode.
    tau = steps * learning rate / D. Raises InputError for fewer than two heads, and where no mode
    of heads against each other is unstable. Source: theory.md section 7.
    """
    if count("heads", heads) < 2:
        raise InputError(f"heads: expected at least 2, which can part, got {heads}")
    size, horizon = positive("size", size), positive("horizon", horizon)
    point = unspecialized_fixed_point(risk, heads)
    modes, rates, errors = _modes(point)
    if rates[0] <= errors[0]:
        raise InputError("specialization: no mode of heads against each other is unstable here")
    times = np.linspace(0.0, horizon / rates[0], TIMES)
    m0 = point.m + size * modes.sum(axis=0)
    flow = gradient_flow(risk, m0, m0 @ m0.T, times, rtol=RTOL)
    part = np.einsum("nhf,thf->tn", modes, flow.m.values - point.m)
    measured, measured_error = _growth(times, rates[0], part, flow.m_error.values, modes)
    # Row 0 against row 1: the direction along which heads part.
    direction = modes[:, 0] - modes[:, 1]
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    variance = np.einsum("nf,fg,ng->n", direction, risk.prior.covariance, direction)
    rate, mode = {"units": f"1 / ({TAU})"}, "mode"
    return xr.Dataset(
        {
            "predicted": (mode, rates, {"long_name": "minus the Hessian's eigenvalue", **rate}),
            "predicted_error": (mode, errors, {"long_name": "its error bound", **rate}),
            "measured": (mode, measured, {"long_name": "growth rate along the flow", **rate}),
            "measured_error": (mode, measured_error, {"long_name": "its error", **rate}),
            "variance": (mode, variance, {"long_name": "variance of theta along the mode"}),
            "direction": ((mode, "spike"), direction, {"long_name": "direction of the mode"}),
            "part": (
                ("time", mode),
                part,
                {"long_name": "alignments along the mode, from the unspecialized point"},
            ),
        },
        {"time": ("time", times, {"long_name": "time", "units": TAU})},
        {
            "risk": point.risk.value,
            "status": flow.attrs["status"],
            "configuration": json.dumps(_configuration(risk, point, size)),
        },
    )


def _modes(point: FixedPoint) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One mode (n, H, F) of heads against each other for each eigenvalue, fastest first."""
    chosen = point.spectrum.where(point.spectrum.block == AGAINST, drop=True)
    chosen = chosen.sortby("eigenvalue")
    return chosen.pattern.values, -chosen.eigenvalue.values, chosen.error.values


def _growth(
    times: np.ndarray, fastest: float, part: np.ndarray, m_error: np.ndarray, modes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Growth rates (n,) between an early and a late time, and their errors."""
    first, last = np.searchsorted(times, (EARLY / fastest, LATE / fastest))
    span = times[last] - times[first]
    rates = np.log(part[last] / part[first]) / span
    entries = np.sqrt(np.prod(modes.shape[1:]))
    shares = (entries * m_error[i].max() / np.abs(part[i]) for i in (first, last))
    return rates, np.asarray(sum(shares) / span)


def _configuration(risk: PopulationRisk, point: FixedPoint, size: float) -> dict[str, Any]:
    return {
        **risk.describe(),
        "heads": len(point.m),
        "m": point.m.tolist(),
        "size": size,
    }

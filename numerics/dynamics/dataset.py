# notation: tau = steps times learning rate over D; m, R alignments and overlaps; beta free biases.
"""What a flow was asked for, and its Dataset with an error for every number."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from numerics.dynamics.integrate import Curve
from numerics.dynamics.state import TAU, Packing, State
from numerics.risk import SAFETY, PopulationRisk


@dataclass(frozen=True)
class Settings:
    """Everything that fixes a flow."""

    risk: PopulationRisk
    start: State
    times: np.ndarray
    learning_rate: float
    batch: int
    rtol: float
    method: str

    def configuration(self) -> dict[str, Any]:
        """As plain numbers and text."""
        risk, start = self.risk, self.start
        free = {"beta0": start.beta.tolist()} if risk.kernels.FREE_BIAS else {}
        free |= {"gain0": start.gain} if risk.kernels.FREE_GAIN else {}
        return {
            **risk.describe(),
            "m0": start.m.tolist(),
            "R0": start.R.tolist(),
            **free,
            "times": self.times.tolist(),
            "learning_rate": self.learning_rate,
            "batch": self.batch,
            "rtol": self.rtol,
            "method": self.method,
            "seed": risk.seed,
        }


@dataclass(frozen=True)
class _Quantities:
    """A curve in the variables that users ask for."""

    m: np.ndarray
    R: np.ndarray
    beta: np.ndarray
    gain: np.ndarray
    rest: np.ndarray
    risk: np.ndarray
    dissipation: np.ndarray

    @classmethod
    def of(cls, curve: Curve, packing: Packing) -> _Quantities:
        states = [packing.unpack(y) for y in curve.states]
        m, C, beta, gain = (np.array(part) for part in zip(*states, strict=True))
        known = np.all(np.isfinite(C), axis=(1, 2))
        rest = np.full(len(C), np.nan)
        rest[known] = np.linalg.eigvalsh(C[known])[:, 0]
        R = m @ np.swapaxes(m, 1, 2) + C
        return cls(m, R, beta, gain, rest, curve.risk, curve.dissipation)


# Name of a variable to its dimensions and what it is.
_VARIABLES = {
    "m": (("time", "head", "spike"), "alignments"),
    "R": (("time", "head", "other_head"), "overlaps"),
    "beta": (("time", "head"), "free biases"),
    "gain": (("time",), "gain"),
    "risk": (("time",), "population risk"),
    "dissipation": (("time",), "-dE/dtau of gradient flow"),
}


def dataset(settings: Settings, finest: Curve, coarse: list[Curve]) -> xr.Dataset:
    """The finest curve, with the errors that the distance of the others from it tells.

    SAFETY times the largest distance, plus one step's tolerance: a distance can vanish by accident.
    """
    packing = Packing.of(settings.risk.kernels, settings.start)
    best = _Quantities.of(finest, packing)
    others = [_Quantities.of(curve, packing) for curve in coarse]
    result = xr.Dataset(
        coords={
            "time": ("time", settings.times, {"long_name": "flow time", "units": TAU}),
            "head": np.arange(packing.heads),
            "other_head": np.arange(packing.heads),
            "spike": np.arange(packing.spikes),
        },
        attrs={
            "configuration": json.dumps(settings.configuration()),
            "status": _status(finest, float(settings.times[-1])),
            "method": _method(settings, finest),
            "evaluations": sum(curve.evaluations for curve in (finest, *coarse)),
        },
    )
    left_out = {"beta": not packing.trains_bias, "gain": not packing.trains_gain}
    for name, (dims, what) in _VARIABLES.items():
        if left_out.get(name):
            continue
        value = getattr(best, name)
        distance = np.max([np.abs(getattr(one, name) - value) for one in others], axis=0)
        bound = SAFETY * _largest(distance, dims) + settings.rtol * _largest(np.abs(value), dims)
        result[name] = (dims, value, {"long_name": what, "units": "1"})
        text = f"error bound of the {what}, from the ladder of tolerances"
        result[f"{name}_error"] = (dims, bound, {"long_name": text, "units": "1"})
    result["error"] = (
        "time",
        np.max(
            [
                result.m_error.max(("head", "spike"), skipna=False),
                result.R_error.max(("head", "other_head"), skipna=False),
                result.risk_error,
            ],
            axis=0,
        ),
        {"long_name": "largest error bound of m, R and the risk", "units": "1"},
    )
    result["rest_eigenvalue"] = (
        "time",
        best.rest,
        {"long_name": "smallest eigenvalue of R - m m^T, not below 0 but for errors", "units": "1"},
    )
    return result


def _largest(values: np.ndarray, dims: tuple[str, ...]) -> np.ndarray:
    """The largest over heads at each time, for each spike: one entry can be right by accident."""
    heads = tuple(axis for axis, dim in enumerate(dims) if dim in ("head", "other_head"))
    return np.broadcast_to(values.max(axis=heads, keepdims=True), values.shape)


def _status(curve: Curve, end: float) -> str:
    if curve.stopped:
        return f"stopped at tau = {curve.reached:.6g}: {curve.stopped}"
    return "complete" if curve.reached >= end else f"ended at tau = {curve.reached:.6g}"


def _method(settings: Settings, curve: Curve) -> str:
    parts = [f"{settings.method} of SciPy, right-hand side by"]
    closed = settings.risk.kernels.CLOSED
    grid = "closed forms" if closed else "Sobol points" if curve.by_points else "quadrature"
    parts.append(grid + (", Sigma by Sobol points" if settings.learning_rate > 0 else ""))
    return " ".join(parts)

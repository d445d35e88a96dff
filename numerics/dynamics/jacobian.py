# notation: m, R alignments and overlaps; tau time. Eigenvalues here are those of the flow's
# Jacobian, never of the risk's Hessian.
"""The Jacobian of gradient flow in m and R: how small deviations grow or decay along it."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import numpy as np
import xarray as xr

from numerics.dynamics.state import TAU, State
from numerics.risk import PopulationRisk, require_risk
from numerics.saddles.second import Coordinates, SecondDerivatives, carried

# Where the eigenvectors are closer to dependent than this, first-order errors say nothing.
NEARLY_DEFECTIVE = 1e-8


def flow_jacobian(
    risk: PopulationRisk,
    m: Any,
    R: Any,
    *,
    beta: Any = None,
    gain: float | None = None,
) -> xr.Dataset:
    """Eigenvalues of the Jacobian of d(m, R)/dtau at (m, R), highest real part first.

    This is no Hessian: its sign is the opposite one (a positive real part grows), and since R is
    quadratic in the heads, rates of R can be twice those of the Hessian in weight space. m (H, F),
    R (H, H); beta, gain: of an activation that leaves them free, held fixed. Coordinates: m and
    the upper half of R; tau = steps * learning rate / D, without the learning rate's own term.

    Variables over mode: eigenvalue (complex); error (to first order in the error of the Jacobian's
    entries, divided by how far the eigenvector is from those of other modes; inf where eigenvectors
    coincide); real_within_error, whether the imaginary part is within it; the eigenvector as
    pattern_m (mode, head, spike) and pattern_R (mode, head, other_head), complex, of norm 1 in the
    coordinates. jacobian (row, column): the matrix itself, its entries' error an attribute. Raises
    InputError for bad input (docs/model.md section 8).
    """
    require_risk(risk)
    state = State.of(risk.kernels, risk.prior.spikes, m, R, beta, gain)
    coordinates = Coordinates(*state.m.shape)
    found = carried(risk, state, lambda second: _jacobian(risk.kernels, state, second).ravel())
    matrix = found.values.reshape(coordinates.size, coordinates.size)
    values, vectors = np.linalg.eig(matrix)
    order = np.lexsort((-values.imag, -values.real))
    values, vectors = values[order], _signed(vectors[:, order])
    errors = _errors(vectors, coordinates.size * found.error)
    by_m, by_R = coordinates.unpack(vectors.T.astype(complex))
    about = {"long_name": "eigenvalue of the flow Jacobian", "units": "1/tau"}
    entries = [f"m[{h},{f}]" for h, f in np.ndindex(*state.m.shape)]
    entries += [f"R[{h},{k}]" for h, k in zip(*coordinates.upper, strict=True)]
    return xr.Dataset(
        {
            "eigenvalue": ("mode", values.astype(complex), about),
            "error": ("mode", errors, {"long_name": "error of the eigenvalue", "units": "1/tau"}),
            "real_within_error": ("mode", np.abs(values.imag) <= errors),
            "pattern_m": (("mode", "head", "spike"), by_m),
            "pattern_R": (("mode", "head", "other_head"), by_R),
            "jacobian": (("row", "column"), matrix, {"long_name": "d(drift)/d(m, R)"}),
        },
        coords={"row": entries, "column": entries},
        attrs={
            "what": "flow Jacobian",
            "time": TAU,
            "method": found.method,
            "jacobian_error": found.error,
            "configuration": json.dumps(
                {
                    **risk.describe(),
                    "m": state.m.tolist(),
                    "R": state.R.tolist(),
                    "beta": state.beta.tolist(),
                    "gain": state.gain,
                }
            ),
        },
    )


def _jacobian(kernels: ModuleType, state: State, found: SecondDerivatives) -> np.ndarray:
    """d(drift of q)/d(q) for the packed coordinates q, rows the drift."""
    m, R, slope = state.m, state.R, found.gradient
    dm, dR = found.coordinates.unit()
    by_m, by_R = found.along(dm, dR)
    moved_m = kernels.drift_m_along(by_m, by_R, slope.R, m, dm)
    moved_R = kernels.drift_R_along(slope.m, by_m, by_R, slope.R, m, R, dm, dR)
    return found.coordinates.pack(moved_m, moved_R).T


def _errors(vectors: np.ndarray, size: float) -> np.ndarray:
    """First-order errors of eigenvalues for a perturbation of the matrix of this norm.

    The row of the inverse that belongs to an eigenvector of norm 1 has the eigenvalue's condition
    number as its norm.
    """
    if np.linalg.svd(vectors, compute_uv=False)[-1] < NEARLY_DEFECTIVE:
        return np.full(len(vectors), np.inf)
    return size * np.linalg.norm(np.linalg.inv(vectors), axis=1)


def _signed(vectors: np.ndarray) -> np.ndarray:
    """Eigenvectors in columns whose largest component is real and positive."""
    largest = np.take_along_axis(vectors, np.argmax(np.abs(vectors), axis=0)[None], axis=0)
    return vectors * (np.abs(largest) / largest)

# notation: m, R alignments and overlaps; k heads. Eigenvalues here are always those of the risk's
# Hessian in weight space, never of the Jacobian of the flow.
"""Spectrum of the risk's weight-space Hessian at any (m, R), by blocks with multiplicities."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr

from numerics.checks import count
from numerics.dynamics.state import State
from numerics.errors import InputError
from numerics.risk import PopulationRisk, require_risk
from numerics.saddles.hessian import Hessian, hessian

# Heads closer than this, relative to their size, are the same vector.
SAME = 1e-9
TOGETHER, AGAINST, ANY = "heads together", "heads against each other", "spikes and heads"
NOISE = "noise directions"


def weight_spectrum(
    risk: PopulationRisk,
    m: Any,
    R: Any,
    dimension: int | None = None,
    *,
    beta: Any = None,
    gain: float | None = None,
) -> xr.Dataset:
    """Eigenvalues of the risk's Hessian in weight space at (m, R), lowest first in each block.

    m (H, F), R (H, H); beta, gain: of an activation that leaves them free, held fixed. dimension:
    D, of which the H (D - F - r) modes orthogonal to spikes and heads depend, r the rank of
    R - m m^T; without it their multiplicity is that of one such direction.

    Variables over mode: eigenvalue, error (a bound), multiplicity, block ("noise directions", and
    "spikes and heads", which where all heads are one vector splits into "heads together" and
    "heads against each other" with multiplicity H - 1); pattern (mode, head, spike) and
    pattern_rest (mode, head, axis): the normalized eigenvector along spikes and beyond them, nan
    for noise. gradient: norm of the risk's gradient in weight space, 0 at a fixed point. With
    the dimension, multiplicities add up to H D. Raises InputError for bad input
    (docs/model.md section 8).
    """
    require_risk(risk)
    state = State.of(risk.kernels, risk.prior.spikes, m, R, beta, gain)
    found = hessian(risk, state)
    heads, width = found.frame.shape
    outside = 1
    if dimension is not None:
        outside = count("dimension", dimension) - width
        if outside < 0:
            raise InputError(
                f"dimension: expected at least F + rank(R - m m^T) = {width}, got {dimension}"
            )
    rows = [*_inside(found), *_noise(found, outside)]
    values, errors, multiplicities, blocks, patterns = zip(*rows, strict=True)
    stacked = np.array(patterns).reshape(len(rows), heads, width)
    attributes = {
        "gradient": float(np.linalg.norm(found.gradient)),
        "method": "second derivatives",
        "configuration": json.dumps(
            {
                **risk.describe(),
                "m": state.m.tolist(),
                "R": state.R.tolist(),
                "beta": state.beta.tolist(),
                "gain": state.gain,
                "dimension": dimension,
            }
        ),
    }
    about = {"long_name": "eigenvalue of the risk's Hessian in weight space", "units": "1"}
    return xr.Dataset(
        {
            "eigenvalue": ("mode", np.array(values), about),
            "error": ("mode", np.array(errors), {"long_name": "error bound", "units": "1"}),
            "multiplicity": ("mode", np.array(multiplicities)),
            "block": ("mode", np.array(blocks)),
            "pattern": (("mode", "head", "spike"), stacked[..., : found.spikes]),
            "pattern_rest": (("mode", "head", "axis"), stacked[..., found.spikes :]),
        },
        attrs=attributes,
    )


def _inside(found: Hessian):
    """Modes between the coordinates of spikes and heads."""
    heads, width = found.frame.shape
    if heads > 1 and _one_vector(found.frame):
        # Permutations of the heads leave the point alone: the two blocks do not mix.
        basis = _helmert(heads)
        full = found.inside.reshape(heads, width, heads, width)
        turned = np.einsum("ah,hiGj,bG->aibj", basis, full, basis)
        common = _modes(turned[0, :, 0], found.error, 1, TOGETHER, basis[0])
        # All H - 1 blocks of heads against each other are equal; their mean is each of them.
        blocks = [turned[a, :, a] for a in range(1, heads)]
        split = np.mean(blocks, axis=0)
        yield from common
        yield from _modes(split, found.error, heads - 1, AGAINST, basis[1])
        return
    size = heads * width * found.error
    values, vectors = np.linalg.eigh(found.inside)
    for value, vector in zip(values, vectors.T, strict=True):
        yield value, size, 1, ANY, _signed(vector)


def _modes(block, entry_error, multiplicity, name, across):
    values, vectors = np.linalg.eigh(block)
    error = len(block) * len(across) * entry_error
    for value, vector in zip(values, vectors.T, strict=True):
        yield value, error, multiplicity, name, _signed(np.outer(across, vector).ravel())


def _noise(found: Hessian, outside: int):
    """Modes orthogonal to spikes and heads: the same for each such direction."""
    if outside == 0:
        return
    heads, width = found.frame.shape
    values = np.linalg.eigvalsh(found.noise)
    for value in values:
        nothing = np.full(heads * width, np.nan)
        yield value, heads * found.error, outside, NOISE, nothing


def _one_vector(frame: np.ndarray) -> bool:
    return bool(np.abs(frame - frame[0]).max() <= SAME * max(1e-300, np.abs(frame).max()))


def _helmert(heads: int) -> np.ndarray:
    """Orthonormal rows: the mean over heads, then contrasts."""
    rows = [np.full(heads, 1 / np.sqrt(heads))]
    for n in range(1, heads):
        row = np.zeros(heads)
        row[:n], row[n] = 1.0, -n
        rows.append(row / np.sqrt(n * (n + 1)))
    return np.array(rows)


def _signed(vector: np.ndarray) -> np.ndarray:
    """The eigenvector whose largest component is positive."""
    return vector * np.sign(vector[np.argmax(np.abs(vector))])

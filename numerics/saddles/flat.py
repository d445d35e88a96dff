# notation: m, R alignments and overlaps; k heads by coordinates, spikes first; G = dE/dR.
"""Why a direction is flat: a rotation that changes nothing, a line of constant risk, or neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.linalg import null_space

from numerics.priors import Prior
from numerics.risk import PopulationRisk
from numerics.saddles.spectrum import NOISE

# A line is constant when the risk at these distances differs by rounding or its error only.
FAR = (0.5, 1.0)
CONSTANT = 1e-9
# An eigenvalue below this share of the largest is 0, whatever the sign that rounding gave it.
NEGLIGIBLE = 1e-9
# Relative size of a singular value that counts as 0.
RANK = 1e-8


@dataclass(frozen=True)
class Flat:
    """Flat modes by reason, each counted with multiplicity.

    rotation: turning heads about the spikes, or the spikes themselves where the prior looks the
    same from all sides, leaves the risk alone. line: the risk is constant along the mode at any
    distance, as where an activation sees only the sum of the heads. higher: the second derivative
    vanishes here and nothing else does; whether the risk falls is up to higher orders.
    """

    rotation: int
    line: int
    higher: int

    @property
    def total(self) -> int:
        return self.rotation + self.line + self.higher

    def told(self) -> str:
        """In words; empty where nothing is flat."""
        parts = [f"{self.rotation} by rotation"] * bool(self.rotation)
        parts += [f"{self.line} along which the risk is constant"] * bool(self.line)
        parts += [f"{self.higher} to second order only"] * bool(self.higher)
        return f"{self.total} flat: {', '.join(parts)}" if parts else ""


def is_flat(spectrum: xr.Dataset) -> np.ndarray:
    """Which modes have the eigenvalue 0, by their error and by magnitude."""
    size = np.abs(spectrum.eigenvalue.values)
    return np.asarray(size <= np.maximum(spectrum.error.values, NEGLIGIBLE * size.max()))


def flat_modes(risk: PopulationRisk, k: np.ndarray, spectrum: xr.Dataset) -> Flat:
    """Reasons for the flat modes of ``spectrum`` at heads k (H, F + r), modes beyond k included."""
    zero = is_flat(spectrum)
    noise = spectrum.block.values == NOISE
    times = spectrum.multiplicity.values
    still = np.pad(null_directions(risk.prior), ((0, k.shape[1] - risk.prior.spikes), (0, 0)))
    rest = np.eye(k.shape[1])[:, risk.prior.spikes :]
    inside = _rank(rotations(risk.prior, k))
    outside = _rank(k @ np.hstack([still, rest]))
    inside_zero, outside_zero = int(times[zero & ~noise].sum()), int(times[zero & noise].sum())
    by_rotation = min(inside, inside_zero) + min(outside, outside_zero)
    if by_rotation == inside_zero + outside_zero:
        return Flat(by_rotation, 0, 0)
    constant = [i for i in np.flatnonzero(zero) if _constant(risk, k, spectrum.isel(mode=i))]
    left = inside_zero + outside_zero - by_rotation
    line = min(int(times[constant].sum()), left)
    return Flat(by_rotation, line, left - line)


def null_directions(prior: Prior) -> np.ndarray:
    """Directions (F, n) among the spikes in which theta is always 0: they are like noise."""
    parts = prior.components()
    return np.asarray(
        null_space(np.vstack([parts.mean, *parts.covariance]), rcond=RANK), dtype=float
    )


def rotations(prior: Prior, k: np.ndarray) -> np.ndarray:
    """Changes (n, H * (F + r)) of the heads by rotations that leave theta's law and the rest alone.

    A small rotation cannot turn one atom into another: it keeps the mean and the covariance of
    each component of the prior.
    """
    width, spikes = k.shape[1], prior.spikes
    parts = prior.components()
    generators, conditions = [], []
    for i in range(width):
        for j in range(i):
            A = np.zeros((width, width))
            A[i, j], A[j, i] = 1.0, -1.0
            mean = np.pad(parts.mean, ((0, 0), (0, width - spikes)))
            covariance = np.pad(parts.covariance, ((0, 0), *[(0, width - spikes)] * 2))
            change = A @ covariance - covariance @ A
            generators.append(A)
            conditions.append(np.concatenate([(mean @ A).ravel(), change.ravel()]))
    if not generators:
        return np.zeros((0, k.size))
    kept = null_space(np.array(conditions).T, rcond=RANK)
    turned = np.einsum("gn,ha,gab->nhb", kept, k, np.array(generators))
    return turned.reshape(len(turned), k.size)


def _constant(risk: PopulationRisk, k: np.ndarray, one: xr.Dataset) -> bool:
    """Whether the risk does not change along a flat mode."""
    m, R = k[:, : risk.prior.spikes], k @ k.T
    here = risk(m, R)
    if one.block.values == NOISE:
        values, vectors = np.linalg.eigh(risk.gradient(m, R).R)
        v = vectors[:, np.abs(2 * values - float(one.eigenvalue)).argmin()]
        moved = [(m, R + s * s * np.outer(v, v)) for s in FAR]
    else:
        v = np.hstack([one.pattern.values, one.pattern_rest.values])
        shifted = [k + s * v for s in FAR]
        moved = [(heads[:, : risk.prior.spikes], heads @ heads.T) for heads in shifted]
    for alignments, overlaps in moved:
        there = risk(alignments, overlaps)
        if abs(there.value - here.value) > CONSTANT + there.error + here.error:
            return False
    return True


def _rank(rows: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(rows, tol=RANK * max(1e-300, np.abs(rows).max(initial=0.0))))

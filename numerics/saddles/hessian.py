# notation: k heads (H, F + r) by coordinates: along the spikes, and along r axes beyond them;
# m, R alignments and overlaps, C = R - m m^T; G the risk's symmetric gradient in R.
"""The risk's Hessian in weight space, from its second derivatives in m and R, with an error."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from numerics.dynamics.state import State
from numerics.risk import Gradient, PopulationRisk
from numerics.saddles.second import SecondDerivatives, carried

# Eigenvalues of C below this share of R are directions in which no head has a part.
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Hessian:
    """Second derivatives of the risk in weight space at a point.

    inside (H (F + r), H (F + r)): between the coordinates of the heads, head by head, spikes
    first. noise (H, H): 2 G, the block of every direction orthogonal to spikes and heads.
    gradient (H, F + r): of the risk, in the same coordinates. error bounds that of each entry.
    """

    frame: np.ndarray
    spikes: int
    inside: np.ndarray
    noise: np.ndarray
    gradient: np.ndarray
    error: float


def coordinates(m: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Heads (H, F + r) with these alignments and overlaps, r the rank of R - m m^T."""
    values, vectors = np.linalg.eigh(R - m @ m.T)
    kept = values > RANK_TOLERANCE * max(1e-300, float(np.max(np.abs(R))))
    return np.hstack([m, vectors[:, kept] * np.sqrt(values[kept])])


def weight_gradient(kernels: ModuleType, slope: Gradient, k: np.ndarray) -> np.ndarray:
    """The risk's gradient by the heads' coordinates (H, F + r), out of its slopes in m and R."""
    return kernels.weight_gradient(slope.m, slope.R, k, _spikes(slope, k))


def hessian(risk: PopulationRisk, state: State) -> Hessian:
    """The Hessian at a state whose free biases and gain stay as they are."""
    kernels, k = risk.kernels, coordinates(state.m, state.R)
    spikes = state.m.shape[1]
    parts = (k.size, k.size), (len(k), len(k)), k.shape

    def carry(found: SecondDerivatives) -> np.ndarray:
        noise = _beyond(kernels, spikes, found.gradient.R)
        gradient = weight_gradient(kernels, found.gradient, k)
        blocks = _inside(kernels, found, k), noise, gradient
        return np.concatenate([block.ravel() for block in blocks])

    found = carried(risk, state, carry)
    cuts = np.cumsum([np.prod(shape) for shape in parts])[:-1]
    blocks = zip(np.split(found.values, cuts), parts, strict=True)
    inside, noise, gradient = (flat.reshape(shape) for flat, shape in blocks)
    return Hessian(k, spikes, inside, noise, gradient, found.error)


def _inside(kernels: ModuleType, found: SecondDerivatives, k: np.ndarray) -> np.ndarray:
    """Second derivatives between the coordinates of the heads, head by head."""
    slope, spikes = found.gradient, _spikes(found.gradient, k)
    dk = np.eye(k.size).reshape(k.size, *k.shape)
    by_m, by_R = found.along(kernels.alignments_along(dk, spikes), kernels.overlaps_along(dk, k))
    inside = kernels.weight_gradient_along(by_m, by_R, slope.R, k, spikes, dk)
    matrix = inside.reshape(k.size, k.size)
    return (matrix + matrix.T) / 2


def _spikes(slope: Gradient, k: np.ndarray) -> np.ndarray:
    """The spikes (F, F + r) in the coordinates of the heads."""
    return np.eye(slope.m.shape[1], k.shape[1])


def _beyond(kernels: ModuleType, spikes: int, G: np.ndarray) -> np.ndarray:
    """The Hessian (H, H) along a coordinate that neither spikes nor heads have a part in."""
    heads = len(G)
    dk = np.eye(heads)[:, :, None]
    still = np.zeros((heads, heads, spikes)), np.zeros((heads, heads, heads))
    along = kernels.weight_gradient_along(
        *still, G, np.zeros((heads, 1)), np.zeros((spikes, 1)), dk
    )
    return along[:, :, 0]

# notation: k heads (H, F + r) by coordinates: along the spikes, and along r axes beyond them;
# m, R alignments and overlaps, C = R - m m^T; G the risk's symmetric gradient in R.
"""The risk's Hessian in weight space, by differences of its exact gradient, with an error."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from numerics.risk import Gradient, PopulationRisk
from numerics.sobol import normal_points
from numerics.state import State
from numerics.threads import one_thread

# The gradient is evaluated to exp(-DIGITS); where a grid over all heads would have more nodes
# than this, at normal points of which several sets are compared.
DIGITS = 27.0
MOST_GRID_NODES = 200_000
LOG2_POINTS, SETS = 13, 6
# Width of a difference, relative to the size of the heads or to 1 where they are smaller. Its
# error after one extrapolation is of the fourth power, a fifth derivative divided by 480.
WIDTH = 8e-3
# One extrapolation removes all but the next order of the difference between two widths.
EXTRAPOLATED = 0.02
# Eigenvalues of C below this share of R are directions in which no head has a part.
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Hessian:
    """Second derivatives of the risk in weight space at a point.

    inside (H (F + r), H (F + r)): between the coordinates of the heads, head by head, spikes
    first. noise (H, H): 2 G, the block of every direction orthogonal to spikes and heads. Errors
    bound each entry. gradient (H, F + r): of the risk, in the same coordinates.
    """

    frame: np.ndarray
    spikes: int
    inside: np.ndarray
    inside_error: float
    noise: np.ndarray
    noise_error: float
    gradient: np.ndarray


def coordinates(m: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Heads (H, F + r) with these alignments and overlaps, r the rank of R - m m^T."""
    values, vectors = np.linalg.eigh(R - m @ m.T)
    kept = values > RANK_TOLERANCE * max(1e-300, float(np.max(np.abs(R))))
    return np.hstack([m, vectors[:, kept] * np.sqrt(values[kept])])


def weight_gradient(kernels: ModuleType, slope: Gradient, k: np.ndarray) -> np.ndarray:
    """The risk's gradient by the heads' coordinates (H, F + r), out of its slopes in m and R."""
    spikes = slope.m.shape[1]
    nothing = np.zeros((len(k), k.shape[1] - spikes))
    along_spikes = -kernels.drift_m(slope.m, slope.R, k[:, :spikes])
    return np.hstack([along_spikes, -kernels.drift_m(nothing, slope.R, k[:, spikes:])])


def hessian(risk: PopulationRisk, state: State) -> Hessian:
    """The Hessian at a state whose free biases and gain stay as they are."""
    k = coordinates(state.m, state.R)
    with one_thread():
        found = [_by_differences(risk, state, k, points) for points in _rules(risk, state)]
    inside, noise = (np.array([one[i] for one in found]) for i in (0, 1))
    gradient = np.mean([one[3] for one in found], axis=0)
    truncation = max(one[2] for one in found)
    scatter = [_standard_error(blocks) for blocks in (inside, noise)]
    return Hessian(
        k,
        state.m.shape[1],
        inside.mean(axis=0),
        truncation + scatter[0],
        noise.mean(axis=0),
        float(np.exp(-DIGITS)) + 1e-12 + scatter[1],
        gradient,
    )


def _rules(risk: PopulationRisk, state: State) -> list[np.ndarray | None]:
    if not risk.needs_points(state.m, state.R, state.beta, DIGITS, MOST_GRID_NODES):
        return [None]
    streams = np.random.SeedSequence(risk.seed).spawn(SETS)
    return [normal_points(len(state.m), LOG2_POINTS, stream) for stream in streams]


def _by_differences(risk, state, k, points):
    """Inside block, noise block, truncation error and gradient by one rule."""
    spikes = state.m.shape[1]

    def at(heads: np.ndarray) -> Gradient:
        m, R = heads[:, :spikes], heads @ heads.T
        return risk.fixed(m, R, state.beta, state.gain, DIGITS, points)

    def slope(heads: np.ndarray) -> np.ndarray:
        return weight_gradient(risk.kernels, at(heads), heads)

    size = WIDTH * max(1.0, float(np.abs(k).max()))
    rows, changes = [], []
    for i in range(k.size):
        shift = np.zeros(k.size)
        shift[i] = size
        wide, narrow = (
            (slope(k + c * shift.reshape(k.shape)) - slope(k - c * shift.reshape(k.shape)))
            / (2 * c * size)
            for c in (1.0, 0.5)
        )
        rows.append(((4 * narrow - wide) / 3).ravel())
        changes.append(np.max(np.abs(narrow - wide)))
    matrix = np.array(rows)
    # A Hessian is symmetric: what is not is an error, and so is a share of what extrapolation did.
    error = float(np.max(np.abs(matrix - matrix.T))) + EXTRAPOLATED * float(max(changes))
    here = at(k)
    return (matrix + matrix.T) / 2, 2 * here.R, error, weight_gradient(risk.kernels, here, k)


def _standard_error(blocks: np.ndarray) -> float:
    """Largest standard error of a mean over point sets; 0 for one exact rule."""
    if len(blocks) == 1:
        return 0.0
    return float(np.max(blocks.std(axis=0, ddof=1))) / np.sqrt(len(blocks))

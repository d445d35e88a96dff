"""The risk's response when heads share one normalizer: one Gaussian over all heads at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from types import ModuleType

import numpy as np

from numerics.gaussian import normal_nodes
from numerics.lengths import SequenceLength
from numerics.logits import LogitLaw, Response
from numerics.resolution import Resolution

# Directions of a covariance below this share of the largest are rounding.
RANK_TOLERANCE = 1e-13
# Factor values held at once, 8 bytes each, of which a few copies live together.
BLOCK = 2_000_000


@dataclass(frozen=True)
class Nodes:
    """Logits of one token: points (N, H) with weights (N,) that sum to 1."""

    points: np.ndarray
    weights: np.ndarray


def directions(covariance: np.ndarray) -> np.ndarray:
    """B (H, rank) with B B^T the covariance, zero directions left out."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > RANK_TOLERANCE * max(values[-1], 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


def grid_size(law: LogitLaw, resolution: Resolution) -> int:
    """The number of nodes of all tensor grids together, before any is made."""
    total = 0
    for covariance in law.all_covariances:
        size = 1
        for column in directions(covariance).T:
            step = resolution.normal_step(float(np.abs(column).max()))
            size *= 2 * int(np.ceil(resolution.window / step)) + 1
        total += size
    return total


def grid_nodes(law: LogitLaw, resolution: Resolution) -> list[Nodes]:
    """Tensor grids for each component and, last, the noise token."""
    result = []
    for mean, covariance in zip(law.all_means, law.all_covariances, strict=True):
        basis = directions(covariance)
        axes = [
            normal_nodes(resolution.normal_step(float(np.abs(column).max())), resolution.window)
            for column in basis.T
        ]
        z = np.array(list(product(*(nodes for nodes, _ in axes)))).reshape(-1, len(axes))
        weights = np.ones(1)
        for _, one in axes:
            weights = np.outer(weights, one).ravel()
        result.append(Nodes(mean + z @ basis.T, weights))
    return result


def normal_points_nodes(law: LogitLaw, z: np.ndarray) -> list[Nodes]:
    """Equally weighted logits from standard normal points z (N, H)."""
    weights = np.full(len(z), 1 / len(z))
    result = []
    for mean, covariance in zip(law.all_means, law.all_covariances, strict=True):
        basis = directions(covariance)
        result.append(Nodes(mean + z[:, : basis.shape[1]] @ basis.T, weights))
    return result


def respond(
    kernels: ModuleType,
    law: LogitLaw,
    length: SequenceLength,
    gamma: float,
    resolution: Resolution,
    nodes: list[Nodes],
) -> Response:
    """Moments and first variation from given nodes of each component and the noise token."""
    logs = [kernels.log_normalizer(one.points) for one in nodes]
    ends = min(float(x.min()) for x in logs), max(float(x.max()) for x in logs)
    low, high = resolution.lift_range(ends, kernels.OFFSET)
    step = resolution.lift_step(0.0)
    s = low + step * np.arange(int(np.ceil((high - low) / step)) + 1)
    average = np.stack([_average(kernels, s, one) for one in nodes])  # (A + 1, 3, S)
    relevant, noise = np.einsum("a,ans->ns", law.odds, average[:-1]), average[-1]
    powers = length.powers(noise[0])
    linear, square = kernels.single_moments(s, relevant, noise, powers)
    envelope = np.abs(linear) + np.abs(square)
    kept = envelope > np.exp(-resolution.digits) * envelope.max()
    variation = step * kernels.single_variation(s, relevant, noise, powers, gamma)
    total = Response.zero(law)
    total.linear, total.square = step * float(np.sum(linear)), step * float(np.sum(square))
    for row, one in enumerate(nodes):
        density = int(row == len(nodes) - 1)
        slope, curvature = _slopes(kernels, s[kept], variation[density][:, kept], one)
        total.slope[row], total.curvature[row] = slope, curvature
    total.evaluations = s.size * sum(one.weights.size for one in nodes)
    return total


def _blocks(nodes: Nodes, lifts: int):
    size = max(1, BLOCK // max(1, lifts))
    for start in range(0, nodes.weights.size, size):
        part = slice(start, start + size)
        yield nodes.points[part], nodes.weights[part]


def _average(kernels: ModuleType, s: np.ndarray, nodes: Nodes) -> np.ndarray:
    total = np.zeros((3, s.size))
    for points, weights in _blocks(nodes, s.size):
        total += kernels.joint_factors(s[:, None], *kernels.units(points)) @ weights
    return total


def _slopes(kernels: ModuleType, s: np.ndarray, variation: np.ndarray, nodes: Nodes):
    heads = nodes.points.shape[1]
    slope, curvature = np.zeros(heads), np.zeros((heads, heads))
    for points, weights in _blocks(nodes, s.size):
        kappa, f, g = kernels.units(points)
        partials = kernels.joint_partials(s, variation, kappa, f, g)
        first, second = kernels.joint_slopes(weights, partials, f, g)
        slope += first
        curvature += second
    return slope, curvature

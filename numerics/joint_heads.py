"""The risk's response when heads share one normalizer: one Gaussian over all heads at once."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from numerics.gaussian import normal_rule, symmetric_root
from numerics.lengths import SequenceLength
from numerics.lift_table import lift_of
from numerics.logits import LogitLaw, Response
from numerics.resolution import Resolution

# Directions of a covariance below this share of the largest are rounding.
RANK_TOLERANCE = 1e-13
# The mass outside a ball grows with the dimension: its radius does by this for each.
CORNER = 0.3


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
            size *= normal_rule(float(np.abs(column).max()), resolution)[0].size
        total += size
    return total


def grid_nodes(law: LogitLaw, resolution: Resolution) -> list[Nodes]:
    """Tensor grids for each component and, last, the noise token."""
    result = []
    for mean, covariance in zip(law.all_means, law.all_covariances, strict=True):
        basis = directions(covariance)
        axes = [normal_rule(float(np.abs(column).max()), resolution) for column in basis.T]
        z, weights = np.zeros((1, 0)), np.ones(1)
        for nodes, one in axes:
            z = np.column_stack([np.repeat(z, nodes.size, axis=0), np.tile(nodes, len(z))])
            weights = np.outer(weights, one).ravel()
        # The corners of the cube carry no weight that counts; the ball has a fraction of its nodes.
        radius = resolution.window + CORNER * max(0, len(axes) - 1)
        inside = np.einsum("nd,nd->n", z, z) <= radius**2
        z, weights = z[inside], weights[inside]
        result.append(Nodes(mean + z @ basis.T, weights / weights.sum()))
    return result


def normal_points_nodes(law: LogitLaw, z: np.ndarray) -> list[Nodes]:
    """Equally weighted logits from normal points z (N, H); they move smoothly with the law."""
    weights = np.full(len(z), 1 / len(z))
    laws = zip(law.all_means, law.all_covariances, strict=True)
    return [Nodes(mean + z @ symmetric_root(covariance), weights) for mean, covariance in laws]


def respond(
    kernels: ModuleType,
    law: LogitLaw,
    length: SequenceLength,
    gamma: float,
    resolution: Resolution,
    nodes: list[Nodes],
) -> Response:
    """Moments and first variation from given nodes of each component and the noise token."""
    tokens = [Reduced.of(kernels, one) for one in nodes]
    lift = lift_of(kernels, [token.logs for token in tokens], resolution.sharper())
    average = np.stack([lift.average(i, t.weighted_ratios) for i, t in enumerate(tokens)])
    relevant, noise = np.einsum("a,ans->ns", law.odds, average[:-1]), average[-1]
    powers = length.powers(noise[0])
    linear, square = kernels.single_moments(lift.s, relevant, noise, powers)
    variation = lift.step * kernels.single_variation(lift.s, relevant, noise, powers, gamma)
    total = Response.zero(law)
    total.linear = lift.step * float(np.sum(linear))
    total.square = lift.step * float(np.sum(square))
    last = len(tokens) - 1
    moments = [*lift.moments(variation[0], range(last)), *lift.moments(variation[1], [last])]
    for row, (token, one) in enumerate(zip(tokens, moments, strict=True)):
        partials = kernels.joint_partials(one, token.f, token.g)
        slopes = kernels.joint_slopes(token.weights, partials, token.f, token.g)
        total.slope[row], total.curvature[row] = slopes
    total.evaluations = lift.s.size * sum(one.weights.size for one in nodes)
    return total


@dataclass(frozen=True)
class Reduced:
    """What the lift needs to know of one token's nodes: ln of the normalizer, and ratios."""

    logs: np.ndarray
    weights: np.ndarray
    weighted_ratios: np.ndarray
    f: np.ndarray
    g: np.ndarray

    @classmethod
    def of(cls, kernels: ModuleType, nodes: Nodes) -> Reduced:
        kappa, f, g = kernels.units(nodes.points)
        logs = kappa + np.log(np.sum(g[0], axis=-1))
        return cls(logs, nodes.weights, kernels.ratios(f, g) * nodes.weights, f, g)

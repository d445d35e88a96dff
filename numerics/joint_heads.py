"""The risk's response when heads share one normalizer: one Gaussian over all heads at once."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log
from types import ModuleType

import numpy as np

from numerics.gaussian import normal_nodes, symmetric_root
from numerics.lengths import SequenceLength
from numerics.lift_table import LiftTable
from numerics.logits import LogitLaw, Response
from numerics.resolution import STRIP, Resolution

# Directions of a covariance below this share of the largest are rounding.
RANK_TOLERANCE = 1e-13
# A direction of slope 0 needs one node; its logarithm must exist.
TINY = 1e-300
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


def axis_nodes(slope: float, resolution: Resolution) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of one standard normal along which the logits change by ``slope``.

    The trapezoid rule, or Gauss-Hermite where that needs fewer: its n nodes miss about
    n! (slope / strip)^(2n), which is small only for narrow directions.
    """
    uniform = normal_nodes(resolution.normal_step(slope), resolution.window)
    for count in range(1, uniform[0].size):
        if lgamma(count + 1) + 2 * count * log(max(slope, TINY) / STRIP) < -resolution.digits:
            nodes, weights = np.polynomial.hermite_e.hermegauss(count)
            return nodes, weights / weights.sum()
    return uniform


def grid_size(law: LogitLaw, resolution: Resolution) -> int:
    """The number of nodes of all tensor grids together, before any is made."""
    total = 0
    for covariance in law.all_covariances:
        size = 1
        for column in directions(covariance).T:
            size *= axis_nodes(float(np.abs(column).max()), resolution)[0].size
        total += size
    return total


def grid_nodes(law: LogitLaw, resolution: Resolution) -> list[Nodes]:
    """Tensor grids for each component and, last, the noise token."""
    result = []
    for mean, covariance in zip(law.all_means, law.all_covariances, strict=True):
        basis = directions(covariance)
        axes = [axis_nodes(float(np.abs(column).max()), resolution) for column in basis.T]
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
    ends = min(float(t.logs.min()) for t in tokens), max(float(t.logs.max()) for t in tokens)
    table = LiftTable.over(kernels, ends, resolution.sharper())
    s = table.s
    places = [table.locate(t.logs) for t in tokens]
    average = np.stack(
        [table.average(at, t.weighted_ratios) for at, t in zip(places, tokens, strict=True)]
    )
    relevant, noise = np.einsum("a,ans->ns", law.odds, average[:-1]), average[-1]
    powers = length.powers(noise[0])
    linear, square = kernels.single_moments(s, relevant, noise, powers)
    variation = table.step * kernels.single_variation(s, relevant, noise, powers, gamma)
    total = Response.zero(law)
    total.linear = table.step * float(np.sum(linear))
    total.square = table.step * float(np.sum(square))
    lattices = [table.moments(variation[density]) for density in (0, 1)]
    for row, (token, at) in enumerate(zip(tokens, places, strict=True)):
        moments = table.at(lattices[int(row == len(tokens) - 1)], at)
        partials = kernels.joint_partials(moments, token.f, token.g)
        slopes = kernels.joint_slopes(token.weights, partials, token.f, token.g)
        total.slope[row], total.curvature[row] = slopes
    total.evaluations = s.size * sum(one.weights.size for one in nodes)
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

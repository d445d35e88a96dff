"""The risk's response when heads share one normalizer: one Gaussian over all heads at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from numerics.lengths import SequenceLength
from numerics.quadrature.gaussian import normal_rule, symmetric_root
from numerics.quadrature.lift_table import Lift, Lifted, lift_of
from numerics.quadrature.logits import LogitLaw, Response
from numerics.quadrature.resolution import Resolution
from numerics.quadrature.tangents import Tangents

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
    tangents: Tangents | None = None,
) -> Response:
    """Moments and first variation from given nodes of each component and the noise token.

    With ``tangents`` also what second derivatives along them need.
    """
    chain = Chain.jets(kernels) if tangents else Chain.first(kernels)
    tokens = [Reduced.of(kernels, chain, one) for one in nodes]
    lift = lift_of(
        chain.lifted, kernels.OFFSET, [token.logs for token in tokens], resolution.sharper()
    )
    average = np.stack([_averages(kernels, lift, i, t) for i, t in enumerate(tokens)])
    relevant, noise = np.einsum("a,ans->ns", law.odds, average[:-1]), average[-1]
    powers = length.powers(noise[0], 3)
    at = lift.s, relevant, noise
    linear, square = kernels.single_moments(*at, powers[:3])
    variation = lift.step * kernels.single_variation(*at, powers[:3], gamma)
    total = Response.zero(law, tangents)
    total.linear = lift.step * float(np.sum(linear))
    total.square = lift.step * float(np.sum(square))
    last = len(tokens) - 1
    moments = [*lift.moments(variation[0], range(last)), *lift.moments(variation[1], [last])]
    for row, (token, one) in enumerate(zip(tokens, moments, strict=True)):
        partials = chain.partials(one, token.f, token.g)
        found = chain.derivatives(token.weights, partials, token.f, token.g)
        for tensor, value in zip(total.tensors, found, strict=True):
            tensor[row] = value
    total.evaluations = lift.s.size * sum(one.weights.size for one in nodes)
    if tangents:
        second = lift.step * kernels.single_second_variation(*at, powers, gamma)
        changes = tangents.change(*_derived_averages(kernels, lift, tokens))
        total.add_second(np.arange(len(changes)), changes, second)
    return total


@dataclass(frozen=True)
class Chain:
    """The generated functions that lead from nodes to derivatives, up to second or fourth order."""

    units: Callable
    lifted: Lifted
    partials: Callable
    derivatives: Callable

    @classmethod
    def first(cls, kernels: ModuleType) -> Chain:
        lifted = Lifted(kernels.lifted_powers, kernels.MOMENT_POWERS)
        return cls(kernels.units, lifted, kernels.joint_partials, kernels.joint_slopes)

    @classmethod
    def jets(cls, kernels: ModuleType) -> Chain:
        lifted = Lifted(kernels.jet_lifted_powers, kernels.JET_POWERS)
        return cls(kernels.jet_units, lifted, kernels.jet_partials, kernels.joint_jets)


def _averages(kernels: ModuleType, lift: Lift, row: int, token: Reduced) -> np.ndarray:
    """E[X_n] at every s, shape (3, S)."""
    wanted = zip(kernels.AVERAGE_POWERS, token.weighted_ratios, strict=True)
    return np.stack([lift.sums(row, power, amounts[None])[0] for power, amounts in wanted])


def _derived_averages(kernels: ModuleType, lift: Lift, tokens: list[Reduced]):
    """E[d_h X_n] (A + 1, H, 3, S) and E[d_h d_k X_n] (A + 1, H, H, 3, S) at every s."""
    heads = tokens[0].f.shape[-1]
    slope = np.zeros((len(tokens), heads, 3, lift.s.size))
    curvature = np.zeros((len(tokens), heads, heads, 3, lift.s.size))
    h, k = np.triu_indices(heads)  # derivatives commute
    for row, token in enumerate(tokens):
        coefficients = kernels.coefficients(token.f, token.g)
        for (n, power), partials in zip(kernels.MOMENT_POWERS, coefficients, strict=True):
            by_one, by_two = kernels.joint_amounts(token.weights, partials, token.f, token.g)
            slope[row, :, n] += lift.sums(row, power, by_one)
            curvature[row, h, k, n] += lift.sums(row, power, by_two[h, k])
    curvature[:, k, h] = curvature[:, h, k]
    return slope, curvature


@dataclass(frozen=True)
class Reduced:
    """What the lift needs to know of one token's nodes: ln of the normalizer, and ratios."""

    logs: np.ndarray
    weights: np.ndarray
    weighted_ratios: np.ndarray
    f: np.ndarray
    g: np.ndarray

    @classmethod
    def of(cls, kernels: ModuleType, chain: Chain, nodes: Nodes) -> Reduced:
        kappa, f, g = chain.units(nodes.points)
        logs = kappa + np.log(np.sum(g[0], axis=-1))
        return cls(logs, nodes.weights, kernels.ratios(f, g) * nodes.weights, f, g)

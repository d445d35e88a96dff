# notation: s, v logarithms of the lift variables of two heads; rho correlation of two logits.
"""The risk's response for heads that have a normalizer each, or none: singles and pairs."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from numerics.gaussian import WIDE, HeadFactors, normal_nodes
from numerics.lengths import SequenceLength
from numerics.lift import LiftNodes
from numerics.logits import LogitLaw, Response
from numerics.resolution import Resolution

# Single heads cost little and hold the sharpest factors: they are integrated this much finer.
SINGLE_SHARE, SINGLE_EXTRA = 1.2, 4.0


def respond(
    kernels: ModuleType,
    law: LogitLaw,
    length: SequenceLength,
    gamma: float,
    resolution: Resolution,
) -> Response:
    """Moments and first variation at one resolution; cost grows like H^2 and not with L."""
    total = Response.zero(law)
    finer = Resolution(SINGLE_SHARE * resolution.digits + SINGLE_EXTRA)
    heads = [_single(kernels, law, length, gamma, finer, h, total) for h in range(law.heads)]
    if law.heads > 1:
        tables = [
            _pair_factors(kernels, law, length, resolution, h, ends) for h, ends in enumerate(heads)
        ]
        for h in range(law.heads):
            for k in range(h + 1, law.heads):
                _pair(kernels, law, length, gamma, resolution, (h, k), tables, total)
    return total


def _smoothing(law: LogitLaw, h: int, longest: int) -> float:
    """Width over which every average of head h's factors is smooth in s, alone and in pairs."""
    smallest = float(law.all_covariances[:, h, h].min())
    for covariance in law.all_covariances:
        for k in range(law.heads):
            if k != h and covariance[k, k] > 0:
                rest = covariance[h, h] - covariance[h, k] ** 2 / covariance[k, k]
                smallest = min(smallest, max(0.0, rest))
    # Up to three averages multiply, and the largest of L noise logits is narrower than one.
    return float(np.sqrt(smallest / 3 / (1 + 2 * np.log(longest))))


def _factors(kernels, law, resolution, h, nodes: LiftNodes) -> HeadFactors:
    """Head h's factors at given lift nodes, on the logits where any token may be."""
    centres, widths = law.all_means[:, h], np.sqrt(law.all_covariances[:, h, h])
    reach = resolution.window * widths
    ends = [(c - r, c + r) for c, r, b in zip(centres, reach, widths, strict=True) if b >= WIDE]
    return HeadFactors.on(kernels, resolution, nodes, ends)


def _whole_range(kernels, law, resolution, h) -> tuple[float, float]:
    spread = resolution.window * np.sqrt(law.all_covariances[:, h, h])
    ends = np.concatenate([law.all_means[:, h] - spread, law.all_means[:, h] + spread])
    with np.errstate(divide="ignore"):
        logs = kernels.log_normalizer(np.linspace(ends.min(), ends.max(), 257))
    return resolution.lift_range((float(logs.min()), float(logs.max())), kernels.OFFSET)


def _single(kernels, law, length, gamma, resolution, h, total) -> tuple[float, float]:
    """Add head h's own terms; return the range of s that its pairs need."""
    if kernels.SCOPE == "none":
        nodes = LiftNodes.none()
    else:
        smoothing = _smoothing(law, h, length.longest)
        ends = _whole_range(kernels, law, resolution, h)
        nodes = LiftNodes.between(*ends, resolution, smoothing, kernels.OFFSET)
    table = _factors(kernels, law, resolution, h, nodes)
    widths = np.sqrt(law.all_covariances[:, h, h])
    average = table.average(law.all_means[:, h], widths)  # (3, 3, S, A + 1)
    relevant = average[:, 0, :, :-1] @ law.odds
    noise = average[:, 0, :, -1]
    powers = length.powers(noise[0])
    linear, square = kernels.single_moments(nodes.s, relevant, noise, powers)
    variation = nodes.weights * kernels.single_variation(nodes.s, relevant, noise, powers, gamma)
    by_law = np.concatenate([np.repeat(variation[:1], law.odds.size, axis=0), variation[1:]])
    derivative = np.einsum("ans,ndsa->da", by_law, average)
    total.linear += float(np.sum(nodes.weights * linear))
    total.square += float(np.sum(nodes.weights * square))
    total.slope[:, h] += derivative[1]
    total.curvature[:, h, h] += derivative[2]
    total.evaluations += table.table.size
    return nodes.essential(np.abs(linear), kernels.POWER, resolution.digits)


def _pair_factors(kernels, law, length, resolution, h, ends) -> HeadFactors:
    if kernels.SCOPE == "none":
        return _factors(kernels, law, resolution, h, LiftNodes.none())
    smoothing = _smoothing(law, h, length.longest)
    nodes = LiftNodes.between(*ends, resolution, smoothing, kernels.OFFSET)
    return _factors(kernels, law, resolution, h, nodes.with_tail(kernels.POWER))


def _pair(kernels, law, length, gamma, resolution, pair, tables, total):
    """Add the terms of two heads: their logits share one Gaussian, the rest is independent."""
    first, second = (tables[head] for head in pair)
    z, weights, centres, widths = _common_part(law, resolution, pair)
    rows = centres.shape[1:]
    parts = [
        table.average(centres[i].ravel(), np.broadcast_to(widths[i][:, None], rows).ravel())
        for i, table in enumerate((first, second))
    ]
    left, right = (part.reshape(3, 3, -1, *rows) for part in parts)
    # means[n, a, s, v] = E_a[X_n(s, x_h) X_n(v, x_k)] for survival and score, n = 0, 1
    weighted = np.moveaxis(left[:2, 0] * weights, -2, 1)
    means = weighted @ np.moveaxis(right[:2, 0], (-2, -1), (1, -2))
    relevant = np.einsum("a,nasv->nsv", law.odds, means[:, :-1])
    noise = means[:, -1]
    powers = length.powers(noise[0])
    s, v = first.nodes.s[:, None], second.nodes.s
    unused = np.zeros((1, *noise.shape[1:]))
    relevant, noise = np.concatenate([relevant, unused]), np.concatenate([noise, unused])
    moment = kernels.pair_moments(s, v, relevant, noise, powers)
    area = first.nodes.weights[:, None] * second.nodes.weights
    total.pair += float(np.sum(area * moment))
    variation = area * kernels.pair_variation(s, v, relevant, noise, powers, gamma)[:, :2]
    by_law = np.concatenate([np.repeat(variation[:1], law.odds.size, axis=0), variation[1:]])
    # One product with the variation serves all derivatives of the other head.
    stacked = np.einsum("ndvaz->anvdz", right[:2]).reshape(*by_law.shape[:2], v.size, -1)
    carried = (by_law @ stacked).reshape(*by_law.shape[:3], 3, z.size)  # a n s d z
    derivative = np.einsum("nisaz,ansjz,z->aij", left[:2], carried, weights, optimize=True)
    total.add_pair(pair, derivative)
    total.evaluations += left.size + right.size


def _common_part(law: LogitLaw, resolution: Resolution, pair: tuple[int, int]):
    """Write the two logits as centre_i + width_i zeta_i with centres that share one normal z.

    The common part carries the whole covariance, |rho| of each variance; it works for every
    rho in [-1, 1] and for zero variances. Returns z, weights, centres (2, A + 1, Z) and widths
    (2, A + 1).
    """
    index = np.ix_(range(law.odds.size + 1), pair, pair)
    covariance = law.all_covariances[index]
    variances = np.stack([covariance[:, 0, 0], covariance[:, 1, 1]])
    product = np.sqrt(variances[0] * variances[1])
    rho = np.divide(covariance[:, 0, 1], product, out=np.zeros_like(product), where=product > 0)
    strength = np.minimum(1.0, np.abs(rho))
    slopes = np.sqrt(strength * variances)
    slopes[1] *= np.sign(rho)
    widths = np.sqrt((1 - strength) * variances)
    step = min(
        resolution.normal_step(abs(float(a)), float(b))
        for a, b in zip(slopes.ravel(), widths.ravel(), strict=True)
    )
    if np.all(slopes == 0):
        z, weights = np.zeros(1), np.ones(1)
    else:
        z, weights = normal_nodes(step, resolution.window)
    centres = law.all_means[:, pair].T[:, :, None] + slopes[:, :, None] * z
    return z, weights, centres, widths

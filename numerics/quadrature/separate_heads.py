# notation: s, v logarithms of the lift variables of two heads; rho correlation of two logits.
"""The risk's response for heads that have a normalizer each, or none: singles and pairs."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.quadrature.gaussian import WIDE, HeadFactors, normal_rule
from numerics.quadrature.lift import LiftNodes
from numerics.quadrature.logits import LogitLaw, Response
from numerics.quadrature.pair_changes import pair_changes
from numerics.quadrature.panels import PanelFactors
from numerics.quadrature.resolution import Resolution
from numerics.quadrature.tangents import Tangents

# Numbers held at once for the pairs, 8 bytes each, of which a few copies live together.
BLOCK = 4_000_000
# Digits added for pairs, which multiply two oscillating errors, so that the error of their sums
# is what the resolution says.
PAIR_EXTRA = 2.5
# With kinks a pair is smoothed only by what is left of each logit given the other: below this
# share of its variance the grid of what they have in common would be too large.
LEAST_APART = 1e-4
SMALLEST_VARIANCE = 1e-20


def respond(
    kernels: ModuleType,
    law: LogitLaw,
    length: SequenceLength,
    gamma: float,
    resolution: Resolution,
    tangents: Tangents | None = None,
) -> Response:
    """Moments and first variation at one resolution; cost grows like H^2 and not with L.

    With ``tangents`` also what second derivatives along them need.
    """
    total = Response.zero(law, tangents)
    finer = resolution.sharper()
    # What smooths a function of s + ln g is the spread of ln g, not that of the logit.
    # A kink does not move with s: no average over the logit smooths the lift then.
    smoothing = kernels.SMOOTH * kernels.LOG_SLOPE * _smoothing(law, length.longest)
    heads = [
        _single(kernels, law, length, gamma, finer, h, float(width), tangents, total)
        for h, width in enumerate(smoothing)
    ]
    if law.heads > 1:
        sharper = resolution.raised(PAIR_EXTRA)
        tables = [
            _pair_factors(kernels, law, sharper, h, float(smoothing[h]), ends, tangents)
            for h, ends in enumerate(heads)
        ]
        _pairs(kernels, law, length, gamma, sharper, tables, tangents, total)
    return total


def resolves_kinks(kernels: ModuleType, law: LogitLaw) -> bool:
    """Whether panels serve a kinked activation: kinks known, no logit certain, no two alike."""
    if kernels.SCOPE == "heads" or kernels.KINKS is None:
        return False
    variances = np.diagonal(law.all_covariances, axis1=1, axis2=2)
    if np.min(variances) <= SMALLEST_VARIANCE:
        return False
    products = np.sqrt(variances[:, :, None] * variances[:, None, :])
    alike = np.abs(law.all_covariances) >= (1 - LEAST_APART) * products
    return not bool(np.any(alike.sum(axis=2) > 1))


def _smoothing(law: LogitLaw, longest: int) -> np.ndarray:
    """Width (H,) over which every average of a head's factors is smooth in s, alone or in pairs."""
    covariances = law.all_covariances
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    others = np.where(variances > 0, variances, np.inf)[:, None, :]
    rest = variances[:, :, None] - covariances**2 / others
    rest[:, range(law.heads), range(law.heads)] = variances
    smallest = np.maximum(0.0, rest.min(axis=(0, 2)))
    # Up to three averages multiply, and the largest of L noise logits is narrower than one.
    return np.sqrt(smallest / 3 / (1 + 2 * np.log(longest)))


def _factors(kernels, name, law, resolution, h, nodes: LiftNodes) -> HeadFactors | PanelFactors:
    """Head h's factors at given lift nodes, on the logits where any token may be."""
    factors = getattr(kernels, name)
    if not kernels.SMOOTH:
        return PanelFactors.on(factors, resolution, nodes, np.array(kernels.KINKS, dtype=float))
    centres, widths = law.all_means[:, h], np.sqrt(law.all_covariances[:, h, h])
    reach = resolution.window * widths
    ends = [(c - r, c + r) for c, r, b in zip(centres, reach, widths, strict=True) if b >= WIDE]
    return HeadFactors.on(factors, resolution, nodes, ends)


def _whole_range(kernels, law, resolution, h) -> tuple[float, float]:
    spread = resolution.window * np.sqrt(law.all_covariances[:, h, h])
    ends = np.concatenate([law.all_means[:, h] - spread, law.all_means[:, h] + spread])
    with np.errstate(divide="ignore"):
        logs = kernels.log_normalizer(np.linspace(ends.min(), ends.max(), 257))
    low, high = resolution.lift_range((float(logs.min()), float(logs.max())), kernels.OFFSET)
    if high > kernels.LARGEST_LOG:
        raise InputError(
            f"R: the normalizer is as small as exp({logs.min():.3g}) over the range of the logits, "
            "beyond what its lift resolves; take smaller overlaps or an offset > 0"
        )
    return low, high


def _single(
    kernels, law, length, gamma, resolution, h, smoothing, tangents, total
) -> tuple[float, float]:
    """Add head h's own terms; return the range of s that its pairs need."""
    if kernels.SCOPE == "none":
        nodes = LiftNodes.none()
    else:
        ends = _whole_range(kernels, law, resolution, h)
        nodes = LiftNodes.between(*ends, resolution, smoothing, kernels.OFFSET)
    table = _factors(kernels, "jets" if tangents else "factors", law, resolution, h, nodes)
    widths = np.sqrt(law.all_covariances[:, h, h])
    average = table.average(law.all_means[:, h], widths)  # (3, 3 or 5, S, A + 1)
    relevant = average[:, 0, :, :-1] @ law.odds
    noise = average[:, 0, :, -1]
    powers = length.powers(noise[0], 3)
    at = nodes.s, relevant, noise
    linear, square = kernels.single_moments(*at, powers[:3])
    variation = nodes.weights * kernels.single_variation(*at, powers[:3], gamma)
    total.linear += float(np.sum(nodes.weights * linear))
    total.square += float(np.sum(nodes.weights * square))
    total.add_single(h, np.einsum("ans,ndsa->da", law.by_row(variation), average))
    total.evaluations += table.size
    if tangents:
        by_row = np.moveaxis(average, -1, 0)  # (A + 1, n, d, S)
        used, own = tangents.among([h])
        changes = own.change(by_row[:, None, :, 1], by_row[:, None, None, :, 2])
        second = nodes.weights * kernels.single_second_variation(*at, powers, gamma)
        total.add_second(used, changes, second)
    return nodes.essential(np.abs(linear), kernels.POWER, resolution.digits)


def _pair_factors(
    kernels, law, resolution, h, smoothing, ends, tangents
) -> HeadFactors | PanelFactors:
    factors = "pair_jets" if tangents else "pair_factors"
    if kernels.SCOPE == "none":
        return _factors(kernels, factors, law, resolution, h, LiftNodes.none())
    low, high = ends
    nodes = LiftNodes.between(low, high, resolution, smoothing, kernels.OFFSET)
    return _factors(kernels, factors, law, resolution, h, nodes.with_tail(kernels.POWER))


def _pairs(kernels, law, length, gamma, resolution, tables, tangents, total):
    """Add the terms of all pairs, as many at once as memory allows."""
    pairs = np.stack(np.triu_indices(law.heads, 1))  # (2, P)
    lifts = max(table.nodes.s.size for table in tables)
    common = _common_part(law, resolution, pairs)
    # Numbers for one pair: a dozen arrays over both lifts; factors of both heads at each node.
    degrees = tables[0].degrees
    plane, row = 12 * lifts * lifts, 8 * degrees * lifts * (law.odds.size + 1)
    at_once = max(1, BLOCK // max(plane, row * common[0].size))
    for start in range(0, pairs.shape[1], at_once):
        group = pairs[:, start : start + at_once]
        if at_once < pairs.shape[1]:
            common = _common_part(law, resolution, group)
        nodes = max(1, BLOCK // (row * group.shape[1]))
        _group(kernels, law, length, gamma, tables, group, common, nodes, tangents, total)


def _group(kernels, law, length, gamma, tables, pairs, common, nodes, tangents, total):
    """Two logits share one Gaussian z, the rest is independent: ``nodes`` of z at a time."""
    z, weights, centres, widths = common
    parts = [slice(start, start + nodes) for start in range(0, z.size, nodes)]

    def averages(part):
        s, areas, (left, right) = _pair_averages(tables, pairs, centres[..., part], widths)
        return s, areas, left * weights[part], right  # (P, n, A + 1, S, d, Z) each, n = 0, 1

    kept = averages(parts[0]) if len(parts) == 1 else None
    relevant, noise = 0.0, 0.0
    for part in parts:
        s, areas, left, right = kept or averages(part)
        # E_a[X_n(s, x_h) X_n(v, x_k)] for survival and score, the components added by odds
        first, second = left[..., 0, :], right[..., 0, :]
        odds = law.odds[:, None, None]
        relevant = relevant + _product(first[:, :, :-1] * odds, second[:, :, :-1])
        noise = noise + _product(first[:, :, -1:], second[:, :, -1:])
    powers = length.powers(noise[0], 3)
    s, v = s[0][:, :, None], s[1][:, None, :]
    area = areas[0][:, :, None] * areas[1][:, None, :]
    relevant, noise = (np.concatenate([one, np.zeros_like(one[:1])]) for one in (relevant, noise))
    at = s, v, relevant, noise
    total.pair += float(np.sum(area * kernels.pair_moments(*at, powers[:3])))
    variation = area * kernels.pair_variation(*at, powers[:3], gamma)[:, :2]
    by_relevant, by_noise = np.moveaxis(variation, 1, 2)[:, :, :, None]  # (P, n, 1, S, V) each
    derivative = 0.0
    for part in parts:
        *_, left, right = kept or averages(part)
        # One product with the variation serves all derivatives of the other head.
        flat = right.reshape(*right.shape[:4], -1)
        carried = np.concatenate(
            [by_relevant @ flat[:, :, :-1], by_noise @ flat[:, :, -1:]], axis=2
        ).reshape(left.shape)
        derivative = derivative + np.einsum("pnasiz,pnasjz->paij", left, carried)
        total.evaluations += left.size + right.size
    for pair, rows in zip(pairs.T, derivative, strict=True):
        total.add_pair(tuple(pair), rows)
    if tangents:
        second = area * kernels.pair_second_variation(*at, powers, gamma)[:, :2, :, :2]
        sides = (kept or averages(part) for part in parts)
        for pair, used, changes in pair_changes(tangents, pairs, sides):
            total.add_second(used, changes, second[..., pair, :, :])


def _product(left, right):
    """sum over components a and nodes z of left(s) right(v): (P, n, a, S, Z) to (n, P, S, V)."""
    left, right = (np.moveaxis(one, 2, 3) for one in (left, right))
    left, right = (one.reshape(*one.shape[:3], -1) for one in (left, right))
    return np.moveaxis(left @ np.swapaxes(right, -1, -2), 1, 0)


def _pair_averages(tables, pairs, centres, widths):
    """Lift nodes and weights (2, P, S) and averaged factors (2, P, 2, A + 1, S, d, Z), side first.

    Heads with fewer lift nodes are filled up with nodes of no weight.
    """
    size = max(table.nodes.s.size for table in tables)
    s, areas = np.zeros((2, *pairs.shape, size))
    rows = centres.shape[2:]
    factors = np.zeros((*pairs.shape, 2, rows[0], size, tables[0].degrees, rows[1]))
    for head, table in enumerate(tables):
        sides = np.nonzero(pairs == head)
        if sides[0].size == 0:
            continue
        own = slice(table.nodes.s.size)
        spread = np.broadcast_to(widths[sides][..., None], centres[sides].shape)
        average = table.average(centres[sides].ravel(), spread.ravel())
        average = average.reshape(*average.shape[:3], -1, *rows)
        s[(*sides, own)], areas[(*sides, own)] = table.nodes.s, table.nodes.weights
        for number, (side, pair) in enumerate(zip(*sides, strict=True)):
            factors[side, pair, :, :, own] = np.moveaxis(average[:, :, :, number], (1, 3), (3, 1))
    return s, areas, factors


def _common_part(law: LogitLaw, resolution: Resolution, pairs: np.ndarray):
    """Write two logits as centre_i + width_i zeta_i with centres that share one normal z.

    The common part carries the whole covariance, |rho| of each variance; it works for every
    rho in [-1, 1] and for zero variances. Returns z, weights, centres (2, P, A + 1, Z) and
    widths (2, P, A + 1) for ``pairs`` (2, P) of heads.
    """
    variances = np.diagonal(law.all_covariances, axis1=1, axis2=2).T[pairs]
    covariance = law.all_covariances[:, pairs[0], pairs[1]].T
    product = np.sqrt(variances[0] * variances[1])
    rho = np.divide(covariance, product, out=np.zeros_like(product), where=product > 0)
    strength = np.minimum(1.0, np.abs(rho))
    slopes = np.sqrt(strength * variances)
    widths = np.sqrt((1 - strength) * variances)
    distinct = set(zip(slopes.ravel().tolist(), widths.ravel().tolist(), strict=True))
    slopes[1] *= np.sign(rho)
    # The product of two smoothed functions has kinks smoothed by less than either.
    shrink = 1.0 if resolution.strip else np.sqrt(0.5)
    rules = (normal_rule(slope, resolution, shrink * width) for slope, width in distinct)
    z, weights = max(rules, key=lambda rule: rule[0].size)
    centres = law.all_means.T[pairs][..., None] + slopes[..., None] * z
    return z, weights, centres, widths

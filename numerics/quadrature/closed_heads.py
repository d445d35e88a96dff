"""The risk's response where every Gaussian average has a closed form: no error but rounding."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.quadrature.logits import LogitLaw, Response
from numerics.quadrature.tangents import Tangents

# Closed forms divide by variances and by 1 - correlation^2; values are continuous there.
SMALLEST = 1e-30
NEAR = 1e-15


def respond(
    kernels: ModuleType,
    law: LogitLaw,
    length: SequenceLength,
    gamma: float,
    *,
    gradient: bool,
    tangents: Tangents | None = None,
) -> Response:
    """Moments and first variation; InputError where a kinked score has no ``gradient``.

    With ``tangents`` also what second derivatives along them need. The risk without a normalizer
    is linear in its averages, so there is no second variation.
    """
    if gradient and not kernels.SMOOTH and _singular(law):
        raise InputError(
            "R: the risk of this activation has a kink, and no derivative, where a logit has "
            "variance 0 or two logits are equal; move R away from there"
        )
    total = Response.zero(law, tangents)
    single = kernels.closed_single_jets if tangents else kernels.closed_single
    powers = length.powers(np.ones(1))
    nothing = np.zeros(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for h in range(law.heads):
            average = single(law.all_means[:, h], _variances(law)[:, h])
            relevant = (average[:, 0, :-1] @ law.odds)[:, None]
            noise = average[:, 0, -1:]
            linear, square = kernels.single_moments(nothing, relevant, noise, powers)
            variation = kernels.single_variation(nothing, relevant, noise, powers, gamma)[..., 0]
            total.linear += float(linear[0])
            total.square += float(square[0])
            total.add_single(h, np.einsum("an,nda->da", law.by_row(variation), average))
            for k in range(h + 1, law.heads):
                _pair(kernels, law, powers, gamma, (h, k), total)
    return total


def _variances(law: LogitLaw) -> np.ndarray:
    """Variances (A + 1, H); 0 is the limit from above, nearer than rounding can tell."""
    return np.maximum(np.diagonal(law.all_covariances, axis1=1, axis2=2), SMALLEST)


def _singular(law: LogitLaw) -> bool:
    variances = _variances(law)
    products = np.sqrt(variances[:, :, None] * variances[:, None, :])
    correlated = np.abs(law.all_covariances) >= (1 - 1e-12) * products
    return bool(np.any(variances <= SMALLEST) or np.any(correlated.sum(axis=2) > 1))


def _pair(kernels, law, powers, gamma, pair, total):
    h, k = pair
    mean, variances = law.all_means, _variances(law)
    # A correlation of 1 is the limit from below, nearer than rounding can tell.
    most = (1 - NEAR) * np.sqrt(variances[:, h] * variances[:, k])
    covariance = np.clip(law.all_covariances[:, h, k], -most, most)
    closed_pair = kernels.closed_pair if len(total.tensors) == 2 else kernels.closed_pair_jets
    average = closed_pair(mean[:, h], mean[:, k], variances[:, h], variances[:, k], covariance)
    blank = np.zeros((3, 1))
    relevant, noise = blank.copy(), blank.copy()
    relevant[1], noise[1] = average[0, 0, :-1] @ law.odds, average[0, 0, -1]
    relevant[0] = noise[0] = 1.0
    moment = kernels.pair_moments(0.0, 0.0, relevant, noise, powers)
    variation = kernels.pair_variation(0.0, 0.0, relevant, noise, powers, gamma)[:, 1, 0]
    derivative = np.moveaxis(average * law.by_row(variation), -1, 0)
    total.pair += float(moment[0])
    total.add_pair(pair, derivative)

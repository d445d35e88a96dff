"""The risk's moments from normal points for all tokens at once: for activations with kinks."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.quadrature.gaussian import symmetric_root
from numerics.quadrature.logits import LogitLaw, Response
from numerics.quadrature.sobol import MAX_DIMENSION


def dimension(law: LogitLaw, length: SequenceLength) -> int:
    """Normal variables of one sample: H a token; InputError above what Sobol points have."""
    length.require_whole()
    size = law.heads * length.longest
    if size > MAX_DIMENSION:
        raise InputError(
            f"tokens: L * H = {size} is above {MAX_DIMENSION}, the dimension of Sobol points, and "
            "an activation with a kink has no lift; use a smooth score or fewer tokens"
        )
    return size


def respond(kernels: ModuleType, law: LogitLaw, length: SequenceLength, z: np.ndarray) -> Response:
    """Moments of the attention at gain 1 from normal points z (N, L H); no derivatives."""
    total = Response.zero(law)
    z = z.reshape(len(z), length.longest, law.heads)
    rows = zip(law.all_means, law.all_covariances, strict=True)
    laws = [(mean, symmetric_root(covariance)) for mean, covariance in rows]
    for size, odds in zip(length.lengths, length.odds, strict=True):
        noise = _logits(laws[-1], z[:, 1:size])
        for component, share in zip(laws[:-1], law.odds, strict=True):
            relevant = _logits(component, z[:, :1])
            attention = kernels.attention(np.concatenate([relevant, noise], axis=1)).sum(axis=-1)
            total.linear += odds * share * float(attention[:, 0].mean())
            total.square += odds * share * float(np.sum(attention**2, axis=1).mean())
    total.evaluations = len(z)
    return total


def _logits(law: tuple[np.ndarray, np.ndarray], z: np.ndarray) -> np.ndarray:
    mean, root = law
    return mean + z @ root

# notation: delta_lh backpropagated errors; Sigma (H, H) their second moment summed over tokens.
"""What online SGD adds to the overlaps: Sigma, averaged over all tokens at fixed normal points."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.quadrature.gaussian import symmetric_root
from numerics.quadrature.logits import LogitLaw
from numerics.quadrature.numeric_attention import require_equation
from numerics.quadrature.sobol import MAX_DIMENSION

# Logits held at once, 8 bytes each; a few arrays of that size live together.
BLOCK = 500_000


def require_sample_gradient(kernels: ModuleType) -> None:
    """InputError for a score that jumps: its gradient sample by sample is not that of the risk."""
    require_equation(kernels, "SGD")
    if not kernels.CONTINUOUS:
        raise InputError(
            "activation: its score or normalizer jumps, so a sample's gradient says nothing of the "
            "jump; online SGD needs a continuous one"
        )


def dimension(heads: int, length: SequenceLength) -> int:
    """Normal variables of one sample; InputError above what Sobol points have."""
    size = heads * length.longest
    if size > MAX_DIMENSION:
        raise InputError(
            f"tokens: L * H = {size} is above {MAX_DIMENSION}, the dimension of Sobol points; the "
            "learning-rate term needs fewer tokens or heads, or learning_rate 0"
        )
    return size


def noise(
    kernels: ModuleType, law: LogitLaw, length: SequenceLength, gamma: float, z: np.ndarray
) -> np.ndarray:
    """Sigma_hk = E[sum_l delta_lh delta_lk], from normal points z (N, L H); smooth in the law.

    SGD of learning rate eta and mini-batch B adds eta / B Sigma to dR/dtau.
    """
    total = np.zeros((law.heads, law.heads))
    rows = max(1, BLOCK // z.shape[1])
    laws = zip(law.all_means, law.all_covariances, strict=True)
    *relevant, (noise_mean, noise_root) = [(mean, symmetric_root(one)) for mean, one in laws]
    for start in range(0, len(z), rows):
        part = z[start : start + rows].reshape(-1, length.longest, law.heads)
        for size, odds in zip(length.lengths, length.odds, strict=True):
            logits = noise_mean + part[:, :size] @ noise_root
            for (mean, root), share in zip(relevant, law.odds, strict=True):
                logits[:, 0] = mean + part[:, 0] @ root
                total += odds * share * _second_moment(kernels, logits, gamma)
    return total / len(z)


def _second_moment(kernels: ModuleType, logits: np.ndarray, gamma: float) -> np.ndarray:
    """sum over samples and tokens of delta_lh delta_lk; token 0 is the relevant one."""
    linear = kernels.linearized(logits)
    miss = -gamma * linear[0].sum(axis=-1)
    miss[:, 0] += 1.0
    delta = kernels.errors(miss, linear, gamma).reshape(-1, logits.shape[-1])
    return delta.T @ delta

"""Scrambled Sobol points with a standard error from independent replicates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special
from scipy.stats import qmc

# Independent scrambles: their spread gives the standard error, never the points of one.
REPLICATES = 16
# One token's joint logits, or all tokens' at once: SciPy's generator ends at this dimension.
MAX_DIMENSION = qmc.Sobol.MAXDIM


def normal_points(dimension: int, log2_size: int, stream: np.random.SeedSequence) -> np.ndarray:
    """2^log2_size scrambled Sobol points (size, dimension) mapped to standard normals."""
    points = qmc.Sobol(max(1, dimension), scramble=True, rng=np.random.default_rng(stream))
    # A scrambled point can still be 0 in finite precision, where the normal quantile is -oo.
    uniform = points.random_base2(log2_size)
    return special.ndtri(np.clip(uniform, 2.0**-53, 1 - 2.0**-53))


def replicated(
    evaluate: Callable[[np.ndarray], np.ndarray],
    dimension: int,
    *,
    seed: int,
    tolerance: Callable[[np.ndarray], float],
    smallest: int = 9,
    largest: int = 15,
) -> tuple[np.ndarray, np.ndarray, int, bool]:
    """Mean, standard error, points used and whether the tolerance was met.

    ``evaluate`` maps normal points (N, dimension) to a flat array of results. The size of each
    replicate doubles twice at a time until the largest standard error is within
    ``tolerance(mean)``.
    """
    streams = np.random.SeedSequence(seed).spawn(REPLICATES)
    log2_size, used = smallest, 0
    while True:
        results = np.stack([evaluate(normal_points(dimension, log2_size, s)) for s in streams])
        used += REPLICATES * 2**log2_size
        mean = results.mean(axis=0)
        error = results.std(axis=0, ddof=1) / np.sqrt(REPLICATES)
        met = float(np.max(error)) <= tolerance(mean)
        if met or log2_size >= largest:
            return mean, error, used, met
        log2_size = min(largest, log2_size + 2)

# notation: theta latent weights; m, R alignments and overlaps; beta free biases.
"""Places without any symmetry, where a wrong formula has nowhere to hide."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from numerics.embedding import Vectors
from numerics.priors import Prior


@dataclass(frozen=True)
class Point:
    """A named place: spikes and heads in R^(F+H), with free biases and a gain if there are any."""

    name: str
    vectors: Vectors
    beta: np.ndarray | None
    gain: float | None


def generic_points(
    kernels: ModuleType, prior: Prior, heads: int, rng: np.random.Generator
) -> list[Point]:
    """Three places: moderate overlaps, heads near draws of theta, heads almost parallel.

    Heads are vectors in R^(F+H) whose first F entries are the alignments, so that every
    R - m m^T is physical.
    """
    width = prior.spikes + heads
    axes = np.eye(prior.spikes, width)

    def noise(scale: float) -> np.ndarray:
        return scale * rng.standard_normal((heads, width)) / np.sqrt(width)

    def place(name: str, vectors: np.ndarray) -> Point:
        beta = 0.5 * rng.standard_normal(heads) if kernels.FREE_BIAS else None
        gain = float(rng.uniform(0.5, 1.5)) if kernels.FREE_GAIN else None
        return Point(name, Vectors(axes, vectors), beta, gain)

    near = prior.sample(rng, heads) @ axes + noise(0.5)
    shared = 1.3 * rng.standard_normal(width) / np.sqrt(width)
    return [
        place("moderate", noise(1.2)),
        place("near the prior", near),
        place("strong overlaps", shared + noise(0.3)),
    ]

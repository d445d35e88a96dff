# notation: m, R alignments and overlaps; beta free biases.
"""What theory and simulation both say at one point."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.embedding import Vectors
from numerics.errors import AccuracyWarning, InputError
from numerics.generic_points import Point
from numerics.monte_carlo import (
    Model,
    directional_derivatives,
    finite_dimension_risk,
    reduced_risk,
)
from numerics.risk import Gradient, PopulationRisk
from numerics.statistics import SampleMean, ZScore, z_score

DIRECTIONS = 4
# A sample of vectors costs some ten times as much as a reduced one.
VECTOR_SHARE = 8
# Where the farthest sample holds more of a variance than this, the standard error is a guess.
HEAVY = 0.05


@dataclass(frozen=True)
class Comparison:
    """One quantity at one point: theory with its error, and what was simulated."""

    quantity: str
    theory: float
    error: float
    simulated: SampleMean

    @property
    def heavy(self) -> bool:
        return self.simulated.largest_share > HEAVY

    def score(self) -> ZScore:
        return z_score(self.quantity, self.theory, self.error, self.simulated)


def compare(
    risk: PopulationRisk,
    point: Point,
    samples: int,
    dimension: int,
    stream: np.random.SeedSequence,
) -> tuple[list[Comparison], list[str]]:
    """All comparisons at one point, and what could not be compared."""
    m, R, heads = point.vectors.m, point.vectors.R, len(point.vectors.heads)
    free: dict[str, Any] = {"beta": point.beta, "gain": point.gain}
    model = Model.of(risk.kernels, risk.prior, risk.length, heads, **free)
    in_logits, in_vectors, of_directions, in_derivatives = stream.spawn(4)
    few = samples // VECTOR_SHARE
    reduced = reduced_risk(model, m, R, samples=samples, seed=in_logits)
    vectors = finite_dimension_risk(model, m, R, dimension=dimension, samples=few, seed=in_vectors)
    with warnings.catch_warnings():
        # A missed tolerance shows as theory's error, in the table and in every z.
        warnings.simplefilter("ignore", AccuracyWarning)
        value = risk(m, R, **free)
        compared = [
            Comparison(f"{point.name}: risk, logits", value.value, value.error, reduced.risk),
            Comparison(f"{point.name}: risk, vectors", value.value, value.error, vectors.limit),
        ]
        try:
            gradient = risk.gradient(m, R, **free)
        except InputError as refusal:
            # Only an activation with kinks or steps may have no gradient.
            if risk.kernels.SMOOTH:
                raise
            return compared, [f"{point.name}: no gradient to compare: {refusal}"]
    remarks: list[str] = []
    if model.gain == 0:
        remarks.append(f"{point.name}: the gain is 0, so no moment of the attention to compare")
    else:
        relevant, squares = _attention_moments(risk, gradient, model.gain)
        compared += [
            Comparison(f"{point.name}: E[A_eps]", *relevant, reduced.relevant),
            Comparison(f"{point.name}: E[sum_l A_l^2]", *squares, reduced.squares),
        ]
    compared += _derivatives(model, point, gradient, samples, of_directions, in_derivatives)
    return compared, remarks


def _attention_moments(
    risk: PopulationRisk, gradient: Gradient, gain: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """E[A_eps] and E[sum_l A_l^2] with their errors, out of the risk and its slope in the gain.

    Both are affine in the two moments at gain 1, so that two moments follow from both: an error
    in the gain's slope shows up here.
    """

    def both(linear: float, square: float) -> np.ndarray:
        moments = linear, square, 0.0
        return np.array(
            [risk.kernels.risk(*moments, gain), risk.kernels.gain_slope(*moments, gain)]
        )

    constant = both(0.0, 0.0)
    inverse = np.linalg.inv(np.stack([both(1.0, 0.0), both(0.0, 1.0)], axis=1) - constant[:, None])
    scale = np.array([gain, gain**2])
    values = scale * (inverse @ (np.array([gradient.value, gradient.gain]) - constant))
    errors = np.abs(scale) * np.abs(inverse).sum(axis=1) * gradient.error
    relevant, squares = zip(values.tolist(), errors.tolist(), strict=True)
    return relevant, squares


def _derivatives(
    model: Model,
    point: Point,
    gradient: Gradient,
    samples: int,
    of_directions: np.random.SeedSequence,
    in_derivatives: np.random.SeedSequence,
) -> list[Comparison]:
    """Along random changes of all heads, and of all biases, each of length 1."""
    spikes, heads = point.vectors.spikes, point.vectors.heads
    rng = np.random.default_rng(of_directions)
    along = np.zeros((DIRECTIONS + 1, *heads.shape))
    along[:-1] = rng.standard_normal((DIRECTIONS, *heads.shape))
    along[:-1] /= np.linalg.norm(along[:-1], axis=(1, 2), keepdims=True)
    shift = np.zeros((DIRECTIONS + 1, len(heads)))
    shift[-1] = rng.standard_normal(len(heads))
    shift[-1] /= np.linalg.norm(shift[-1])
    simulated = directional_derivatives(
        model, point.vectors, along, shift, samples=samples, seed=in_derivatives
    )
    names = [f"heads, {n + 1}" for n in range(DIRECTIONS)] + ["biases"]
    compared = []
    for name, k, b, one in zip(names, along, shift, simulated, strict=True):
        # m and R are of second order in the heads at most: this difference is their derivative.
        ahead, behind = Vectors(spikes, heads + k), Vectors(spikes, heads - k)
        changes = (ahead.m - behind.m) / 2, (ahead.R - behind.R) / 2, b
        slopes = gradient.m, gradient.R, gradient.beta
        theory = sum(
            float(np.sum(slope * change)) for slope, change in zip(slopes, changes, strict=True)
        )
        error = gradient.error * sum(float(np.sum(np.abs(change))) for change in changes)
        compared.append(Comparison(f"{point.name}: derivative ({name})", theory, error, one))
    return compared

# notation: m, R alignments and overlaps; E_m, G the risk's derivatives in them.
"""Second derivatives of the risk in the order parameters, with an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numerics import engines
from numerics.logits import Response
from numerics.risk import MOST_DIGITS, ROUNDING, Gradient, PopulationRisk, unpacked
from numerics.sobol import normal_points
from numerics.state import State
from numerics.tangents import Tangents
from numerics.threads import one_thread

# Where a grid over all heads would have more nodes than this at the accuracy asked for, normal
# points take its place; several sets of them are compared.
MOST_GRID_NODES = 200_000
LOG2_POINTS, SETS = 13, 6
# The lift is integrated well below the noise of the points.
POINT_DIGITS = 20.0


@dataclass(frozen=True)
class Coordinates:
    """m, then the upper half of R, as one vector of q numbers."""

    heads: int
    spikes: int

    @property
    def upper(self) -> tuple[np.ndarray, np.ndarray]:
        return np.triu_indices(self.heads)

    @property
    def size(self) -> int:
        return self.heads * self.spikes + self.upper[0].size

    def unit(self) -> tuple[np.ndarray, np.ndarray]:
        """dm (q, H, F) and symmetric dR (q, H, H) of a change of each number by one."""
        return self.unpack(np.eye(self.size))

    def pack(self, dm: np.ndarray, dR: np.ndarray) -> np.ndarray:
        """(..., q) from (..., H, F) and symmetric (..., H, H)."""
        rows, columns = self.upper
        return np.concatenate([dm.reshape(*dm.shape[:-2], -1), dR[..., rows, columns]], axis=-1)

    def unpack(self, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The inverse of ``pack``."""
        cut = self.heads * self.spikes
        rows, columns = self.upper
        dR = np.zeros((*change.shape[:-1], self.heads, self.heads))
        dR[..., rows, columns] = dR[..., columns, rows] = change[..., cut:]
        return change[..., :cut].reshape(*change.shape[:-1], self.heads, self.spikes), dR


@dataclass(frozen=True)
class SecondDerivatives:
    """First and second derivatives of the risk at a point.

    matrix (q, q): second derivatives in m and the upper half of R, an off-diagonal entry of R
    moving both of its places. error bounds the error of every entry of it and of the gradient.
    """

    coordinates: Coordinates
    gradient: Gradient
    matrix: np.ndarray
    error: float

    def along(self, dm: np.ndarray, dR: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Changes of dE/dm (Z, H, F) and of G (Z, H, H) when m and R move by dm and dR."""
        by_m, by_R = self.coordinates.unpack(self.coordinates.pack(dm, dR) @ self.matrix)
        # A derivative in an entry of R that has two places is twice the matrix gradient's.
        heads = self.coordinates.heads
        return by_m, by_R * (1 + np.eye(heads)) / 2


def second_derivatives(risk: PopulationRisk, state: State) -> SecondDerivatives:
    """At a state whose free biases and gain stay as they are.

    Raises InputError where the activation has no second derivatives; warns AccuracyWarning when
    the risk's tolerance, of the largest number here, is not met.
    """
    m, R, kernels = state.m, state.R, risk.kernels
    coordinates = Coordinates(*m.shape)
    law, dm, dR = risk.law(m, R, state.beta), *coordinates.unit()
    tangents = Tangents.of(kernels, risk.prior.components(), m, dm, dR)

    def flat(respond: Callable[[float], Response]) -> tuple[np.ndarray, int]:
        response = respond(state.gain)
        first = risk.first_derivatives(response, m, state.gain)
        matrix = _matrix(risk, tangents, dm, response)
        return np.concatenate([first, matrix.ravel()]), response.evaluations

    with one_thread():
        found, error, method, evaluations = _evaluated(risk, state, law, tangents, flat)
    cut = found.size - coordinates.size**2
    matrix = found[cut:].reshape(coordinates.size, coordinates.size)
    return SecondDerivatives(
        coordinates,
        unpacked(found[:cut], m.shape, error, method, evaluations),
        (matrix + matrix.T) / 2,
        error,
    )


def _evaluated(risk, state, law, tangents, flat):
    """Results of ``flat`` with their error, method and evaluations, by the road of this risk."""
    kernels, length = risk.kernels, risk.length
    if kernels.CLOSED:
        found, evaluations = flat(
            engines.closed(kernels, law, length, gradient=True, tangents=tangents)
        )
        return found, ROUNDING * max(1.0, float(np.abs(found).max())), "closed form", evaluations
    if not kernels.SMOOTH:
        raise engines.no_gradient()
    digits = min(MOST_DIGITS, -np.log(risk.rtol))
    if not risk.needs_points(state.m, state.R, state.beta, digits, MOST_GRID_NODES):
        return risk.by_quadrature(
            lambda digits: flat(engines.at_digits(kernels, law, length, digits, tangents))
        )
    streams = np.random.SeedSequence(risk.seed).spawn(SETS)
    sets = (normal_points(law.heads, LOG2_POINTS, stream) for stream in streams)
    runs = [flat(engines.at_points(kernels, law, length, POINT_DIGITS, z, tangents)) for z in sets]
    results = np.array([found for found, _ in runs])
    error = float(np.max(results.std(axis=0, ddof=1))) / np.sqrt(SETS)
    return results.mean(axis=0), error, "sobol", sum(evaluations for _, evaluations in runs)


def _matrix(
    risk: PopulationRisk, tangents: Tangents, dm: np.ndarray, response: Response
) -> np.ndarray:
    """Second variation, and first variation times second changes of the averages."""
    kernels, prior = risk.kernels, risk.prior.components()
    rows = np.concatenate([prior.odds, np.ones(1)])
    straight = kernels.second_form(rows, *response.tensors, tangents.mean, tangents.covariance)
    bend = kernels.bend_form(prior.odds, prior.covariance, response.curvature[:-1], dm)
    return response.second + straight + bend

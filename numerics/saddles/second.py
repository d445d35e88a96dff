# notation: m, R alignments and overlaps; E_m, G the risk's derivatives in them.
"""Second derivatives of the risk in the order parameters, with an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numerics.dynamics.state import State
from numerics.quadrature import engines
from numerics.quadrature.logits import Response
from numerics.quadrature.numeric_attention import require_equation
from numerics.quadrature.sobol import normal_points
from numerics.quadrature.tangents import Tangents
from numerics.risk import MOST_DIGITS, ROUNDING, Gradient, PopulationRisk, unpacked
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
        dR = np.zeros((*change.shape[:-1], self.heads, self.heads), change.dtype)
        dR[..., rows, columns] = dR[..., columns, rows] = change[..., cut:]
        return change[..., :cut].reshape(*change.shape[:-1], self.heads, self.spikes), dR


@dataclass(frozen=True)
class SecondDerivatives:
    """First and second derivatives of the risk at a point, by one rule.

    matrix (q, q): second derivatives in m and the upper half of R, an off-diagonal entry of R
    moving both of its places.
    """

    coordinates: Coordinates
    gradient: Gradient
    matrix: np.ndarray

    def along(self, dm: np.ndarray, dR: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Changes of dE/dm (Z, H, F) and of G (Z, H, H) when m and R move by dm and dR."""
        by_m, by_R = self.coordinates.unpack(self.coordinates.pack(dm, dR) @ self.matrix)
        # A derivative in an entry of R that has two places is twice the matrix gradient's.
        return by_m, by_R * (1 + np.eye(self.coordinates.heads)) / 2


@dataclass(frozen=True)
class Carried:
    """Numbers that follow from second derivatives: values (n,), and a bound on their errors."""

    values: np.ndarray
    error: float
    method: str


def carried(
    risk: PopulationRisk, state: State, carry: Callable[[SecondDerivatives], np.ndarray]
) -> Carried:
    """What ``carry`` makes of the second derivatives at a state, to the risk's tolerance.

    Free biases and gain stay as they are. As that of a gradient, the tolerance is relative to the
    largest of the risk and all numbers. Raises InputError where the activation has no second
    derivatives; warns AccuracyWarning when the tolerance is not met by quadrature.
    """
    m, R, kernels = state.m, state.R, risk.kernels
    require_equation(kernels, "second derivatives")
    coordinates = Coordinates(*m.shape)
    law, dm, dR = risk.law(m, R, state.beta), *coordinates.unit()
    tangents = Tangents.of(kernels, risk.prior.components(), m, dm, dR)

    def flat(respond: Callable[[float], Response]) -> tuple[np.ndarray, int]:
        response = respond(state.gain)
        first = risk.first_derivatives(response, m, state.gain)
        gradient = unpacked(first, m.shape, float("nan"), "fixed rule", response.evaluations)
        matrix = _matrix(risk, tangents, dm, response)
        found = SecondDerivatives(coordinates, gradient, (matrix + matrix.T) / 2)
        return np.append(carry(found), gradient.value), response.evaluations

    with one_thread():
        found, error, method = _evaluated(risk, state, law, tangents, flat)
    return Carried(found[:-1], error, method)


def _matrix(
    risk: PopulationRisk, tangents: Tangents, dm: np.ndarray, response: Response
) -> np.ndarray:
    """Second variation, and first variation times second changes of the averages."""
    kernels, prior = risk.kernels, risk.prior.components()
    rows = np.concatenate([prior.odds, np.ones(1)])
    straight = kernels.second_form(rows, *response.tensors, tangents.mean, tangents.covariance)
    bend = kernels.bend_form(prior.odds, prior.covariance, response.curvature[:-1], dm)
    return response.second + straight + bend


def _evaluated(risk, state, law, tangents, flat) -> tuple[np.ndarray, float, str]:
    """Results of ``flat`` with error and method, by the road of this risk."""
    kernels, length = risk.kernels, risk.length
    if kernels.CLOSED:
        found, _ = flat(engines.closed(kernels, law, length, gradient=True, tangents=tangents))
        return found, ROUNDING * max(1.0, float(np.abs(found).max())), "closed form"
    if not kernels.SMOOTH:
        engines.require_kinks_resolved(kernels, law)
    digits = min(MOST_DIGITS, -np.log(risk.rtol))
    if not risk.needs_points(state.m, state.R, state.beta, digits, MOST_GRID_NODES):
        found, error, method, _ = risk.by_quadrature(
            lambda digits: flat(engines.at_digits(kernels, law, length, digits, tangents))
        )
        return found, error, method
    streams = np.random.SeedSequence(risk.seed).spawn(SETS)
    sets = (normal_points(law.heads, LOG2_POINTS, stream) for stream in streams)
    runs = (engines.at_points(kernels, law, length, POINT_DIGITS, z, tangents) for z in sets)
    results = np.array([flat(respond)[0] for respond in runs])
    error = float(np.max(results.std(axis=0, ddof=1))) / np.sqrt(SETS)
    return results.mean(axis=0), error, "sobol"

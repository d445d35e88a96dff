# notation: k heads (H, w) by coordinates, spikes first, then axes beyond them; p parameter; G the
# risk's symmetric gradient in R.
"""Fixed points of gradient flow as the equations of a continuation: dE/dk = 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import helmert

from numerics.continuation.symmetry import kept_subspace
from numerics.continuation.system import Curvature, Mode, Unreachable, modes_of
from numerics.dynamics.state import State
from numerics.dynamics.vector_field import GridTooLarge
from numerics.errors import InputError
from numerics.risk import PopulationRisk
from numerics.saddles.fixed_points import DIGITS, slope_at
from numerics.saddles.flat import NEGLIGIBLE
from numerics.saddles.hessian import Hessian, hessian
from numerics.saddles.spectrum import AGAINST, ANY, NOISE, TOGETHER
from numerics.threads import one_thread

RiskAt = Callable[[float], PopulationRisk]
# Risks at the last values of the parameter are kept: kernels may have to be generated for each.
KEPT = 64


class Heads:
    """The gradient of the risk in weight space, with the symmetries that a start keeps.

    risk_at: the risk at a value of the parameter. k (H, w): the start. turns: symmetries of the
    prior all along, from ``symmetry.prior_symmetries``. distance: what the start keeps but for so
    much counts as kept.
    """

    accuracy = float(np.exp(-DIGITS))

    def __init__(
        self, risk_at: RiskAt, k: np.ndarray, turns: Sequence[np.ndarray], distance: float = 0.0
    ):
        self.shape: tuple[int, int] = (k.shape[0], k.shape[1])
        self.risk = risk_at
        self.turns = turns
        self.spikes = len(turns[0])
        self.basis = kept_subspace(k, self.spikes, turns, distance)

    def slope(self, x: np.ndarray, p: float) -> tuple[np.ndarray, float]:
        try:
            with one_thread():
                gradient, scale = slope_at(self.risk(p), x.reshape(self.shape))
        except GridTooLarge:
            raise Unreachable(f"the grid takes too many nodes at p = {p:.8g}") from None
        except InputError as problem:
            raise Unreachable(f"no gradient at p = {p:.8g} ({problem})") from None
        if not np.isfinite(gradient).all():
            raise Unreachable(f"the gradient is not finite at p = {p:.8g}")
        return gradient.ravel(), scale

    def curvature(self, x: np.ndarray, p: float) -> Curvature:
        k = x.reshape(self.shape)
        heads = len(k)
        try:
            risk = self.risk(p)
            gain = float(risk.kernels.gain(heads))
            found = hessian(risk, State(k[:, : self.spikes], k @ k.T, np.zeros(heads), gain))
        except InputError as problem:
            raise Unreachable(f"no Hessian at p = {p:.8g} ({problem})") from None
        matrix = self._in_coordinates(k, found)
        return Curvature(matrix, (*self._inside(k, matrix, found), *_noise(found)))

    def symmetric_near(self, x: np.ndarray, distance: float) -> Heads | None:
        more = Heads(self.risk, x.reshape(self.shape), self.turns, distance)
        return more if more.basis.shape[1] < self.basis.shape[1] else None

    def _in_coordinates(self, k: np.ndarray, found: Hessian) -> np.ndarray:
        """The Hessian between the coordinates of ``k``, whose axes beyond the spikes are others."""
        heads, width = self.shape
        if width == self.spikes:
            return found.inside
        own, theirs = k[:, self.spikes :], found.frame[:, self.spikes :]
        # own = theirs @ axes: theirs are the principal axes, those of no extent left out.
        axes = np.linalg.lstsq(theirs, own, rcond=None)[0]
        turn = np.zeros((found.frame.shape[1], width))
        turn[: self.spikes, : self.spikes] = np.eye(self.spikes)
        turn[self.spikes :, self.spikes :] = axes
        beyond = np.eye(width) - turn.T @ turn
        whole = np.kron(np.eye(heads), turn)
        return whole.T @ found.inside @ whole + np.kron(found.noise, beyond)

    def _inside(self, k: np.ndarray, matrix: np.ndarray, found: Hessian) -> tuple[Mode, ...]:
        heads, width = self.shape
        error = heads * width * found.error
        error = max(error, NEGLIGIBLE * float(np.abs(matrix).max()))
        if heads == 1 or np.ptp(k, axis=0).max() > 0:
            return modes_of(matrix, error, ANY)
        # Between heads that are one vector there is one block, and another of a head with itself.
        blocks = matrix.reshape(heads, width, heads, width)
        itself = np.mean([blocks[h, :, h] for h in range(heads)], axis=0)
        total = blocks.sum(axis=(0, 2)) / heads
        other = (total - itself) / (heads - 1)
        contrasts = helmert(heads, full=True)
        return (
            *_spread(modes_of(total, error, TOGETHER), contrasts[:1]),
            *_spread(modes_of(itself - other, error, AGAINST), contrasts[1:]),
        )


def remembered(risk_at: RiskAt) -> RiskAt:
    """The same risks, made once for each of the last values of the parameter."""
    known: dict[float, PopulationRisk] = {}

    def risk(p: float) -> PopulationRisk:
        if p not in known:
            if len(known) == KEPT:
                del known[next(iter(known))]
            known[p] = risk_at(p)
        return known[p]

    return risk


def _spread(modes: tuple[Mode, ...], across: np.ndarray) -> list[Mode]:
    """Modes of one head's coordinates, for each of the combinations ``across`` heads."""
    return [Mode(one.value, one.error, one.block, np.kron(across, one.vectors)) for one in modes]


def _noise(found: Hessian) -> list[Mode]:
    error = len(found.noise) * found.error
    error = max(error, NEGLIGIBLE * float(np.abs(found.noise).max()))
    modes = modes_of(found.noise, error, NOISE)
    return [Mode(one.value, one.error, NOISE, one.vectors, inside=False) for one in modes]

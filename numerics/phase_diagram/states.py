# notation: k heads (H, w) by coordinates, spikes first; u the unspecialized point; G = dE/dR.
"""One place of a phase diagram: the stable states that are found there, and the best of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from numerics.continuation.dataset import above_bayes
from numerics.dynamics.vector_field import GridTooLarge
from numerics.errors import InputError
from numerics.priors import FiniteSupport
from numerics.risk import PopulationRisk
from numerics.saddles.descent import descended
from numerics.saddles.fixed_points import (
    SAME,
    FixedPoint,
    judged,
    origin_fixed_point,
    unspecialized_fixed_point,
)
from numerics.saddles.hessian import coordinates
from numerics.saddles.spectrum import NOISE

NAMES = ("none found", "origin", "unspecialized", "specialized")
NOT_FOUND, ORIGIN, UNSPECIALIZED, SPECIALIZED = range(4)
# Size of the step off a saddle, along all its unstable modes.
OFF = 0.1
# Heads at the origin are smaller than this.
ZERO = 1e-6


@dataclass(frozen=True, eq=False)
class Place:
    """What is known at one value of both parameters.

    state: number in NAMES. heads (H, w) of the best stable state, None if there is none.
    unspecialized_index, noise_index: unstable modes at the unspecialized point, -1 where it was
    not found. risk with its error and above the Bayes risk; reason: what failed, if anything.
    """

    state: int
    heads: np.ndarray | None
    unspecialized_index: int
    noise_index: int
    risk: float
    risk_error: float
    above: float
    above_error: float
    reason: str


def failed(reason: str) -> Place:
    """A place at which nothing is known."""
    nan = float("nan")
    return Place(NOT_FOUND, None, -1, -1, nan, nan, nan, nan, reason)


def place_at(risk: PopulationRisk, heads: int, neighbour: np.ndarray | None) -> Place:
    """The best stable state among those that are tried, and the index of the unspecialized point.

    Tried: the origin and the unspecialized point; where the latter is unstable, the way down from
    it; down from one head at each atom where heads are enough; down from the best state of the
    ``neighbour``. Down is by quasi-Newton steps on the risk, within the spikes first, beyond them
    where that ends at a saddle in noise directions.
    """
    reasons: list[str] = []
    found: list[FixedPoint] = []
    together = None
    try:
        together = unspecialized_fixed_point(risk, heads)
        found.append(together)
    except InputError as problem:
        reasons.append(str(problem))
    try:
        found.append(origin_fixed_point(risk, heads))
    except (InputError, GridTooLarge):
        # Where theta has a mean the origin is no fixed point.
        pass
    for start in _starts(risk, heads, together, neighbour):
        try:
            found.append(_down(risk, start))
        except InputError as problem:
            reasons.append(str(problem))
    index, noise = (together.index, together.noise_index) if together else (-1, -1)
    stable = [point for point in found if point.index == 0 and point.noise_index == 0]
    if not stable:
        reason = "; ".join(reasons) or "no stable state among those that were tried"
        return replace(failed(reason), unspecialized_index=index, noise_index=noise)
    best = _least(stable)
    above, above_error = above_bayes(risk, best.risk)
    return Place(
        _named(best),
        coordinates(best.m, best.R),
        index,
        noise,
        best.risk.value,
        best.risk.error,
        above,
        above_error,
        "; ".join(reasons),
    )


def _least(stable: list[FixedPoint]) -> FixedPoint:
    """The one of least risk; of those that are equal within their errors the first."""
    best = stable[0]
    for point in stable[1:]:
        if point.risk.value < best.risk.value - point.risk.error - best.risk.error:
            best = point
    return best


def _starts(
    risk: PopulationRisk,
    heads: int,
    together: FixedPoint | None,
    neighbour: np.ndarray | None,
) -> list[np.ndarray]:
    starts = []
    if together is not None and together.index:
        spectrum = together.spectrum
        inside = spectrum.isel(mode=spectrum.block.values != NOISE)
        falling = inside.eigenvalue.values < -inside.error.values
        off = inside.pattern.values[falling].sum(axis=0)
        starts.append(together.m + OFF * off / np.linalg.norm(off))
    prior = risk.prior
    if isinstance(prior, FiniteSupport) and heads >= len(prior.support):
        starts.append(prior.support[prior.atoms_for(heads)])
    if neighbour is not None:
        starts.append(neighbour)
    return starts


def _down(risk: PopulationRisk, start: np.ndarray) -> FixedPoint:
    """The fixed point below ``start``; one axis beyond the spikes more where that is a saddle."""
    k, spikes = start, risk.prior.spikes
    while True:
        rest = descended(risk, k)
        point = judged(risk, rest, rest @ rest.T)
        if point.noise_index == 0 or rest.shape[1] == spikes + len(rest):
            return point
        values, vectors = np.linalg.eigh(risk.gradient(point.m, point.R).R)
        k = np.hstack([rest, OFF * vectors[:, :1]])


def _named(point: FixedPoint) -> int:
    if np.abs(point.R).max() <= ZERO**2:
        return ORIGIN
    alike = np.ptp(point.m, axis=0).max() <= SAME and np.ptp(point.R) <= SAME
    return UNSPECIALIZED if alike else SPECIALIZED

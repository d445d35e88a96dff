# notation: m, R alignments and overlaps, C = R - m m^T; k heads by coordinates, spikes first.
"""Fixed points of gradient flow: where the risk's gradient in weight space vanishes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares, linear_sum_assignment

from numerics.checks import count
from numerics.dynamics.flow import gradient_flow
from numerics.dynamics.vector_field import GridTooLarge
from numerics.errors import InputError
from numerics.estimate import Estimate
from numerics.priors import FiniteSupport
from numerics.risk import Gradient, PopulationRisk, require_risk
from numerics.saddles.flat import Flat, flat_modes, is_flat
from numerics.saddles.hessian import coordinates, weight_gradient
from numerics.saddles.second import MOST_GRID_NODES
from numerics.saddles.spectrum import NOISE, weight_spectrum
from numerics.threads import one_thread

# A point is fixed when its gradient is below this share of the largest term that makes it up.
RESIDUAL = 1e-7
# Accuracy of the gradient that is brought to rest: far below the errors of the spectrum there, or
# a mode that is flat at the fixed point looks unstable next to it.
DIGITS = 27.0
# Two points are one when, their heads put in order, no entry of m or R differs by more.
SAME = 1e-4
# Random starts are followed for this flow time, at this tolerance, before they are polished.
FOLLOWED, FOLLOWED_RTOL = 200.0, 1e-3
# Overlaps beyond the spikes that have fallen to this share of the others are on their way to 0.
VANISHING = 1e-6


@dataclass(frozen=True)
class FixedPoint:
    """A point where gradient flow rests.

    m (H, F), R (H, H). risk: with its error. residual: norm of the weight-space gradient over the
    norm of the largest of the terms that cancel in it. index: unstable modes of spikes and heads,
    counted with multiplicity; noise_index: unstable modes in each direction orthogonal to them.
    flat: modes, of either kind, whose eigenvalue is 0 within its error, by reason. verdict:
    "minimum" or "saddle of index n", what is flat said apart. spectrum: of the Hessian in weight
    space.
    """

    m: np.ndarray
    R: np.ndarray
    risk: Estimate
    residual: float
    index: int
    noise_index: int
    flat: Flat
    verdict: str
    spectrum: xr.Dataset


def unspecialized_fixed_point(risk: PopulationRisk, heads: int) -> FixedPoint:
    """The fixed point that all ``heads`` reach together from a small start, as one vector.

    Where theta has mean 0 and no common mode is unstable it is the origin. Raises InputError for
    an activation with a free bias or gain and where no such point is found.
    """
    require_fixed(risk)
    heads = count("heads", heads)
    mean = risk.prior.mean
    size = float(np.linalg.norm(mean))
    # A small start along the mean, or away from every symmetry where there is none.
    small = mean / size if size > 1e-9 else 1.0 / np.arange(1.0, risk.prior.spikes + 1)
    one = np.ones((heads, 1))
    end = _together(risk, 1e-2 * small, heads)
    found = polished(risk, end, lambda a: one * a[None, :])
    if found is None:
        raise InputError("unspecialized fixed point: none found; the heads do not come to rest")
    return judged(risk, found, found @ found.T)


def origin_fixed_point(risk: PopulationRisk, heads: int) -> FixedPoint:
    """All ``heads`` at zero, a fixed point where the mean of theta pulls at none of them.

    Raises InputError where the gradient does not vanish there.
    """
    require_fixed(risk)
    origin = np.zeros((count("heads", heads), risk.prior.spikes))
    residual = residual_of(risk, origin)
    if residual > RESIDUAL:
        raise InputError(
            f"origin: not a fixed point, its residual is {residual:.2g}; where theta has a mean "
            "the heads leave at once for the unspecialized point"
        )
    return judged(risk, origin, origin @ origin.T)


def fixed_points(
    risk: PopulationRisk, heads: int, seed: int = 0, starts: int = 6
) -> list[FixedPoint]:
    """Fixed points that flows from several starts lead to, lowest risk first.

    starts: random ones, besides the origin, the unspecialized point and, for a prior with atoms,
    heads at atoms. Each is followed by gradient flow, then polished by least squares in weight
    space; what does not come to rest is left out, as is, of heads that share a normalizer, a point
    whose gradient takes more than a grid of 200,000 nodes. Points that differ by an order of the
    heads are one. Not every fixed point is found, saddles least of all. Raises InputError as above.
    """
    require_fixed(risk)
    heads, starts = count("heads", heads), count("starts", starts, least=0)
    spikes = risk.prior.spikes
    rng = np.random.default_rng(count("seed", seed, least=0))
    begun = []
    for _ in range(starts):
        k = 0.3 * rng.standard_normal((heads, spikes + heads))
        begun.append((k[:, :spikes], k @ k.T))
    if isinstance(risk.prior, FiniteSupport):
        m = risk.prior.support[risk.prior.atoms_for(heads)]
        begun.append((m, m @ m.T))
    found = [unspecialized_fixed_point(risk, heads)]
    with suppress(InputError):
        found.append(origin_fixed_point(risk, heads))
    for m0, R0 in begun:
        resting = _settled(risk, *_followed(risk, m0, R0))
        if resting is not None:
            found.append(judged(risk, resting, resting @ resting.T))
    distinct: list[FixedPoint] = []
    for point in sorted(found, key=lambda one: one.risk.value):
        if not any(same_point(point, other) for other in distinct):
            distinct.append(point)
    return distinct


def _together(risk: PopulationRisk, start: np.ndarray, heads: int) -> np.ndarray:
    """Where one vector that all heads share goes; as many heads, rounding would part them."""
    one = np.ones((heads, 1))

    def descend(tau: float, a: np.ndarray) -> np.ndarray:
        return -slope_at(risk, one * a[None, :])[0].mean(axis=0)

    with one_thread():
        path = solve_ivp(descend, (0.0, FOLLOWED), start, rtol=FOLLOWED_RTOL, atol=1e-6)
    return np.asarray(path.y[:, -1])


def _followed(risk: PopulationRisk, m: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    flow = gradient_flow(risk, m, R, [FOLLOWED / 2, FOLLOWED], rtol=FOLLOWED_RTOL, method="RK45")
    last = flow.dropna("time", subset=["m"])
    if last.sizes["time"] == 0:
        return m, R
    return last.m.values[-1], last.R.values[-1]


def _settled(risk: PopulationRisk, m: np.ndarray, R: np.ndarray) -> np.ndarray | None:
    """The fixed point near (m, R), within the spikes where the rest is vanishing."""
    C = R - m @ m.T
    if np.abs(C).max() <= VANISHING * np.abs(R).max():
        return polished(risk, m.ravel(), lambda a: a.reshape(m.shape))
    k = coordinates(m, R)
    return polished(risk, k.ravel(), lambda a: a.reshape(k.shape))


def polished(
    risk: PopulationRisk, start: np.ndarray, heads_at: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray | None:
    """Heads (H, width) at rest near ``start``, None if least squares does not bring them to it."""

    def slope(a: np.ndarray) -> np.ndarray:
        return slope_at(risk, heads_at(a))[0].ravel()

    try:
        with one_thread():
            result = least_squares(slope, start, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-14)
        k = heads_at(result.x)
        return k if residual_of(risk, k) <= RESIDUAL else None
    except GridTooLarge:
        return None


def slope_at(risk: PopulationRisk, k: np.ndarray) -> tuple[np.ndarray, float]:
    """The gradient by the heads' coordinates k (H, width), and the norm of its larger part.

    Raises GridTooLarge where heads that share a normalizer take a grid of too many nodes.
    """
    one = rule_at(risk, k)
    scale = max(float(np.linalg.norm(one.m)), float(np.linalg.norm(one.R)))
    return weight_gradient(risk.kernels, one, k), scale


def rule_at(risk: PopulationRisk, k: np.ndarray) -> Gradient:
    """The risk and its slopes at heads k by the rule that is brought to rest; GridTooLarge."""
    m, R, free = k[:, : risk.prior.spikes], k @ k.T, np.zeros(len(k))
    if risk.needs_points(m, R, free, DIGITS, MOST_GRID_NODES):
        raise GridTooLarge
    return risk.fixed(m, R, free, float(risk.kernels.gain(len(k))), DIGITS)


def residual_of(risk: PopulationRisk, k: np.ndarray) -> float:
    """Norm of the gradient at heads k over that of the larger of its parts; GridTooLarge."""
    with one_thread():
        whole, scale = slope_at(risk, k)
    return float(np.linalg.norm(whole)) / max(scale, 1e-300)


def judged(risk: PopulationRisk, k: np.ndarray, R: np.ndarray) -> FixedPoint:
    """The fixed point with heads k (H, width), spikes first, and what its Hessian says."""
    m = k[:, : risk.prior.spikes]
    spectrum = weight_spectrum(risk, m, R)
    low = (spectrum.eigenvalue.values < 0) & ~is_flat(spectrum)
    noise = spectrum.block.values == NOISE
    times = spectrum.multiplicity.values
    index, noise_index = int(times[low & ~noise].sum()), int(times[low & noise].sum())
    flat = flat_modes(risk, k, spectrum)
    verdict = f"saddle of index {index}" if index else "minimum"
    if noise_index:
        verdict = f"saddle of index {index}, and {noise_index} in each noise direction"
    verdict += f" ({flat.told()})" if flat.total else ""
    return FixedPoint(
        m, R, risk(m, R), residual_of(risk, k), index, noise_index, flat, verdict, spectrum
    )


def same_point(one: FixedPoint, other: FixedPoint) -> bool:
    """Whether two points differ by an order of the heads only."""
    apart = np.abs(one.m[:, None] - other.m[None]).sum(axis=2)
    apart += np.abs(np.diag(one.R)[:, None] - np.diag(other.R))
    _, order = linear_sum_assignment(apart)
    turned = other.R[np.ix_(order, order)]
    return bool(
        np.abs(one.m - other.m[order]).max() <= SAME and np.abs(one.R - turned).max() <= SAME
    )


def require_fixed(risk: Any) -> None:
    """InputError for what is no risk, and for an activation whose biases or gain are trained."""
    require_risk(risk)
    if risk.kernels.FREE_BIAS or risk.kernels.FREE_GAIN:
        raise InputError(
            "fixed points: free biases and a free gain are not searched; give the activation a "
            "fixed bias and gain"
        )

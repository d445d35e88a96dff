# notation: tau flow time = number of SGD steps * learning_rate / D; m alignments of the heads.
"""The phases of learning: plateaus of the risk, and when and along what the heads specialize."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from numerics.checks import real_array, require_dataset
from numerics.directions import Directions, directions
from numerics.dynamics.plateaus import LEAST_DROP, Plateau, plateaus, rises, times
from numerics.errors import InputError
from numerics.priors import Prior, require_prior

# Heads are apart when their distance is above this share of the size of what it is held against.
SPREAD = 0.1
# A head has been in a group when it stayed until this multiple of the time it came.
STAY = 1.1


@dataclass(frozen=True)
class Excursion:
    """A head that left its group along a singular direction and joined the opposite one.

    head and direction count from 0; left_at and joined_at are in tau.
    """

    head: int
    direction: int
    left_at: float
    joined_at: float


@dataclass(frozen=True, eq=False)
class Phases:
    """What ``phases`` finds; all times in tau, nan where there is none.

    unspecialized_end: end of the last plateau before the heads have spread along any direction.
    specialization_times: (H,). feature_times: (F,), in the order of directions.singular. settled:
    whether the risk fell by less than 1% of its whole drop in the last half of tau; where it did
    not, a longer flow moves the times, which are measured against its end.
    """

    directions: Directions
    plateaus: tuple[Plateau, ...]
    unspecialized_end: float
    specialization_times: np.ndarray
    feature_times: np.ndarray
    excursions: tuple[Excursion, ...]
    settled: bool

    def describe(self) -> dict[str, Any]:
        """All of it as numbers, lists and text for JSON; None stands for nan."""
        return {
            "directions": self.directions.describe(),
            "plateaus": [
                {name: _number(value) for name, value in vars(one).items()} for one in self.plateaus
            ],
            "unspecialized_end": _number(self.unspecialized_end),
            "specialization_times": [_number(time) for time in self.specialization_times],
            "feature_times": [_number(time) for time in self.feature_times],
            "excursions": [dict(vars(one)) for one in self.excursions],
            "settled": self.settled,
        }


def phases(flow: xr.Dataset, prior: Prior) -> Phases:
    """All phases of a gradient flow: variables m (time, head, spike), risk and risk_error (time).

    Raises InputError for a flow that stopped before its last time or is not finite, has a wrong
    shape, or times that do not increase.
    """
    require_dataset("flow", flow, "time", "m", "risk", "risk_error")
    require_prior(prior)
    tau = times(flow["time"].values)
    if np.isnan(flow["m"].values).any():
        raise InputError("m: the flow is nan at some times; give those it reached: known(flow)")
    m = alignments(flow["m"].transpose("time", "head", "spike").values, tau, prior.spikes)
    axes = directions(prior)
    found = plateaus(tau, flow["risk"].values, flow["risk_error"].values)
    features = feature_times(tau, m, axes)
    return Phases(
        directions=axes,
        plateaus=found,
        unspecialized_end=unspecialized_end(found, features),
        specialization_times=specialization_times(tau, m),
        feature_times=features,
        excursions=excursions(tau, m, axes),
        settled=settled(tau, flow["risk"].values, flow["risk_error"].values),
    )


def settled(tau: np.ndarray, risk: np.ndarray, error: np.ndarray) -> bool:
    """Whether little of the risk's drop falls into the last half of tau, up to its error."""
    half = [float(np.interp(tau[-1] / 2, tau, values)) for values in (risk, error)]
    late = half[0] - float(risk[-1]) - half[1] - float(error[-1])
    return late <= LEAST_DROP * float(risk[0] - risk[-1])


def known(flow: xr.Dataset) -> xr.Dataset:
    """The times that a flow reached on every rung of its ladder: what it stands for."""
    return flow.dropna("time", subset=["m", "risk", "risk_error"])


def alignments(given: Any, tau: np.ndarray, spikes: int) -> np.ndarray:
    """``given`` as a trajectory m (T, H, F) at the times ``tau``; InputError if it is none."""
    m = real_array("m", given, 3)
    if len(m) != tau.size or m.shape[2] != spikes or m.shape[1] == 0:
        raise InputError(
            f"m: expected shape (time {tau.size}, head, spike {spikes}), got {m.shape}"
        )
    return m


def unspecialized_end(found: tuple[Plateau, ...], features: np.ndarray) -> float:
    """End of the last plateau whose slowest time comes before the first feature time; else nan.

    Where the heads never spread, every plateau is unspecialized.
    """
    first = float(np.min(features, where=np.isfinite(features), initial=math.inf))
    ends = [one.end for one in found if one.at < first]
    return ends[-1] if ends else math.nan


def specialization_times(tau: np.ndarray, m: np.ndarray) -> np.ndarray:
    """When each head of m (T, H, F) has gone half of its way from the mean over heads: (H,).

    With d_h = m_h - mean over heads and u_h its value at the last time: the last time at which
    d_h . u_h / |u_h|^2 rises to 1/2. nan for a head that was beyond it throughout, as one that
    started apart, and for one with |u_h| below 10% of the longest m_h at the last time.
    """
    apart = m - m.mean(1, keepdims=True)
    last = apart[-1]
    squares = np.sum(last**2, axis=1)
    left = np.sqrt(squares) > SPREAD * np.linalg.norm(m[-1], axis=1).max()
    found = np.full(m.shape[1], math.nan)
    for h in np.flatnonzero(left):
        way = apart[:, h] @ last[h] / squares[h]
        found[h] = next(reversed(rises(tau, way, 0.5)), math.nan)
    return found


def feature_times(tau: np.ndarray, m: np.ndarray, axes: Directions) -> np.ndarray:
    """When the heads of m (T, H, F) first have half of their final spread along each axis: (F,).

    The spread is the standard deviation over heads (ddof = 0) of m_h along a singular direction,
    or, where variances are equal and no axis is preferred, its root of summed squares over the
    group, so that a group has one time. A direction whose final spread is small is soon at half of
    it: times tell an order only between directions of comparable final spread. nan where the
    final spread is below 10% of the longest m_h at the last time.
    """
    variance = np.var(m @ axes.singular.T, axis=1)
    found = np.full(len(axes.group), math.nan)
    for g in range(axes.group[-1] + 1):
        spread = np.sqrt(variance[:, axes.group == g].sum(1))
        half = spread[-1] / 2
        if spread[-1] > SPREAD * np.linalg.norm(m[-1], axis=1).max():
            first = tau[0] if spread[0] >= half else rises(tau, spread, half)[0]
            found[axes.group == g] = first
    return found


def excursions(tau: np.ndarray, m: np.ndarray, axes: Directions) -> tuple[Excursion, ...]:
    """Heads of m (T, H, F) that leave one group along a singular direction for the opposite one.

    x_h is the projection of m_h, measured from the middle between the two outermost heads in
    units of half their distance. (From the mean over heads, three heads against one would lie at
    a third of the fourth's distance and be in no group.) While half that distance is above 10% of
    the root of the summed variances, a head belongs to the group + where x_h > 1/2 and to -
    where x_h < -1/2. A stay that ends before 1.1 times the tau at which it began is passing and
    does not count, except the last; nor does a change of groups in which the head itself has not
    gone towards the opposite one by 10% of that root, since then only the others moved. left_at
    and joined_at: where x_h crosses the half.
    """
    size = math.sqrt(max(0.0, float(axes.variances.sum())))
    along = m @ axes.singular.T
    high, low = along.max(1, keepdims=True), along.min(1, keepdims=True)
    half = (high - low) / 2
    x = np.divide(along - (high + low) / 2, half, out=np.zeros_like(along), where=half > 0)
    apart = half > max(SPREAD * size, np.finfo(float).tiny)
    label = np.where(apart & (np.abs(x) > 0.5), np.sign(x), 0.0)
    found = []
    for f in range(along.shape[2]):
        for h in range(along.shape[1]):
            stays = _stays(tau, label[:, h, f])
            for (sign, _, left), (opposite, joined, _) in zip(stays, stays[1:], strict=False):
                gone = opposite * (along[joined, h, f] - along[left, h, f])
                if sign == opposite or gone < SPREAD * size:
                    continue
                leave = rises(tau[left:], -sign * x[left:, h, f], -0.5)
                join = rises(tau[: joined + 1], opposite * x[: joined + 1, h, f], 0.5)
                # Heads that came close keep their x but lose their group: then the record's
                # time stands for a crossing that does not exist.
                left_at = leave[0] if leave.size else tau[left]
                joined_at = join[-1] if join.size else tau[joined]
                found.append(Excursion(h, f, float(left_at), float(joined_at)))
    return tuple(sorted(found, key=lambda one: one.left_at))


def _stays(tau: np.ndarray, label: np.ndarray) -> list[tuple[float, int, int]]:
    """(sign, first index, last index) of each stay in a group that counts."""
    cuts = np.flatnonzero(np.diff(label)) + 1
    found = []
    for part in np.split(np.arange(label.size), cuts):
        first, last = int(part[0]), int(part[-1])
        lasting = last == label.size - 1 or tau[last] >= STAY * tau[first]
        if label[first] and lasting:
            found.append((float(label[first]), first, last))
    return found


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

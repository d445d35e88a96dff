# notation: k heads (H, w) by coordinates, spikes first.
"""Where a branch begins: fixed points by name, or one that is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.checks import count
from numerics.dynamics.vector_field import GridTooLarge
from numerics.errors import InputError
from numerics.risk import PopulationRisk
from numerics.saddles.descent import descended
from numerics.saddles.fixed_points import (
    RESIDUAL,
    FixedPoint,
    require_fixed,
    residual_of,
)
from numerics.saddles.hessian import coordinates
from numerics.saddles.places import ATOMS, PLACES, heads_at


def starting_heads(risk: PopulationRisk, heads: Any, start_from: Any) -> np.ndarray:
    """Heads (H, w) of a fixed point: "unspecialized", "origin", "atoms" or a FixedPoint.

    "atoms": where a descent of the risk ends that starts from heads at the atoms of the prior, the
    most probable first. InputError for a point that is not fixed, or where none is found.
    """
    require_fixed(risk)
    if isinstance(start_from, FixedPoint):
        m, R = start_from.m, start_from.R
        if heads is not None and count("heads", heads) != len(m):
            raise InputError(f"heads: start_from has {len(m)} heads, got {heads}")
        if m.shape[1] != risk.prior.spikes:
            raise InputError(f"start_from: expected {risk.prior.spikes} spikes, got {m.shape[1]}")
        return _fixed(risk, coordinates(m, R))
    if start_from not in PLACES:
        raise InputError(
            f"start_from: expected one of {', '.join(PLACES)} or a FixedPoint, got {start_from!r}"
        )
    m = heads_at(start_from, risk, heads)
    return descended(risk, m) if start_from == ATOMS else _fixed(risk, m)


def _fixed(risk: PopulationRisk, k: np.ndarray) -> np.ndarray:
    try:
        residual = residual_of(risk, k)
    except GridTooLarge:
        raise InputError("start_from: the grid takes too many nodes at this point") from None
    if residual > RESIDUAL:
        raise InputError(
            f"start_from: no fixed point where the range begins: the gradient is {residual:.1g} of "
            f"its largest term there, expected at most {RESIDUAL:g}"
        )
    return k

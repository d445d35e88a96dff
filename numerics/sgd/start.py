# notation: m, R alignments and overlaps; C = R - m m^T = Q Q^T; a head is (m_h, Q_h).
"""Where the heads start: given order parameters, or heads drawn at random for each run."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.checks import order_parameters, real_array
from numerics.dynamics.starts import heads_in_frame
from numerics.embedding import embed
from numerics.errors import InputError
from numerics.sgd.plan import Plan


def starting_heads(plan: Plan, seeds: int, m0: Any, R0: Any) -> np.ndarray:
    """Coordinates (seeds, H, F + H) of the heads along the spikes and along H axes beyond them.

    m0 (H, F) and R0 (H, H), or one of each for every seed; with neither, heads are drawn as
    k_h ~ N(0, I / D). Raises InputError for one without the other and for unphysical ones.
    """
    if (m0 is None) != (R0 is None):
        raise InputError("m0, R0: give both, or neither for heads drawn at random")
    if m0 is None:
        return np.stack([_random_heads(plan, run) for run in range(seeds)])
    if np.ndim(m0) != 3 and np.ndim(R0) != 3:
        return np.repeat(_given_heads(plan, m0, R0)[None], seeds, axis=0)
    m0, R0 = real_array("m0", m0, 3), real_array("R0", R0, 3)
    if len(m0) != seeds or len(R0) != seeds:
        raise InputError(
            f"m0, R0: expected one of each for all {seeds} seeds, got {len(m0)} and {len(R0)}"
        )
    return np.stack([_given_heads(plan, m, R) for m, R in zip(m0, R0, strict=True)])


def _given_heads(plan: Plan, m: Any, R: Any) -> np.ndarray:
    try:
        m, R = order_parameters(m, R, plan.prior.spikes)
    except InputError as error:
        raise InputError(f"m0, R0: {error}") from None
    if len(m) != plan.heads:
        raise InputError(f"m0: expected {plan.heads} rows, one a head, got {m.shape}")
    return embed(m, R, plan.frame).heads


def _random_heads(plan: Plan, run: int) -> np.ndarray:
    return heads_in_frame(plan.stream(run), plan.heads, plan.prior.spikes, plan.dimension)

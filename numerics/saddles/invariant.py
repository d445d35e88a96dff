# notation: m, R alignments and overlaps of heads k_h; beta free biases.
"""Heads that start as one vector stay one for ever: an invariant set, and whether it is stable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.dynamics.state import State
from numerics.risk import PopulationRisk, require_risk
from numerics.saddles.hessian import hessian
from numerics.saddles.spectrum import SAME


@dataclass(frozen=True)
class EqualHeads:
    """Heads that are the same vector, and the least curvature of the risk against parting them.

    heads: their numbers, from 0. eigenvalue, error: the lowest of the risk's Hessian in weight
    space among modes that move these heads against each other and no other head, directions
    without signal included. Below 0 the heads stay together only as long as nothing disturbs them.
    """

    heads: tuple[int, ...]
    eigenvalue: float
    error: float

    def told(self) -> str:
        """In words, heads counted from 1."""
        names = ", ".join(str(head + 1) for head in self.heads)
        kind = "unstable" if self.eigenvalue < -self.error else "stable"
        kind = kind if abs(self.eigenvalue) > self.error else "undecided"
        return (
            f"heads {names} are equal and stay so by symmetry, an invariant set, not a result of "
            f"training: transverse eigenvalue {self.eigenvalue:+.4g} +- {self.error:.1g}, {kind}"
        )


def groups(state: State) -> list[tuple[int, ...]]:
    """Numbers of heads, two or more, that are the same vector with the same bias."""
    size = np.diagonal(state.R)
    apart = size[:, None] + size - 2 * state.R
    scale = SAME * max(1e-300, float(size.max()))
    same = (apart <= scale) & (state.beta[:, None] == state.beta)
    found = {tuple(np.flatnonzero(row).tolist()) for row in same}
    return sorted(group for group in found if len(group) > 1)


def equal_heads(
    risk: PopulationRisk, m: Any, R: Any, *, beta: Any = None, gain: float | None = None
) -> tuple[EqualHeads, ...]:
    """Groups of equal heads at (m, R), each with the curvature against parting it.

    m (H, F), R (H, H); beta, gain: of an activation that leaves them free. Gradient flow and SGD
    keep such heads equal for ever, since heads can be exchanged, also where the risk falls as they
    part. Raises InputError for bad input, and where the risk has no
    second derivatives.

    >>> import headflow as hf
    >>> risk = hf.PopulationRisk("softmax", hf.flipped_spikes([2.5]), tokens=5)
    >>> (pair,) = hf.equal_heads(risk, [[0.0], [0.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> round(pair.eigenvalue, 6)  # -(2/H) V (L-1) (L-2) / L^3 with V = 6.25
    -0.6
    """
    require_risk(risk)
    state = State.of(risk.kernels, risk.prior.spikes, m, R, beta, gain)
    together = groups(state)
    if not together:
        return ()
    found = hessian(risk, state)
    heads, width = found.frame.shape
    inside = found.inside.reshape(heads, width, heads, width)
    return tuple(
        EqualHeads(group, *_transverse(group, inside, found.noise, found.error))
        for group in together
    )


def _transverse(
    group: tuple[int, ...], inside: np.ndarray, noise: np.ndarray, error: float
) -> tuple[float, float]:
    """Lowest eigenvalue among moves of the group that leave its sum alone, and its error."""
    first, second = group[:2]
    width = inside.shape[1]
    # Permutations within the group leave the point alone, so all differences have one block.
    block = (
        inside[first, :, first]
        + inside[second, :, second]
        - inside[first, :, second]
        - inside[second, :, first]
    ) / 2
    beyond = (noise[first, first] + noise[second, second] - 2 * noise[first, second]) / 2
    lowest = min(float(np.linalg.eigvalsh(block)[0]), float(beyond))
    return lowest, 2 * width * error

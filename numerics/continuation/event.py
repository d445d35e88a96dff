# notation: p parameter, k heads (H, width) by coordinates, spikes first.
"""What happens on a branch of fixed points, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FOLD, PITCHFORK, BRANCH_POINT, TOUCH = "fold", "pitchfork", "branch point", "touch"
# Where branches cross, and one can be switched to.
CROSSINGS = (PITCHFORK, BRANCH_POINT)


@dataclass(frozen=True, eq=False)
class Event:
    """A value of the parameter at which an eigenvalue of the Hessian vanishes along a branch.

    kind: "fold" (the branch turns back in p), "pitchfork" (branches of less symmetry leave to one
    side of p, each with its mirror image), "branch point" (branches cross otherwise, or in a way
    that was not resolved) or "touch" (an eigenvalue is 0 within its error and keeps its sign).
    parameter p with error; multiplicity of the eigenvalue; block it belongs to. x (H, width): the
    heads there, null_vectors (multiplicity, H, width): orthonormal, along spikes first; for noise
    directions (multiplicity, H, 1), along any one of them. note: what else is to be said.
    """

    kind: str
    parameter: float
    error: float
    multiplicity: int
    block: str
    x: np.ndarray
    null_vectors: np.ndarray
    note: str = ""

    def same_as(self, other: Event) -> bool:
        """Whether two events, met on two branches, are one within their errors."""
        apart = abs(self.parameter - other.parameter) <= self.error + other.error
        crossing = self.kind in CROSSINGS and other.kind in CROSSINGS
        return apart and (crossing or self.kind == other.kind)

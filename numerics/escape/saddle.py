# notation: m, R alignments and overlaps; lambda rate of the fastest unstable modes.
"""A saddle as escape sees it: its fastest unstable modes, and how far heads are along them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.dynamics.state import State
from numerics.errors import InputError
from numerics.escape.law import LinearEscape
from numerics.risk import PopulationRisk
from numerics.saddles.fixed_points import RESIDUAL, FixedPoint
from numerics.saddles.hessian import hessian

# Modes whose rates differ by less than this share, or by their errors, are one eigenspace.
SAME_RATE = 1e-6


@dataclass(frozen=True)
class Saddle:
    """Unstable modes of the lowest eigenvalue of the risk's Hessian in weight space.

    m (H, F) of the saddle; modes (n, H, F): an orthonormal basis of the eigenspace; rate: minus
    the eigenvalue, with a bound on its error.
    """

    m: np.ndarray
    modes: np.ndarray
    rate: float
    rate_error: float

    @classmethod
    def of(cls, risk: PopulationRisk, point: FixedPoint) -> Saddle:
        """The saddle at a fixed point whose heads are combinations of spikes.

        Raises InputError for a point that is not fixed, for heads with a part beyond the spikes,
        and where no mode of the heads is unstable.
        """
        if point.residual > RESIDUAL:
            raise InputError(f"point: not a fixed point, its residual is {point.residual:.2g}")
        found = hessian(risk, State.of(risk.kernels, risk.prior.spikes, point.m, point.R))
        heads, width = found.frame.shape
        if width != found.spikes:
            raise InputError("point: escape needs heads that are combinations of spikes")
        values, vectors = np.linalg.eigh(found.inside)
        error = heads * width * found.error
        if values[0] >= -error:
            raise InputError(
                f"point: no unstable mode to escape along, the lowest eigenvalue is {values[0]:.3g}"
            )
        lowest = values <= values[0] + max(error, SAME_RATE * -values[0])
        modes = vectors[:, lowest].T.reshape(-1, heads, width)
        return cls(point.m, modes, -float(values[lowest].mean()), error)

    def law(self, size: float, threshold: float) -> LinearEscape:
        """The escape law of these modes, for starts at the saddle plus size N(0, I / D)."""
        return LinearEscape(self.rate, len(self.modes), size, threshold)

    def amplitude(self, m: np.ndarray) -> np.ndarray:
        """Length (...) of the part of m (..., H, F) minus the saddle's along the modes."""
        parts = np.einsum("nhf,...hf->...n", self.modes, m - self.m)
        return np.asarray(np.linalg.norm(parts, axis=-1))

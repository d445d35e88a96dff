# notation: lambda rate of the unstable modes, minus the lowest eigenvalue of the risk's Hessian in
# weight space; z standard normal, one number for each mode of that eigenvalue; psi digamma.
"""The escape law: how long unstable modes grow from an amplitude of order D^(-1/2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, polygamma
from scipy.stats import chi2

from numerics.checks import count, positive
from numerics.errors import InputError


@dataclass(frozen=True)
class LinearEscape:
    """Time at which n modes that grow like exp(rate tau) reach a threshold, over random starts.

    The amplitude starts at size |z| / sqrt(D) with z normal in R^n, so that escape times are
    T = (ln(threshold / size) + ln(D) / 2 - ln |z|) / rate: a constant, ln(D) / (2 rate), and a
    spread that does not depend on D. Times are tau = steps * learning rate / D. Raises InputError
    unless all numbers are positive. Source: theory.md section 7, where n = 1.

    >>> law = LinearEscape(rate=0.5, modes=1, size=1.0, threshold=0.1)
    >>> one = float(np.log(0.1 * np.sqrt(1e4)) / 0.5)  # z = 1
    >>> round(float(law.mean(1e4)) - one, 6), law.slope
    (1.270363, 1.0)
    """

    rate: float
    modes: int
    size: float
    threshold: float

    def __post_init__(self) -> None:
        for name in ("rate", "size", "threshold"):
            positive(name, getattr(self, name))
        count("modes", self.modes)

    @property
    def slope(self) -> float:
        """Of any mean or quantile in ln D: 1 / (2 rate)."""
        return 1 / (2 * self.rate)

    def mean(self, dimension: Any) -> Any:
        """Mean escape time: E ln |z| = (psi(n/2) + ln 2) / 2, which is -0.635181 for n = 1."""
        return self._time(dimension, (digamma(self.modes / 2) + np.log(2)) / 2)

    def deviation(self) -> float:
        """Standard deviation of the escape time over starts, the same for all D."""
        return float(np.sqrt(polygamma(1, self.modes / 2)) / 2 / self.rate)

    def quantile(self, share: float, dimension: Any) -> Any:
        """The time by which a ``share`` of all starts has escaped."""
        return self._time(dimension, np.log(chi2.isf(share, self.modes)) / 2)

    def amplitude(self, dimension: Any) -> Any:
        """The median amplitude of a start."""
        return self.size * np.sqrt(chi2.median(self.modes) / np.asarray(dimension))

    def require_room(self, dimensions: np.ndarray) -> None:
        """InputError where a start is not well below the threshold, and no law holds."""
        largest = float(self.amplitude(dimensions.min()))
        if self.threshold < 3 * largest:
            raise InputError(
                f"threshold: expected at least 3 times the amplitude of a start, {3 * largest:.3g} "
                f"at D = {dimensions.min():.0f}, got {self.threshold:g}"
            )

    def _time(self, dimension: Any, log_z: float) -> Any:
        logs = np.log(self.threshold / self.size) + np.log(dimension) / 2 - log_z
        return logs / self.rate

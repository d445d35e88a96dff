"""A number together with its error and where both came from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A value with its error.

    value: the number. error: a bound from comparing resolutions (quadrature), or one standard
    error (Sobol, Monte Carlo); method says which. evaluations: integrand evaluations or samples.
    """

    value: float
    error: float
    method: str
    evaluations: int

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return f"{self.value:.12g} +- {self.error:.1g} ({self.method})"

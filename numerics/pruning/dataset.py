"""Risks after heads were removed as a Dataset: one by one, and summed up over subsets."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, sqrt
from typing import Any

import numpy as np
import xarray as xr

from numerics.estimate import Estimate


@dataclass(frozen=True)
class Removal:
    """What is left of ``heads`` heads where ``removed`` of them are gone.

    kept (n, heads - removed): numbers of the heads that remain, one row a subset. risks: one for
    each row. gain: of the heads that remain; nan where each subset has its best one.
    """

    removed: int
    heads: int
    kept: np.ndarray
    risks: list[Estimate]
    gain: float

    @property
    def taken(self) -> int:
        return len(self.kept)

    @property
    def possible(self) -> int:
        return comb(self.heads, self.removed)

    @property
    def values(self) -> np.ndarray:
        return np.array([one.value for one in self.risks])

    def spread(self) -> float:
        """Standard deviation of the risk over all subsets there are, estimated where drawn.

        The variance with divisor ``possible`` - 1 is what Bessel's s^2 estimates in a draw without
        replacement.
        """
        return self._deviation() * sqrt(1 - 1 / self.possible)

    def standard_error(self) -> float:
        """Standard error of the mean over a draw without replacement; 0 where all were taken."""
        return self._deviation() * sqrt((1 - self.taken / self.possible) / self.taken)

    def _deviation(self) -> float:
        return float(np.std(self.values, ddof=1)) if self.taken > 1 else 0.0

    def told(self) -> str:
        drawn = f"{self.taken} of {self.possible} subsets drawn without replacement"
        return f"{drawn} where {self.removed} are removed"


def dataset(removals: list[Removal], whole: Estimate) -> xr.Dataset:
    """Over count (heads removed) and subset, padded with nan; whole: the risk of all heads."""
    heads, widest = removals[0].heads, max(one.taken for one in removals)
    value, error = np.full((2, len(removals), widest), np.nan)
    kept = np.zeros((len(removals), widest, heads), dtype=bool)
    for i, one in enumerate(removals):
        value[i, : one.taken] = one.values
        error[i, : one.taken] = [risk.error for risk in one.risks]
        np.put_along_axis(kept[i, : one.taken], one.kept, True, axis=1)
    mean = np.array([one.values.mean() for one in removals])
    each, summed = ("count", "subset"), ("count",)
    variables: dict[str, tuple[tuple[str, ...], Any, str]] = {
        "risk": (each, value, "population risk of the heads that remain"),
        "error": (each, error, "error of the risk: a bound of quadrature, or a standard error"),
        "kept": ((*each, "head"), kept, "whether the head remains"),
        "risk_mean": (summed, mean, "mean risk over the subsets taken"),
        "risk_low": (summed, np.nanmin(value, axis=1), "least risk of the subsets taken"),
        "risk_high": (summed, np.nanmax(value, axis=1), "largest risk of the subsets taken"),
        "spread": (
            summed,
            [one.spread() for one in removals],
            "standard deviation of the risk over subsets",
        ),
        "standard_error": (
            summed,
            [one.standard_error() for one in removals],
            "standard error of the mean from the draw of subsets; 0 where all were taken",
        ),
        "evaluation_error": (
            summed,
            np.nanmax(error, axis=1),
            "largest error of the risks, which their mean, least and largest may have as well",
        ),
        "loss_to_full": (summed, mean - whole.value, "mean risk minus the risk of all heads"),
        "gain": (
            summed,
            [one.gain for one in removals],
            "gain of the sum over heads; nan where each subset has its best one",
        ),
        "subsets_taken": (summed, [one.taken for one in removals], "number of subsets taken"),
        "subsets_possible": (
            summed,
            [float(one.possible) for one in removals],
            "number of subsets there are",
        ),
    }
    drawn = [one.told() for one in removals if one.taken < one.possible]
    return xr.Dataset(
        {
            name: (dims, values, {"long_name": text, "units": "1"})
            for name, (dims, values, text) in variables.items()
        },
        coords={
            "count": (
                "count",
                [one.removed for one in removals],
                {"long_name": "number of heads removed", "units": "1"},
            ),
            "head": np.arange(heads),
        },
        attrs={
            "risk_all_heads": whole.value,
            "risk_all_heads_error": whole.error,
            "exhaustive": [int(one.taken == one.possible) for one in removals],
            "status": "; ".join(drawn) or "all subsets taken",
            "method": ", ".join(sorted({risk.method for one in removals for risk in one.risks})),
        },
    )

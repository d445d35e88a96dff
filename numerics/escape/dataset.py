# notation: tau = steps * eta / D, eta the learning rate; lambda rate of the unstable modes.
"""What was measured of an escape, as a labelled data set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from numerics.dynamics.state import TAU
from numerics.escape.law import LinearEscape
from numerics.escape.saddle import Saddle
from numerics.escape.survival import Times, slope, slope_weights


@dataclass(frozen=True)
class Measured:
    """Escape times at each of several dimensions (n,): flows (n, 2) with error, SGD runs or none.

    rng: for the resampled intervals.
    """

    saddle: Saddle
    law: LinearEscape
    dimensions: np.ndarray
    flows: np.ndarray
    runs: list[Times]
    rng: np.random.Generator

    def dataset(self, configuration: Mapping[str, Any]) -> xr.Dataset:
        """As ``escape_times`` describes it."""
        D, law, weights = self.dimensions, self.law, slope_weights(self.dimensions)
        values = {
            "predicted": (law.quantile(0.5, D), "median escape time of the linear law"),
            "predicted_mean": (law.mean(D), "mean escape time of the linear law"),
            "flow": (self.flows[:, 0], "escape time of gradient flow from the median start"),
            "flow_error": (self.flows[:, 1], "error of the flow's escape time"),
        }
        variables: dict[str, Any] = {
            name: ("dimension", array, {"long_name": meaning, "units": TAU})
            for name, (array, meaning) in values.items()
        }
        attributes: dict[str, Any] = {
            "rate": self.saddle.rate,
            "rate_error": self.saddle.rate_error,
            "modes": law.modes,
            "slope": law.slope,
            "slope_error": law.slope * self.saddle.rate_error / self.saddle.rate,
            "flow_slope": float(self.flows[:, 0] @ weights),
            "flow_slope_error": float(self.flows[:, 1] @ np.abs(weights)),
        }
        if self.runs:
            more, found = self._of_runs()
            variables |= more
            attributes |= found
        attributes["status"] = self._status()
        attributes["configuration"] = json.dumps(dict(configuration))
        about = {"long_name": "token dimension D", "units": "1"}
        coordinates = {"dimension": ("dimension", D.astype(int), about)}
        return xr.Dataset(variables, coordinates, attributes)

    def _of_runs(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Variables and attributes of SGD."""
        found = slope(self.dimensions, self.runs, self.rng)
        interval = "end of the 95% interval of the"
        ends = {"sgd": "", "sgd_low": f"lower {interval} ", "sgd_high": f"upper {interval} "}
        arrays = ([one.median for one in self.runs], found.median_low, found.median_high)
        variables: dict[str, Any] = {
            name: (
                "dimension",
                np.array(array),
                {"long_name": f"{end}median escape time of SGD", "units": TAU},
            )
            for (name, end), array in zip(ends.items(), arrays, strict=True)
        }
        seen = {"long_name": "escape time, or how long a censored run was seen", "units": TAU}
        each = ("dimension", "seed")
        variables["time"] = (each, np.array([one.tau for one in self.runs]), seen)
        variables["censored"] = (each, np.array([~one.escaped for one in self.runs]))
        attributes = {
            "sgd_slope": found.value,
            "sgd_slope_low": found.low,
            "sgd_slope_high": found.high,
        }
        return variables, attributes

    def _status(self) -> str:
        parts = [
            f"the flow does not escape at D = {D:.0f}"
            for D, (tau, _) in zip(self.dimensions, self.flows, strict=True)
            if np.isnan(tau)
        ]
        stayed = sum(int(np.sum(~one.escaped)) for one in self.runs)
        if stayed:
            total = sum(one.tau.size for one in self.runs)
            parts.append(f"{stayed} of {total} runs are censored")
        if self.runs:
            parts += [
                f"the median at D = {D:.0f} is not reached"
                for D, one in zip(self.dimensions, self.runs, strict=True)
                if np.isnan(one.median)
            ]
        return "; ".join(parts) or "complete"

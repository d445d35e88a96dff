# notation: k heads (H, w) by coordinates, spikes first.
"""The way down: a fixed point below a start, by quasi-Newton steps on the risk in weight space."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from numerics.dynamics.vector_field import GridTooLarge
from numerics.errors import InputError
from numerics.risk import PopulationRisk
from numerics.saddles.fixed_points import polished, rule_at
from numerics.saddles.hessian import weight_gradient
from numerics.threads import one_thread

# The descent ends at this slope, or after so many steps; what it reaches is then brought to rest.
SLOPE, STEPS = 1e-6, 200


def descended(risk: PopulationRisk, start: np.ndarray) -> np.ndarray:
    """Heads (H, w) at rest where a descent (BFGS) of the risk from ``start`` (H, w) ends.

    Far faster than gradient flow, and where there are several minima not always in the same one.
    Raises InputError where it does not come to rest.
    """

    def value_and_slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        k = x.reshape(start.shape)
        one = rule_at(risk, k)
        return one.value, weight_gradient(risk.kernels, one, k).ravel()

    options: Any = {"maxiter": STEPS, "gtol": SLOPE}
    try:
        with one_thread():
            down = minimize(
                value_and_slope, start.ravel(), jac=True, method="BFGS", options=options
            )
        k = polished(risk, down.x, lambda x: x.reshape(start.shape))
    except GridTooLarge:
        raise InputError("the grid takes too many nodes on the way down") from None
    if k is None:
        raise InputError("the way down does not come to rest")
    return k

"""headflow derives the population risk of attention activations and computes with it.

Names are imported when first used, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Activation": "theory.activation",
    "CATALOGUE": "theory.catalogue",
    "activation": "theory.catalogue",
    "DefinitionError": "theory.errors",
    "NumericAttention": "numerics.quadrature.numeric_attention",
    "derive": "theory.derived",
    "origin_spectrum": "theory.saddle",
    "weight_spectrum": "headflow.datasets",
    "flow_jacobian": "headflow.datasets",
    "FixedPoint": "numerics.saddles.fixed_points",
    "fixed_points": "numerics.saddles.fixed_points",
    "unspecialized_fixed_point": "numerics.saddles.fixed_points",
    "origin_fixed_point": "numerics.saddles.fixed_points",
    "LinearEscape": "numerics.escape",
    "escape_times": "headflow.datasets",
    "specialization": "headflow.datasets",
    "FiniteSupport": "numerics.priors",
    "GaussianPrior": "numerics.priors",
    "flipped_spikes": "numerics.priors",
    "continue_fixed_point": "headflow.continuation",
    "switch": "headflow.continuation",
    "branch_events": "numerics.continuation",
    "Event": "numerics.continuation",
    "phase_diagram": "headflow.phase_diagram",
    "prune": "headflow.pruning",
    "Estimate": "numerics.estimate",
    "InputError": "numerics.errors",
    "AccuracyWarning": "numerics.errors",
    "Gradient": "numerics.risk",
    "PopulationRisk": "headflow.risk",
    "bayes_risk": "numerics.bayes",
    "validate": "headflow.validation",
    "gradient_flow": "headflow.datasets",
    "equal_heads": "numerics.saddles.invariant",
    "simulate_sgd": "headflow.sgd",
    "sweep": "headflow.sweeps",
    "open_sweep": "numerics.sweep.dataset",
    "random_start": "numerics.dynamics.starts",
    "phases": "numerics.dynamics.phases",
    "compare": "numerics.dynamics.averages",
    "align_heads": "numerics.dynamics.averages",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'headflow' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

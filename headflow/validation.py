"""Validate an activation's theory by simulation, the activation given by name or definition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numerics.validation
from headflow.risk import PopulationRisk
from headflow.versions import versions
from numerics.priors import Prior
from numerics.quadrature.numeric_attention import NumericAttention
from numerics.validation import Validation
from theory.activation import Activation

# Simulation resolves three digits; theory need not be sharper than this. Points over all tokens,
# which is all that attention given as a function has, take minutes for more digits.
RTOL, RTOL_OF_A_FUNCTION = 1e-5, 5e-4


def validate(
    act: Activation | NumericAttention | str,
    prior: Prior,
    tokens: Any,
    heads: int,
    seed: int = 0,
    samples: int = 100_000,
    dimension: int = 200,
    alpha: float = 1e-3,
) -> Validation:
    """Compare the population risk of an activation, and its gradient, with simulation.

    act, prior, tokens: as in PopulationRisk. seed: fixes the points and every random number.
    samples, dimension: effort of the simulation. alpha: rate at which right theory is rejected.
    Raises InputError or DefinitionError for bad input.

    >>> import headflow as hf
    >>> prior = hf.FiniteSupport([[1.5], [-0.5]], [0.6, 0.4])
    >>> hf.validate("softmax", prior, tokens=3, heads=2, samples=4000, dimension=20).passed
    True
    """
    rtol = RTOL_OF_A_FUNCTION if isinstance(act, NumericAttention) else RTOL
    risk = PopulationRisk(act, prior, tokens, rtol, seed)
    result = numerics.validation.validate(
        risk, heads, seed=seed, samples=samples, dimension=dimension, alpha=alpha
    )
    return replace(result, configuration={**result.configuration, "versions": versions()})

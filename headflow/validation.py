"""Validate an activation's theory by simulation, the activation given by name or definition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numerics.validation
from headflow.risk import PopulationRisk
from headflow.versions import versions
from numerics.priors import Prior
from numerics.validation import Validation
from theory.activation import Activation

# Simulation resolves three digits; theory need not be sharper than this.
RTOL = 1e-5


def validate(
    act: Activation | str,
    prior: Prior,
    tokens: Any,
    heads: int,
    seed: int = 0,
    samples: int = 100_000,
    dimension: int = 200,
    alpha: float = 1e-3,
) -> Validation:
    """Compare the population risk of an activation, and its gradient, with simulation.

    act: an Activation or a catalogue name. prior, tokens: as in PopulationRisk. seed: fixes
    the points and every random number. samples, dimension: effort of the simulation. alpha:
    rate at which right theory is rejected. Raises InputError or DefinitionError for bad input.

    >>> import headflow as hf
    >>> prior = hf.FiniteSupport([[1.5], [-0.5]], [0.6, 0.4])
    >>> hf.validate("softmax", prior, tokens=3, heads=2, samples=4000, dimension=20).passed
    True
    """
    risk = PopulationRisk(act, prior, tokens, RTOL, seed)
    result = numerics.validation.validate(
        risk, heads, seed=seed, samples=samples, dimension=dimension, alpha=alpha
    )
    return replace(result, configuration={**result.configuration, "versions": versions()})

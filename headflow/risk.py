"""Risks of activations given by name or definition."""

from __future__ import annotations

from typing import Any

import numerics.risk
from headflow.store import kernels_for
from numerics.modules import module_from_source, module_source
from numerics.priors import Prior
from theory.activation import Activation
from theory.catalogue import activation as by_name


class PopulationRisk(numerics.risk.PopulationRisk):
    """The population risk E(m, R) of an activation, D -> infinity (docs/model.md sections 2 to 5).

    act: an Activation or a catalogue name. prior: law of theta. tokens: L or {L: probability}.
    rtol: wanted relative accuracy. ``risk(m, R)`` gives an Estimate, ``risk.gradient(m, R)`` a
    Gradient. Raises InputError or DefinitionError for bad input, in one line.

    >>> import headflow as hf
    >>> risk = hf.PopulationRisk("softmax", hf.flipped_spikes([1.0]), tokens=2)
    >>> round(risk([[0.0]], [[1.0]]).value, 12)
    0.636838153968
    """

    def __init__(
        self, act: Activation | str, prior: Prior, tokens: Any, rtol: float = 1e-8, seed: int = 0
    ):
        self.activation = by_name(act) if isinstance(act, str) else act
        super().__init__(kernels_for(self.activation), prior, tokens, rtol, seed)

    def __getstate__(self):
        state = dict(self.__dict__)
        state["kernels"] = module_source(self.kernels)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.kernels = module_from_source(*state["kernels"])

"""Risks of activations given by name or definition."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numerics.risk
from headflow.store import kernels_for
from numerics.modules import module_from_source, module_source
from numerics.priors import Prior
from numerics.quadrature.numeric_attention import NumericAttention, require_equation
from theory.activation import Activation
from theory.catalogue import resolved


class PopulationRisk(numerics.risk.PopulationRisk):
    """The population risk E(m, R) of an activation, D -> infinity (docs/model.md sections 2 to 5).

    act: an Activation, a catalogue name or a NumericAttention. prior: law of theta. tokens: L or
    {L: probability}. rtol: wanted relative accuracy. ``risk(m, R)`` gives an Estimate,
    ``risk.gradient(m, R)`` a Gradient. Raises InputError or DefinitionError for bad input.

    >>> import headflow as hf
    >>> risk = hf.PopulationRisk("softmax", hf.flipped_spikes([1.0]), tokens=2)
    >>> round(risk([[0.0]], [[1.0]]).value, 12)
    0.636838153968
    """

    def __init__(
        self,
        act: Activation | NumericAttention | str,
        prior: Prior,
        tokens: Any,
        rtol: float = 1e-8,
        seed: int = 0,
    ):
        self.activation: Any = act
        kernels: Any = act
        if not isinstance(act, NumericAttention):
            self.activation = resolved(act)
            kernels = kernels_for(self.activation)
        super().__init__(kernels, prior, tokens, rtol, seed)

    def at(self, **values: Any) -> PopulationRisk:
        """The same risk at other values of the activation's named parameters, derived only once.

        Raises DefinitionError for an unknown name and for a value that is out of range.

        >>> import headflow as hf
        >>> act = hf.activation("softmax-temperature", bias="none")
        >>> risk = hf.PopulationRisk(act, hf.flipped_spikes([1.0]), tokens=2)
        >>> round(risk.at(T=2)([[0.0]], [[4.0]]).value, 12)
        0.636838153968
        """
        require_equation(self.kernels, "parameters")
        act = self.activation.at(**values)
        return PopulationRisk(act, self.prior, self.length, self.rtol, self.seed)

    def __getstate__(self):
        state = dict(self.__dict__)
        if isinstance(self.kernels, ModuleType):
            state["kernels"] = module_source(self.kernels)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        if isinstance(self.kernels, tuple):
            self.kernels = module_from_source(*self.kernels)

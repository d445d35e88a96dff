# notation: p the value of a parameter.
"""Continuation of fixed points for an activation given by name or definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import xarray as xr

from headflow.risk import PopulationRisk
from headflow.versions import with_versions
from numerics.continuation import Event, continue_heads, switch_heads
from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.parameters import Problem, parsed
from numerics.priors import Prior
from theory.activation import Activation
from theory.catalogue import activation as by_name
from theory.errors import DefinitionError

# Parameters of the activation itself: for each value its kernels are generated anew.
OF_ACTIVATION = ("offset",)


@dataclass(frozen=True, eq=False)
class Family:
    """Risks of one problem at values of some of its parameters, by name.

    A call with one value for each name gives the risk. Names: numerics.parameters.Problem, and
    "offset" of the activation. It can be sent to another process.
    """

    activation: Activation
    problem: Problem
    names: tuple[str, ...]

    @classmethod
    def of(cls, act: Activation | str, prior: Prior, tokens: Any, *names: str) -> Family:
        """InputError for an unknown name, a prior or tokens that are none."""
        act = by_name(act) if isinstance(act, str) else act
        PopulationRisk(act, prior, tokens)
        for name in names:
            parsed(name, prior.spikes, OF_ACTIVATION)
        return cls(act, Problem(prior, SequenceLength.of(tokens)), names)

    def __call__(self, *values: float) -> PopulationRisk:
        act, problem = self.activation, self.problem
        for name, value in zip(self.names, values, strict=True):
            if name in OF_ACTIVATION:
                act = activation_at(act, name, value)
            else:
                problem = problem.at(name, value)
        return PopulationRisk(act, problem.prior, problem.length)


def activation_at(act: Activation, name: str, value: float) -> Activation:
    """The activation with one of its numbers at ``value``: where a value becomes kernels.

    InputError for a value that it cannot have.
    """
    changed: dict[str, Any] = {name: float(value)}
    try:
        return replace(act, **changed)
    except DefinitionError as problem:
        raise InputError(str(problem)) from None


def continue_fixed_point(
    act: Activation | str | Callable[[float], PopulationRisk],
    prior: Prior | None = None,
    tokens: Any = 5,
    heads: int | None = 2,
    parameter: str = "signal",
    start: float = 1.0,
    stop: float = 2.0,
    start_from: Any = "unspecialized",
    points: int = 50,
) -> xr.Dataset:
    """A branch of fixed points of gradient flow in one parameter, past folds, with its events.

    act: an Activation or a catalogue name, with prior and tokens; or a function from the value p
    of any parameter to a PopulationRisk. parameter: "signal" (a factor on theta), "strength:i"
    (standard deviation of theta along spike i, from 1), "mean:i", "L" (real, from 2 on) or
    "offset" of the activation. start_from: "unspecialized", "origin", "atoms" (where a descent of
    the risk from heads at the atoms ends) or a FixedPoint at p = start. points: some so many.

    Variables over point: parameter, arclength, m, R, risk, risk_error, above_bayes and its error,
    residual, index (unstable modes with multiplicity), noise_index, flat, lowest (eigenvalue) and
    its error; attrs status ("complete" or "stopped") and message. The branch keeps the symmetries
    of its start; events are in the Dataset and come as ``hf.branch_events(data)``. Raises
    InputError or DefinitionError for bad input (docs/model.md section 9).
    """
    risk_at = _risk_at(act, prior, tokens, parameter)
    data = continue_heads(risk_at, heads, start, stop, start_from, points, parameter)
    return with_versions(data)


def switch(
    event: Event,
    act: Activation | str | Callable[[float], PopulationRisk],
    prior: Prior | None = None,
    tokens: Any = 5,
    parameter: str = "signal",
    start: float = 1.0,
    stop: float = 2.0,
    vector: Any = None,
    sign: int = 1,
    points: int = 50,
) -> xr.Dataset:
    """The branch that leaves a pitchfork or branch point along one of its null vectors.

    event: from ``hf.branch_events``. act, prior, tokens, parameter, start, stop, points: as for the
    branch it was met on. vector: number of a null vector, or a combination of them (H, F + r); the
    last one when not given, which where heads part is one head against all others. sign: -1 for the
    opposite direction; at a pitchfork that gives a mirror image. Raises InputError where no branch
    leaves that way.
    """
    risk_at = _risk_at(act, prior, tokens, parameter)
    data = switch_heads(event, risk_at, start, stop, vector, sign, points, parameter)
    return with_versions(data)


def _risk_at(act: Any, prior: Any, tokens: Any, parameter: str) -> Callable[..., PopulationRisk]:
    if callable(act):
        return act
    return Family.of(act, prior, tokens, parameter)

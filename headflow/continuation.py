# notation: p the value of a parameter.
"""Continuation of fixed points for an activation given by name or definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import xarray as xr

from headflow.risk import PopulationRisk
from headflow.versions import with_versions
from numerics.continuation import Event, continue_heads, switch_heads
from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.parameters import OF_PROBLEM, Problem, parsed
from numerics.priors import Prior
from theory.activation import Activation
from theory.catalogue import resolved
from theory.errors import DefinitionError

OFFSET = "offset"


@dataclass(frozen=True, eq=False)
class Family:
    """Risks of one problem at values of some of its parameters, by name.

    A call with one value for each name gives the risk. Names: numerics.parameters.Problem, named
    parameters of the activation, and "offset" where it is a number. Its kernels are derived once,
    for all values. It can be sent to another process.
    """

    activation: Activation
    problem: Problem
    names: tuple[str, ...]

    @classmethod
    def of(cls, act: Activation | str, prior: Prior, tokens: Any, *names: str) -> Family:
        """InputError for an unknown name, a prior or tokens that are none."""
        act = resolved(act)
        PopulationRisk(act, prior, tokens)
        own = dict(act.parameters)
        for name in names:
            if name in own and name in OF_PROBLEM:
                raise InputError(
                    f"parameter: {name!r} is one of the problem and of activation {act.name}; "
                    "rename that of the activation"
                )
            parsed(name, prior.spikes, sorted({OFFSET, *own}))
        if OFFSET in names and OFFSET not in own:
            act = with_offset_as_parameter(act)
        return cls(act, Problem(prior, SequenceLength.of(tokens)), names)

    def __call__(self, *values: float) -> PopulationRisk:
        act, problem = self.activation, self.problem
        for name, value in zip(self.names, values, strict=True):
            if name in dict(act.parameters):
                act = _at(act, name, value)
            else:
                problem = problem.at(name, value)
        return PopulationRisk(act, problem.prior, problem.length)


def with_offset_as_parameter(act: Activation) -> Activation:
    """The activation with its offset as a named parameter, at the value that it has.

    InputError where it has no offset, or one that is an expression in other parameters.
    """
    if act.symbols.keys() & {z.name for z in act.offset.free_symbols}:
        raise InputError(f"parameter: the offset of {act.name} is {act.offset}; vary what it is of")
    parameters = {**dict(act.parameters), OFFSET: act.offset}
    try:
        return act.with_changes(offset=OFFSET, parameters=parameters)
    except DefinitionError as problem:
        raise InputError(f"parameter: {problem}") from None


def _at(act: Activation, name: str, value: float) -> Activation:
    """The activation with a parameter at a value; InputError for one that it cannot have."""
    try:
        return act.at(**{name: float(value)})
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
    (standard deviation of theta along spike i, from 1), "mean:i", "L" (real, from 2 on),
    "offset" or a named parameter of the activation. start_from: "unspecialized", "origin", "atoms"
    (where a descent of the risk from heads at the atoms ends) or a FixedPoint at p = start. points:
    some so many.

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

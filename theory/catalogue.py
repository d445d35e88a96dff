"""The built-in activations of docs/model.md section 3."""

from __future__ import annotations

from typing import Any

from theory.activation import Activation
from theory.errors import DefinitionError

_ENTRIES = (
    Activation("softmax", score="exp(x)"),
    Activation("softmax-1", score="exp(x)", offset=1),
    Activation("softmax-1-norm", score="exp(x)", offset=1, bias="norm", gain="sum"),
    Activation("bayes-softmax", score="exp(x)", scope="heads", bias="norm", gain="sum"),
    # Families with a parameter; at T = 1 and n = 0, 1 they are members above.
    Activation("softmax-temperature", score="exp(x/T)", parameters={"T": 1}, positive="T"),
    Activation("softmax-n", score="exp(x)", offset="n", parameters={"n": 1}),
    # Without a denominator.
    Activation("linear", score="x", scope="none"),
    Activation("affine", score="1+x", scope="none"),
    # The exponential to second order; positive, with its minimum 1/2 at -1.
    Activation("quadratic", score="1+x+x^2/2", scope="none"),
    Activation("sigmoid", score="sigmoid(x)", scope="none"),
    Activation("erf", score="erf(x)", scope="none"),
    # (1 + erf(x / sqrt 2)) / 2, the normal distribution function.
    Activation("probit", score="Phi(x)", scope="none"),
    Activation("relu", score="relu(x)", scope="none"),
    Activation("step", score="step(x)", scope="none"),
    # With the score as the normalizer.
    Activation("softplus-normalized", score="softplus(x)"),
    # Where every logit is negative all weights are 0, as the offset has it.
    Activation("relu-normalized", score="relu(x)", offset=1),
    Activation("quadratic-normalized", score="1+x^2"),
)
CATALOGUE = {entry.name: entry for entry in _ENTRIES}


def activation(name: str, **changes: Any) -> Activation:
    """A built-in activation by name, with any entry of its definition overridden.

    Raises DefinitionError for an unknown name or an unusable change.

    >>> activation("softmax-1", bias="norm", gain="sum").offset
    1
    """
    if name not in CATALOGUE:
        raise DefinitionError(
            f"activation: unknown name {name!r}; known are {', '.join(CATALOGUE)}, and "
            "Activation(name, score=...) defines a new one"
        )
    entry = CATALOGUE[name]
    if "parameters" in changes:
        # Those that are not named keep their values.
        changes["parameters"] = {**dict(entry.parameters), **dict(changes["parameters"])}
    return entry.with_changes(**changes) if changes else entry


def resolved(act: Activation | str) -> Activation:
    """The activation itself, or the catalogue's by name; DefinitionError for anything else."""
    if isinstance(act, str):
        return activation(act)
    if not isinstance(act, Activation):
        raise DefinitionError(
            f"activation: expected an Activation or a catalogue name, got {type(act).__name__}; "
            "attention given as a function has no symbolic equation"
        )
    return act

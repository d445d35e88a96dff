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
    Activation("linear", score="x", scope="none"),
    Activation("sigmoid", score="sigmoid(x)", scope="none"),
    Activation("erf", score="erf(x)", scope="none"),
    Activation("relu", score="relu(x)", scope="none"),
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
    return CATALOGUE[name].with_changes(**changes) if changes else CATALOGUE[name]

"""By which of a few ways the derived averages of an activation are evaluated."""

from __future__ import annotations

from theory.activation import Activation
from theory.closed_steps import closed_averages

_MEANINGS = {
    "closed form": "every average is an elementary formula",
    "one token": "averages over one token, by quadrature over one or two logits",
    "lift": "one or two integrals over lift variables, free of the number of tokens",
    "joint lift": "one integral over a lift variable, averages over the logits of all heads",
    "sampled": "a kink whose place is not known, or that heads share, leaves neither a closed form "
    "nor fast quadrature: points over all tokens",
}


def tier(activation: Activation) -> str:
    """One of "closed form", "one token", "lift", "joint lift" or "sampled".

    >>> from theory.catalogue import activation
    >>> tier(activation("bayes-softmax"))
    'joint lift'
    """
    if closed_averages(activation) is not None:
        return "closed form"
    if not activation.smooth and (activation.kinks is None or activation.scope == "heads"):
        return "sampled"
    return {"none": "one token", "tokens": "lift", "heads": "joint lift"}[activation.scope]


def meaning(name: str) -> str:
    """What a tier is, in a few words."""
    return _MEANINGS[name]

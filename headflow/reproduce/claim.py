"""A claim: a number from the data beside what it was checked against, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Relation = Literal["=", "<", ">", ">="]


@dataclass(frozen=True)
class Claim:
    """One assertion on the data of an experiment.

    name: short, for the table. text: a sentence with the numbers. value, error: from the data.
    relation: what the value is to ``expected``, whose error is ``expected_error``: "=" within both
    errors, "<" or ">" by more than both, ">=" not below it by more than both.
    against: in words what it was checked against.
    """

    name: str
    text: str
    value: float
    error: float
    relation: Relation
    expected: float
    expected_error: float
    against: str

    @classmethod
    def of(
        cls,
        name: str,
        text: str,
        value: tuple[Any, Any],
        relation: Relation,
        expected: tuple[Any, Any],
        against: str,
    ) -> Claim:
        """From pairs of a number and its error, as Datasets have them."""
        (a, da), (b, db) = value, expected
        return cls(name, text, float(a), float(da), relation, float(b), float(db), against)

    @property
    def holds(self) -> bool:
        """Whether the relation is true; it is not where a number is missing (nan)."""
        distance, allowed = self.value - self.expected, self.error + self.expected_error
        if self.relation == "=":
            return abs(distance) <= allowed
        if self.relation == ">=":
            return distance >= -allowed
        return distance < -allowed if self.relation == "<" else distance > allowed


def worst(distance: Any, error: Any) -> int:
    """Place of the number (n,) that is farthest off in units of its error; a nan is farthest."""
    ratio = np.abs(np.asarray(distance)) / np.asarray(error)
    return int(np.argmax(np.where(np.isnan(ratio), np.inf, ratio)))

"""The ordered record of a derivation: which rule, why, from what, to what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp


@dataclass(frozen=True)
class Step:
    """One rewriting step: the rule's name, its one-sentence reason, both sides."""

    rule: str
    reason: str
    before: sp.Expr
    after: sp.Expr


@dataclass(frozen=True)
class Derivation:
    """A chain of steps in which each one starts where the last one ended."""

    steps: tuple[Step, ...]

    @classmethod
    def start(cls, rule: str, reason: str, expression: sp.Expr) -> Derivation:
        """A derivation that so far holds only its starting point."""
        return cls((Step(rule, reason, expression, expression),))

    def then(
        self, rule: str, reason: str, rewrite: Callable[[sp.Expr], sp.Expr]
    ) -> Derivation:
        """This derivation and one more step, ``rewrite`` applied to the result so far."""
        before = self.result
        return Derivation((*self.steps, Step(rule, reason, before, rewrite(before))))

    @property
    def result(self) -> sp.Expr:
        """What the last step arrived at."""
        return self.steps[-1].after

"""The ordered record of a derivation: which rule, why, from what, to what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp


@dataclass(frozen=True)
class Step:
    """One step: the rule's name, its one-sentence reason, both sides, and what relates them.

    relation "equal": both sides are the same number for every law of the logits. "mean" or
    "covariance": for Gaussian logits, ``after`` is the derivative of ``before`` in the mean of
    logit x_h, or in the variance of x_h (covariance with x_k when ``heads`` holds two) of the
    ``density`` named. free: the indices of a tensor formula that are not summed, the direction
    first where ``after`` is a change along one.
    """

    rule: str
    reason: str
    before: sp.Expr
    after: sp.Expr
    relation: str = "equal"
    density: sp.Symbol | None = None
    heads: tuple[int, ...] = ()
    free: tuple[sp.Symbol, ...] = ()


@dataclass(frozen=True)
class Derivation:
    """A chain of steps in which each one starts where the last one ended."""

    steps: tuple[Step, ...]

    @classmethod
    def start(cls, rule: str, reason: str, expression: sp.Expr) -> Derivation:
        """A derivation that so far holds only its starting point."""
        return cls((Step(rule, reason, expression, expression),))

    def then(self, rule: str, reason: str, rewrite: Callable[[sp.Expr], sp.Expr]) -> Derivation:
        """This derivation and one more step, ``rewrite`` applied to the result so far."""
        before = self.result
        return Derivation((*self.steps, Step(rule, reason, before, rewrite(before))))

    @property
    def result(self) -> sp.Expr:
        """What the last step arrived at."""
        return self.steps[-1].after

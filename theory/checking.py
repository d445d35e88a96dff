"""The numeric check of each step of a derivation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import sympy as sp

from theory import order_parameters as op
from theory import symbols as sym
from theory.activation import Activation
from theory.derivation import Step
from theory.measures import (
    COARSE_LOGS,
    HEADS,
    TOKENS,
    Evaluator,
    normal_law,
    panel_law,
)
from theory.rules import closed_forms as rules
from theory.tensors import RELATIONS as TENSOR_RELATIONS
from theory.tensors import along, both_sides

# Central differences with this step lose about half the digits; so does the coarser grid.
DIFFERENCE = 1e-4
ORIGIN_DIFFERENCES = (3e-4, 3e-5)
EXACT, DIFFERENTIATED = 1e-10, 1e-6
# Grids of normal logits: the step in standard deviations, and a factor on logits and deviations by
# which they stay where a sharp activation bends little. All cost the same.
GRIDS = ((0.4, 1.0), (0.3, 1.0), (0.3, 0.25), (0.3, 0.0625))

# An asymmetric Gaussian point for two heads: means, covariances of relevant and noise token.
_MEANS = {sym.RELEVANT: (0.7, -0.35), sym.NOISE: (-0.2, 0.15)}
_COVARIANCES = {
    sym.RELEVANT: ((0.8, 0.25), (0.25, 0.5)),
    sym.NOISE: ((0.6, -0.2), (-0.2, 0.9)),
}


@dataclass(frozen=True)
class Check:
    """Both sides of a step as numbers, their distance and whether it is within tolerance."""

    left: float
    right: float
    tolerance: float

    @property
    def difference(self) -> float:
        return abs(self.left - self.right)

    @property
    def allowance(self) -> float:
        """The tolerance is relative to values above 1."""
        return self.tolerance * max(1.0, abs(self.left))

    @property
    def passed(self) -> bool:
        return self.difference <= self.allowance


def check(step: Step, activation: Activation) -> Check:
    """Evaluate both sides of a step at an asymmetric point.

    Equalities and the noise of SGD are checked on a toy law of the logits with all tokens written
    out; derivatives on Gaussian logits against central differences of the undifferentiated side;
    products of vectors on random vectors.
    """
    if step.relation == "equal":
        evaluate = Evaluator(activation)
        return Check(evaluate(step.before), evaluate(step.after), EXACT)
    if step.relation == "closed form":
        return _closed_form(step, activation)
    if step.relation == "noise":
        heads = {sym.h: sp.S(1), sym.k: sp.S(2)}
        evaluate = Evaluator(activation)
        left, right = (evaluate(side.subs(heads)) for side in (step.before, step.after))
        return Check(left, right, DIFFERENTIATED)
    if step.relation == "origin":
        return _at_the_origin(step, activation)
    if step.relation in ("along", "transport"):
        return Check(*along(step), EXACT if step.relation == "along" else DIFFERENTIATED)
    if step.relation in TENSOR_RELATIONS:
        return Check(*both_sides(step), EXACT)
    heads = {sym.h: sp.S(1), sym.k: sp.S(1) if activation.scope == "heads" else sp.S(2)}
    before, after = (
        side.subs({index: n for index, n in heads.items() if _is_free(side, index)})
        for side in (step.before, step.after)
    )
    return _derivative(replace(step, before=before, after=after), activation)


def _derivative(step: Step, activation: Activation) -> Check:
    """Both sides on the first grid of logits that shows them equal.

    A pole of the activation near the real line asks for a finer one, or for logits closer together.
    Sides that differ, and move no more from grid to grid, are wrong.
    """
    return _first_that_holds(
        Check(
            _difference(step, activation, grid, scale),
            _evaluator(activation, grid, scale)(step.after),
            DIFFERENTIATED,
        )
        for grid, scale in GRIDS
    )


def _first_that_holds(finer: Iterator[Check]) -> Check:
    """Of ever finer checks; where none holds the first whose sides move no more, or the last."""
    found = next(finer)
    while not found.passed and (other := next(finer, None)) is not None:
        moves = abs(other.left - found.left), abs(other.right - found.right)
        found = other
        if max(moves) <= found.allowance:
            break
    return found


def _at_the_origin(step: Step, activation: Activation) -> Check:
    """Differences of the loss with all tokens and heads written out, against the counted one.

    The longest that shows them equal: a short one loses digits, a long one misses a sharp bend. Two
    lengths leave out the first term of what a bend adds (Richardson).
    """
    values = {sym.H: HEADS, sym.L: TOKENS, sym.gain: sp.Rational(4, 5), **activation.values}
    gamma = float(sp.sympify(op.gain(activation)).subs(values))
    evaluate = replace(Evaluator(activation), gamma=gamma)
    token = 0 if step.density == sym.RELEVANT else 1

    def differences(size: float) -> float:
        total = 0.0
        for signs in product((1, -1), repeat=len(step.heads)):
            logits = np.zeros((TOKENS, 1, HEADS))
            for sign, head in zip(signs, step.heads, strict=True):
                logits[token, 0, head - 1] += sign * size
            total += np.prod(signs) * evaluate.loss(logits, location=0)[0]
        return float(total / (2 * size) ** len(step.heads))

    right = float(step.after.subs(values).evalf())
    return _first_that_holds(
        Check((4 * differences(size) - differences(2 * size)) / 3, right, DIFFERENTIATED)
        for size in ORIGIN_DIFFERENCES
    )


def _closed_form(step: Step, activation: Activation) -> Check:
    """An average by Gauss-Legendre panels that end at the kinks, against its closed form."""
    mean, covariance = np.array(_MEANS[step.density]), np.array(_COVARIANCES[step.density])
    breaks = [float(activation.typed(kink)) for kink in activation.kinks or ()]
    law = panel_law(mean, covariance, breaks)
    left = replace(Evaluator(activation), relevant=law)(step.before)
    values = {
        rules.mu: mean[0],
        rules.nu: mean[1],
        rules.r: covariance[0, 0],
        rules.v: covariance[1, 1],
        rules.c: covariance[0, 1],
        **activation.values,
    }
    return Check(left, float(step.after.subs(values).evalf()), EXACT)


def _is_free(expression: sp.Expr, index: sp.Symbol) -> bool:
    return index in expression.free_symbols


def _difference(step: Step, activation: Activation, grid: float, scale: float) -> float:
    values = []
    size = DIFFERENCE * (scale if step.relation == "mean" else scale**2)
    for shift in (size, -size):
        mean, covariance = _point(step.density, scale)
        if step.relation == "mean":
            mean[step.heads[0] - 1] += shift
        else:
            first, second = (head - 1 for head in step.heads)
            covariance[first, second] += shift
            if first != second:
                covariance[second, first] += shift
        changed = {step.density: (mean, covariance)}
        values.append(_evaluator(activation, grid, scale, changed)(step.before))
    return (values[0] - values[1]) / (2 * size)


def _point(density: sp.Basic, scale: float) -> tuple[np.ndarray, np.ndarray]:
    return scale * np.array(_MEANS[density]), scale**2 * np.array(_COVARIANCES[density])


def _evaluator(
    activation: Activation, grid: float, scale: float, changed: dict | None = None
) -> Evaluator:
    laws = {density: _point(density, scale) for density in _MEANS} | (changed or {})
    relevant, noise = (
        normal_law(mean, covariance, grid)
        for mean, covariance in (laws[sym.RELEVANT], laws[sym.NOISE])
    )
    return replace(Evaluator(activation), relevant=relevant, noise=noise, grid=COARSE_LOGS)

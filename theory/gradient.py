"""First and second derivatives of the risk in means and covariances of the logits, as steps."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory import symbols as sym
from theory.activation import Activation
from theory.derivation import Step
from theory.risk import insert_functions
from theory.rules import bonnet_price as rules
from theory.rules.collection import Term, collected

DENSITIES = (sym.RELEVANT, sym.NOISE)


@dataclass(frozen=True)
class Group:
    """Terms of the risk of one head (or of all heads jointly) or of a pair h, k of heads.

    body: what is summed. heads: the logits that one differentiates by. A joint term contains all
    heads: x_k is the logit of any one of them.
    """

    body: sp.Expr
    heads: tuple[sp.Symbol, ...]

    @property
    def numbers(self) -> tuple[int, int]:
        """Which heads the largest covariance is of, first and last."""
        return (1, len(self.heads))


def gradient_steps(activation: Activation, risk: sp.Expr) -> tuple[Step, ...]:
    """Bonnet's and Price's theorems on each kind of term of the collected risk.

    The terms are those of head h by itself and of the pair h, k; the risk's derivative adds
    them over pairs, and theory/order_parameters.py carries it on to m, R and the biases.
    """
    steps: list[Step] = []
    for group in _groups(activation, risk):
        for density in DENSITIES:
            steps += [_by_mean(group, density), _by_covariance(group.body, group, density, (1, 1))]
            if len(group.heads) == 2:
                steps.append(_by_covariance(group.body, group, density, (1, 2)))
    return tuple(steps)


def second_steps(activation: Activation, risk: sp.Expr) -> tuple[Step, ...]:
    """The same theorems once more: the averages and what multiplies them are both differentiated.

    Of the many entries two for each kind of term, by the noise token's variance or, of a pair,
    covariance: the derivative in its own mean, and that in the relevant token's covariance.
    """
    steps: list[Step] = []
    for group in _groups(activation, risk):
        numbers = group.numbers
        by_mean = _by_mean(group, sym.NOISE)
        by_covariance = _by_covariance(group.body, group, sym.RELEVANT, numbers)
        for first in (by_mean, by_covariance):
            steps.append(_by_covariance(first.after, group, sym.NOISE, numbers))
    return tuple(steps)


def _groups(activation: Activation, risk: sp.Expr) -> list[Group]:
    if not activation.smooth:
        return []  # a kink's second derivative is a delta; its closed form is differentiated
    _, terms = collected(risk)
    single = [term for term in terms if len(term.heads) < 2]
    pairs = [term for term in terms if len(term.heads) == 2]
    alone = (sym.k,) if activation.scope == "heads" else (sym.h,)
    return [
        Group(insert_functions(sp.Add(*(_body(term) for term in group)), activation), heads)
        for group, heads in ((single, alone), (pairs, (sym.h, sym.k)))
        if group
    ]


def _body(term: Term) -> sp.Expr:
    """A term without its sum over heads."""
    return Term(term.coefficient, (), term.lifts, term.integrand).expression()


def _by_mean(group: Group, density: sp.Symbol) -> Step:
    after = rules.bonnet(group.body, density, group.heads[0])
    return Step(rules.BONNET, rules.BONNET_REASON, group.body, after, "mean", density, (1,))


def _by_covariance(
    before: sp.Expr, group: Group, density: sp.Symbol, numbers: tuple[int, int]
) -> Step:
    after = rules.price(before, density, *(group.heads[number - 1] for number in numbers))
    return Step(rules.PRICE, rules.PRICE_REASON, before, after, "covariance", density, numbers)

"""First derivatives of the population risk in means and covariances of the logits, as steps."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.activation import Activation
from theory.derivation import Step
from theory.risk import insert_functions
from theory.rules import bonnet_price as rules
from theory.rules.collection import Term, collected

DENSITIES = (sym.RELEVANT, sym.NOISE)


def gradient_steps(activation: Activation, risk: sp.Expr) -> tuple[Step, ...]:
    """Bonnet's and Price's theorems on each kind of term of the collected risk.

    The terms are those of head h by itself and of the pair h, k; the risk's derivative adds
    them over pairs, and theory/order_parameters.py carries it on to m, R and the biases.
    """
    if not activation.smooth:
        return ()  # a kink's second derivative is a delta; its closed form is differentiated
    _, terms = collected(risk)
    single = [term for term in terms if len(term.heads) < 2]
    pairs = [term for term in terms if len(term.heads) == 2]
    steps: list[Step] = []
    for group, heads in ((single, (sym.h,)), (pairs, (sym.h, sym.k))):
        if not group:
            continue
        body = insert_functions(sp.Add(*(_body(term) for term in group)), activation)
        for density in DENSITIES:
            steps += _derivatives(body, density, heads, joint=activation.scope == "heads")
    return tuple(steps)


def _body(term: Term) -> sp.Expr:
    """A term without its sum over heads."""
    return Term(term.coefficient, (), term.lifts, term.integrand).expression()


def _derivatives(body, density, heads, joint) -> list[Step]:
    # A joint term contains all heads: x_k is the logit of any one of them.
    h = sym.k if joint else sym.h
    numbers = (1,)
    by_mean = rules.bonnet(body, density, h)
    by_variance = rules.price(body, density, h, h)
    steps = [
        Step(rules.BONNET, rules.BONNET_REASON, body, by_mean, "mean", density, numbers),
        Step(rules.PRICE, rules.PRICE_REASON, body, by_variance, "covariance", density, (1, 1)),
    ]
    if len(heads) == 2:
        shared = rules.price(body, density, sym.h, sym.k)
        steps.append(
            Step(rules.PRICE, rules.PRICE_REASON, body, shared, "covariance", density, (1, 2))
        )
    return steps

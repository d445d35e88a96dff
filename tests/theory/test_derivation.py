"""Every step of every derivation holds in numbers, and a wrong step is seen."""

from __future__ import annotations

import pytest
import sympy as sp

import headflow as hf
from tests.documents import derived
from tests.points import KINDS
from theory import symbols as sym
from theory.checking import check
from theory.derivation import Step
from theory.expectation import LengthPower
from theory.rules.bonnet_price import logit_derivative
from theory.rules.gamma_lift import gamma_lift

ACTIVATIONS = [
    *(hf.CATALOGUE[name] for name in KINDS),
    hf.Activation("softplus-1", score="log(1+exp(x))", offset=1),
    hf.Activation("squares", score="x*exp(x)", normalizer="1+x^2", power=2, bias="norm+free"),
    hf.Activation("joint-cosh", score="exp(x)", normalizer="cosh(x)", scope="heads", offset="1/2"),
    # A pole beside the real line; a lift that decays slowly to the left.
    hf.Activation("lorentzian", score="1/(1+100*x^2)", scope="none"),
    hf.Activation("even", score="3"),
    hf.Activation("root", score="exp(x)", power="1/2", offset=1),
]


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda a: a.name)
def test_every_step_holds_in_numbers(activation):
    found = derived(activation.name) if activation.name in hf.CATALOGUE else hf.derive(activation)
    assert len(found.steps) >= 7
    broken = [step.rule for step, result in found.checks if not result.passed]
    assert broken == []


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda a: a.name)
def test_steps_form_a_chain(activation):
    steps = hf.derive(activation).derivation.steps
    assert all(a.after == b.before for a, b in zip(steps, steps[1:], strict=False))


def test_nothing_is_summed_over_tokens_at_the_end():
    for activation in ACTIVATIONS:
        risk = hf.derive(activation).risk
        assert sym.j not in {index for s in risk.atoms(sp.Sum) for index, *_ in s.limits}
        assert sym.L not in {end for s in risk.atoms(sp.Sum) for _, _, end in s.limits}


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda e: 2 * e, id="factor 2"),
        pytest.param(lambda e: e.subs(sym.gain, 2 * sym.gain), id="gain"),
        pytest.param(lambda e: e.replace(LengthPower, lambda p, n: p**n), id="length"),
        pytest.param(lambda e: e.replace(sp.exp, lambda z: sp.exp(1.001 * z)), id="exponent"),
    ],
)
def test_a_wrong_step_is_seen(spoil):
    """Negative control: the numeric check rejects a derivation with one error in it."""
    activation = hf.activation("softmax")
    step = hf.derive(activation).derivation.steps[-2]
    assert check(step, activation).passed
    wrong = Step(step.rule, step.reason, step.before, spoil(step.after))
    assert not check(wrong, activation).passed


def test_a_wrong_price_factor_is_seen():
    activation = hf.activation("softmax-1")
    price = next(s for s in hf.derive(activation).gradient if s.relation == "covariance")
    wrong = Step(price.rule, "", price.before, 2 * price.after, *_relation(price))
    assert check(price, activation).passed
    assert not check(wrong, activation).passed


def _relation(step):
    return step.relation, step.density, step.heads


def test_derivative_of_a_sum_by_one_of_its_own_letters():
    """Field case F26: the bound index and the derivative's index are one letter."""
    total = sp.Sum(sp.exp(sym.x[sym.h]), (sym.h, 1, sym.H))
    derivative = logit_derivative(sp.exp(sym.x[sym.h]) / total, sym.h)
    expected = sp.exp(sym.x[sym.h]) / total - sp.exp(sym.x[sym.h]) ** 2 / total**2
    assert sp.simplify(derivative - expected) == 0


def test_gamma_lift_leaves_products_without_a_normalizer_alone():
    from theory.expectation import Mean

    plain = Mean(sym.score(sym.x[sym.eps, sym.h]) ** 2)
    assert gamma_lift(plain) == plain

"""The posterior and the Bayes risk: symbolic proofs, and every step checked by numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import derivations
from theory import bayes, bayes_codegen, bayes_rendering, posterior
from theory import order_parameters as op
from theory import symbols as sym
from theory.catalogue import activation
from theory.expectation import Average, LengthPower, Mean
from theory.rules.integration_by_parts import by_parts

BAYES = activation("bayes-softmax", bias="norm+free")


def test_bayes_softmax_with_one_head_per_atom_is_the_posterior():
    assert posterior.difference(BAYES) == 0


def test_with_equal_odds_the_norm_bias_alone_is_enough():
    assert posterior.difference(activation("bayes-softmax"), odds=1 / sym.H) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"act": activation("bayes-softmax")},
        {"act": activation("bayes-softmax", bias="free")},
        {"act": activation("bayes-softmax", bias="none"), "odds": 1 / sym.H},
        {"act": activation("bayes-softmax", bias="norm+free", offset=1)},
        {"act": activation("bayes-softmax", bias="norm+free", power=2)},
        {"act": activation("bayes-softmax", bias="norm+free", gain="mean")},
        {"act": BAYES, "beta": 2 * sp.log(posterior.ODDS)},
    ],
    ids=["no odds", "no norm", "no bias", "offset", "power", "gain", "squared odds"],
)
def test_the_proof_fails_for_anything_else(wrong):
    act = wrong.pop("act")
    assert posterior.difference(act, **wrong) != 0


def test_the_proof_detects_a_norm_bias_without_its_factor_one_half(monkeypatch):
    monkeypatch.setattr(op, "bias", lambda act: -op.R[op.h, op.h] + op.beta[op.h])
    assert posterior.difference(BAYES) != 0


def test_heads_with_their_own_normalizers_are_refused():
    with pytest.raises(ValueError, match="scope 'heads'"):
        posterior.difference(activation("softmax"))


def test_likelihood_ratio_of_gaussian_densities():
    rng = np.random.default_rng(3)
    D, F, L, place = 7, 3, 4, 2
    spikes = np.linalg.qr(rng.standard_normal((D, F)))[0].T
    theta, X = rng.standard_normal(F) + 0.4, rng.standard_normal((L, D))
    shifted = X.copy()
    shifted[place] -= theta @ spikes
    direct = (np.sum(X**2) - np.sum(shifted**2)) / 2
    formula = posterior.likelihood_ratio().result.subs(sym.F, F).doit()
    u = X @ spikes.T
    values = {
        entry: theta[int(entry.indices[1]) - 1]
        if str(entry.base) == "theta"
        else u[place, int(entry.indices[1]) - 1]
        for entry in formula.atoms(sp.Indexed)
    }
    assert float(formula.xreplace(values)) == pytest.approx(direct, rel=1e-13)


# A law of the evidence that is as little Gaussian as can be: four values, E_0[Lambda] = 1.
VALUES = [mp.mpf(n) / 10 for n in (2, 5, 13, 40)]
NOISE = [mp.mpf(n) / 1000 for n in (450, 200, 250, 100)]
NOISE[0] = (1 - sum(q * x for q, x in zip(NOISE[1:], VALUES[1:], strict=True))) / VALUES[0]
NOISE = [q / sum(NOISE) for q in NOISE]
VALUES = [x / sum(q * y for q, y in zip(NOISE, VALUES, strict=True)) for x in VALUES]
RELEVANT = [q * x for q, x in zip(NOISE, VALUES, strict=True)]
TOKENS = 3


def test_every_step_has_the_same_value():
    steps = bayes.derive_bayes_risk().steps
    # The Gamma lift's own output holds a mean under an integral: its two sides surround it.
    steps = [step for step in steps if step.rule != "Gamma lift"]
    values = [_value(step.after) for step in steps]
    for step, value in zip(steps, values, strict=True):
        assert abs(value - values[0]) < mp.mpf(10) ** -12, step.rule
    assert 0.3 < values[0] < 1 - 1 / TOKENS


def _value(expression: sp.Expr) -> mp.mpf:
    """A formula of the derivation, with all averages taken over the law above."""
    return _function(expression)(mp.mpf(0))


def _function(expression: sp.Expr) -> Callable[[mp.mpf], mp.mpf]:
    """The formula as a function of its lift variable, t or s."""
    if isinstance(expression, Mean):
        mean = _enumerate(expression.args[0])
        return lambda t: mean
    if isinstance(expression, sp.Integral):
        inner = _function(expression.function)
        ends = [0, 1, 10, mp.inf] if expression.limits[0][1] == 0 else [-60, -20, -5, 0, 3, 8]
        integral = mp.quad(inner, ends)
        return lambda t: integral
    if isinstance(expression, Average):
        odds = RELEVANT if expression.density == sym.RELEVANT else NOISE
        names = (bayes.ONE_TOKEN, sym.t, sym.s)
        inner = sp.lambdify(names, expression.integrand, "mpmath")
        return lambda t: mp.fsum(q * inner(x, t, t) for q, x in zip(odds, VALUES, strict=True))
    if isinstance(expression, LengthPower):
        phi, order = _function(expression.args[0]), int(expression.args[1])
        return lambda t: mp.ff(TOKENS - 1, order) * phi(t) ** (TOKENS - 1 - order)
    if isinstance(expression, (sp.Add, sp.Mul)):
        parts = [_function(argument) for argument in expression.args]
        join = mp.fsum if isinstance(expression, sp.Add) else mp.fprod
        return lambda t: join(part(t) for part in parts)
    if isinstance(expression, sp.Pow) and expression.base.has(Average):
        base, power = _function(expression.base), int(expression.exp)
        return lambda t: base(t) ** power
    plain = sp.lambdify((sym.t, sym.s), expression, "mpmath")
    return lambda t: plain(t, t)


def _enumerate(inner: sp.Expr) -> mp.mpf:
    """The mean over the location and all tokens, one case at a time."""
    explicit = inner.subs(sym.L, TOKENS).replace(LengthPower, lambda phi, n: sp.Integer(TOKENS - 1))
    explicit = explicit.doit()
    places, kinds = range(1, TOKENS + 1), itertools.product(range(len(VALUES)), repeat=TOKENS)
    total = mp.mpf(0)
    for place, case in itertools.product(places, kinds):
        odds = mp.mpf(1) / TOKENS
        for token, kind in enumerate(case, start=1):
            odds *= (RELEVANT if token == place else NOISE)[kind]
        evidence = [VALUES[kind] for kind in case]
        # Token 0 stands for any one noise token.
        noise = next(token for token in places if token != place)
        entries = {}
        for token in range(TOKENS + 1):
            own = evidence[(token or noise) - 1]
            entries[bayes.Lambda(sym.x[token, sym.h])] = sp.Float(own, 20)
            entries[sym.A[token]] = sp.Float(own / mp.fsum(evidence), 20)
        value = explicit.subs(sym.eps, place).doit().xreplace(entries)
        total += odds * mp.mpf(sp.N(value, 20)._mpf_)
    return total


def test_a_wrong_primitive_is_no_integration_by_parts():
    phi = bayes.survival()
    integral = sp.Integral(LengthPower(phi, 0), (sym.t, 0, sp.oo))
    with pytest.raises(ValueError, match="slope"):
        by_parts(integral, sp.S.One, phi, sp.S.One)


def test_evidence_of_a_gaussian_weight_at_30_digits():
    with mp.workdps(30):
        mu, v, u = mp.mpf("0.7"), mp.mpf("1.3"), mp.mpf("-0.9")
        direct = mp.quad(
            lambda a: mp.exp(a * u - a**2 / 2) * mp.npdf(a, mu, mp.sqrt(v)),
            [-mp.inf, -3, 0, 3, mp.inf],
        )
        formula = sp.lambdify(
            (bayes.mu, bayes.v, bayes.projection), bayes.derive_spike_evidence().result, "mpmath"
        )
        assert abs(formula(mu, v, u) - mp.log(direct)) < mp.mpf(10) ** -27
        assert formula(mu, mp.mpf(0), u) == mu * u - mu**2 / 2


def test_generated_files_are_what_theory_gives_today():
    stored = Path(derivations.__file__).parent / "bayes_risk"
    assert (stored / "kernels.py").read_text(encoding="utf-8") == bayes_codegen.numpy_source()
    assert (stored / "equations.md").read_text(encoding="utf-8") == bayes_rendering.equations()

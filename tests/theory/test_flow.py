"""The equations of the dynamics: their form, contractions, and wrong ones that are seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import headflow as hf
from headflow.store import kernels_for
from tests.points import KINDS
from theory import flow
from theory.checking import check
from theory.contraction import canonical, contract
from theory.index_notation import einsum

ACTIVATIONS = [
    *(hf.CATALOGUE[name] for name in KINDS),
    hf.Activation("squares", score="x*exp(x)", normalizer="1+x^2", power=2, bias="norm+free"),
    hf.Activation("joint-cosh", score="exp(x)", normalizer="cosh(x)", scope="heads", offset="1/2"),
    hf.Activation("constant", score="1", normalizer="1+exp(x)"),
]


def _value(expression, **arrays):
    return eval(einsum(expression, (flow.i, flow.j)), {"np": np, **arrays})


def test_the_drift_is_that_of_the_page():
    """docs/model.md section 7, by matrix products."""
    rng = np.random.default_rng(1)
    E_m, m = rng.normal(size=(2, 3, 2))
    G, R = (a + a.T for a in rng.normal(size=(2, 3, 3)))
    derived = hf.derive("softmax")
    assert _value(derived.drift_m, E_m=E_m, G=G, m=m) == pytest.approx(-(E_m + 2 * G @ m))
    drift_R = -(E_m @ m.T + m @ E_m.T + 2 * (G @ R + R @ G))
    assert _value(derived.drift_R, E_m=E_m, G=G, m=m, R=R) == pytest.approx(drift_R)
    drift_C = _value(derived.flow.drift_C, G=G, C=R)
    assert drift_C == pytest.approx(-2 * (G @ R + R @ G))


def test_the_norm_bias_moves_with_its_head():
    gradient = hf.derive("softmax-1-norm").sample.along_spikes
    without = hf.derive("softmax").sample.along_spikes
    assert gradient != without and "m" in str(gradient) and "m" not in str(without)


@pytest.mark.parametrize("spoil", [lambda e: 2 * e, lambda e: -e, lambda e: e + 1], ids="21+")
def test_a_wrong_step_is_seen(spoil):
    """Negative control for every kind of step of the dynamics."""
    activation = hf.activation("softmax-1-norm")
    derived = hf.derive(activation)
    seen = set()
    for step in (*derived.dynamics, *derived.saddle.steps):
        if step.relation in seen or step.before == step.after:
            continue
        after = step.after
        if step.relation in ("noise", "origin"):
            wrong = spoil(after)
        else:
            # An index formula: a factor on one of its terms.
            first, *rest = sp.Add.make_args(sp.expand(after))
            wrong = sp.Add(3 * first, *rest)
        assert check(step, activation).passed, step.rule
        assert not check(replace(step, after=wrong), activation).passed, step.rule
        seen.add(step.relation)
    assert seen == {"by k", "tensor", "orthonormal", "noise", "by c", "origin"}


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda a: a.name)
def test_the_backward_pass_of_generated_code(activation):
    """pullback against central differences of attention, entry by entry."""
    kernels = kernels_for(activation)
    rng = np.random.default_rng(3)
    x, weights, step = rng.normal(size=(4, 3)), rng.normal(size=4), 1e-6
    linear = kernels.linearized(x)
    assert linear[0] == pytest.approx(kernels.attention(x))
    found = kernels.pullback(weights, linear)
    for l, h in np.ndindex(x.shape):
        shift = np.zeros_like(x)
        shift[l, h] = step
        ahead, behind = (kernels.attention(x + s * shift).sum(axis=-1) for s in (1, -1))
        assert found[l, h] == pytest.approx(weights @ (ahead - behind) / (2 * step), abs=1e-7)


def test_logits_beyond_float_do_not_overflow():
    for name in ("softmax", "softmax-1", "bayes-softmax"):
        a, local, shared = kernels_for(hf.activation(name)).linearized(
            np.array([[900.0, -900.0], [-900.0, 850.0], [3.0, 2.0]])
        )
        assert all(np.all(np.isfinite(part)) for part in (a, local, shared)), name


def test_contraction_needs_a_name_for_every_product():
    a, b, c = (sp.IndexedBase(name) for name in "abc")
    i, j, d = sp.symbols("i j d", integer=True)
    assert contract(a[i, d] * b[j, d], d, {(a, b): c}) == c[i, j]
    assert contract(b[j, d] * a[i, d], d, {(a, b): c}) == c[i, j]
    with pytest.raises(KeyError):
        contract(a[i, d] * a[j, d], d, {(a, b): c})


def test_equal_terms_become_one():
    A, v = sp.IndexedBase("A"), sp.IndexedBase("v")
    i, j, k = sp.symbols("i j k", integer=True)
    both = A[i, j] * v[j] + A[k, i] * v[k]
    pools = {"h": (j, k)}
    assert canonical(both, (i,), {A: "hh", v: "h"}, pools, (A,)) == 2 * A[i, j] * v[j]
    assert len(canonical(both, (i,), {A: "hh", v: "h"}, pools).args) == 2

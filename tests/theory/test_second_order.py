"""Second derivatives as theory gives them: each step, each generated table, wrong ones seen."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp

import headflow as hf
from headflow.store import kernels_for
from numerics.lengths import SequenceLength
from theory import factors as fac
from theory import second_order
from theory.checking import check
from theory.index_notation import factors_of, terms
from theory.symbols import logit

SOFTMAX = hf.activation("softmax")
USER = hf.Activation("user", score="x*exp(x)+softplus(x)", normalizer="cosh(x)", offset="1/3")
SHARED = hf.Activation("shared", score="exp(x)+1/3", normalizer="cosh(x)", scope="heads", power=2)


def test_every_step_that_holds_for_all_activations():
    for step in second_order.steps():
        assert check(step, SOFTMAX).passed, step.rule


@pytest.mark.parametrize("name", ["bayes-softmax", "sigmoid"])
def test_theorems_applied_twice(name):
    derived = hf.derive(name)
    first, *others = derived.second
    assert len(others) == (1 if name == "bayes-softmax" else 3)
    assert all(check(step, derived.activation).passed for step in (first, *others))
    # Negative control: the second variation alone, or a wrong factor, is not the derivative.
    assert not check(replace(first, after=2 * first.after), derived.activation).passed


@pytest.mark.parametrize("number", range(len(second_order.steps())))
def test_a_wrong_term_is_seen(number):
    """Negative control: one term doubled."""
    step = second_order.steps()[number]
    wrong = replace(step, after=step.after + terms(step.after)[-1])
    assert not check(wrong, SOFTMAX).passed


def test_the_chain_rule_through_two_sums():
    """Against SymPy's derivatives of an explicit M(S_f, S_g) with three heads."""
    x, sums = sp.symbols("x0:3", real=True), sp.symbols("S0 S1")
    functions = [sp.exp(0.3 * z) for z in x], [z + 0.2 * z**4 for z in x]
    M = sp.exp(0.1 * sums[0] + 0.05 * sums[1]) + sums[0] ** 2 * sums[1] ** 2 / 10
    point = dict(zip(x, (0.4, -0.7, 0.9), strict=True))
    explicit = M.subs({one: sum(f) for one, f in zip(sums, functions, strict=True)})
    at = {one: sum(f).subs(point) for one, f in zip(sums, functions, strict=True)}

    @cache
    def partial(*by):
        """d_r: M differentiated by some sums."""
        return float(M.diff(*(sums[one] for one in by)).subs(at))

    @cache
    def slope(order, which, head):
        """x_r: f or g differentiated ``order`` times."""
        return float(functions[which][head].diff(x[head], order).subs(point))

    def entry(factor, index):
        if isinstance(factor, sp.KroneckerDelta):
            return float(index[factor.args[0]] == index[factor.args[1]])
        kind, order = str(factor.base)[0], int(str(factor.base)[1:])
        if kind == "d":
            return partial(*sorted(index[i] for i in factor.indices[:-1]))
        return slope(order, index[factor.indices[0]], index[factor.indices[-1]])

    derived = fac.sum_derivatives(4)
    cases = [(0,), (2, 1), (1, 1), (0, 2, 0), (1, 1, 1), (0, 1, 2), (2, 0, 2, 1), (1, 1, 0, 0)]
    for heads in [*cases, (2, 2, 2, 2)]:
        total = 0.0
        for term in terms(derived[len(heads) - 1]):
            used = {i for e in term.atoms(sp.Indexed) for i in e.indices}
            summed = sorted((i for i in used if str(i) in "ABCD"), key=str)
            for values in np.ndindex(*(2,) * len(summed)):
                index = dict(zip((*summed, *fac.heads), (*values, *heads), strict=False))
                total += np.prod([entry(factor, index) for factor in factors_of(term)])
        wanted = float(explicit.diff(*(x[h] for h in heads)).subs(point))
        assert total == pytest.approx(wanted, rel=1e-12), heads


@pytest.mark.parametrize("act", [SOFTMAX, hf.activation("sigmoid"), USER], ids=str)
def test_jets_are_derivatives_of_factors(act):
    kernels = kernels_for(act)
    x, s, step = np.linspace(-2.1, 1.9, 9), np.array([[-1.3], [0.4]]), 1e-5
    for few, many in (("factors", "jets"), ("pair_factors", "pair_jets")):
        first, jets = getattr(kernels, few), getattr(kernels, many)
        ahead, here, behind = (jets(s, x + d) for d in (step, 0.0, -step))
        assert here[:, :3] == pytest.approx(first(s, x), abs=1e-14)
        difference = (ahead[:, :4] - behind[:, :4]) / (2 * step)
        assert here[:, 1:] == pytest.approx(difference, rel=1e-8, abs=2e-8)


@pytest.mark.parametrize("name", ["linear", "erf", "relu"])
def test_closed_jets_are_derivatives_in_the_means(name):
    """A derivative in a logit is one in its mean, whatever it was generated from."""
    kernels = kernels_for(hf.activation(name))
    mu, nu, r, q, c, step = 0.4, -0.3, 0.8, 0.6, 0.25, 1e-4
    single = [kernels.closed_single_jets(mu + d, r) for d in (step, 0.0, -step)]
    assert single[1][:, 1:] == pytest.approx(
        (single[0][:, :4] - single[2][:, :4]) / (2 * step), abs=1e-6
    )
    assert single[1][:, :3] == pytest.approx(kernels.closed_single(mu, r), abs=1e-14)
    here = kernels.closed_pair_jets(mu, nu, r, q, c)
    by_x, by_y = (
        (
            kernels.closed_pair_jets(mu + dx, nu + dy, r, q, c)
            - kernels.closed_pair_jets(mu - dx, nu - dy, r, q, c)
        )
        / (2 * step)
        for dx, dy in ((step, 0.0), (0.0, step))
    )
    for i, j in np.argwhere(np.add.outer(np.arange(4), np.arange(4)) < 4):
        assert here[i + 1, j] == pytest.approx(by_x[i, j], abs=1e-6)
        assert here[i, j + 1] == pytest.approx(by_y[i, j], abs=1e-6)
    assert np.any(here[2, 2] != 0) or name == "linear"


@pytest.mark.parametrize("name, kind", [("softmax", "single"), ("softmax", "pair"), (USER, "pair")])
def test_second_variation_is_the_derivative_of_the_first(name, kind):
    kernels = kernels_for(hf.activation(name) if isinstance(name, str) else name)
    rng = np.random.default_rng(1)
    relevant, noise = rng.uniform(0.2, 0.9, (2, 3, 4))
    length, step = SequenceLength.of({3: 0.4, 6: 0.6}), 1e-5
    lifts = (0.3,) if kind == "single" else (0.3, -0.2)

    def variation(averages):
        function = getattr(kernels, f"{kind}_variation")
        return function(*lifts, *averages, length.powers(averages[1][0]), 0.7)

    at = np.stack([relevant, noise])
    second = getattr(kernels, f"{kind}_second_variation")
    found = second(*lifts, *at, length.powers(noise[0], 3), 0.7)
    for density, n in np.ndindex(2, 3):
        change = np.zeros_like(at)
        change[density, n] = step
        difference = (variation(at + change) - variation(at - change)) / (2 * step)
        assert found[density, n] == pytest.approx(difference, abs=1e-8)
    assert found == pytest.approx(np.moveaxis(found, (0, 1), (2, 3)))


@pytest.mark.parametrize("act", [hf.activation("bayes-softmax"), SHARED], ids=str)
def test_joint_tables_agree_with_explicit_sums(act):
    """M = sum variation X_n of two heads, by its definition, differentiated by differences."""
    kernels = kernels_for(act)
    p = float(act.power)
    s = np.array([-0.4, 0.1, 0.7])
    variation = np.array([[0.3, -0.2, 0.5], [0.7, 0.4, -0.6], [-0.1, 0.8, 0.2]])
    f, g = (sp.lambdify(logit, e) for e in (act.score, act.normalizer))

    def M(x):
        t, sum_f, sum_g = np.exp(s), np.sum(f(x)), np.sum(g(x))
        factors = [t ** (n * p) * sum_f**n * np.exp(-t * sum_g) for n in range(3)]
        return float(np.sum(variation * factors))

    x = np.array([0.3, -0.5])
    kappa, jets_f, jets_g = kernels.jet_units(x[None])
    log = kappa + np.log(np.sum(jets_g[0], axis=-1))
    powers = kernels.jet_lifted_powers(s[:, None] + log)
    moments = np.array([variation[n] @ powers[power] for n, power in kernels.JET_POWERS])
    partials = kernels.jet_partials(moments, jets_f, jets_g)
    tensors = kernels.joint_jets(np.ones(1), partials, jets_f, jets_g)
    first = moments[[kernels.JET_POWERS.index(one) for one in kernels.MOMENT_POWERS]]
    assert partials[:5] == pytest.approx(
        np.einsum("mn,mpn->pn", first, kernels.coefficients(jets_f, jets_g)), rel=1e-13
    )
    short = kernels.joint_slopes(np.ones(1), partials[:5], jets_f[:3], jets_g[:3])
    amounts = kernels.joint_amounts(np.ones(1), partials[:5], jets_f, jets_g)
    for tensor, one, amount in zip(tensors, short, amounts, strict=False):
        assert tensor == pytest.approx(one, rel=1e-13)
        assert tensor == pytest.approx(amount[..., 0], rel=1e-13)
    step = 2e-2
    offsets = np.arange(-4, 5)
    # Weights of nine-point differences, first to fourth order, by solving for them.
    powers_of = np.vander(offsets, increasing=True).T.astype(float)
    by_order = [
        np.linalg.solve(powers_of, np.eye(9)[n] * [1, 1, 2, 6, 24][n]) / step**n for n in range(5)
    ]
    table = np.array([[M(x + step * np.array([i, j])) for j in offsets] for i in offsets])
    for order, tensor in enumerate(tensors, start=1):
        for by_second in range(order + 1):
            wanted = by_order[order - by_second] @ table @ by_order[by_second]
            heads = (0,) * (order - by_second) + (1,) * by_second
            assert tensor[heads] == pytest.approx(wanted, rel=1e-5, abs=1e-6)
            assert tensor[heads[::-1]] == pytest.approx(tensor[heads], rel=1e-12)

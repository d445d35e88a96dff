"""Field cases of generated code: overflow, shapes, and the three multi-head softmaxes."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from headflow.store import kernels_for


def attention(name, *heads, **changes):
    """a_l^h (L, H) of the logits of each head."""
    return kernels_for(hf.activation(name, **changes)).attention(np.transpose(heads).astype(float))


@pytest.mark.parametrize(
    "logits, expected", [((800, 0), (1, 0)), ((-800, -800), (0.5, 0.5)), ((0, 800), (0, 1))]
)
def test_f02_softmax_does_not_overflow(logits, expected):
    assert attention("softmax", logits)[:, 0] == pytest.approx(expected, abs=1e-300)


@pytest.mark.parametrize("score", ["1/(1+exp(-x))", "exp(x)/(exp(x)+1)", "sigmoid(x)"])
def test_f02_the_sigmoid_and_its_derivatives_do_not_overflow(score):
    kernels = kernels_for(hf.Activation("logistic", score=score, scope="none"))
    x = np.array([-800.0, 0.0, 800.0, 30.0])
    value, first, second = kernels.factors(0.0, x)[1]
    assert value[:3] == pytest.approx([0, 0.5, 1], abs=1e-300)
    assert first[:3] == pytest.approx([0, 0.25, 0], abs=1e-300)
    assert second[:3] == pytest.approx([0, 0, 0], abs=1e-300)
    assert second[3] == pytest.approx(-9.357622968837e-14, rel=1e-12)


def drift(m, R):
    """(dm/dtau, dR/dtau) of linear attention, L = 2, theta = 1."""
    slope = LINEAR.gradient([[m]], [[R]])
    assert slope.m.dtype == slope.R.dtype == np.float64
    G = slope.R[0, 0]
    return np.array([-slope.m[0, 0] - 2 * G * m, -2 * m * slope.m[0, 0] - 4 * G * R])


LINEAR = hf.PopulationRisk("linear", hf.FiniteSupport([[1.0]], [1.0]), tokens=2)


@pytest.mark.parametrize("m", [0.0, 0.05, 0.1, 0.25, 1 / 3])
def test_f03_the_flow_of_linear_attention_has_constant_rates(m):
    """The drift is at most quadratic, so that central differences of it are exact."""
    R, step = 1 / 9 + 0.1, 0.01
    by_m = (drift(m + step, R) - drift(m - step, R)) / (2 * step)
    by_R = (drift(m, R + step) - drift(m, R - step)) / (2 * step)
    jacobian = np.stack([by_m, by_R], axis=1)
    assert jacobian == pytest.approx(np.array([[-6, 0], [4 - 8 * m, -8]]), abs=1e-10)
    assert np.sort(np.linalg.eigvals(jacobian)) == pytest.approx([-8, -6], abs=1e-10)


@pytest.mark.parametrize(
    "logits, expected",
    [
        ((5, 5), [0.498321169187] * 2),
        ((2, -1), [0.843794734481, 0.042010066134]),
        ((-10, -10), [4.539580782951e-05] * 2),
        ((800, 0, 0), [1, 0, 0]),
        ((-800, -800, -800), [0, 0, 0]),
        ((0, 0, 0), [0.25] * 3),
    ],
)
def test_f09_softmax_1(logits, expected):
    weights = attention("softmax-1", logits)[:, 0]
    assert weights == pytest.approx(expected, abs=1e-12)
    assert weights == pytest.approx(attention("softmax", (*logits, 0))[:-1, 0], abs=1e-15)


def test_f09_softmax_1_is_not_shift_invariant():
    shifted = attention("softmax-1", (3, 0))[:, 0]
    assert np.abs(shifted - attention("softmax-1", (2, -1))[:, 0]).max() > 0.05


FIRST, SECOND = (6, 0, 0), (0, 3, 0)


def test_f10_three_multi_head_softmaxes():
    mean = attention("softmax", FIRST, SECOND).mean(axis=1)
    joint = attention("bayes-softmax", FIRST, SECOND).sum(axis=1)
    assert mean == pytest.approx([0.52017273, 0.45595476, 0.02387251], abs=1e-8)
    assert joint == pytest.approx([0.94600055, 0.04932124, 0.00467821], abs=1e-8)
    of_the_mean = attention("softmax", np.mean([FIRST, SECOND], axis=0))[:, 0]
    assert of_the_mean == pytest.approx([0.78559703, 0.17529039, 0.03911257], abs=1e-8)
    for one in (mean, joint):
        assert np.abs(one - of_the_mean).max() > 0.1


def test_f10_one_head_equal_heads_and_constants():
    plain = attention("softmax", FIRST)[:, 0]
    assert attention("bayes-softmax", FIRST)[:, 0] == pytest.approx(plain, abs=1e-15)
    twice = attention("bayes-softmax", FIRST, FIRST).sum(axis=1)
    assert twice == pytest.approx(plain, abs=1e-15)
    joint = attention("bayes-softmax", FIRST, SECOND).sum(axis=1)
    mean = attention("softmax", FIRST, SECOND).sum(axis=1)
    up = np.add(FIRST, 1.7)
    all_up = attention("bayes-softmax", up, np.add(SECOND, 1.7)).sum(axis=1)
    one_up = attention("bayes-softmax", up, SECOND).sum(axis=1)
    assert all_up == pytest.approx(joint, abs=1e-15)
    assert np.abs(one_up - joint).max() > 0.01
    assert attention("softmax", up, SECOND).sum(axis=1) == pytest.approx(mean, abs=1e-15)


@pytest.mark.parametrize("dead", [-np.inf, -1000.0])
def test_f27_a_dead_head(dead):
    live, off = (3, 0), (dead, dead)
    joint = attention("bayes-softmax", live, off).sum(axis=1)
    assert joint == pytest.approx([0.952574126822, 0.047425873178], abs=1e-12)
    one = attention("softmax-1", live, off)
    assert one[:, 1] == pytest.approx([0, 0], abs=1e-300)
    assert one.mean(axis=1) == pytest.approx([0.454721499256, 0.022639250372], abs=1e-12)


def test_f27_a_dead_head_of_plain_softmax():
    assert attention("softmax", (-1000, -1000))[:, 0] == pytest.approx([0.5, 0.5], abs=1e-15)
    with pytest.warns(RuntimeWarning, match="invalid"):
        assert np.isnan(attention("softmax", (-np.inf, -np.inf))).all()

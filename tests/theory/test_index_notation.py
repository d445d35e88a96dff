"""Tensor formulas: derivatives and einsum source against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from theory.index_notation import derivative, einsum, latex

A, B, v = (sp.IndexedBase(name) for name in "ABv")
i, j, k, m, n = sp.symbols("i j k m n", integer=True)


def _evaluate(expression, free, **arrays):
    return eval(einsum(expression, free), {"np": np, **arrays})


def test_derivative_of_a_quadratic_form():
    rng = np.random.default_rng(0)
    a, x = rng.normal(size=(3, 3)), rng.normal(size=3)
    form = v[i] * A[i, j] * v[j]
    slope = _evaluate(derivative(form, v[k]), (k,), A=a, v=x)
    assert slope == pytest.approx((a + a.T) @ x)


def test_a_diagonal_gives_an_identity():
    rng = np.random.default_rng(1)
    a, x = rng.normal(size=(4, 4)), rng.normal(size=4)
    slope = _evaluate(derivative(v[i] * A[i, i] / 2, A[m, n]), (m, n), A=a, v=x)
    assert slope == pytest.approx(np.diag(x) / 2)


def test_a_clash_of_letters_is_refused():
    """Field case F26: the bound letter and the free one must differ."""
    with pytest.raises(ValueError, match="already occur"):
        derivative(v[i] * A[i, j] * v[j], v[i])


def test_signs_and_sums_are_printed():
    text = latex(-v[i] * A[i, j] / 2 + v[j], (j,))
    assert r"\sum_{i}" in text and r"\frac{1}{2}" in text

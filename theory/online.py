# notation: X_l tokens, delta_l^h the loss differentiated by logits; s, q orthonormal frames of the
# spikes and of the heads beyond them, u, v the tokens' parts along them, O the rest of the tokens
# and W its Gram matrix; k = m s + Q q. Gamma the tokens' Gram matrix, c_l = 1[l = eps] - A_l.
"""One step of online SGD seen through order parameters: exact at any finite dimension."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory import order_parameters as op
from theory.activation import Activation
from theory.contraction import canonical, contract
from theory.derivation import Step
from theory.index_notation import derivative

delta, X, k, s, q, u, v, O, W, m, Q = (
    sp.IndexedBase(name, real=True) for name in "delta X k s q u v O W m Q".split()
)
c, Gamma = sp.IndexedBase("c", real=True), sp.IndexedBase("Gamma", real=True)
D = sp.Symbol("D", positive=True)
i, j, d = sp.symbols("i j d", integer=True)
l, n = sp.symbols("l n", integer=True)

LOSS = "loss of one sample"
LOSS_REASON = (
    r"$y - \hat y = \sum_l c_l X_l$, so $|y - \hat y|^2 / D$ needs the tokens' Gram matrix only."
)
SAMPLE = "gradient of one sample"
SAMPLE_REASON = (
    r"$x_{li} = k_i \cdot X_l + b_i$, and a bias that holds $R_{ii}$ moves with $k_i$; along the "
    "spikes, along the heads beyond them, and the Gram matrix of the rest."
)


@dataclass(frozen=True)
class SampleStep:
    """What a sample's loss and gradient are in u, v, W, m and Q; repeated indices summed.

    loss and slope_i = d loss/d c_i, minus its derivative in A_i. along_spikes_ij, along_rest_ij:
    components of the gradient by k_i; beyond_ij: products of what lies outside both frames.
    """

    loss: sp.Expr
    slope: sp.Expr
    along_spikes: sp.Expr
    along_rest: sp.Expr
    beyond: sp.Expr
    steps: tuple[Step, ...]


def bias_pull(activation: Activation) -> sp.Expr:
    """p in db_h/dk_h = p k_h: twice the derivative of the bias in R_hh."""
    return 2 * sp.sympify(op.bias(activation)).diff(op.R[op.h, op.h])


def sample_step(activation: Activation) -> SampleStep:
    """Project the gradient of one sample's loss on the two frames and their complement."""
    loss = contract(c[l] * c[n] * X[l, d] * X[n, d], d, {(X, X): Gamma}) / D
    slope = canonical(derivative(loss, c[i]), (i,), {c: "l", Gamma: "ll"}, {"l": (n,)}, (Gamma,))
    pull = bias_pull(activation)
    gradient = delta[l, i] * (X[l, d] + pull * k[i, d])
    along_s = contract(gradient * s[j, d], d, {(X, s): u, (k, s): m})
    along_q = contract(gradient * q[j, d], d, {(X, q): v, (k, q): Q})
    # Outside both frames nothing is left of the heads themselves.
    outside = delta[l, i] * O[l, d] * delta[n, j] * O[n, d]
    beyond = contract(outside, d, {(O, O): W})
    steps = (
        Step(LOSS, LOSS_REASON, loss, slope, "by c"),
        Step(SAMPLE, SAMPLE_REASON, gradient * s[j, d], along_s, "orthonormal"),
        Step(SAMPLE, SAMPLE_REASON, gradient * q[j, d], along_q, "orthonormal"),
        Step(SAMPLE, SAMPLE_REASON, outside, beyond, "orthonormal"),
    )
    return SampleStep(loss, slope, along_s, along_q, beyond, steps)

# notation: m, R alignments and overlaps; p, theta, V odds, mean and covariance of each
# component of the prior; b, beta bias and free bias; mu, C mean and covariance of the logits.
"""How the logits of a token depend on (m, R), and the chain rule that follows from it."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory import symbols as sym
from theory.activation import Activation
from theory.index_notation import derivative

m, R, V, theta, p, beta, b = (
    sp.IndexedBase(name, real=True) for name in ("m", "R", "V", "theta", "p", "beta", "b")
)
# Bonnet and Price averages of the risk's first variation: relevant (per component), noise.
slope, curvature = sp.IndexedBase("slope", real=True), sp.IndexedBase("curvature", real=True)
noise_slope = sp.IndexedBase("noise_slope", real=True)
noise_curvature = sp.IndexedBase("noise_curvature", real=True)

# Indices by letter: a component of the prior, heads h and k, spikes f and g; i and j are the
# indices of the entry that one differentiates by.
a, h, k, f, g, i, j = sp.symbols("a h k f g i j", integer=True)


def mean() -> sp.Expr:
    """mu_ah: mean of head h's logit, bias included, on the relevant token of component a."""
    return m[h, f] * theta[a, f] + b[h]


def covariance() -> sp.Expr:
    """C_ahk: covariance of the logits on the relevant token; R itself when theta is fixed."""
    return R[h, k] + m[h, f] * V[a, f, g] * m[k, g]


def bias(activation: Activation) -> sp.Expr:
    """b_h in terms of R_hh and the free bias beta_h."""
    norm = -R[h, h] / 2 if "norm" in activation.bias else 0
    return norm + (beta[h] if activation.has_free_bias else 0)


def gain(activation: Activation) -> sp.Expr:
    """gamma in terms of the number of heads; the symbol itself when it is free."""
    named = {"mean": 1 / sym.H, "sum": sp.S.One, "free": sym.gain}
    return named.get(activation.gain, activation.gain)


@dataclass(frozen=True)
class ChainRule:
    """dE/dm_ij, the symmetric matrix gradient dE/dR_ij and dE/dbeta_i.

    In terms of slope_ah = E_a[d_h M], curvature_ahk = E_a[d_h d_k M] and their noise
    counterparts, where M is the first variation of the risk (Bonnet's and Price's theorems:
    a mean enters with E[d F], a covariance with E[d d F] / 2).
    """

    m: sp.Expr
    R: sp.Expr
    beta: sp.Expr


def chain_rule(activation: Activation) -> ChainRule:
    """Differentiate the risk through means, covariances and biases of the logits."""
    b_h = bias(activation)
    mean_h = mean().subs(b[h], b_h)
    variation = (
        p[a] * (slope[a, h] * mean_h + curvature[a, h, k] * covariance() / 2)
        + noise_slope[h] * b_h
        + noise_curvature[h, k] * R[h, k] / 2
    )
    return ChainRule(
        derivative(variation, m[i, j]),
        derivative(variation, R[i, j]),
        derivative(p[a] * slope[a, h] * beta[h] + noise_slope[h] * beta[h], beta[i]),
    )

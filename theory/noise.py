# notation: A_l, a_l^h attention and head attention, x_l^h logits, gamma gain; delta_l^h the
# per-sample loss differentiated by x_l^h; Sigma what one step of SGD adds to the overlaps.
"""The overlaps that online SGD adds: the second moment of the backpropagated errors."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory import factors as fac
from theory import symbols as sym
from theory.activation import Activation
from theory.derivation import Derivation, Step
from theory.expectation import Mean
from theory.rules import exchangeability as tokens

DEFINITION = "noise of a step"
DEFINITION_REASON = (
    r"A step $k_h \leftarrow k_h - (\eta / D) \sum_l \delta_{lh} X_l$ adds $(\eta / D)^2 \sum_{ln} "
    r"\delta_{lh} \delta_{nk} X_l \cdot X_n$ to $R_{hk}$; tokens have squared norm $D$ and are "
    r"orthogonal, and $D / \eta$ steps make one unit of $\tau$, so that the overlaps gain "
    r"$\eta \Sigma_{hk}$ (over $B$ for a mini-batch of $B$)."
)
BACKWARD = "backward pass"
BACKWARD_REASON = (
    r"$\delta_{lh}$ by the chain rule: $x_{lh}$ enters $a_{lh}$ through the score and every "
    "token's attention through the normalizer."
)


@dataclass(frozen=True)
class NoiseEquations:
    """delta_l^h by the backward pass, Sigma_hk as averages over all tokens, and the steps."""

    delta: sp.Expr
    noise: sp.Expr
    steps: tuple[Step, ...]


# c + Z where it stands for a number.
TOTAL = sp.Symbol("total", positive=True)


@dataclass(frozen=True)
class Slopes:
    """Head attention a = f/(c+Z)^p differentiated: d a_j/d x_l = [j = l] local - a_j shared.

    In terms of f'(x), g'(x) (theory/factors.py) and TOTAL.
    """

    local: sp.Expr
    shared: sp.Expr


def slopes(activation: Activation) -> Slopes:
    """Differentiate head attention through its own score and through the normalizer."""
    if activation.scope == "none":
        return Slopes(fac.f[1], sp.S.Zero)
    attention = fac.f[0] / TOTAL**activation.power
    through = attention.diff(TOTAL) / attention
    return Slopes(attention.diff(fac.f[0]) * fac.f[1], -sp.powsimp(through) * fac.g[1])


def backward(activation: Activation) -> sp.Expr:
    """delta_l^h in terms of attention, scores and normalizers."""
    l, h, j = sym.l, sym.h, sym.j
    f, g = (
        e.diff(sym.logit).subs(sym.logit, sym.x[l, h])
        for e in (activation.score, activation.normalizer)
    )
    values = {fac.f[1]: f, fac.g[1]: g, TOTAL: _total(activation)}
    local, shared = (e.subs(values) for e in vars(slopes(activation)).values())
    attention = sym.a[j] if activation.scope == "heads" else sym.a[j, h]
    carried = sp.Sum(_miss(j) * attention, (j, 1, sym.L))
    return -2 * sym.gain * (_miss(l) * local - shared * carried)


def noise_equations(activation: Activation) -> NoiseEquations:
    """From the definition of Sigma_hk to averages of the activation's own functions."""
    delta = backward(activation)
    square = sp.Sum(sym.delta[sym.l, sym.h] * sym.delta[sym.l, sym.k], (sym.l, 1, sym.L))
    record = Derivation.start(DEFINITION, DEFINITION_REASON, Mean(square))
    record = record.then(tokens.NAME, tokens.REASON, tokens.exchangeability)
    record = record.then(BACKWARD, BACKWARD_REASON, lambda e: _insert(e, delta))
    steps = (Step(s.rule, s.reason, s.before, s.after, "noise") for s in record.steps)
    return NoiseEquations(delta, record.result, tuple(steps))


def _miss(token: sp.Symbol) -> sp.Expr:
    """1[l = eps] - A_l: what the prediction misses on one token."""
    return sp.KroneckerDelta(token, sym.eps) - sym.A[token]


def _total(activation: Activation) -> sp.Expr:
    j, n = sym.j, sym.n
    g = activation.normalizer
    if activation.scope == "heads":
        limits: tuple = (j, 1, sym.L), (n, 1, sym.H)
        return activation.offset + sp.Sum(g.subs(sym.logit, sym.x[j, n]), *limits)
    return activation.offset + sp.Sum(g.subs(sym.logit, sym.x[j, sym.h]), (j, 1, sym.L))


def _insert(expression: sp.Expr, delta: sp.Expr) -> sp.Expr:
    def formula(base, token, head):
        if base != sym.delta:
            return base[token, head]
        return delta.subs({sym.h: head, sym.l: token})

    return expression.replace(
        lambda e: isinstance(e, sp.Indexed) and e.base == sym.delta,
        lambda e: formula(e.base, *e.indices),
    )

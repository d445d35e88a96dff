# notation: k, s heads and spikes (vectors); m, R, P their products; C = R - m m^T; E_m, G the
# risk's derivatives in m and R; tau time, steps times learning rate over D.
"""Gradient descent on the heads, closed in the order parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from theory.contraction import canonical, contract, with_identity
from theory.derivation import Step
from theory.index_notation import derivative

k, s, m, R, P, C, E_m, G = (
    sp.IndexedBase(name, real=True) for name in ("k", "s", "m", "R", "P", "C", "E_m", "G")
)
# Free indices i, j (and e along a vector); summed ones over heads, spikes and along vectors.
i, j, e = sp.symbols("i j e", integer=True)
h, n, o, f, g, d = sp.symbols("h n o f g d", integer=True)

_KINDS = {k: "hd", s: "fd", m: "hf", R: "hh", P: "ff", C: "hh", E_m: "hf", G: "hh"}
_POOLS = {"h": (h, n, o), "f": (f, g), "d": (d,)}
_PRODUCTS = {(k, s): m, (k, k): R, (s, s): P}

GRADIENT = "chain rule through weights"
GRADIENT_REASON = (
    r"$m_{hf} = k_h \cdot s_f$ and $R_{hn} = k_h \cdot k_n$, with $s_f$ the spikes; $G$ is the "
    "symmetric gradient in $R$."
)
DESCENT = "gradient descent"
DESCENT_REASON = (
    r"$dk/d\tau = -\partial E / \partial k$; products of heads and spikes are $m$, $R$ and the "
    "spikes' Gram matrix $P$."
)
ORTHONORMAL = "orthonormal spikes"
ORTHONORMAL_REASON = "$P$ is the identity."
REST = "overlaps beyond the spikes"
REST_REASON = (
    r"$C = R - m m^{\top}$ holds what heads share outside the span of the spikes: its equation is "
    "linear in $C$, so that $C$ stays positive semidefinite and $C = 0$ stays 0."
)
DISSIPATION = "dissipation"
DISSIPATION_REASON = (
    r"$dE/d\tau = -|\partial E / \partial k|^2$ along the flow: the risk never increases."
)


@dataclass(frozen=True)
class FlowEquations:
    """dE/dk_ie, dm_ij/dtau, dR_ij/dtau, dC_ij/dtau and -dE/dtau; their steps.

    In heads k and spikes s along an axis e, or m, R and C. Repeated indices are summed. The same
    for every activation, whose risk enters with E_m and G.
    """

    gradient: sp.Expr
    drift_m: sp.Expr
    drift_R: sp.Expr
    drift_C: sp.Expr
    dissipation: sp.Expr
    steps: tuple[Step, ...]


@cache
def flow_equations() -> FlowEquations:
    """Derive the closed equations of gradient flow from the risk's derivatives."""
    # To first order the risk changes by E_m . dm + G . dR: its gradient is that of this form.
    form = E_m[h, f] * k[h, d] * s[f, d] + G[h, n] * k[h, d] * k[n, d]
    gradient = _canonical(derivative(form, k[i, e]), i, e)

    def moves(head: sp.Symbol) -> sp.Expr:
        """dk_head/dtau, its component along d."""
        return -gradient.xreplace({i: head, e: d})

    by_m = moves(i) * s[j, d]
    drift_m = _canonical(contract(by_m, d, _PRODUCTS), i, j)
    by_R = moves(i) * k[j, d] + k[i, d] * moves(j)
    drift_R = _canonical(contract(by_R, d, _PRODUCTS), i, j)
    plain = _canonical(with_identity(drift_m, P, (i, j)), i, j)
    # The product rule, dC = dR - dm m^T - m dm^T, with R = C + m m^T put in.
    left, right = plain.xreplace({j: g}), plain.xreplace({i: j, j: g})
    spread = drift_R - left * m[j, g] - right * m[i, g]
    full = spread.replace(sp.Indexed, _split_overlap)
    drift_C = _canonical(full, i, j)
    square = gradient.xreplace({i: o, e: d}) * gradient.xreplace({i: o, h: n, f: g, e: d})
    dissipation = _canonical(contract(square, d, _PRODUCTS))
    flat = _canonical(with_identity(dissipation, P))
    steps = (
        Step(GRADIENT, GRADIENT_REASON, form, gradient, "by k"),
        Step(DESCENT, DESCENT_REASON, by_m, drift_m, "tensor"),
        Step(DESCENT, DESCENT_REASON, by_R, drift_R, "tensor"),
        Step(ORTHONORMAL, ORTHONORMAL_REASON, drift_m, plain, "orthonormal"),
        Step(REST, REST_REASON, spread, drift_C, "orthonormal"),
        Step(DISSIPATION, DISSIPATION_REASON, square, dissipation, "tensor"),
        Step(ORTHONORMAL, ORTHONORMAL_REASON, dissipation, flat, "orthonormal"),
    )
    return FlowEquations(gradient, plain, drift_R, drift_C, flat, steps)


def _canonical(expression: sp.Expr, *free: sp.Symbol) -> sp.Expr:
    return canonical(expression, free, _KINDS, _POOLS, symmetric=(R, P, C, G))


def _split_overlap(base: sp.IndexedBase, *indices: sp.Symbol) -> sp.Expr:
    if base != R:
        return base[indices]
    first, second = indices
    return C[first, second] + m[first, g] * m[second, g]

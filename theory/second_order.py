# notation: z, y directions in which m, R or the heads k move, dm, dR, dk their changes; w weights
# of rows a (components of the prior, noise); E_m, G the risk's derivatives in m and R.
"""Second derivatives: how averages, logits, gradient and flow change along a direction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from theory import flow
from theory import order_parameters as op
from theory.activation import Activation
from theory.derivation import Step
from theory.index_notation import factors_of, terms, variation

z, y = sp.symbols("z y", integer=True)
w, value, third, fourth = (
    sp.IndexedBase(name, real=True) for name in ("w", "value", "third", "fourth")
)
d_mean, d_covariance = (sp.IndexedBase(name, real=True) for name in ("d_mean", "d_covariance"))
dm, dR, dk, dG, dE_m = (
    sp.IndexedBase(name, real=True) for name in ("dm", "dR", "dk", "dG", "dE_m")
)

# Averages of M's derivatives by their number: E_a[M], E_a[d_h M], ..., E_a[d_h d_k d_l d_n M].
AVERAGES = (value, op.slope, op.curvature, third, fourth)
_HEADS = sp.symbols("h k l n", integer=True)
_ORDER_PARAMETERS = {op.m: dm, op.R: dR}
_DYNAMICS = {flow.E_m: dE_m, flow.G: dG, flow.m: dm, flow.R: dR, flow.k: dk}

TRANSPORT = "Bonnet and Price along a direction"
TRANSPORT_REASON = (
    "When mean and covariance of Gaussian logits move, the average of any derivative moves by the "
    "averages of one derivative more and of two more."
)
LOGITS = "logits along a direction"
LOGITS_REASON = "The product rule on mean and covariance of the logits; only $C$ bends."
WEIGHTS = "order parameters along heads"
WEIGHTS_REASON = r"$m_{hf} = k_h \cdot s_f$ and $R_{hn} = k_h \cdot k_n$ when the heads move."
HESSIAN = "Hessian in weight space"
HESSIAN_REASON = (
    r"The product rule on the gradient $\partial E / \partial k$ when heads, $E^m$ and $G$ move."
)
JACOBIAN = "flow Jacobian"
JACOBIAN_REASON = (
    r"The product rule on $dm/d\tau$ and $dR/d\tau$ when $m$, $R$, $E^m$ and $G$ move."
)


@dataclass(frozen=True)
class Forms:
    """Changes of E[M] when mean and covariance of the logits move along directions.

    first: along z. second: along z and then y, the logits moving on straight lines. bend: what
    the covariance, which is quadratic in m, adds to the second.
    """

    first: sp.Expr
    second: sp.Expr
    bend: sp.Expr


def transported(expression: sp.Expr, direction: sp.Symbol) -> sp.Expr:
    """The change of averages in ``expression`` when the logits' means and covariances move."""
    total = sp.S.Zero
    for term in terms(expression):
        used = {index for one in term.atoms(sp.Indexed) for index in one.indices}
        u, v = [index for index in _HEADS if index not in used][:2]
        factors = factors_of(term)
        for position, factor in enumerate(factors):
            if not isinstance(factor, sp.Indexed) or factor.base not in AVERAGES:
                continue
            order, row = AVERAGES.index(factor.base), factor.indices[0]
            moved = AVERAGES[order + 1][(*factor.indices, u)] * d_mean[direction, row, u]
            twice = AVERAGES[order + 2][(*factor.indices, u, v)]
            moved += twice * d_covariance[direction, row, u, v] / 2
            total += sp.Mul(*factors[:position], moved, *factors[position + 1 :])
    return sp.expand(total)


@cache
def forms() -> Forms:
    """The first and second change of a weighted sum of averages."""
    first = transported(w[op.a] * value[op.a], z)
    bent = variation(covariance_along(), _ORDER_PARAMETERS, y)
    bend = op.p[op.a] * op.curvature[op.a, op.h, op.k] * bent / 2
    return Forms(first, transported(first, y), sp.expand(bend))


def mean_along() -> sp.Expr:
    """The change of mu_ah along z, that of the bias left out."""
    return variation(op.mean() - op.b[op.h], _ORDER_PARAMETERS, z)


def covariance_along() -> sp.Expr:
    """The change of C_ahk along z, that of R_hk left out."""
    return variation(op.covariance() - op.R[op.h, op.k], _ORDER_PARAMETERS, z)


def bias_along(activation: Activation) -> sp.Expr:
    """The change of b_h along z; a free bias stays."""
    return variation(sp.sympify(op.bias(activation)), _ORDER_PARAMETERS, z)


@dataclass(frozen=True)
class Along:
    """Changes along z: of m, R with the heads; of the gradient in weight space; of the drift."""

    alignments: sp.Expr
    overlaps: sp.Expr
    gradient: sp.Expr
    drift_m: sp.Expr
    drift_R: sp.Expr


@cache
def along() -> Along:
    """Derive what the second derivatives in m and R mean for heads and for gradient flow."""
    equations = flow.flow_equations()
    d, heads = flow.d, {flow.k: dk}
    return Along(
        variation(flow.k[flow.i, d] * flow.s[flow.j, d], heads, z),
        variation(flow.k[flow.i, d] * flow.k[flow.j, d], heads, z),
        *(
            variation(e, _DYNAMICS, z)
            for e in (equations.gradient, equations.drift_m, equations.drift_R)
        ),
    )


@cache
def steps() -> tuple[Step, ...]:
    """The steps that hold for every activation, each checked along random directions."""
    equations, changes, form = flow.flow_equations(), along(), forms()
    i, j, e, d = flow.i, flow.j, flow.e, flow.d
    mean, covariance = op.mean() - op.b[op.h], op.covariance() - op.R[op.h, op.k]
    ah, ahk = (op.a, op.h), (op.a, op.h, op.k)
    by_m, by_R = flow.k[i, d] * flow.s[j, d], flow.k[i, d] * flow.k[j, d]
    bent = variation(covariance_along(), _ORDER_PARAMETERS, y)

    def tensor(rule, reason, before, after, *free):
        return Step(rule, reason, before, after, "along", free=free)

    def moved(before, after, *free):
        return Step(TRANSPORT, TRANSPORT_REASON, before, after, "transport", free=free)

    return (
        moved(w[op.a] * value[op.a], form.first, z),
        moved(form.first, form.second, y, z),
        tensor(LOGITS, LOGITS_REASON, mean, mean_along(), z, *ah),
        tensor(LOGITS, LOGITS_REASON, covariance, covariance_along(), z, *ahk),
        tensor(LOGITS, LOGITS_REASON, covariance_along(), bent, y, z, *ahk),
        tensor(WEIGHTS, WEIGHTS_REASON, by_m, changes.alignments, z, i, j),
        tensor(WEIGHTS, WEIGHTS_REASON, by_R, changes.overlaps, z, i, j),
        tensor(HESSIAN, HESSIAN_REASON, equations.gradient, changes.gradient, z, i, e),
        tensor(JACOBIAN, JACOBIAN_REASON, equations.drift_m, changes.drift_m, z, i, j),
        tensor(JACOBIAN, JACOBIAN_REASON, equations.drift_R, changes.drift_R, z, i, j),
    )

# notation: theta latent weights, p odds, u projections, k heads or spikes, Lambda the evidence.
"""Which token is the relevant one: the posterior, and the proof that Bayes-softmax is it.

Nothing here is numeric and nothing depends on how many tokens, spikes, dimensions or atoms
there are: L, F, D and the number of atoms stay symbols (docs/model.md section 6).
"""

from __future__ import annotations

import sympy as sp

from theory import data_model as data
from theory import order_parameters as op
from theory import symbols as sym
from theory.activation import Activation
from theory.derivation import Derivation
from theory.risk import insert_activation, insert_functions

ODDS = data.p[sym.h]


def likelihood_ratio() -> Derivation:
    """ln of "token l carries theta_h" to "no token does": theta_h . u_l - |theta_h|^2 / 2."""
    record = Derivation.start(
        "definition",
        "Difference of the log densities of all tokens under both hypotheses; implied sums.",
        sp.expand(data.log_density(sym.l) - data.log_density(sym.NOISE_TOKEN)),
    )
    record = record.then(
        "other tokens cancel", "Both hypotheses agree on every token but $l$.", data.locate
    )
    record = record.then(
        "projection", r"Only $u_{lf} = k_f \cdot X_l$ enters, $F$ numbers a token.", data.project
    )
    record = record.then(
        "orthonormality", r"$k_f \cdot k_g = \mathbf{1}[f = g]$.", data.orthonormalize
    )
    return record.then("sums", "The implied sums over spikes written out.", data.explicit)


def evidence(token: sp.Expr, odds: sp.Expr = ODDS) -> sp.Expr:
    """Lambda(u_l) = sum_h p_h exp(theta_h . u_l - |theta_h|^2 / 2), one term an atom."""
    ratio = likelihood_ratio().result.subs(sym.l, token)
    return sp.Sum(odds * sp.exp(ratio), (sym.h, 1, sym.H))


def posterior_weight(odds: sp.Expr = ODDS) -> sp.Expr:
    """w_l = P(token l is the relevant one | all tokens): every location has the same odds 1/L."""
    return evidence(sym.l, odds) / sp.Sum(evidence(sym.j, odds), (sym.j, 1, sym.L))


def head_at_atom(activation: Activation, token: sp.Expr, beta: sp.Expr) -> sp.Expr:
    """Logit with bias of the head k_h = sum_f theta_hf k*_f, free bias beta, on one token."""
    head = data.theta[sym.h, data.f] * data.k[data.f, data.d]
    twin = data.theta[sym.h, data.g] * data.k[data.g, data.d]
    logit = data.project(head * data.X[token, data.d])
    overlap = data.orthonormalize(head * twin)
    named = {op.R[op.h, op.h]: overlap, op.beta[op.h]: beta}
    bias = sp.sympify(op.bias(activation)).subs(named)
    return data.explicit(logit + bias)


def attention_at_atoms(activation: Activation, beta: sp.Expr) -> sp.Expr:
    """A_l of an activation whose heads share a normalizer, with one head for each atom.

    Raises ValueError unless the scope is "heads" and the gain is fixed.
    """
    gains = {"mean": 1 / sym.H, "sum": sp.S.One}
    if activation.scope != "heads" or activation.gain == "free":
        raise ValueError(f"{activation.name}: needs scope 'heads' and a fixed gain")
    attention = insert_functions(insert_activation(sym.a[sym.l], activation), activation)
    at_atoms = attention.replace(
        lambda e: isinstance(e, sp.Indexed) and e.base == sym.x,
        lambda e: head_at_atom(activation, e.indices[0], beta),
    )
    return gains.get(activation.gain, activation.gain) * at_atoms


def difference(
    activation: Activation, odds: sp.Expr = ODDS, beta: sp.Expr | None = None
) -> sp.Expr:
    """A_l - w_l with one head for each atom, simplified; 0 means that attention is the posterior.

    odds: p_h of atom h. beta: the free bias of head h, ln p_h unless given; an activation
    without a free bias has no use for it.
    """
    beta = sp.log(odds) if beta is None else beta
    attention = attention_at_atoms(activation, beta)
    return sp.factor(_normal_form(attention) - _normal_form(posterior_weight(odds)))


def _normal_form(ratio: sp.Expr) -> sp.Expr:
    """Finite sums in one order, constants in front of them."""

    def ordered(summand, *limits):
        return sp.Sum(summand, *sorted(limits, key=lambda limit: limit[0].name))

    return sp.factor_terms(ratio.replace(sp.Sum, ordered))

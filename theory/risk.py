"""The population risk of an activation, derived from the definition of the model."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.activation import Activation
from theory.derivation import Derivation
from theory.document.parts import plain
from theory.expectation import Mean
from theory.rules import collection, gain, gamma_lift, heads, independence, log_lift
from theory.rules import exchangeability as tokens


def definition() -> sp.Expr:
    """E[ sum_l (1[l = eps] - A_l)^2 ], the definition of the population risk."""
    wanted = sp.KroneckerDelta(sym.l, sym.eps)
    return Mean(sp.Sum((wanted - sym.A[sym.l]) ** 2, (sym.l, 1, sym.L)))


def insert_activation(expression: sp.Expr, activation: Activation) -> sp.Expr:
    """Replace attention by the family's definition, with any score f and normalizer g."""
    c, p = activation.offset, activation.power

    def head_attention(token, head):
        if activation.scope == "none":
            return sym.score(sym.x[token, head])
        total = sp.Sum(sym.normalizer(sym.x[sym.j, head]), (sym.j, 1, sym.L))
        return sym.score(sym.x[token, head]) / (c + total) ** p

    def joint_attention(token):
        scores = sp.Sum(sym.score(sym.x[token, sym.h]), (sym.h, 1, sym.H))
        limits = (sym.j, 1, sym.L), (sym.h, 1, sym.H)
        total = sp.Sum(sym.normalizer(sym.x[sym.j, sym.h]), *limits)
        return scores / (c + total) ** p

    attention = joint_attention if activation.scope == "heads" else head_attention
    return expression.replace(
        lambda e: isinstance(e, sp.Indexed) and e.base == sym.a, lambda e: attention(*e.indices)
    )


def insert_functions(expression: sp.Expr, activation: Activation) -> sp.Expr:
    """Replace the names f and g by the activation's own score and normalizer."""
    expression = expression.replace(sym.score, lambda z: activation.score.subs(sym.logit, z))
    return expression.replace(sym.normalizer, lambda z: activation.normalizer.subs(sym.logit, z))


def derive_risk(activation: Activation) -> Derivation:
    """All steps from the definition to the closed population risk of one activation."""
    record = Derivation.start(
        "definition", r"The per-sample loss of the $D \to \infty$ limit, averaged.", definition()
    )
    record = record.then(tokens.NAME, tokens.REASON, tokens.exchangeability)
    if activation.scope == "heads":
        record = record.then(gain.NAME, gain.REASON, gain.take_out_gain)
    else:
        record = record.then(heads.NAME, heads.REASON, heads.sum_over_heads)
    record = record.then(
        "activation",
        f"Definition of the family, scope {activation.scope}, with any score $f$ and normalizer "
        "$g$.",
        lambda e: insert_activation(e, activation),
    )
    if activation.scope != "none":
        record = record.then(gamma_lift.NAME, gamma_lift.REASON, gamma_lift.gamma_lift)
    record = record.then(independence.NAME, independence.REASON, independence.independence)
    if activation.scope != "none":
        record = record.then(log_lift.NAME, log_lift.REASON, log_lift.log_lift)
    return record.then(collection.NAME, collection.REASON, collection.collect)


def derive_concrete_risk(activation: Activation) -> Derivation:
    """The same derivation, ending with the activation's own score and normalizer."""
    return derive_risk(activation).then(
        "functions",
        f"The score and the normalizer of {plain(activation.name)}.",
        lambda e: insert_functions(e, activation),
    )

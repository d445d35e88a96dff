"""One readable NumPy module for each activation: everything that numerics needs, derived."""

from __future__ import annotations

import json

import sympy as sp

from theory import order_parameters as op
from theory import symbols as sym
from theory.activation import Activation
from theory.codegen_closed import closed_forms
from theory.codegen_dynamics import dynamics
from theory.codegen_factors import attention, single_factors
from theory.codegen_joint import joint_factors
from theory.codegen_moments import label, moments
from theory.codegen_second import second_order
from theory.index_notation import einsum
from theory.numpy_printer import function, source
from theory.parameters import require_own_names
from theory.risk import derive_risk
from theory.rules.collection import Term, collected
from theory.scaling import log_slope, scaled

_HEADER = '''\
"""Kernels of the activation {name}, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np
from scipy import special

# Values of named parameters: no other line of this text depends on them.
{constants}PARAMETERS: dict[str, str] = {parameters}
DEFINITION = {definition}
SCOPE = {scope!r}
OFFSET = {offset}
POWER = {power}
LOG_SLOPE = {log_slope}
LARGEST_LOG = {largest_log}
SMOOTH = {smooth}
KINKS = {kinks}
CONTINUOUS = {continuous}
CLOSED = {closed}
FREE_BIAS = {free_bias}
FREE_GAIN = {free_gain}


def _exp(z):
    """An exponential inside exp(-...): beyond e^{cap} the outer one is 0 in any case."""
    return np.exp(np.minimum(z, {cap}))
'''


def numpy_source(activation: Activation) -> str:
    """The source text of the kernels module of one activation.

    The same definition gives the same text on every run, whatever the hash seed.
    """
    constant, terms = collected(derive_risk(activation).result)
    is_closed, closed = closed_forms(activation)
    cap = float(600 / (2 * activation.power + 4))
    values = {symbol.name: value for symbol, value in activation.values.items()}
    names = {name: symbol.name for name, symbol in activation.symbols.items()}
    header = _HEADER.format(
        name=activation.name,
        constants="".join(f"{name} = {float(value)!r}\n" for name, value in values.items()),
        parameters=json.dumps(names),
        definition=_definition(activation),
        scope=activation.scope,
        offset=source(activation.offset),
        power=source(activation.power),
        log_slope=source(log_slope(activation)),
        # Without exponentials in g the lift variable itself must stay below the cap.
        largest_log="np.inf" if scaled(activation).kappa != 0 else cap,
        # Tables hold t^n exp(-t) up to n = 2 p + 4; t^n itself must not overflow either.
        cap=cap,
        smooth=activation.smooth,
        kinks=_kinks(activation),
        continuous=activation.continuous,
        closed=is_closed,
        free_bias=activation.has_free_bias,
        free_gain=activation.gain == "free",
    )
    factors = (joint_factors if activation.scope == "heads" else single_factors)(activation)
    single = [term for term in terms if len(term.heads) < 2]
    pairs = [term for term in terms if len(term.heads) == 2]
    parts = [header, attention(activation), *factors, *closed, *moments("single", single)]
    parts += moments("pair", pairs) if pairs else []
    parts += [*_risk(constant, terms), *_logits(activation), *_chain(activation)]
    parts += [*dynamics(activation), *second_order(activation)]
    text = "\n\n".join(parts)
    require_own_names(text, values)
    return text if "special." in text else text.replace("from scipy import special\n", "")


def _kinks(activation: Activation) -> str:
    """Logits at which a function bends or jumps, as a tuple; None where they are not known."""
    if activation.kinks is None:
        return "None"
    return (
        f"({''.join(f'{source(sp.Float(k) if k.is_number else k)}, ' for k in activation.kinks)})"
    )


def _definition(activation: Activation) -> str:
    """The definition as a dictionary, in which parameters stand by name."""
    plain = {**activation.template(), "parameters": "here"}
    named = ", ".join(f'"{name}": {symbol}' for name, symbol in activation.symbols.items())
    return json.dumps(plain, indent=4).replace("null", "None").replace('"here"', f"{{{named}}}")


def _risk(constant: sp.Expr, terms: list[Term]) -> list[str]:
    """The risk as a polynomial in the gain, its slope and its minimum."""
    labels = {label: sp.Symbol(label, real=True) for label in ("linear", "square", "pair")}
    risk = constant + sum(term.coefficient * labels[label(term)] for term in terms)
    slope = risk.diff(sym.gain)
    (best,) = sp.solve(slope, sym.gain)
    arguments = "linear, square, pair"
    sums = "linear, square and pair are summed over heads and pairs of heads."
    return [
        function(f"risk({arguments}, gamma)", f"E = {risk}; {sums}", [f"return {source(risk)}"]),
        function(
            f"gain_slope({arguments}, gamma)",
            f"dE/dgamma = {slope}; {sums}",
            [f"return {source(slope)}"],
        ),
        function(
            f"best_gain({arguments})",
            f"The gamma at which E is least: {best}; {sums}",
            [f"return {source(best)}"],
        ),
    ]


def _logits(activation: Activation) -> list[str]:
    """Bias, gain, mean and covariance of the logits in terms of the order parameters."""
    bias = op.bias(activation)
    expression = "np.zeros(R.shape[0])" if bias == 0 else _elementwise(bias)
    gain = op.gain(activation)
    parts = [
        function("bias(R, beta)", f"b_h = {bias}", [f"return {expression}"]),
        function(
            "mean(m, theta, b)",
            f"mu_ah = {op.mean()}: of the logits on the relevant token",
            [f"return {einsum(op.mean() - op.b[op.h], (op.a, op.h))} + b"],
        ),
        function(
            "covariance(R, m, V)",
            f"C_ahk = {op.covariance()}: of the logits on the relevant token",
            [f"return R + {einsum(op.covariance() - op.R[op.h, op.k], (op.a, op.h, op.k))}"],
        ),
    ]
    if activation.gain != "free":
        body = [f"return {source(gain)}"]
        parts.append(function("gain(H)", f"gamma = {gain} with H heads", body))
    return parts


def _elementwise(bias: sp.Expr) -> str:
    """A formula in R_hh and beta_h for all heads at once."""
    diagonal, free = sp.Symbol("np.diagonal(R)"), sp.Symbol("beta")
    return str(source(bias.subs({op.R[op.h, op.h]: diagonal, op.beta[op.h]: free})))


def _chain(activation: Activation) -> list[str]:
    """From derivatives in means and covariances of logits to those in m, R and beta."""
    rule = op.chain_rule(activation)
    inputs = "slope, curvature, noise_slope, noise_curvature"
    ij, i = (op.i, op.j), (op.i,)
    return [
        function(
            f"gradient_m(p, theta, V, m, {inputs})",
            f"dE/dm_ij = {rule.m}, indices not on the left summed",
            [f"return {einsum(rule.m, ij)}"],
        ),
        function(
            f"gradient_R(p, {inputs})",
            f"dE/dR_ij (symmetric matrix gradient) = {rule.R}, indices not on the left summed",
            [f"return {einsum(rule.R, ij)}"],
        ),
        function(
            f"gradient_beta(p, {inputs})",
            f"dE/dbeta_i = {rule.beta}, indices not on the left summed",
            [f"return {einsum(rule.beta, i)}"],
        ),
    ]

"""Generated functions of the dynamics: backward pass, drift of the order parameters, one sample."""

from __future__ import annotations

import sympy as sp

from theory import flow, online
from theory import symbols as sym
from theory.activation import Activation
from theory.codegen_factors import denominator
from theory.index_notation import einsum
from theory.noise import slopes
from theory.numpy_printer import function, lines, source
from theory.scaling import scaled

# Counts independent runs, in front of all other axes.
RUN = sp.Symbol("z", integer=True)


def dynamics(activation: Activation) -> list[str]:
    """All functions that gradient flow and online SGD need beyond the risk's gradient."""
    backward = [linearized(activation), pullback(activation), _errors()]
    return [*backward, *_drift(), *_sample(activation)]


def linearized(activation: Activation) -> str:
    """``linearized(x)``: attention with what its backward pass needs, exponentials taken once."""
    slope = slopes(activation)
    form = scaled(activation, derivatives=1, shared=True)
    doc = (
        "Head attention a and its slopes: d a_j / d x_l = [j = l] local_l - a_j shared_l.\n\n"
        f"local = {slope.local}, shared = {slope.shared}, f1 and g1 the slopes of score and "
        "normalizer; x of shape (..., L, H), bias included."
    )
    rows = [("score", form.f[0]), ("f1", form.f[1])]
    if activation.scope == "none":
        same = (f"{name} + np.zeros_like(x)" for name in ("score", "f1"))
        return function("linearized(x)", doc, [*lines(rows), f"return {', '.join(same)}, None"])
    rows += [("normalizer", form.g[0]), ("g1", form.g[1])]
    body, power = denominator(activation, form, rows)
    returned = f"return score / {power}, {source(slope.local)}, {source(slope.shared)}"
    return function("linearized(x)", doc, [*body, returned])


def pullback(activation: Activation) -> str:
    """``pullback``: the backward pass through the attention of all heads."""
    doc = "sum_j weights_j d A_j / d x_lh at gain 1, shape (..., L, H), from ``linearized``.\n\n"
    body = ["a, local, shared = linear", "weights = weights[..., None]"]
    if activation.scope == "none":
        doc += "= weights_l local_l; weights (..., L)."
        body.append("return weights * local")
    else:
        joint = activation.scope == "heads"
        over = "(-2, -1)" if joint else "-2"
        a_j = "a_j summed over heads" if joint else "a_j of head h"
        doc += f"= weights_l local_l - shared_l sum_j weights_j a_j, {a_j}; weights (..., L)."
        body.append(f"carried = np.sum(weights * a, axis={over}, keepdims=True)")
        body.append("return weights * local - shared * carried")
    return function("pullback(weights, linear)", doc, body)


def _errors() -> str:
    """``errors``: the loss of the D -> oo limit differentiated by each logit."""
    wanted, attention = sp.Dummy(), sp.Dummy()
    loss = (wanted - attention) ** 2
    by_attention = sp.cancel(loss.diff(attention) / (wanted - attention))
    doc = (
        "delta_lh = d loss / d x_lh of loss = sum_l c_l^2, c_l = 1[l = eps] - A_l, shape (..., L), "
        "with A_l = gamma sum_h a_lh."
    )
    body = [f"return {source(by_attention * sym.gain)} * pullback(c, linear)"]
    return function("errors(c, linear, gamma)", doc, body)


def _drift() -> list[str]:
    equations = flow.flow_equations()
    ij = (flow.i, flow.j)
    summed = "indices not on the left summed"
    return [
        _tensor("drift_m(E_m, G, m)", "dm_ij/dtau", equations.drift_m, ij, summed),
        _tensor(
            "drift_R(E_m, G, m, R)",
            "dR_ij/dtau",
            equations.drift_R,
            ij,
            f"{summed}; SGD adds eta Sigma",
        ),
        _tensor(
            "drift_C(G, C)",
            "dC_ij/dtau",
            equations.drift_C,
            ij,
            f"C = R - m m^T, {summed}; SGD adds eta Sigma",
        ),
        _tensor("dissipation(E_m, G, m, R)", "-dE/dtau", equations.dissipation, (), summed),
    ]


def _sample(activation: Activation) -> list[str]:
    step = online.sample_step(activation)
    z, i, j = RUN, online.i, online.j
    note = "for each run z, indices not on the left summed"
    signatures = [
        ("loss(c, Gamma, D)", "loss_z of the misses c_l = 1[l = eps] - A_l", step.loss, ()),
        ("loss_slope(c, Gamma, D)", "d loss/d c_zi", step.slope, (i,)),
        ("along_spikes(delta, u, m)", "gradient_i . spike_j", step.along_spikes, (i, j)),
        ("along_rest(delta, v, Q)", "gradient_i . frame_j", step.along_rest, (i, j)),
        ("beyond(delta, W)", "gradient_i . gradient_j outside", step.beyond, (i, j)),
    ]
    return [
        _tensor(signature, left, _for_runs(e), (z, *free), note)
        for signature, left, e, free in signatures
    ]


def _for_runs(expression: sp.Expr) -> sp.Expr:
    return expression.replace(sp.Indexed, lambda base, *indices: base[(RUN, *indices)])


def _tensor(signature: str, left: str, expression: sp.Expr, free: tuple, note: str) -> str:
    doc = f"{left} = {expression}, {note}."
    return function(signature, doc, [f"return {einsum(expression, free)}"])

"""Generated second derivatives: along directions of m and R, of weights, and of the flow."""

from __future__ import annotations

import sympy as sp

from theory import flow
from theory import order_parameters as op
from theory import second_order as so
from theory.activation import Activation
from theory.index_notation import einsum
from theory.numpy_printer import function

# Counts what an average depends on besides its row: lift variables and n, in one axis.
POINT = sp.Symbol("s", integer=True)


def second_order(activation: Activation) -> list[str]:
    """All functions that carry second derivatives from averages to m, R, weights and the flow."""
    return [*_logits(activation), *_forms(), *_along()]


def _logits(activation: Activation) -> list[str]:
    bias = so.bias_along(activation)
    zero = "np.zeros(dR.shape[:2])"
    z, a, h, k = so.z, op.a, op.h, op.k
    return [
        function(
            "bias_along(dR)",
            f"d b_h along direction z = {bias}.",
            [f"return {zero if bias == 0 else einsum(bias, (z, h))}"],
        ),
        function(
            "mean_along(dm, theta, d_bias)",
            f"d mu_ah along direction z = {so.mean_along()} + d_bias[z, h].",
            [f"return {einsum(so.mean_along(), (z, a, h))} + d_bias[:, None]"],
        ),
        function(
            "covariance_along(dm, dR, m, V)",
            f"d C_ahk along direction z = {so.covariance_along()} + dR[z, h, k].",
            [f"return {einsum(so.covariance_along(), (z, a, h, k))} + dR[:, None]"],
        ),
    ]


def _forms() -> list[str]:
    form, (z, y) = so.forms(), (so.z, so.y)
    at_point = form.first.replace(sp.Indexed, _with_point)
    averages = "slope, curvature"
    changes = "d_mean, d_covariance"
    summed = "rows a weighted by w, indices not on the left summed"
    return [
        function(
            f"first_form(w, {averages}, {changes})",
            f"Change along z of averages with points s = {at_point}, {summed}.",
            [f"return {einsum(at_point, (z, POINT), large=True)}"],
        ),
        function(
            f"second_form(w, {averages}, third, fourth, {changes})",
            f"Change along z and y of E[M] = {form.second}, {summed}; logits move on "
            "straight lines.",
            [
                f"return {einsum(form.second, (z, y), large=True)}",
            ],
        ),
        function(
            "bend_form(p, V, curvature, dm)",
            f"What the bend of C adds to the change along z and y = {form.bend}.",
            [f"return {einsum(form.bend, (z, y), large=True)}"],
        ),
    ]


def _with_point(base: sp.IndexedBase, *indices: sp.Symbol) -> sp.Expr:
    return base[(*indices, POINT)] if base in so.AVERAGES else base[indices]


def _along() -> list[str]:
    changes, z = so.along(), so.z
    i, j, e = flow.i, flow.j, flow.e
    note = "indices not on the left summed"
    gradient = flow.flow_equations().gradient
    rows = [
        ("weight_gradient(E_m, G, k, s)", "dE/dk_ie", gradient, (i, e)),
        ("alignments_along(dk, s)", "d m_ij along direction z", changes.alignments, (z, i, j)),
        ("overlaps_along(dk, k)", "d R_ij along direction z", changes.overlaps, (z, i, j)),
        (
            "weight_gradient_along(dE_m, dG, G, k, s, dk)",
            "d(dE/dk_ie) along direction z",
            changes.gradient,
            (z, i, e),
        ),
        (
            "drift_m_along(dE_m, dG, G, m, dm)",
            "d(dm_ij/dtau) along direction z",
            changes.drift_m,
            (z, i, j),
        ),
        (
            "drift_R_along(E_m, dE_m, dG, G, m, R, dm, dR)",
            "d(dR_ij/dtau) along direction z",
            changes.drift_R,
            (z, i, j),
        ),
    ]
    return [
        function(signature, f"{left} = {value}, {note}.", [f"return {einsum(value, free)}"])
        for signature, left, value, free in rows
    ]

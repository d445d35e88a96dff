# notation: X tokens, k spikes (orthonormal), theta latent weights, u projections of tokens.
"""The data model, written with implied sums: density of L tokens, projections, orthonormality.

An index that is not named free is summed: tokens j over L, dimensions d over D, spikes f, g
over F. Atoms of the prior have index h, because each of them will get a head.
"""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.index_notation import factors_of, terms

X, k, theta, u, p = (sp.IndexedBase(name, real=True) for name in ("X", "k", "theta", "u", "p"))
d, f, g = sp.symbols("d f g", integer=True, positive=True)


def log_density(location: sp.Expr) -> sp.Expr:
    """ln p(X | theta_h, the relevant token is ``location``), up to what no hypothesis changes.

    Noise tokens are N(0, I_D), the relevant one is shifted by sum_f theta_hf k_f. Location 0
    is no token: then all of them are noise.
    """

    def residual(spike):
        hit = sp.S.Zero if location == sym.NOISE_TOKEN else sp.KroneckerDelta(sym.j, location)
        return X[sym.j, d] - hit * theta[sym.h, spike] * k[spike, d]

    return -residual(f) * residual(g) / 2


def locate(expression: sp.Expr) -> sp.Expr:
    """Sum over the token j: sum_j delta_jl F_j = F_l."""
    result = sp.S.Zero
    for term in terms(expression):
        deltas = {e for e in term.atoms(sp.KroneckerDelta) if sym.j in e.args}
        located = term
        for delta in deltas:
            (other,) = set(delta.args) - {sym.j}
            # A squared delta is the delta itself.
            located = located.subs(delta, 1).subs(sym.j, other)
        if located.has(sym.j):
            raise ValueError(f"{term}: a sum over all tokens is left")
        result += located
    return result


def project(expression: sp.Expr) -> sp.Expr:
    """Definition of the projections: sum_d k_fd X_ld = u_lf."""
    return _contract(expression, k, X, lambda spike, token: u[token, spike])


def orthonormalize(expression: sp.Expr) -> sp.Expr:
    """Spikes are orthonormal: sum_d k_fd k_gd = delta_fg, and then sum_g delta_fg F_g = F_f."""

    def same(one, other):
        return sp.KroneckerDelta(one, other)

    result = sp.S.Zero
    for term in terms(_contract(expression, k, k, same)):
        for delta in term.atoms(sp.KroneckerDelta):
            term = term.subs(delta, 1).subs(g, f)
        # One summed spike is left; it is named f in every term, so that terms can be added.
        result += term if term.has(f) else term.subs(g, f)
    return result


def explicit(expression: sp.Expr) -> sp.Expr:
    """Implied sums over the spike f written out: theta_hf u_lf becomes sum_f theta_hf u_lf."""
    result = sp.S.Zero
    for term in terms(expression):
        number, rest = term.as_coeff_Mul()
        result += number * (sp.Sum(rest, (f, 1, sym.F)) if rest.has(f) else rest)
    return result


def _contract(expression, first, second, pair):
    """Replace first[i, d] second[j, d], summed over d, by pair(i, j) in every term."""
    result = sp.S.Zero
    for term in terms(expression):
        vectors = [e for e in factors_of(term) if isinstance(e, sp.Indexed) and d in e.indices]
        if sorted(str(e.base) for e in vectors) == sorted((str(first), str(second))):
            one, other = sorted(vectors, key=lambda e: (e.base != first, str(e)))
            term = term / (one * other) * pair(one.indices[0], other.indices[0])
        result += term
    return result

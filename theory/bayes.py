# notation: theta latent weights, mu, v mean and variance of one of them, Lambda the evidence.
"""The Bayes risk: no attention gets below it, and one integral gives it (docs/model.md, 6)."""

from __future__ import annotations

import sympy as sp

from theory import symbols as sym
from theory.derivation import Derivation
from theory.expectation import Average, LengthPower
from theory.risk import definition
from theory.rules import (
    change_of_measure,
    exchangeability,
    gamma_lift,
    gaussian_integral,
    independence,
    integration_by_parts,
    posterior_mean,
)

# The projections u_l of token l, on which its evidence depends, are written like logits x_l^h,
# so that the rules made for the risk of a head apply to the posterior.
Lambda = sp.Function("Lambda", positive=True)
ONE_TOKEN = Lambda(sym.x[sym.h])

# One latent weight with mean mu and variance v, and the token's projection on its spike.
weight, projection, mu = sp.symbols("theta u mu", real=True)
v = sp.Symbol("v", positive=True)
# A noise token's projection on a spike is N(0, 1); up to the constant that all densities share.
NOISE_LOG_DENSITY = -(projection**2) / 2


def insert_posterior(expression: sp.Expr) -> sp.Expr:
    """Replace attention A_l by the posterior weight Lambda(u_l) / sum_j Lambda(u_j)."""
    total = sp.Sum(Lambda(sym.x[sym.j, sym.h]), (sym.j, 1, sym.L))
    return expression.replace(
        lambda e: isinstance(e, sp.Indexed) and e.base == sym.A,
        lambda e: Lambda(sym.x[e.indices[0], sym.h]) / total,
    )


def survival() -> sp.Expr:
    """phi(t) = E_0[exp(-t Lambda)]."""
    return Average(sp.exp(-sym.t * ONE_TOKEN), sym.NOISE)


def derive_bayes_risk() -> Derivation:
    """All steps from the definition of the risk to (L-1) int phi'^2 phi^(L-2) dt, and on to s.

    Valid for every law of theta; a random sequence length only averages the length powers.
    """
    phi = survival()
    slope = integration_by_parts.derivative(phi)
    curvature = integration_by_parts.derivative(slope)
    others = LengthPower(phi, 0)
    record = Derivation.start(
        "definition", "The risk of attention $A_l = w_l$, the posterior weights.", definition()
    )
    record = record.then(posterior_mean.NAME, posterior_mean.REASON, posterior_mean.posterior_mean)
    record = record.then(
        exchangeability.NAME, exchangeability.REASON, exchangeability.exchangeability
    )
    record = record.then(
        "posterior", r"$w_l = \Lambda(u_l) / \sum_j \Lambda(u_j)$.", insert_posterior
    )
    record = record.then(gamma_lift.NAME, gamma_lift.REASON, gamma_lift.gamma_lift)
    record = record.then(independence.NAME, independence.REASON, independence.independence)
    record = record.then(
        change_of_measure.NAME,
        change_of_measure.REASON,
        lambda e: change_of_measure.to_noise(e, ONE_TOKEN),
    )
    record = record.then("one integral", "Integrals of one range add up.", _one_integral)
    record = record.then(
        integration_by_parts.NAME,
        integration_by_parts.REASON + r" Here $v = t$ and $G = \phi'' \phi^{L-1}$ with "
        r"$\phi(t) = \mathbb{E}_0[e^{-t \Lambda}]$.",
        lambda e: integration_by_parts.by_parts(
            e, sym.t, curvature * others, _at_zero(sym.t * curvature * others)
        ),
    )
    record = record.then(
        integration_by_parts.NAME,
        integration_by_parts.REASON
        + r" Here $v = \phi^{L-1}$ and $G = \phi'$, which starts at $-\mathbb{E}_0[\Lambda] = "
        r"-\mathbb{E}_\star[1] = -1$.",
        lambda e: integration_by_parts.by_parts(e, others, slope, _at_zero(others * slope)),
    )
    record = record.then(
        change_of_measure.NAME,
        r"$-\phi' = \mathbb{E}_0[\Lambda e^{-t \Lambda}] = \mathbb{E}_\star[e^{-t \Lambda}]$, "
        "which stays in $[0, 1]$.",
        lambda e: change_of_measure.to_relevant(e, ONE_TOKEN),
    )
    return record.then(
        "logarithm of the lift",
        "$t = e^s$, $dt = e^s ds$: in $s$ the integrand is smooth on the scale 1 for every "
        "evidence.",
        _log_lift,
    )


def _one_integral(expression: sp.Expr) -> sp.Expr:
    """c + sum of coefficient * integral, all over the same range, as c + one integral."""
    constant, total, ranges = sp.S.Zero, sp.S.Zero, set()
    for term in sp.Add.make_args(sp.expand(expression)):
        coefficient, body = term.as_independent(sp.Integral, as_Add=False)
        if body == 1:
            constant += coefficient
        else:
            total += coefficient * body.function
            ranges.add(body.limits)
    (limits,) = ranges
    return constant + sp.Integral(total, *limits)


def _at_zero(expression: sp.Expr) -> sp.Expr:
    """Value at t = 0. E_0[Lambda] = E_star[1] = 1; t phi'' -> 0 even where E_0[Lambda^2] = oo."""
    return change_of_measure.to_relevant(expression.subs(sym.t, 0), ONE_TOKEN)


def _log_lift(expression: sp.Expr) -> sp.Expr:
    def substitute(integrand, *limits):
        at = sp.exp(sym.s)
        return sp.Integral(at * integrand.subs(sym.t, at), (sym.s, -sp.oo, sp.oo))

    return expression.replace(sp.Integral, substitute)


def derive_spike_evidence() -> Derivation:
    """ln E[exp(theta u - theta^2 / 2)] for one weight theta ~ N(mu, v), a polynomial in u.

    It is regular at v = 0, where it is the log likelihood ratio of the atom mu.
    """
    exponent = weight * projection - weight**2 / 2 - (weight - mu) ** 2 / (2 * v)
    normalization = sp.sqrt(2 * sp.pi * v)
    average = sp.Integral(sp.exp(exponent) / normalization, (weight, -sp.oo, sp.oo))
    record = Derivation.start(
        "definition",
        "The likelihood ratio of one spike, averaged over its weight, on a logarithmic scale.",
        sp.log(average),
    )
    record = record.then(
        gaussian_integral.NAME,
        gaussian_integral.REASON,
        lambda e: gaussian_integral.log_gaussian_integral(exponent, weight) - sp.log(normalization),
    )
    return record.then("collection", "Powers of $u$ collected, logarithms expanded.", _in_powers)


def evidence_coefficients() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """c_0, c_1, c_2 of a spike's log evidence c_0 + c_1 u + c_2 u^2, in mu and v."""
    polynomial = sp.Poly(derive_spike_evidence().result, projection)
    return tuple(polynomial.coeff_monomial(projection**n) for n in range(3))


def _in_powers(expression: sp.Expr) -> sp.Expr:
    polynomial = sp.Poly(sp.expand(sp.expand_log(expression)), projection)
    result = sp.S.Zero
    for (power,), coefficient in polynomial.terms():
        terms = sp.Add.make_args(coefficient)
        logs = sp.Add(*(term for term in terms if term.has(sp.log)))
        result += (logs + sp.factor(coefficient - logs)) * projection**power
    return result

# notation: Lambda the evidence, x = ln Lambda, mu and v mean and variance of a latent weight.
"""The NumPy module of the Bayes risk: everything that numerics needs for it, derived."""

from __future__ import annotations

import sympy as sp
from sympy.codegen.cfunctions import expm1

from theory import bayes
from theory import symbols as sym
from theory.derivation import Derivation
from theory.expectation import Average, LengthPower
from theory.functions import canonical
from theory.numpy_printer import function, lines, source
from theory.rules.gaussian_integral import complete_square

_HEADER = '''\
"""Kernels of the Bayes risk, derived by theory/ and written by its code generator.

Do not edit: `headflow derive` rebuilds this file. The law of theta is a mixture of Gaussian
components: odds (A,), mean (A, F), variance (A, F) of independent weights, 0 for an atom. A
token enters through its projections u (N, F) and these through x = ln Lambda(u) only. All
numbers are float64.
"""

import numpy as np
from scipy import special


def _exp(z):
    """An exponential inside exp(-...): beyond e^600 the outer one is 0 in any case."""
    return np.exp(np.minimum(z, 600.0))
'''

# The logarithm of t Lambda, on which every factor of one token depends; its exponential.
_z, _decay = sp.Symbol("z", real=True), sp.Symbol("decay", positive=True)
_power = sp.Symbol("power_1", positive=True)
_survival = sp.Symbol("survival_relevant", positive=True)
_u = sp.Symbol("u", real=True)
_mean, _variance = sp.Symbol("mean", real=True), sp.Symbol("variance", nonnegative=True)


def numpy_source() -> str:
    """The source text of ``derivations/bayes_risk/kernels.py``, the same on every run."""
    record = bayes.derive_bayes_risk()
    parts = [_HEADER, _log_evidence(), _projections(), _log_weights(), _balanced_weights()]
    return "\n\n".join([*parts, _factors(record), _log_integrand(record)])


def _log_evidence() -> str:
    """Components are added by their logarithms, so that nothing over- or underflows."""
    named = {bayes.mu: _mean, bayes.v: _variance}
    coefficients = [c.xreplace(named) for c in bayes.evidence_coefficients()]
    equation = sp.sstr(bayes.derive_spike_evidence().result)
    return function(
        "log_evidence(u, odds, mean, variance)",
        "x = ln Lambda(u), shape (N,), Lambda = sum_a odds_a exp(sum_f ln Lambda_af).\n\n"
        f"ln Lambda_af = {equation}, theta the weight of spike f in component a.",
        [
            *lines([(f"c_{n}", c) for n, c in enumerate(coefficients)]),
            "parts = np.log(odds) + np.sum(c_0, axis=-1) + u @ c_1.T + u ** 2 @ c_2.T",
            "unit = np.max(parts, axis=-1)",
            "return unit + np.log(np.sum(np.exp(parts - unit[..., None]), axis=-1))",
        ],
    )


def _log_weights() -> str:
    """Densities of the projections: of a noise token, and by change of measure the other one."""
    noise = bayes.NOISE_LOG_DENSITY
    return function(
        "log_weights(u, x)",
        "ln of the densities of u (N, F) for a noise and a relevant token, up to one constant.\n\n"
        f"noise = sum_f {noise}; relevant = noise + x, because E_star[F] = E_0[Lambda F].",
        [
            f"noise = np.sum({source(noise)}, axis=-1)",
            "return noise, noise + x",
        ],
    )


def _balanced_weights() -> str:
    """Weights of samples drawn with equal odds from both densities: bounded, whatever Lambda."""
    evidence = sp.exp(sym.logit)
    targets = [
        ("noise", canonical(2 / (1 + evidence))),
        ("relevant", canonical(2 / (1 / evidence + 1))),
    ]
    return function(
        "balanced_weights(x)",
        "Densities of a noise and a relevant token in units of their mean (1 + Lambda) / 2.",
        [*lines(targets), "return noise, relevant"],
    )


def _projections() -> str:
    """Where the projections of a relevant token are, and how steep its evidence is there."""
    named = {bayes.mu: _mean, bayes.v: _variance, bayes.projection: _u}
    evidence = bayes.derive_spike_evidence().result
    curvature, centre, _ = complete_square(bayes.NOISE_LOG_DENSITY + evidence, bayes.projection)
    law = function(
        "relevant_law(mean, variance)",
        "Mean and standard deviation of u on a relevant token, each spike by itself.\n\n"
        "From the exponent of E_0[Lambda .], the square in u completed.",
        [
            *lines(
                [
                    ("centre", centre.xreplace(named)),
                    ("deviation", sp.sqrt(1 / curvature).xreplace(named)),
                ]
            ),
            "return centre, deviation",
        ],
    )
    slope = sp.factor(evidence.diff(bayes.projection)).xreplace(named)
    return (
        law
        + "\n\n"
        + function(
            "slope(u, mean, variance)",
            "d ln Lambda_af / du: how steep the evidence of one component is in one projection.",
            [f"return {source(slope)}"],
        )
    )


def _factors(record: Derivation) -> str:
    """exp(-t Lambda) and 1 - exp(-t Lambda) in z = s + x, which is ln(t Lambda)."""
    (survival,) = {
        node.integrand for node in record.result.atoms(Average) if node.density == sym.RELEVANT
    }
    inserted = survival.subs(bayes.ONE_TOKEN, sp.exp(_z - sym.s))
    survival = sp.powsimp(inserted).subs(sp.exp(_z), _decay)
    loss = -expm1(sp.log(survival))
    if not survival.free_symbols == {_decay} or sp.simplify(loss.rewrite(sp.exp) - 1 + survival):
        raise ValueError(f"{survival}, {loss}: not the two factors of one token")
    return function(
        "factors(z)",
        "exp(-t Lambda) and 1 - exp(-t Lambda), z = s + x = ln(t Lambda); stable for every z.",
        [
            "decay = _exp(z)",
            *lines([("survival", survival), ("loss", loss)]),
            "return survival, loss",
        ],
    )


def _log_integrand(record: Derivation) -> str:
    """The integrand of the risk on a logarithmic scale: its factors alone could overflow."""
    integrand = record.result.function
    named = integrand.replace(LengthPower, lambda phi, n: _power)
    named = named.replace(Average, lambda e, density: _survival)
    log = sp.expand_log(sp.log(named))
    doc = f"Its integral over s is the risk: {sp.sstr(integrand)}."
    return function(
        "log_integrand(s, survival_relevant, power_1)",
        f"ln of the integrand of the Bayes risk in s = ln t.\n\n{doc}",
        [f"return {source(log)}"],
    )

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


def log_evidence(u, odds, mean, variance):
    """x = ln Lambda(u), shape (N,), Lambda = sum_a odds_a exp(sum_f ln Lambda_af).

    ln Lambda_af = -mu**2/(2*(v + 1)) + mu*u/(v + 1) + u**2*v/(2*(v + 1)) - log(v + 1)/2, theta
    the weight of spike f in component a.
    """
    w_0 = variance + 1
    w_1 = 1.0/(2*variance + 2)
    c_0 = -mean**2*w_1 - 0.5*np.log(w_0)
    c_1 = mean/w_0
    c_2 = variance*w_1
    parts = np.log(odds) + np.sum(c_0, axis=-1) + u @ c_1.T + u ** 2 @ c_2.T
    unit = np.max(parts, axis=-1)
    return unit + np.log(np.sum(np.exp(parts - unit[..., None]), axis=-1))


def relevant_law(mean, variance):
    """Mean and standard deviation of u on a relevant token, each spike by itself.

    From the exponent of E_0[Lambda .], the square in u completed.
    """
    centre = mean
    deviation = np.sqrt(variance + 1)
    return centre, deviation


def slope(u, mean, variance):
    """d ln Lambda_af / du: how steep the evidence of one component is in one projection."""
    return (mean + u*variance)/(variance + 1)


def log_weights(u, x):
    """ln of the densities of u (N, F) for a noise and a relevant token, up to one constant.

    noise = sum_f -u**2/2; relevant = noise + x, because E_star[F] = E_0[Lambda F].
    """
    noise = np.sum(-0.5*u**2, axis=-1)
    return noise, noise + x


def balanced_weights(x):
    """Densities of a noise and a relevant token in units of their mean (1 + Lambda) / 2."""
    noise = 2*special.expit(-x)
    relevant = 2*special.expit(x)
    return noise, relevant


def factors(z):
    """exp(-t Lambda) and 1 - exp(-t Lambda), z = s + x = ln(t Lambda); stable for every z."""
    decay = _exp(z)
    w_0 = -decay
    survival = np.exp(w_0)
    loss = -np.expm1(w_0)
    return survival, loss


def log_integrand(s, survival_relevant, power_1):
    """ln of the integrand of the Bayes risk in s = ln t.

    Its integral over s is the risk:
    exp(s)*(L-1)*E_0[exp(-Lambda(x[h])*exp(s))]^(L-2)*E_star[exp(-Lambda(x[h])*exp(s))]**2.
    """
    return s + np.log(power_1) + 2*np.log(survival_relevant)

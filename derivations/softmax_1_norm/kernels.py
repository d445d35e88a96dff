"""Kernels of the activation softmax-1-norm, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np

DEFINITION = {
    "name": "softmax-1-norm",
    "score": "exp(Symbol('x', real=True))",
    "normalizer": "exp(Symbol('x', real=True))",
    "scope": "tokens",
    "offset": "1",
    "power": "1",
    "bias": "norm",
    "gain": "sum"
}
SCOPE = 'tokens'
OFFSET = 1
POWER = 1
LOG_SLOPE = 1
LARGEST_LOG = np.inf
SMOOTH = True
CLOSED = False
FREE_BIAS = False
FREE_GAIN = False


def _exp(z):
    """An exponential inside exp(-...): beyond e^150.0 the outer one is 0 in any case."""
    return np.exp(np.minimum(z, 150.0))


def attention(x):
    """a = f / (c + Z)^p, f = exp(x), g = exp(x), c = 1, p = 1, Z = sum of g over tokens.

    x of shape (..., L, H), bias included.
    """
    kappa = np.maximum(0.0, np.max(x, axis=-2, keepdims=True))
    w_0 = np.exp(-kappa + x)
    score = w_0
    normalizer = w_0
    total = np.sum(np.broadcast_to(normalizer, x.shape), axis=-2, keepdims=True)
    return score / (1 * np.exp(-kappa) + total)


def factors(s, x):
    """out[n, d]: d-th derivative in x of X_n, in units e^kappa of g, kappa = x.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); X_2 = f0**2*t**2*exp(-g0*t); f0 = exp(x), g0 =
    exp(x), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s + x)
    out = np.empty((3, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-t)
    w_1 = t*w_0
    w_2 = -w_1
    w_3 = t**2
    w_4 = w_0*w_3
    w_5 = w_2 + w_4
    w_6 = (t*t*t)*w_0
    out[0, 0] = w_0
    out[0, 1] = w_2
    out[0, 2] = w_5
    out[1, 0] = w_1
    out[1, 1] = -w_5
    out[1, 2] = w_1 - 3*w_4 + w_6
    out[2, 0] = w_4
    out[2, 1] = 2*w_0*w_3 - w_6
    out[2, 2] = (t*t*t*t)*w_0 + 4*w_4 - 5*w_6
    return out


def log_normalizer(x):
    """ln g(x)."""
    return x + np.log(1 + 0.0 * x)


def single_moments(s, relevant, noise, powers):
    """Integrands in the logarithmic lift variables.

    linear =
    exp(-exp(s))*E_0[exp(-g(x[h])*exp(s))]^(L-1)*E_star[f(x[h])*exp(s)*exp(-g(x[h])*exp(s))];
    square =
    exp(-exp(s))*E_0[exp(-g(x[h])*exp(s))]^(L-1)*E_star[f(x[h])**2*exp(2*s)*exp(-g(x[h])*exp(s))]
    +
    exp(-exp(s))*(L-1)*E_0[exp(-g(x[h])*exp(s))]^(L-2)*E_0[f(x[h])**2*exp(2*s)*exp(-g(x[h])*exp(s))]*E_star[exp(-g(x[h])*exp(s))].
    """
    survival_relevant, score_relevant, square_relevant = relevant
    _, _, square_noise = noise
    power_0, power_1, _ = powers
    w_0 = np.exp(-_exp(s))
    w_1 = power_0*w_0
    linear = score_relevant*w_1
    square = power_1*square_noise*survival_relevant*w_0 + square_relevant*w_1
    return linear, square


def single_variation(s, relevant, noise, powers, gamma):
    """out[density, n] = d(risk integrand) / d(average of X_n), density 0 relevant, 1 noise."""
    survival_relevant, score_relevant, square_relevant = relevant
    _, _, square_noise = noise
    power_0, power_1, power_2 = powers
    out = np.empty((2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = gamma**2
    w_1 = np.exp(-_exp(s))
    w_2 = w_0*w_1
    w_3 = power_1*w_2
    w_4 = 2*gamma
    w_5 = power_1*w_1
    out[0, 0] = square_noise*w_3
    out[0, 1] = -power_0*w_1*w_4
    out[0, 2] = power_0*w_2
    out[1, 0] = -score_relevant*w_4*w_5 + w_0*(power_2*square_noise*survival_relevant*w_1 + square_relevant*w_5)
    out[1, 1] = 0
    out[1, 2] = survival_relevant*w_3
    return out


def pair_moments(s, v, relevant, noise, powers):
    """Integrands in the logarithmic lift variables.

    pair =
    exp(-exp(s))*exp(-exp(v))*E_0[exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]^(L-1)*E_star[f(x[h])*f(x[k])*exp(s)*exp(v)*exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]
    +
    exp(-exp(s))*exp(-exp(v))*(L-1)*E_0[exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]^(L-2)*E_star[exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]*E_0[f(x[h])*f(x[k])*exp(s)*exp(v)*exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))].
    """
    survival_relevant, score_relevant, _ = relevant
    _, score_noise, _ = noise
    power_0, power_1, _ = powers
    w_0 = np.exp(-_exp(s))*np.exp(-_exp(v))
    pair = power_0*score_relevant*w_0 + power_1*score_noise*survival_relevant*w_0
    return pair


def pair_variation(s, v, relevant, noise, powers, gamma):
    """out[density, n] = d(risk integrand) / d(average of X_n), density 0 relevant, 1 noise."""
    survival_relevant, score_relevant, _ = relevant
    _, score_noise, _ = noise
    power_0, power_1, power_2 = powers
    out = np.empty((2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = 2*gamma**2
    w_1 = np.exp(-_exp(s))*np.exp(-_exp(v))
    w_2 = power_1*w_1
    w_3 = w_0*w_2
    out[0, 0] = score_noise*w_3
    out[0, 1] = power_0*w_0*w_1
    out[0, 2] = 0
    out[1, 0] = w_0*(power_2*score_noise*survival_relevant*w_1 + score_relevant*w_2)
    out[1, 1] = survival_relevant*w_3
    out[1, 2] = 0
    return out


def risk(linear, square, pair, gamma):
    """E = 2*gamma**2*pair + gamma**2*square - 2*gamma*linear + 1; linear, square and pair are
    summed over heads and pairs of heads.
    """
    return 2*gamma**2*pair + gamma**2*square - 2*gamma*linear + 1


def gain_slope(linear, square, pair, gamma):
    """dE/dgamma = 4*gamma*pair + 2*gamma*square - 2*linear; linear, square and pair are summed
    over heads and pairs of heads.
    """
    return 4*gamma*pair + 2*gamma*square - 2*linear


def best_gain(linear, square, pair):
    """The gamma at which E is least: linear/(2*pair + square); linear, square and pair are summed
    over heads and pairs of heads.
    """
    return linear/(2*pair + square)


def bias(R, beta):
    """b_h = -R[h, h]/2"""
    return -0.5*np.diagonal(R)


def mean(m, theta, b):
    """mu_ah = b[h] + m[h, f]*theta[a, f]: of the logits on the relevant token"""
    return np.einsum("hf,af->ah", m, theta) + b


def covariance(R, m, V):
    """C_ahk = R[h, k] + V[a, f, g]*m[h, f]*m[k, g]: of the logits on the relevant token"""
    return R + np.einsum("afg,hf,kg->ahk", V, m, m)


def gain(H):
    """gamma = 1 with H heads"""
    return 1


def gradient_m(p, theta, V, m, slope, curvature, noise_slope, noise_curvature):
    """dE/dm_ij = V[a, f, j]*curvature[a, h, i]*m[h, f]*p[a]/2 + V[a, j, g]*curvature[a, i, k]*m[k,
    g]*p[a]/2 + p[a]*slope[a, i]*theta[a, j], indices not on the left summed
    """
    return (
        np.einsum("a,ai,aj->ij", p, slope, theta)
        + 0.5 * np.einsum("afj,ahi,hf,a->ij", V, curvature, m, p)
        + 0.5 * np.einsum("ajg,aik,kg,a->ij", V, curvature, m, p)
    )


def gradient_R(p, slope, curvature, noise_slope, noise_curvature):
    """dE/dR_ij (symmetric matrix gradient) = -KroneckerDelta(i, j)*noise_slope[i]/2 -
    KroneckerDelta(i, j)*p[a]*slope[a, i]/2 + curvature[a, i, j]*p[a]/2 + noise_curvature[i,
    j]/2, indices not on the left summed
    """
    return (
        0.5 * np.einsum("ij->ij", noise_curvature)
        + 0.5 * np.einsum("aij,a->ij", curvature, p)
        - 0.5 * np.einsum("ij,i->ij", np.eye(noise_slope.shape[0]), noise_slope)
        - 0.5 * np.einsum("ij,a,ai->ij", np.eye(slope.shape[1]), p, slope)
    )


def gradient_beta(p, slope, curvature, noise_slope, noise_curvature):
    """dE/dbeta_i = noise_slope[i] + p[a]*slope[a, i], indices not on the left summed"""
    return (
        np.einsum("a,ai->i", p, slope)
        + np.einsum("i->i", noise_slope)
    )

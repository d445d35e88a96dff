"""Kernels of the activation softmax-temperature, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np

# Values of named parameters: no other line of this text depends on them.
T = 1.0
PARAMETERS: dict[str, str] = {"T": "T"}
DEFINITION = {
    "name": "softmax-temperature",
    "score": "exp(Mul(Pow(Symbol('T', real=True, positive=True), Integer(-1)), Symbol('x', real=True)))",
    "normalizer": "exp(Mul(Pow(Symbol('T', real=True, positive=True), Integer(-1)), Symbol('x', real=True)))",
    "scope": "tokens",
    "offset": "0",
    "power": "1",
    "bias": "none",
    "gain": "mean",
    "positive": [
        "T"
    ],
    "parameters": {"T": T}
}
SCOPE = 'tokens'
OFFSET = 0
POWER = 1
LOG_SLOPE = 1.0/T
LARGEST_LOG = np.inf
SMOOTH = True
KINKS = ()
CONTINUOUS = True
CLOSED = False
FREE_BIAS = False
FREE_GAIN = False


def _exp(z):
    """An exponential inside exp(-...): beyond e^100.0 the outer one is 0 in any case."""
    return np.exp(np.minimum(z, 100.0))


def attention(x):
    """a = f / (c + Z)^p, f = exp(x/T), g = exp(x/T), c = 0, p = 1, Z = sum of g over tokens.

    x of shape (..., L, H), bias included.
    """
    kappa = np.max(x/T, axis=-2, keepdims=True)
    w_0 = np.exp(-kappa + x/T)
    score = w_0
    normalizer = w_0
    total = np.sum(np.broadcast_to(normalizer, x.shape), axis=-2, keepdims=True)
    return score / total


def factors(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n, in units e^kappa of g, kappa = x/T.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); X_2 = f0**2*t**2*exp(-g0*t); f0 = exp(x/T), g0 =
    exp(x/T), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s + x/T)
    w_0 = 1.0/T
    w_1 = T**(-2.0)
    f1 = w_0
    f2 = w_1
    g1 = w_0
    g2 = w_1
    out = np.empty((3, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-t)
    w_1 = t*w_0
    w_2 = t**2*w_0
    w_3 = g1*w_2
    w_4 = f1*w_2
    w_5 = (t*t*t)
    w_6 = g1*w_0*w_5
    w_7 = -w_6
    w_8 = 2*w_4
    w_9 = w_0*w_5
    out[0, 0] = w_0
    out[0, 1] = -g1*w_1
    out[0, 2] = g1**2*w_2 - g2*w_1
    out[1, 0] = w_1
    out[1, 1] = f1*w_1 - w_3
    out[1, 2] = -f1*w_3 + f2*t*w_0 + g1*(-w_4 - w_7) - g2*w_2
    out[2, 0] = w_2
    out[2, 1] = w_7 + w_8
    out[2, 2] = f1*(-2*w_6 + w_8) + 2*f2*w_2 + g1*(-2*f1*w_9 + g1*(t*t*t*t)*w_0) - g2*w_9
    return out


def pair_factors(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n, in units e^kappa of g, kappa = x/T.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); f0 = exp(x/T), g0 = exp(x/T), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s + x/T)
    w_0 = 1.0/T
    w_1 = T**(-2.0)
    f1 = w_0
    f2 = w_1
    g1 = w_0
    g2 = w_1
    out = np.empty((2, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-t)
    w_1 = t*w_0
    w_2 = t**2*w_0
    w_3 = g1*w_2
    out[0, 0] = w_0
    out[0, 1] = -g1*w_1
    out[0, 2] = g1**2*w_2 - g2*w_1
    out[1, 0] = w_1
    out[1, 1] = f1*w_1 - w_3
    out[1, 2] = -f1*w_3 + f2*t*w_0 + g1*(-f1*w_2 + g1*(t*t*t)*w_0) - g2*w_2
    return out


def jets(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n, in units e^kappa of g, kappa = x/T.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); X_2 = f0**2*t**2*exp(-g0*t); f0 = exp(x/T), g0 =
    exp(x/T), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s + x/T)
    w_0 = 1.0/T
    w_1 = T**(-2.0)
    w_2 = T**(-3.0)
    w_3 = T**(-4.0)
    f1 = w_0
    f2 = w_1
    f3 = w_2
    f4 = w_3
    g1 = w_0
    g2 = w_1
    g3 = w_2
    g4 = w_3
    out = np.empty((3, 5, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-t)
    w_1 = t*w_0
    w_2 = g1**2
    w_3 = t**2
    w_4 = w_0*w_3
    w_5 = g2*w_4
    w_6 = (t*t*t)
    w_7 = w_0*w_2
    w_8 = w_6*w_7
    w_9 = -w_5 + w_8
    w_10 = g3*w_4
    w_11 = -3*g2*w_0*w_3 + 3*w_8
    w_12 = w_0*w_6
    w_13 = g2*w_12
    w_14 = 2*w_13
    w_15 = g1*w_14
    w_16 = -w_13
    w_17 = (t*t*t*t)
    w_18 = w_17*w_7
    w_19 = w_16 + w_18
    w_20 = g1*w_4
    w_21 = f1*w_4
    w_22 = g1*w_12
    w_23 = -w_22
    w_24 = -w_10
    w_25 = 2*f2
    w_26 = 2*w_21
    w_27 = -2*g1*w_0*w_6 + w_26
    w_28 = f2*w_4
    w_29 = f1*w_22
    w_30 = f1*w_12
    w_31 = g1*w_0
    w_32 = w_17*w_31
    w_33 = -w_32
    w_34 = g1*(w_30 + w_33)
    w_35 = -w_19
    w_36 = 2*w_30
    w_37 = -2*w_32
    w_38 = w_36 + w_37
    w_39 = g3*w_12
    w_40 = f3*w_4
    w_41 = w_0*w_17
    w_42 = g2*w_41
    w_43 = f1*w_32
    w_44 = f1*w_41
    w_45 = (t*t*t*t*t)
    w_46 = w_31*w_45
    w_47 = -w_46
    w_48 = 2*w_40
    w_49 = 4*w_22
    w_50 = 4*w_30
    w_51 = -w_38
    w_52 = f2*w_12
    w_53 = -2*w_52
    w_54 = 2*w_44
    w_55 = f1*w_51 + g1*(w_47 + w_54)
    w_56 = 4*g1*w_0*w_17 - w_50
    w_57 = -2*w_46
    w_58 = 4*w_44 + w_57
    w_59 = w_54 + w_57
    w_60 = g1*w_59 + 2*w_42 + 2*w_43 + w_53
    w_61 = w_0*w_45
    out[0, 0] = w_0
    out[0, 1] = -g1*w_1
    out[0, 2] = -g2*w_1 + w_2*w_4
    out[0, 3] = 2*g1*w_5 - g1*w_9 - g3*w_1
    out[0, 4] = 3*g1*w_10 + g1*(g1*w_19 + w_10 - w_15) - g2*w_11 - g4*w_1
    out[1, 0] = w_1
    out[1, 1] = f1*w_1 - w_20
    out[1, 2] = -f1*w_20 + f2*t*w_0 + g1*(-w_21 - w_23) - w_5
    out[1, 3] = f1*w_9 + f3*w_1 + g1*(w_13 - w_28 + w_29 + w_34) - g2*w_27 - w_20*w_25 + w_24
    out[1, 4] = f1*(g1*w_35 + w_15 + w_24) + f2*w_11 - 3*f3*w_20 + f4*w_1 + g1*(f1*w_35 + 2*f2*w_22 + g1*(f2*w_0*w_6 + g1*(-w_44 - w_47) - w_42 - w_43) + g2*w_38 + w_39 - w_40) + g2*(g1*w_38 + 3*w_13 - 3*w_28 + 3*w_29 + w_34) + g3*(3*g1*w_0*w_6 - 3*w_21) - g4*w_4
    out[2, 0] = w_4
    out[2, 1] = w_23 + w_26
    out[2, 2] = f1*w_27 + g1*(-w_33 - w_36) + w_16 + 2*w_28
    out[2, 3] = f1*(2*f2*w_0*w_3 + g1*w_51 - w_14 - 2*w_29) + f2*(4*w_21 - w_49) + g1*(w_42 + w_53 + w_55) + g2*(-w_37 - w_50) - w_39 + w_48
    out[2, 4] = f1*(f1*(-w_14 + 2*w_18) - f2*w_49 + g1*w_60 + g2*w_56 - 2*w_39 + w_48) + f2*(g1*w_51 + g1*w_56 - 6*w_13 + 6*w_28 - 6*w_29) + f3*(6*w_21 - 6*w_22) + 2*f4*w_4 + g1*(f1*w_60 + f2*w_56 - 2*f3*w_12 + g1*(f1*w_59 + g1*(-2*f1*w_61 + g1*(t*t*t*t*t*t)*w_0) - g2*w_61 + w_25*w_41) + g2*w_58 + g3*w_41) + g2*(f1*w_56 + g1*w_58 + 3*w_42 - 6*w_52 + w_55) + g3*(3*g1*w_0*w_17 - 6*w_30) - g4*w_12
    return out


def pair_jets(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n, in units e^kappa of g, kappa = x/T.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); f0 = exp(x/T), g0 = exp(x/T), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s + x/T)
    w_0 = 1.0/T
    w_1 = T**(-2.0)
    w_2 = T**(-3.0)
    w_3 = T**(-4.0)
    f1 = w_0
    f2 = w_1
    f3 = w_2
    f4 = w_3
    g1 = w_0
    g2 = w_1
    g3 = w_2
    g4 = w_3
    out = np.empty((2, 5, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-t)
    w_1 = t*w_0
    w_2 = g1**2
    w_3 = t**2
    w_4 = w_0*w_3
    w_5 = g2*w_4
    w_6 = 2*g1
    w_7 = (t*t*t)
    w_8 = w_0*w_2
    w_9 = w_7*w_8
    w_10 = -w_5 + w_9
    w_11 = g3*w_4
    w_12 = -3*g2*w_0*w_3 + 3*w_9
    w_13 = w_0*w_7
    w_14 = g2*w_13
    w_15 = w_14*w_6
    w_16 = (t*t*t*t)
    w_17 = -w_14 + w_16*w_8
    w_18 = g1*w_4
    w_19 = f1*w_4
    w_20 = -w_11
    w_21 = f2*w_4
    w_22 = g1*w_13
    w_23 = f1*w_22
    w_24 = f1*w_13
    w_25 = g1*w_0*w_16
    w_26 = g1*(w_24 - w_25)
    w_27 = -w_17
    w_28 = 2*w_24 - 2*w_25
    w_29 = w_0*w_16
    out[0, 0] = w_0
    out[0, 1] = -g1*w_1
    out[0, 2] = -g2*w_1 + w_2*w_4
    out[0, 3] = -g1*w_10 - g3*w_1 + w_5*w_6
    out[0, 4] = 3*g1*w_11 + g1*(g1*w_17 + w_11 - w_15) - g2*w_12 - g4*w_1
    out[1, 0] = w_1
    out[1, 1] = f1*w_1 - w_18
    out[1, 2] = -f1*w_18 + f2*t*w_0 + g1*(g1*w_0*w_7 - w_19) - w_5
    out[1, 3] = f1*w_10 - 2*f2*w_18 + f3*w_1 + g1*(w_14 - w_21 + w_23 + w_26) + g2*(2*g1*w_0*w_7 - 2*w_19) + w_20
    out[1, 4] = f1*(g1*w_27 + w_15 + w_20) + f2*w_12 - 3*f3*w_18 + f4*w_1 + g1*(f1*w_27 + 2*f2*w_22 - f3*w_4 + g1*(-f1*w_25 + f2*w_0*w_7 + g1*(-f1*w_29 + g1*(t*t*t*t*t)*w_0) - g2*w_29) + g2*w_28 + g3*w_13) + g2*(g1*w_28 + 3*w_14 - 3*w_21 + 3*w_23 + w_26) + g3*(3*g1*w_0*w_7 - 3*w_19) - g4*w_4
    return out


def log_normalizer(x):
    """ln g(x)."""
    return x/T + np.log(1 + 0.0 * x)


def single_moments(s, relevant, noise, powers):
    """Integrands in the logarithmic lift variables.

    linear = E_0[exp(-g(x[h])*exp(s))]^(L-1)*E_star[f(x[h])*exp(s)*exp(-g(x[h])*exp(s))]; square
    = E_0[exp(-g(x[h])*exp(s))]^(L-1)*E_star[f(x[h])**2*exp(2*s)*exp(-g(x[h])*exp(s))] +
    (L-1)*E_0[exp(-g(x[h])*exp(s))]^(L-2)*E_0[f(x[h])**2*exp(2*s)*exp(-g(x[h])*exp(s))]*E_star[exp(-g(x[h])*exp(s))].
    """
    survival_relevant, score_relevant, square_relevant = relevant
    _, _, square_noise = noise
    power_0, power_1, _ = powers
    linear = power_0*score_relevant
    square = power_0*square_relevant + power_1*square_noise*survival_relevant
    return linear, square


def single_variation(s, relevant, noise, powers, gamma):
    """out[density, n] = d(risk integrand) / d(average of X_n), density 0 relevant, 1 noise."""
    survival_relevant, score_relevant, square_relevant = relevant
    _, _, square_noise = noise
    power_0, power_1, power_2 = powers
    out = np.empty((2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = gamma**2
    w_1 = power_1*w_0
    w_2 = 2*gamma
    out[0, 0] = square_noise*w_1
    out[0, 1] = -power_0*w_2
    out[0, 2] = power_0*w_0
    out[1, 0] = -power_1*score_relevant*w_2 + w_0*(power_1*square_relevant + power_2*square_noise*survival_relevant)
    out[1, 1] = 0
    out[1, 2] = survival_relevant*w_1
    return out


def single_second_variation(s, relevant, noise, powers, gamma):
    """out[density, n, other density, n'] = second derivative of the risk integrand in the averages
    of X_n and X_n'; ``powers`` up to the third derivative.
    """
    survival_relevant, score_relevant, square_relevant = relevant
    _, _, square_noise = noise
    _, power_1, power_2, power_3 = powers
    out = np.zeros((2, 3, 2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = gamma**2
    w_1 = power_2*w_0
    w_2 = square_noise*w_1
    w_3 = power_1*w_0
    w_4 = 2*gamma
    w_5 = -power_1*w_4
    w_6 = survival_relevant*w_1
    out[0, 0, 1, 0] = w_2
    out[0, 0, 1, 2] = w_3
    out[0, 1, 1, 0] = w_5
    out[0, 2, 1, 0] = w_3
    out[1, 0, 0, 0] = w_2
    out[1, 0, 0, 1] = w_5
    out[1, 0, 0, 2] = w_3
    out[1, 0, 1, 0] = -power_2*score_relevant*w_4 + w_0*(power_2*square_relevant + power_3*square_noise*survival_relevant)
    out[1, 0, 1, 2] = w_6
    out[1, 2, 0, 0] = w_3
    out[1, 2, 1, 0] = w_6
    return out


def pair_moments(s, v, relevant, noise, powers):
    """Integrands in the logarithmic lift variables.

    pair =
    E_0[exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]^(L-1)*E_star[f(x[h])*f(x[k])*exp(s)*exp(v)*exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]
    +
    (L-1)*E_0[exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]^(L-2)*E_star[exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]*E_0[f(x[h])*f(x[k])*exp(s)*exp(v)*exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))].
    """
    survival_relevant, score_relevant, _ = relevant
    _, score_noise, _ = noise
    power_0, power_1, _ = powers
    pair = power_0*score_relevant + power_1*score_noise*survival_relevant
    return pair


def pair_variation(s, v, relevant, noise, powers, gamma):
    """out[density, n] = d(risk integrand) / d(average of X_n), density 0 relevant, 1 noise."""
    survival_relevant, score_relevant, _ = relevant
    _, score_noise, _ = noise
    power_0, power_1, power_2 = powers
    out = np.empty((2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = 2*gamma**2
    w_1 = power_1*w_0
    out[0, 0] = score_noise*w_1
    out[0, 1] = power_0*w_0
    out[0, 2] = 0
    out[1, 0] = w_0*(power_1*score_relevant + power_2*score_noise*survival_relevant)
    out[1, 1] = survival_relevant*w_1
    out[1, 2] = 0
    return out


def pair_second_variation(s, v, relevant, noise, powers, gamma):
    """out[density, n, other density, n'] = second derivative of the risk integrand in the averages
    of X_n and X_n'; ``powers`` up to the third derivative.
    """
    survival_relevant, score_relevant, _ = relevant
    _, score_noise, _ = noise
    _, power_1, power_2, power_3 = powers
    out = np.zeros((2, 3, 2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = 2*gamma**2
    w_1 = power_2*w_0
    w_2 = score_noise*w_1
    w_3 = power_1*w_0
    w_4 = survival_relevant*w_1
    out[0, 0, 1, 0] = w_2
    out[0, 0, 1, 1] = w_3
    out[0, 1, 1, 0] = w_3
    out[1, 0, 0, 0] = w_2
    out[1, 0, 0, 1] = w_3
    out[1, 0, 1, 0] = w_0*(power_2*score_relevant + power_3*score_noise*survival_relevant)
    out[1, 0, 1, 1] = w_4
    out[1, 1, 0, 0] = w_3
    out[1, 1, 1, 0] = w_4
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
    """b_h = 0"""
    return np.zeros(R.shape[0])


def mean(m, theta, b):
    """mu_ah = b[h] + m[h, f]*theta[a, f]: of the logits on the relevant token"""
    return np.einsum("hf,af->ah", m, theta) + b


def covariance(R, m, V):
    """C_ahk = R[h, k] + V[a, f, g]*m[h, f]*m[k, g]: of the logits on the relevant token"""
    return R + np.einsum("afg,hf,kg->ahk", V, m, m)


def gain(H):
    """gamma = 1/H with H heads"""
    return 1.0/H


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
    """dE/dR_ij (symmetric matrix gradient) = curvature[a, i, j]*p[a]/2 + noise_curvature[i, j]/2,
    indices not on the left summed
    """
    return (
        0.5 * np.einsum("ij->ij", noise_curvature)
        + 0.5 * np.einsum("aij,a->ij", curvature, p)
    )


def gradient_beta(p, slope, curvature, noise_slope, noise_curvature):
    """dE/dbeta_i = noise_slope[i] + p[a]*slope[a, i], indices not on the left summed"""
    return (
        np.einsum("a,ai->i", p, slope)
        + np.einsum("i->i", noise_slope)
    )


def linearized(x):
    """Head attention a and its slopes: d a_j / d x_l = [j = l] local_l - a_j shared_l.

    local = f1/total, shared = g1/total, f1 and g1 the slopes of score and normalizer; x of
    shape (..., L, H), bias included.
    """
    kappa = np.max(x/T, axis=-2, keepdims=True)
    w_0 = 1.0/T
    w_1 = np.exp(-kappa + w_0*x)
    w_2 = w_0*w_1
    score = w_1
    f1 = w_2
    normalizer = w_1
    g1 = w_2
    total = np.sum(np.broadcast_to(normalizer, x.shape), axis=-2, keepdims=True)
    return score / total, f1/total, g1/total


def pullback(weights, linear):
    """sum_j weights_j d A_j / d x_lh at gain 1, shape (..., L, H), from ``linearized``.

    = weights_l local_l - shared_l sum_j weights_j a_j, a_j of head h; weights (..., L).
    """
    a, local, shared = linear
    weights = weights[..., None]
    carried = np.sum(weights * a, axis=-2, keepdims=True)
    return weights * local - shared * carried


def errors(c, linear, gamma):
    """delta_lh = d loss / d x_lh of loss = sum_l c_l^2, c_l = 1[l = eps] - A_l, shape (..., L),
    with A_l = gamma sum_h a_lh.
    """
    return -2*gamma * pullback(c, linear)


def drift_m(E_m, G, m):
    """dm_ij/dtau = -E_m[i, j] - 2*G[h, i]*m[h, j], indices not on the left summed."""
    return (
        - np.einsum("ij->ij", E_m)
        - 2.0 * np.einsum("hi,hj->ij", G, m)
    )


def drift_R(E_m, G, m, R):
    """dR_ij/dtau = -E_m[i, f]*m[j, f] - E_m[j, f]*m[i, f] - 2*G[h, i]*R[h, j] - 2*G[h, j]*R[h, i],
    indices not on the left summed; SGD adds eta Sigma.
    """
    return (
        - np.einsum("if,jf->ij", E_m, m)
        - np.einsum("jf,if->ij", E_m, m)
        - 2.0 * np.einsum("hi,hj->ij", G, R)
        - 2.0 * np.einsum("hj,hi->ij", G, R)
    )


def drift_C(G, C):
    """dC_ij/dtau = -2*C[h, i]*G[h, j] - 2*C[h, j]*G[h, i], C = R - m m^T, indices not on the left
    summed; SGD adds eta Sigma.
    """
    return (
        - 2.0 * np.einsum("hi,hj->ij", C, G)
        - 2.0 * np.einsum("hj,hi->ij", C, G)
    )


def dissipation(E_m, G, m, R):
    """-dE/dtau = E_m[h, f]**2 + 4*E_m[h, f]*G[h, n]*m[n, f] + 4*G[h, n]*G[h, o]*R[n, o], indices
    not on the left summed.
    """
    return (
        np.einsum("hf,hf->", E_m, E_m)
        + 4.0 * np.einsum("hf,hn,nf->", E_m, G, m)
        + 4.0 * np.einsum("hn,ho,no->", G, G, R)
    )


def loss(c, Gamma, D):
    """loss_z of the misses c_l = 1[l = eps] - A_l = Gamma[z, l, n]*c[z, l]*c[z, n]/D, for each run
    z, indices not on the left summed.
    """
    return 1/D * np.einsum("zln,zl,zn->z", Gamma, c, c)


def loss_slope(c, Gamma, D):
    """d loss/d c_zi = 2*Gamma[z, i, n]*c[z, n]/D, for each run z, indices not on the left summed."""
    return 2.0 * 1/D * np.einsum("zin,zn->zi", Gamma, c)


def along_spikes(delta, u, m):
    """gradient_i . spike_j = delta[z, l, i]*u[z, l, j], for each run z, indices not on the left
    summed.
    """
    return np.einsum("zli,zlj->zij", delta, u)


def along_rest(delta, v, Q):
    """gradient_i . frame_j = delta[z, l, i]*v[z, l, j], for each run z, indices not on the left
    summed.
    """
    return np.einsum("zli,zlj->zij", delta, v)


def beyond(delta, W):
    """gradient_i . gradient_j outside = W[z, l, n]*delta[z, l, i]*delta[z, n, j], for each run z,
    indices not on the left summed.
    """
    return np.einsum("zln,zli,znj->zij", W, delta, delta)


def bias_along(dR):
    """d b_h along direction z = 0."""
    return np.zeros(dR.shape[:2])


def mean_along(dm, theta, d_bias):
    """d mu_ah along direction z = dm[z, h, f]*theta[a, f] + d_bias[z, h]."""
    return np.einsum("zhf,af->zah", dm, theta) + d_bias[:, None]


def covariance_along(dm, dR, m, V):
    """d C_ahk along direction z = V[a, f, g]*dm[z, h, f]*m[k, g] + V[a, f, g]*dm[z, k, g]*m[h, f]
    + dR[z, h, k].
    """
    return (
        np.einsum("afg,zkg,hf->zahk", V, dm, m)
        + np.einsum("afg,zhf,kg->zahk", V, dm, m)
    ) + dR[:, None]


def first_form(w, slope, curvature, d_mean, d_covariance):
    """Change along z of averages with points s = curvature[a, h, k, s]*d_covariance[z, a, h,
    k]*w[a]/2 + d_mean[z, a, h]*slope[a, h, s]*w[a], rows a weighted by w, indices not on the
    left summed.
    """
    return (
        np.einsum("zah,ahs,a->zs", d_mean, slope, w, optimize=True)
        + 0.5 * np.einsum("ahks,zahk,a->zs", curvature, d_covariance, w, optimize=True)
    )


def second_form(w, slope, curvature, third, fourth, d_mean, d_covariance):
    """Change along z and y of E[M] = curvature[a, h, k]*d_mean[y, a, k]*d_mean[z, a, h]*w[a] +
    d_covariance[y, a, k, l]*d_mean[z, a, h]*third[a, h, k, l]*w[a]/2 + d_covariance[y, a, l,
    n]*d_covariance[z, a, h, k]*fourth[a, h, k, l, n]*w[a]/4 + d_covariance[z, a, h,
    k]*d_mean[y, a, l]*third[a, h, k, l]*w[a]/2, rows a weighted by w, indices not on the left
    summed; logits move on straight lines.
    """
    return (
        np.einsum("ahk,yak,zah,a->zy", curvature, d_mean, d_mean, w, optimize=True)
        + 0.5 * np.einsum("zahk,yal,ahkl,a->zy", d_covariance, d_mean, third, w, optimize=True)
        + 0.5 * np.einsum("yakl,zah,ahkl,a->zy", d_covariance, d_mean, third, w, optimize=True)
        + 0.25 * np.einsum("yaln,zahk,ahkln,a->zy", d_covariance, d_covariance, fourth, w, optimize=True)
    )


def bend_form(p, V, curvature, dm):
    """What the bend of C adds to the change along z and y = V[a, f, g]*curvature[a, h, k]*dm[y, h,
    f]*dm[z, k, g]*p[a]/2 + V[a, f, g]*curvature[a, h, k]*dm[y, k, g]*dm[z, h, f]*p[a]/2.
    """
    return (
        0.5 * np.einsum("afg,ahk,yhf,zkg,a->zy", V, curvature, dm, dm, p, optimize=True)
        + 0.5 * np.einsum("afg,ahk,ykg,zhf,a->zy", V, curvature, dm, dm, p, optimize=True)
    )


def weight_gradient(E_m, G, k, s):
    """dE/dk_ie = E_m[i, f]*s[f, e] + 2*G[h, i]*k[h, e], indices not on the left summed."""
    return (
        np.einsum("if,fe->ie", E_m, s)
        + 2.0 * np.einsum("hi,he->ie", G, k)
    )


def alignments_along(dk, s):
    """d m_ij along direction z = dk[z, i, d]*s[j, d], indices not on the left summed."""
    return np.einsum("zid,jd->zij", dk, s)


def overlaps_along(dk, k):
    """d R_ij along direction z = dk[z, i, d]*k[j, d] + dk[z, j, d]*k[i, d], indices not on the
    left summed.
    """
    return (
        np.einsum("zjd,id->zij", dk, k)
        + np.einsum("zid,jd->zij", dk, k)
    )


def weight_gradient_along(dE_m, dG, G, k, s, dk):
    """d(dE/dk_ie) along direction z = 2*G[h, i]*dk[z, h, e] + dE_m[z, i, f]*s[f, e] + 2*dG[z, h,
    i]*k[h, e], indices not on the left summed.
    """
    return (
        np.einsum("zif,fe->zie", dE_m, s)
        + 2.0 * np.einsum("hi,zhe->zie", G, dk)
        + 2.0 * np.einsum("zhi,he->zie", dG, k)
    )


def drift_m_along(dE_m, dG, G, m, dm):
    """d(dm_ij/dtau) along direction z = -2*G[h, i]*dm[z, h, j] - dE_m[z, i, j] - 2*dG[z, h,
    i]*m[h, j], indices not on the left summed.
    """
    return (
        - np.einsum("zij->zij", dE_m)
        - 2.0 * np.einsum("hi,zhj->zij", G, dm)
        - 2.0 * np.einsum("zhi,hj->zij", dG, m)
    )


def drift_R_along(E_m, dE_m, dG, G, m, R, dm, dR):
    """d(dR_ij/dtau) along direction z = -E_m[i, f]*dm[z, j, f] - E_m[j, f]*dm[z, i, f] - 2*G[h,
    i]*dR[z, h, j] - 2*G[h, j]*dR[z, h, i] - 2*R[h, i]*dG[z, h, j] - 2*R[h, j]*dG[z, h, i] -
    dE_m[z, i, f]*m[j, f] - dE_m[z, j, f]*m[i, f], indices not on the left summed.
    """
    return (
        - np.einsum("if,zjf->zij", E_m, dm)
        - np.einsum("jf,zif->zij", E_m, dm)
        - np.einsum("zjf,if->zij", dE_m, m)
        - np.einsum("zif,jf->zij", dE_m, m)
        - 2.0 * np.einsum("hi,zhj->zij", G, dR)
        - 2.0 * np.einsum("hj,zhi->zij", G, dR)
        - 2.0 * np.einsum("hi,zhj->zij", R, dG)
        - 2.0 * np.einsum("hj,zhi->zij", R, dG)
    )

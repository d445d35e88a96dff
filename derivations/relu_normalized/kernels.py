"""Kernels of the activation relu-normalized, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np

# Values of named parameters: no other line of this text depends on them.
PARAMETERS: dict[str, str] = {}
DEFINITION = {
    "name": "relu-normalized",
    "score": "Ramp(Symbol('x', real=True))",
    "normalizer": "Ramp(Symbol('x', real=True))",
    "scope": "tokens",
    "offset": "1",
    "power": "1",
    "bias": "none",
    "gain": "mean",
    "positive": [],
    "parameters": {}
}
SCOPE = 'tokens'
OFFSET = 1
POWER = 1
LOG_SLOPE = 0
LARGEST_LOG = 100.0
SMOOTH = False
KINKS = (0.0, )
CONTINUOUS = True
CLOSED = False
FREE_BIAS = False
FREE_GAIN = False


def _exp(z):
    """An exponential inside exp(-...): beyond e^100.0 the outer one is 0 in any case."""
    return np.exp(np.minimum(z, 100.0))


def attention(x):
    """a = f / (c + Z)^p, f = Ramp(x), g = Ramp(x), c = 1, p = 1, Z = sum of g over tokens.

    x of shape (..., L, H), bias included.
    """
    w_0 = np.maximum(x, 0.0)
    score = w_0
    normalizer = w_0
    total = 1 + np.sum(np.broadcast_to(normalizer, x.shape), axis=-2, keepdims=True)
    return score / total


def factors(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n, in units e^kappa of g, kappa = 0.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); X_2 = f0**2*t**2*exp(-g0*t); f0 = Ramp(x), g0 =
    Ramp(x), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s)
    w_0 = np.maximum(x, 0.0)
    w_1 = np.heaviside(x, 0.5)
    w_2 = (0.0 * x)
    f0 = w_0
    f1 = w_1
    f2 = w_2
    g0 = w_0
    g1 = w_1
    g2 = w_2
    out = np.empty((3, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-g0*t)
    w_1 = t*w_0
    w_2 = t**2
    w_3 = w_0*w_2
    w_4 = f0*g1
    w_5 = f0*w_3
    w_6 = f1*w_3
    w_7 = (t*t*t)*w_0
    w_8 = w_4*w_7
    w_9 = f0**2
    w_10 = g1*w_9
    out[0, 0] = w_0
    out[0, 1] = -g1*w_1
    out[0, 2] = g1**2*w_3 - g2*w_1
    out[1, 0] = f0*w_1
    out[1, 1] = f1*t*w_0 - w_3*w_4
    out[1, 2] = f2*t*w_0 - g1*w_6 + g1*(-w_6 + w_8) - g2*w_5
    out[2, 0] = w_3*w_9
    out[2, 1] = 2*f0*f1*w_0*w_2 - w_10*w_7
    out[2, 2] = f1*(2*f1*w_0*w_2 - 2*w_8) + 2*f2*w_5 + g1*(-2*f0*f1*w_7 + (t*t*t*t)*w_0*w_10) - g2*w_7*w_9
    return out


def pair_factors(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n, in units e^kappa of g, kappa = 0.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); f0 = Ramp(x), g0 = Ramp(x), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s)
    w_0 = np.maximum(x, 0.0)
    w_1 = np.heaviside(x, 0.5)
    w_2 = (0.0 * x)
    f0 = w_0
    f1 = w_1
    f2 = w_2
    g0 = w_0
    g1 = w_1
    g2 = w_2
    out = np.empty((2, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-g0*t)
    w_1 = t*w_0
    w_2 = t**2*w_0
    w_3 = f0*g1
    w_4 = f1*w_2
    out[0, 0] = w_0
    out[0, 1] = -g1*w_1
    out[0, 2] = g1**2*w_2 - g2*w_1
    out[1, 0] = f0*w_1
    out[1, 1] = f1*t*w_0 - w_2*w_3
    out[1, 2] = -f0*g2*w_2 + f2*t*w_0 - g1*w_4 + g1*((t*t*t)*w_0*w_3 - w_4)
    return out


def jets(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n, in units e^kappa of g, kappa = 0.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); X_2 = f0**2*t**2*exp(-g0*t); f0 = Ramp(x), g0 =
    Ramp(x), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s)
    w_0 = np.maximum(x, 0.0)
    w_1 = np.heaviside(x, 0.5)
    w_2 = (0.0 * x)
    w_3 = (0.0 * x)
    w_4 = (0.0 * x)
    f0 = w_0
    f1 = w_1
    f2 = w_2
    f3 = w_3
    f4 = w_4
    g0 = w_0
    g1 = w_1
    g2 = w_2
    g3 = w_3
    g4 = w_4
    out = np.empty((3, 5, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-g0*t)
    w_1 = t*w_0
    w_2 = g1**2
    w_3 = t**2
    w_4 = w_0*w_3
    w_5 = g2*w_4
    w_6 = (t*t*t)
    w_7 = w_0*w_2
    w_8 = w_6*w_7
    w_9 = -g2*w_0*w_3 + w_8
    w_10 = g3*w_4
    w_11 = 3*g1
    w_12 = -3*g2*w_0*w_3 + 3*w_8
    w_13 = w_0*w_6
    w_14 = g2*w_13
    w_15 = 2*w_14
    w_16 = g1*w_15
    w_17 = (t*t*t*t)
    w_18 = w_17*w_7
    w_19 = -w_14 + w_18
    w_20 = f0*g1
    w_21 = f1*w_4
    w_22 = w_13*w_20
    w_23 = f2*w_4
    w_24 = 2*w_23
    w_25 = -2*w_21 + 2*w_22
    w_26 = f0*w_14
    w_27 = f1*w_13
    w_28 = g1*w_27
    w_29 = w_0*w_17
    w_30 = w_20*w_29
    w_31 = g1*(f1*w_0*w_6 - w_30)
    w_32 = f0*w_4
    w_33 = f3*w_4
    w_34 = -w_19
    w_35 = -2*f1*w_0*w_6 + 2*w_30
    w_36 = -w_35
    w_37 = g3*w_13
    w_38 = f0*w_37
    w_39 = f2*w_13
    w_40 = 2*w_39
    w_41 = g2*w_29
    w_42 = f0*w_41
    w_43 = f1*w_29
    w_44 = g1*w_43
    w_45 = (t*t*t*t*t)*w_0
    w_46 = w_20*w_45
    w_47 = f0**2
    w_48 = g1*w_47
    w_49 = w_29*w_48
    w_50 = 2*w_33
    w_51 = 4*w_27
    w_52 = w_41*w_47
    w_53 = w_45*w_48
    w_54 = f1*w_35 + g1*(2*f0*f1*w_0*w_17 - w_53)
    w_55 = 6*f0
    w_56 = 4*w_30 - w_51
    w_57 = 4*f0*f1*w_0*w_17 - 2*w_53
    w_58 = 2*f1*w_0*w_17 - 2*w_46
    w_59 = g1*w_58 - w_40 + 2*w_42 + 2*w_44
    w_60 = 2*f0
    out[0, 0] = w_0
    out[0, 1] = -g1*w_1
    out[0, 2] = -g2*w_1 + w_2*w_4
    out[0, 3] = 2*g1*w_5 - g1*w_9 - g3*w_1
    out[0, 4] = g1*(g1*w_19 + w_10 - w_16) - g2*w_12 - g4*w_1 + w_10*w_11
    out[1, 0] = f0*w_1
    out[1, 1] = f1*t*w_0 - w_20*w_4
    out[1, 2] = -f0*w_5 + f2*t*w_0 - g1*w_21 + g1*(-w_21 + w_22)
    out[1, 3] = -f0*w_10 + f1*w_9 + f3*w_1 - g1*w_24 + g1*(-w_23 + w_26 + w_28 + w_31) + g2*w_25
    out[1, 4] = f1*(g1*w_34 - w_10 + w_16) + f2*w_12 + f4*w_1 + g1*(f1*w_34 + g1*w_40 + g1*(f2*w_0*w_6 + g1*(-w_43 + w_46) - w_42 - w_44) + g2*w_36 - w_33 + w_38) + g2*(g1*w_36 - 3*w_23 + 3*w_26 + 3*w_28 + w_31) + g3*(-3*w_21 + 3*w_22) - g4*w_32 - w_11*w_33
    out[2, 0] = w_4*w_47
    out[2, 1] = 2*f0*f1*w_0*w_3 - w_13*w_48
    out[2, 2] = f0*w_24 - f1*w_25 + g1*(-2*f0*w_27 + w_49) - w_14*w_47
    out[2, 3] = f0*w_50 + f1*(2*f2*w_0*w_3 + g1*w_35 - 2*w_26 - 2*w_28) + f2*(4*f1*w_0*w_3 - 4*w_22) + g1*(-f0*w_40 + w_52 + w_54) + g2*(-f0*w_51 + 2*w_49) - w_37*w_47
    out[2, 4] = f1*(f1*(-w_15 + 2*w_18) - 4*g1*w_39 + g1*w_59 + g2*w_56 - 2*w_38 + w_50) + f2*(g1*w_35 + g1*w_56 + 6*w_23 - 6*w_26 - 6*w_28) + f3*(6*f1*w_0*w_3 - 6*w_22) + 2*f4*w_32 + g1*(f1*w_59 + f2*w_56 - f3*w_13*w_60 + g1*(f1*w_58 + f2*w_29*w_60 + g1*(-f1*w_45*w_60 + (t*t*t*t*t*t)*w_0*w_48) - g2*w_45*w_47) + g2*w_57 + g3*w_29*w_47) + g2*(f1*w_56 + g1*w_57 - w_39*w_55 + 3*w_52 + w_54) + g3*(-w_27*w_55 + 3*w_49) - g4*w_13*w_47
    return out


def pair_jets(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n, in units e^kappa of g, kappa = 0.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); f0 = Ramp(x), g0 = Ramp(x), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s)
    w_0 = np.maximum(x, 0.0)
    w_1 = np.heaviside(x, 0.5)
    w_2 = (0.0 * x)
    w_3 = (0.0 * x)
    w_4 = (0.0 * x)
    f0 = w_0
    f1 = w_1
    f2 = w_2
    f3 = w_3
    f4 = w_4
    g0 = w_0
    g1 = w_1
    g2 = w_2
    g3 = w_3
    g4 = w_4
    out = np.empty((2, 5, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-g0*t)
    w_1 = t*w_0
    w_2 = g1**2
    w_3 = t**2
    w_4 = w_0*w_3
    w_5 = g2*w_4
    w_6 = 2*g1
    w_7 = (t*t*t)
    w_8 = w_0*w_2
    w_9 = w_7*w_8
    w_10 = -g2*w_0*w_3 + w_9
    w_11 = g3*w_4
    w_12 = 3*g1
    w_13 = -3*g2*w_0*w_3 + 3*w_9
    w_14 = w_0*w_7
    w_15 = g2*w_14
    w_16 = w_15*w_6
    w_17 = (t*t*t*t)
    w_18 = -w_15 + w_17*w_8
    w_19 = f0*g1
    w_20 = f1*w_4
    w_21 = w_14*w_19
    w_22 = f2*w_4
    w_23 = f0*w_15
    w_24 = f1*g1*w_14
    w_25 = w_0*w_17
    w_26 = w_19*w_25
    w_27 = g1*(f1*w_0*w_7 - w_26)
    w_28 = f3*w_4
    w_29 = -w_18
    w_30 = 2*f1*w_0*w_7 - 2*w_26
    w_31 = f1*w_25
    out[0, 0] = w_0
    out[0, 1] = -g1*w_1
    out[0, 2] = -g2*w_1 + w_2*w_4
    out[0, 3] = -g1*w_10 - g3*w_1 + w_5*w_6
    out[0, 4] = g1*(g1*w_18 + w_11 - w_16) - g2*w_13 - g4*w_1 + w_11*w_12
    out[1, 0] = f0*w_1
    out[1, 1] = f1*t*w_0 - w_19*w_4
    out[1, 2] = -f0*w_5 + f2*t*w_0 - g1*w_20 + g1*(-w_20 + w_21)
    out[1, 3] = -f0*w_11 + f1*w_10 + f3*w_1 + g1*(-w_22 + w_23 + w_24 + w_27) + g2*(-2*w_20 + 2*w_21) - w_22*w_6
    out[1, 4] = -f0*g4*w_4 + f1*(g1*w_29 - w_11 + w_16) + f2*w_13 + f4*w_1 + g1*(f0*g3*w_14 + f1*w_29 + f2*w_14*w_6 + g1*(-f0*g2*w_25 + f2*w_0*w_7 - g1*w_31 + g1*((t*t*t*t*t)*w_0*w_19 - w_31)) + g2*w_30 - w_28) + g2*(g1*w_30 - 3*w_22 + 3*w_23 + 3*w_24 + w_27) + g3*(-3*w_20 + 3*w_21) - w_12*w_28
    return out


def log_normalizer(x):
    """ln g(x)."""
    return 0 + np.log(np.maximum(x, 0.0) + 0.0 * x)


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


def single_second_variation(s, relevant, noise, powers, gamma):
    """out[density, n, other density, n'] = second derivative of the risk integrand in the averages
    of X_n and X_n'; ``powers`` up to the third derivative.
    """
    survival_relevant, score_relevant, square_relevant = relevant
    _, _, square_noise = noise
    _, power_1, power_2, power_3 = powers
    out = np.zeros((2, 3, 2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = gamma**2
    w_1 = np.exp(-_exp(s))
    w_2 = w_0*w_1
    w_3 = power_2*w_2
    w_4 = square_noise*w_3
    w_5 = power_1*w_2
    w_6 = 2*gamma
    w_7 = -power_1*w_1*w_6
    w_8 = power_2*w_1
    w_9 = survival_relevant*w_3
    out[0, 0, 1, 0] = w_4
    out[0, 0, 1, 2] = w_5
    out[0, 1, 1, 0] = w_7
    out[0, 2, 1, 0] = w_5
    out[1, 0, 0, 0] = w_4
    out[1, 0, 0, 1] = w_7
    out[1, 0, 0, 2] = w_5
    out[1, 0, 1, 0] = -score_relevant*w_6*w_8 + w_0*(power_3*square_noise*survival_relevant*w_1 + square_relevant*w_8)
    out[1, 0, 1, 2] = w_9
    out[1, 2, 0, 0] = w_5
    out[1, 2, 1, 0] = w_9
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


def pair_second_variation(s, v, relevant, noise, powers, gamma):
    """out[density, n, other density, n'] = second derivative of the risk integrand in the averages
    of X_n and X_n'; ``powers`` up to the third derivative.
    """
    survival_relevant, score_relevant, _ = relevant
    _, score_noise, _ = noise
    _, power_1, power_2, power_3 = powers
    out = np.zeros((2, 3, 2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = 2*gamma**2
    w_1 = np.exp(-_exp(s))*np.exp(-_exp(v))
    w_2 = power_2*w_1
    w_3 = w_0*w_2
    w_4 = score_noise*w_3
    w_5 = power_1*w_0*w_1
    w_6 = survival_relevant*w_3
    out[0, 0, 1, 0] = w_4
    out[0, 0, 1, 1] = w_5
    out[0, 1, 1, 0] = w_5
    out[1, 0, 0, 0] = w_4
    out[1, 0, 0, 1] = w_5
    out[1, 0, 1, 0] = w_0*(power_3*score_noise*survival_relevant*w_1 + score_relevant*w_2)
    out[1, 0, 1, 1] = w_6
    out[1, 1, 0, 0] = w_5
    out[1, 1, 1, 0] = w_6
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
    w_0 = np.maximum(x, 0.0)
    w_1 = np.heaviside(x, 0.5)
    score = w_0
    f1 = w_1
    normalizer = w_0
    g1 = w_1
    total = 1 + np.sum(np.broadcast_to(normalizer, x.shape), axis=-2, keepdims=True)
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

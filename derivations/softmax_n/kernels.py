"""Kernels of the activation softmax-n, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np

# Values of named parameters: no other line of this text depends on them.
param_n = 1.0
PARAMETERS: dict[str, str] = {"n": "param_n"}
DEFINITION = {
    "name": "softmax-n",
    "score": "exp(Symbol('x', real=True))",
    "normalizer": "exp(Symbol('x', real=True))",
    "scope": "tokens",
    "offset": "param_n",
    "power": "1",
    "bias": "none",
    "gain": "mean",
    "positive": [],
    "parameters": {"n": param_n}
}
SCOPE = 'tokens'
OFFSET = param_n
POWER = 1
LOG_SLOPE = 1
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
    """a = f / (c + Z)^p, f = exp(x), g = exp(x), c = param_n, p = 1, Z = sum of g over tokens.

    x of shape (..., L, H), bias included.
    """
    kappa, offset = np.max(x, axis=-2, keepdims=True), param_n
    if offset:
        kappa = np.maximum(0.0, kappa)
        offset = offset * np.exp(-kappa)
    w_0 = np.exp(-kappa + x)
    score = w_0
    normalizer = w_0
    total = offset + np.sum(np.broadcast_to(normalizer, x.shape), axis=-2, keepdims=True)
    return score / total


def factors(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n, in units e^kappa of g, kappa = x.

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


def pair_factors(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n, in units e^kappa of g, kappa = x.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); f0 = exp(x), g0 = exp(x), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s + x)
    out = np.empty((2, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-t)
    w_1 = t*w_0
    w_2 = -w_1
    w_3 = t**2*w_0
    w_4 = w_2 + w_3
    out[0, 0] = w_0
    out[0, 1] = w_2
    out[0, 2] = w_4
    out[1, 0] = w_1
    out[1, 1] = -w_4
    out[1, 2] = (t*t*t)*w_0 + w_1 - 3*w_3
    return out


def jets(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n, in units e^kappa of g, kappa = x.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); X_2 = f0**2*t**2*exp(-g0*t); f0 = exp(x), g0 =
    exp(x), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s + x)
    out = np.empty((3, 5, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-t)
    w_1 = t*w_0
    w_2 = -w_1
    w_3 = t**2
    w_4 = w_0*w_3
    w_5 = w_2 + w_4
    w_6 = (t*t*t)*w_0
    w_7 = -3*w_0*w_3 + w_1 + w_6
    w_8 = (t*t*t*t)
    w_9 = w_0*w_8
    w_10 = w_2 + 7*w_4 - 6*w_6 + w_9
    w_11 = (t*t*t*t*t)*w_0
    out[0, 0] = w_0
    out[0, 1] = w_2
    out[0, 2] = w_5
    out[0, 3] = -w_7
    out[0, 4] = w_10
    out[1, 0] = w_1
    out[1, 1] = -w_5
    out[1, 2] = w_7
    out[1, 3] = -w_10
    out[1, 4] = w_1 + w_11 - 15*w_4 + 25*w_6 - 10*w_9
    out[2, 0] = w_4
    out[2, 1] = 2*w_0*w_3 - w_6
    out[2, 2] = 4*w_4 - 5*w_6 + w_9
    out[2, 3] = 8*w_0*w_3 + 9*w_0*w_8 - w_11 - 19*w_6
    out[2, 4] = (t*t*t*t*t*t)*w_0 - 14*w_11 + 16*w_4 - 65*w_6 + 55*w_9
    return out


def pair_jets(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n, in units e^kappa of g, kappa = x.

    X_0 = exp(-g0*t); X_1 = f0*t*exp(-g0*t); f0 = exp(x), g0 = exp(x), t = e^s.
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    t = _exp(s + x)
    out = np.empty((2, 5, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-t)
    w_1 = t*w_0
    w_2 = -w_1
    w_3 = t**2
    w_4 = w_0*w_3
    w_5 = w_2 + w_4
    w_6 = (t*t*t)*w_0
    w_7 = -3*w_0*w_3 + w_1 + w_6
    w_8 = (t*t*t*t)*w_0
    w_9 = w_2 + 7*w_4 - 6*w_6 + w_8
    out[0, 0] = w_0
    out[0, 1] = w_2
    out[0, 2] = w_5
    out[0, 3] = -w_7
    out[0, 4] = w_9
    out[1, 0] = w_1
    out[1, 1] = -w_5
    out[1, 2] = w_7
    out[1, 3] = -w_9
    out[1, 4] = (t*t*t*t*t)*w_0 + w_1 - 15*w_4 + 25*w_6 - 10*w_8
    return out


def log_normalizer(x):
    """ln g(x)."""
    return x + np.log(1 + 0.0 * x)


def single_moments(s, relevant, noise, powers):
    """Integrands in the logarithmic lift variables.

    linear =
    exp(-param_n*exp(s))*E_0[exp(-g(x[h])*exp(s))]^(L-1)*E_star[f(x[h])*exp(s)*exp(-g(x[h])*exp(s))];
    square =
    exp(-param_n*exp(s))*E_0[exp(-g(x[h])*exp(s))]^(L-1)*E_star[f(x[h])**2*exp(2*s)*exp(-g(x[h])*exp(s))]
    +
    exp(-param_n*exp(s))*(L-1)*E_0[exp(-g(x[h])*exp(s))]^(L-2)*E_0[f(x[h])**2*exp(2*s)*exp(-g(x[h])*exp(s))]*E_star[exp(-g(x[h])*exp(s))].
    """
    survival_relevant, score_relevant, square_relevant = relevant
    _, _, square_noise = noise
    power_0, power_1, _ = powers
    w_0 = np.exp(-param_n*_exp(s))
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
    w_1 = np.exp(-param_n*_exp(s))
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
    w_1 = np.exp(-param_n*_exp(s))
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
    exp(-param_n*exp(s))*exp(-param_n*exp(v))*E_0[exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]^(L-1)*E_star[f(x[h])*f(x[k])*exp(s)*exp(v)*exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]
    +
    exp(-param_n*exp(s))*exp(-param_n*exp(v))*(L-1)*E_0[exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]^(L-2)*E_star[exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))]*E_0[f(x[h])*f(x[k])*exp(s)*exp(v)*exp(-g(x[h])*exp(s))*exp(-g(x[k])*exp(v))].
    """
    survival_relevant, score_relevant, _ = relevant
    _, score_noise, _ = noise
    power_0, power_1, _ = powers
    w_0 = np.exp(-param_n*_exp(s))*np.exp(-param_n*_exp(v))
    pair = power_0*score_relevant*w_0 + power_1*score_noise*survival_relevant*w_0
    return pair


def pair_variation(s, v, relevant, noise, powers, gamma):
    """out[density, n] = d(risk integrand) / d(average of X_n), density 0 relevant, 1 noise."""
    survival_relevant, score_relevant, _ = relevant
    _, score_noise, _ = noise
    power_0, power_1, power_2 = powers
    out = np.empty((2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = 2*gamma**2
    w_1 = np.exp(-param_n*_exp(s))*np.exp(-param_n*_exp(v))
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
    w_1 = np.exp(-param_n*_exp(s))*np.exp(-param_n*_exp(v))
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
    kappa, offset = np.max(x, axis=-2, keepdims=True), param_n
    if offset:
        kappa = np.maximum(0.0, kappa)
        offset = offset * np.exp(-kappa)
    w_0 = np.exp(-kappa + x)
    score = w_0
    f1 = w_0
    normalizer = w_0
    g1 = w_0
    total = offset + np.sum(np.broadcast_to(normalizer, x.shape), axis=-2, keepdims=True)
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

"""Kernels of the activation bayes-softmax, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np

# Values of named parameters: no other line of this text depends on them.
PARAMETERS: dict[str, str] = {}
DEFINITION = {
    "name": "bayes-softmax",
    "score": "exp(Symbol('x', real=True))",
    "normalizer": "exp(Symbol('x', real=True))",
    "scope": "heads",
    "offset": "0",
    "power": "1",
    "bias": "norm",
    "gain": "sum",
    "positive": [],
    "parameters": {}
}
SCOPE = 'heads'
OFFSET = 0
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
    """a = f / (c + Z)^p, f = exp(x), g = exp(x), c = 0, p = 1, Z = sum of g over tokens and heads.

    x of shape (..., L, H), bias included.
    """
    kappa = np.max(x, axis=(-2, -1), keepdims=True)
    w_0 = np.exp(-kappa + x)
    score = w_0
    normalizer = w_0
    total = np.sum(np.broadcast_to(normalizer, x.shape), axis=(-2, -1), keepdims=True)
    return score / total


def units(x):
    """kappa, f and g of x (..., H), derivative first: f = exp(x) in units of e^(p kappa), g =
    exp(x) in units of e^kappa.
    """
    kappa = np.max(x, axis=-1)
    unit = kappa[..., None]
    f, g = np.empty((3, *x.shape)), np.empty((3, *x.shape))
    w_0 = np.exp(-unit + x)
    f[0] = w_0
    f[1] = w_0
    f[2] = w_0
    g[0] = w_0
    g[1] = w_0
    g[2] = w_0
    return kappa, f, g


def jet_units(x):
    """kappa, f and g of x (..., H), derivative first: f = exp(x) in units of e^(p kappa), g =
    exp(x) in units of e^kappa.
    """
    kappa = np.max(x, axis=-1)
    unit = kappa[..., None]
    f, g = np.empty((5, *x.shape)), np.empty((5, *x.shape))
    w_0 = np.exp(-unit + x)
    f[0] = w_0
    f[1] = w_0
    f[2] = w_0
    f[3] = w_0
    f[4] = w_0
    g[0] = w_0
    g[1] = w_0
    g[2] = w_0
    g[3] = w_0
    g[4] = w_0
    return kappa, f, g


def log_normalizer(x):
    """ln of the normalizer of one token, summed over heads, x of shape (..., H)."""
    kappa, _, g = units(x)
    return kappa + np.log(np.sum(g[0], axis=-1))


# Lifted powers t^d exp(-t) by index: of the averages n = 0, 1, 2, and of the moments
# (n, index) that ``joint_partials`` and ``jet_partials`` take; the degrees d are
# [0, 1, 2, 3, 4, 5, 6].
AVERAGE_POWERS = (0, 1, 2)
MOMENT_POWERS = ((0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4))
JET_POWERS = ((0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (2, 2), (2, 3), (2, 4), (2, 5), (2, 6))


def lifted_powers(y):
    """t^d exp(-t) with t = e^y."""
    out = np.empty((5, *np.shape(y)))
    w_0 = -_exp(y)
    out[0] = np.exp(w_0)
    out[1] = np.exp(w_0 + y)
    out[2] = np.exp(w_0 + 2*y)
    out[3] = np.exp(w_0 + 3*y)
    out[4] = np.exp(w_0 + 4*y)
    return out


def jet_lifted_powers(y):
    """t^d exp(-t) with t = e^y."""
    out = np.empty((7, *np.shape(y)))
    w_0 = -_exp(y)
    out[0] = np.exp(w_0)
    out[1] = np.exp(w_0 + y)
    out[2] = np.exp(w_0 + 2*y)
    out[3] = np.exp(w_0 + 3*y)
    out[4] = np.exp(w_0 + 4*y)
    out[5] = np.exp(w_0 + 5*y)
    out[6] = np.exp(w_0 + 6*y)
    return out


def ratios(f, g):
    """What multiplies the lifted power in X_n = [exp(-g0*t), f0*t*exp(-g0*t),
    f0**2*t**2*exp(-g0*t)]; f0, g0 sums over heads.
    """
    f0, g0 = np.sum(f[0], axis=-1), np.sum(g[0], axis=-1)
    out = np.empty((3, f0.size))
    out[0] = 1
    out[1] = f0/g0
    out[2] = f0**2/g0**2
    return out


def joint_partials(moments, f, g):
    """Partial derivatives f, g, ff, fg, gg in the sums f0, g0 of M = sum_n,s variation[n, s]
    X_n(s), at each node; moments[i] = sum_s variation[n, s] of the lifted power at the node, in
    the order of MOMENT_POWERS.
    """
    f0, g0 = np.sum(f[0], axis=-1), np.sum(g[0], axis=-1)
    moment_0_1, moment_0_2, moment_1_1, moment_1_2, moment_1_3, moment_2_2, moment_2_3, moment_2_4 = moments
    out = np.empty((5, f0.size))
    w_0 = 1.0/g0
    w_1 = g0**(-2.0)
    w_2 = 2*moment_2_2*w_1
    w_3 = moment_1_2*w_1
    w_4 = f0**2
    w_5 = g0**(-3.0)
    w_6 = moment_2_3*w_5
    out[0] = f0*w_2 + moment_1_1*w_0
    out[1] = -f0*w_3 - moment_0_1*w_0 - w_4*w_6
    out[2] = w_2
    out[3] = -2*f0*w_6 - w_3
    out[4] = f0*moment_1_3*w_5 + moment_0_2*w_1 + moment_2_4*w_4/(g0*g0*g0*g0)
    return out


def jet_partials(moments, f, g):
    """Partial derivatives f, g, ff, fg, gg, fff, ffg, fgg, ggg, ffff, fffg, ffgg, fggg, gggg in
    the sums f0, g0 of M = sum_n,s variation[n, s] X_n(s), at each node; moments[i] = sum_s
    variation[n, s] of the lifted power at the node, in the order of JET_POWERS.
    """
    f0, g0 = np.sum(f[0], axis=-1), np.sum(g[0], axis=-1)
    moment_0_1, moment_0_2, moment_0_3, moment_0_4, moment_1_1, moment_1_2, moment_1_3, moment_1_4, moment_1_5, moment_2_2, moment_2_3, moment_2_4, moment_2_5, moment_2_6 = moments
    out = np.empty((14, f0.size))
    w_0 = 1.0/g0
    w_1 = g0**(-2.0)
    w_2 = 2*moment_2_2*w_1
    w_3 = moment_1_2*w_1
    w_4 = f0**2
    w_5 = g0**(-3.0)
    w_6 = moment_2_3*w_5
    w_7 = 2*w_6
    w_8 = moment_1_3*w_5
    w_9 = g0**(-4.0)
    w_10 = moment_2_4*w_9
    w_11 = 2*w_10
    w_12 = moment_1_4*w_9
    w_13 = g0**(-5.0)
    w_14 = moment_2_5*w_13
    out[0] = f0*w_2 + moment_1_1*w_0
    out[1] = -f0*w_3 - moment_0_1*w_0 - w_4*w_6
    out[2] = w_2
    out[3] = -f0*w_7 - w_3
    out[4] = f0*w_8 + moment_0_2*w_1 + w_10*w_4
    out[5] = 0
    out[6] = -w_7
    out[7] = f0*w_11 + w_8
    out[8] = -f0*w_12 - moment_0_3*w_5 - w_14*w_4
    out[9] = 0
    out[10] = 0
    out[11] = w_11
    out[12] = -2*f0*w_14 - w_12
    out[13] = f0*moment_1_5*w_13 + moment_0_4*w_9 + moment_2_6*w_4/(g0*g0*g0*g0*g0*g0)
    return out


def coefficients(f, g):
    """What multiplies lifted power i of MOMENT_POWERS in the partial derivatives f, g, ff, fg, gg
    of its X_n, at each node.
    """
    f0, g0 = np.sum(f[0], axis=-1), np.sum(g[0], axis=-1)
    out = np.zeros((8, 5, f0.size))
    w_0 = 1.0/g0
    w_1 = g0**(-2.0)
    w_2 = f0*w_1
    w_3 = g0**(-3.0)
    w_4 = f0*w_3
    w_5 = f0**2
    out[0, 1] = -w_0
    out[1, 4] = w_1
    out[2, 0] = w_0
    out[3, 1] = -w_2
    out[3, 3] = -w_1
    out[4, 4] = w_4
    out[5, 0] = 2*w_2
    out[5, 2] = 2*w_1
    out[6, 1] = -w_3*w_5
    out[6, 3] = -2*w_4
    out[7, 4] = w_5/(g0*g0*g0*g0)
    return out


def joint_slopes(weight, partials, f, g):
    """slope_h = E[d_h M], curvature_hk = E[d_h d_k M]: weighted sums over the nodes n."""
    d1 = partials[[0, 1]]
    x1 = np.stack([f[1], g[1]])
    slope = np.einsum("An,n,Anh->h", d1, weight, x1, optimize=True)
    d2 = partials[[[2, 3], [3, 4]]]
    x2 = np.stack([f[2], g[2]])
    curvature = (
        np.einsum("hk,An,n,Anh->hk", np.eye(x2.shape[2]), d1, weight, x2, optimize=True)
        + np.einsum("ABn,n,Anh,Bnk->hk", d2, weight, x1, x1, optimize=True)
    )
    return slope, curvature


def joint_jets(weight, partials, f, g):
    """slope_h = E[d_h M], curvature_hk = E[d_h d_k M], third_hkl = E[d_h d_k d_l M], fourth_hklo =
    E[d_h d_k d_l d_o M]: weighted sums over the nodes n.
    """
    d1 = partials[[0, 1]]
    x1 = np.stack([f[1], g[1]])
    slope = np.einsum("An,n,Anh->h", d1, weight, x1, optimize=True)
    d2 = partials[[[2, 3], [3, 4]]]
    x2 = np.stack([f[2], g[2]])
    curvature = (
        np.einsum("hk,An,n,Anh->hk", np.eye(x2.shape[2]), d1, weight, x2, optimize=True)
        + np.einsum("ABn,n,Anh,Bnk->hk", d2, weight, x1, x1, optimize=True)
    )
    d3 = partials[[[[5, 6], [6, 7]], [[6, 7], [7, 8]]]]
    x3 = np.stack([f[3], g[3]])
    third = (
        np.einsum("hk,hl,An,n,Anh->hkl", np.eye(x3.shape[2]), np.eye(x3.shape[2]), d1, weight, x3, optimize=True)
        + np.einsum("kl,ABn,n,Anh,Bnk->hkl", np.eye(x2.shape[2]), d2, weight, x1, x2, optimize=True)
        + np.einsum("hl,ABn,n,Bnk,Anh->hkl", np.eye(x2.shape[2]), d2, weight, x1, x2, optimize=True)
        + np.einsum("hk,ACn,n,Cnl,Anh->hkl", np.eye(x2.shape[2]), d2, weight, x1, x2, optimize=True)
        + np.einsum("ABCn,n,Anh,Bnk,Cnl->hkl", d3, weight, x1, x1, x1, optimize=True)
    )
    d4 = partials[[[[[9, 10], [10, 11]], [[10, 11], [11, 12]]], [[[10, 11], [11, 12]], [[11, 12], [12, 13]]]]]
    x4 = np.stack([f[4], g[4]])
    fourth = (
        np.einsum("hk,hl,ho,An,n,Anh->hklo", np.eye(x4.shape[2]), np.eye(x4.shape[2]), np.eye(x4.shape[2]), d1, weight, x4, optimize=True)
        + np.einsum("kl,ko,ABn,n,Anh,Bnk->hklo", np.eye(x3.shape[2]), np.eye(x3.shape[2]), d2, weight, x1, x3, optimize=True)
        + np.einsum("hl,ho,ABn,n,Bnk,Anh->hklo", np.eye(x3.shape[2]), np.eye(x3.shape[2]), d2, weight, x1, x3, optimize=True)
        + np.einsum("hl,ko,ABn,n,Anh,Bnk->hklo", np.eye(x2.shape[2]), np.eye(x2.shape[2]), d2, weight, x2, x2, optimize=True)
        + np.einsum("ho,kl,ABn,n,Anh,Bnk->hklo", np.eye(x2.shape[2]), np.eye(x2.shape[2]), d2, weight, x2, x2, optimize=True)
        + np.einsum("hk,ho,ACn,n,Cnl,Anh->hklo", np.eye(x3.shape[2]), np.eye(x3.shape[2]), d2, weight, x1, x3, optimize=True)
        + np.einsum("hk,lo,ACn,n,Anh,Cnl->hklo", np.eye(x2.shape[2]), np.eye(x2.shape[2]), d2, weight, x2, x2, optimize=True)
        + np.einsum("hk,hl,ADn,n,Dno,Anh->hklo", np.eye(x3.shape[2]), np.eye(x3.shape[2]), d2, weight, x1, x3, optimize=True)
        + np.einsum("ABCDn,n,Anh,Bnk,Cnl,Dno->hklo", d4, weight, x1, x1, x1, x1, optimize=True)
        + np.einsum("lo,ABCn,n,Anh,Bnk,Cnl->hklo", np.eye(x2.shape[2]), d3, weight, x1, x1, x2, optimize=True)
        + np.einsum("ko,ABCn,n,Anh,Cnl,Bnk->hklo", np.eye(x2.shape[2]), d3, weight, x1, x1, x2, optimize=True)
        + np.einsum("kl,ABDn,n,Anh,Dno,Bnk->hklo", np.eye(x2.shape[2]), d3, weight, x1, x1, x2, optimize=True)
        + np.einsum("ho,ABCn,n,Bnk,Cnl,Anh->hklo", np.eye(x2.shape[2]), d3, weight, x1, x1, x2, optimize=True)
        + np.einsum("hl,ABDn,n,Bnk,Dno,Anh->hklo", np.eye(x2.shape[2]), d3, weight, x1, x1, x2, optimize=True)
        + np.einsum("hk,ACDn,n,Cnl,Dno,Anh->hklo", np.eye(x2.shape[2]), d3, weight, x1, x1, x2, optimize=True)
    )
    return slope, curvature, third, fourth


def joint_amounts(weight, partials, f, g):
    """slope_h = E[d_h M], curvature_hk = E[d_h d_k M]: at each node n, which comes last."""
    d1 = partials[[0, 1]]
    x1 = np.stack([f[1], g[1]])
    slope = np.einsum("An,n,Anh->hn", d1, weight, x1, optimize=True)
    d2 = partials[[[2, 3], [3, 4]]]
    x2 = np.stack([f[2], g[2]])
    curvature = (
        np.einsum("hk,An,n,Anh->hkn", np.eye(x2.shape[2]), d1, weight, x2, optimize=True)
        + np.einsum("ABn,n,Anh,Bnk->hkn", d2, weight, x1, x1, optimize=True)
    )
    return slope, curvature


def single_moments(s, relevant, noise, powers):
    """Integrands in the logarithmic lift variables.

    linear = E_0[exp(-exp(s)*Sum(g(x[h]), (h, 1,
    H)))]^(L-1)*E_star[exp(s)*exp(-exp(s)*Sum(g(x[h]), (h, 1, H)))*Sum(f(x[h]), (h, 1, H))];
    square = E_0[exp(-exp(s)*Sum(g(x[h]), (h, 1,
    H)))]^(L-1)*E_star[exp(2*s)*exp(-exp(s)*Sum(g(x[h]), (h, 1, H)))*Sum(f(x[h]), (h, 1, H))**2]
    + (L-1)*E_0[exp(-exp(s)*Sum(g(x[h]), (h, 1,
    H)))]^(L-2)*E_0[exp(2*s)*exp(-exp(s)*Sum(g(x[h]), (h, 1, H)))*Sum(f(x[h]), (h, 1,
    H))**2]*E_star[exp(-exp(s)*Sum(g(x[h]), (h, 1, H)))].
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


def risk(linear, square, pair, gamma):
    """E = gamma**2*square - 2*gamma*linear + 1; linear, square and pair are summed over heads and
    pairs of heads.
    """
    return gamma**2*square - 2*gamma*linear + 1


def gain_slope(linear, square, pair, gamma):
    """dE/dgamma = 2*gamma*square - 2*linear; linear, square and pair are summed over heads and
    pairs of heads.
    """
    return 2*gamma*square - 2*linear


def best_gain(linear, square, pair):
    """The gamma at which E is least: linear/square; linear, square and pair are summed over heads
    and pairs of heads.
    """
    return linear/square


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


def linearized(x):
    """Head attention a and its slopes: d a_j / d x_l = [j = l] local_l - a_j shared_l.

    local = f1/total, shared = g1/total, f1 and g1 the slopes of score and normalizer; x of
    shape (..., L, H), bias included.
    """
    kappa = np.max(x, axis=(-2, -1), keepdims=True)
    w_0 = np.exp(-kappa + x)
    score = w_0
    f1 = w_0
    normalizer = w_0
    g1 = w_0
    total = np.sum(np.broadcast_to(normalizer, x.shape), axis=(-2, -1), keepdims=True)
    return score / total, f1/total, g1/total


def pullback(weights, linear):
    """sum_j weights_j d A_j / d x_lh at gain 1, shape (..., L, H), from ``linearized``.

    = weights_l local_l - shared_l sum_j weights_j a_j, a_j summed over heads; weights (..., L).
    """
    a, local, shared = linear
    weights = weights[..., None]
    carried = np.sum(weights * a, axis=(-2, -1), keepdims=True)
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
    """gradient_i . spike_j = -delta[z, l, i]*m[z, i, j] + delta[z, l, i]*u[z, l, j], for each run
    z, indices not on the left summed.
    """
    return (
        np.einsum("zli,zlj->zij", delta, u)
        - np.einsum("zli,zij->zij", delta, m)
    )


def along_rest(delta, v, Q):
    """gradient_i . frame_j = -Q[z, i, j]*delta[z, l, i] + delta[z, l, i]*v[z, l, j], for each run
    z, indices not on the left summed.
    """
    return (
        np.einsum("zli,zlj->zij", delta, v)
        - np.einsum("zij,zli->zij", Q, delta)
    )


def beyond(delta, W):
    """gradient_i . gradient_j outside = W[z, l, n]*delta[z, l, i]*delta[z, n, j], for each run z,
    indices not on the left summed.
    """
    return np.einsum("zln,zli,znj->zij", W, delta, delta)


def bias_along(dR):
    """d b_h along direction z = -dR[z, h, h]/2."""
    return - 0.5 * np.einsum("zhh->zh", dR)


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

"""Kernels of the activation bayes-softmax, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np

DEFINITION = {
    "name": "bayes-softmax",
    "score": "exp(Symbol('x', real=True))",
    "normalizer": "exp(Symbol('x', real=True))",
    "scope": "heads",
    "offset": "0",
    "power": "1",
    "bias": "norm",
    "gain": "sum"
}
SCOPE = 'heads'
OFFSET = 0
POWER = 1
LOG_SLOPE = 1
LARGEST_LOG = np.inf
SMOOTH = True
CONTINUOUS = True
CLOSED = False
FREE_BIAS = False
FREE_GAIN = False


def _exp(z):
    """An exponential inside exp(-...): beyond e^150.0 the outer one is 0 in any case."""
    return np.exp(np.minimum(z, 150.0))


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


def log_normalizer(x):
    """ln of the normalizer of one token, summed over heads, x of shape (..., H)."""
    kappa, _, g = units(x)
    return kappa + np.log(np.sum(g[0], axis=-1))


# Lifted powers t^d exp(-t) by index: of the averages n = 0, 1, 2, and of the moments
# (n, index) that ``joint_partials`` takes; the degrees d are [0, 1, 2, 3, 4].
AVERAGE_POWERS = (0, 1, 2)
MOMENT_POWERS = ((0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4))


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


def joint_slopes(weight, partials, f, g):
    """slope_h = E[d_h M], curvature_hk = E[d_h d_k M]: weighted sums over the nodes n."""
    d_f, d_g, d_ff, d_fg, d_gg = partials
    (_, f1, f2), (_, g1, g2) = f, g
    slope = (
        np.einsum("n,nh,n->h", d_f, f1, weight, optimize=True)
        + np.einsum("n,nh,n->h", d_g, g1, weight, optimize=True)
    )
    curvature = (
        np.einsum("n,nh,nk,n->hk", d_ff, f1, f1, weight, optimize=True)
        + np.einsum("n,nh,nk,n->hk", d_fg, f1, g1, weight, optimize=True)
        + np.einsum("n,nk,nh,n->hk", d_fg, f1, g1, weight, optimize=True)
        + np.einsum("n,nh,nk,n->hk", d_gg, g1, g1, weight, optimize=True)
    )
    curvature += np.diag((
        np.einsum("n,nh,n->h", d_f, f2, weight, optimize=True)
        + np.einsum("n,nh,n->h", d_g, g2, weight, optimize=True)
    ))
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

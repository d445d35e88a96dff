"""Kernels of the activation erf, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np
from scipy import special

DEFINITION = {
    "name": "erf",
    "score": "erf(Symbol('x', real=True))",
    "normalizer": None,
    "scope": "none",
    "offset": "0",
    "power": "1",
    "bias": "none",
    "gain": "mean"
}
SCOPE = 'none'
OFFSET = 0
POWER = 1
LOG_SLOPE = 0
LARGEST_LOG = 150.0
SMOOTH = True
CONTINUOUS = True
CLOSED = True
FREE_BIAS = False
FREE_GAIN = False


def _exp(z):
    """An exponential inside exp(-...): beyond e^150.0 the outer one is 0 in any case."""
    return np.exp(np.minimum(z, 150.0))


def attention(x):
    """a = erf(x); x of shape (..., L, H), bias included."""
    score = special.erf(x)
    return np.broadcast_to(score, np.shape(x)).copy()


def factors(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; X_2 = f0**2; f0 = erf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    out = np.empty((3, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = special.erf(x)
    w_1 = x**2
    w_2 = np.exp(-w_1)/np.sqrt(np.pi)
    w_3 = 4*w_2
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = w_0
    out[1, 1] = 2*w_2
    out[1, 2] = -w_3*x
    out[2, 0] = w_0**2
    out[2, 1] = w_0*w_3
    out[2, 2] = -8*w_0*w_2*x + 8*np.exp(-2*w_1)/np.pi
    return out


def pair_factors(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; f0 = erf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    out = np.empty((2, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.exp(-x**2)/np.sqrt(np.pi)
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = special.erf(x)
    out[1, 1] = 2*w_0
    out[1, 2] = -4*w_0*x
    return out


def _bivariate_normal_cdf(h, k, rho):
    """P(X < h, Y < k) for standard normals with correlation rho, by Owen's T function."""
    # Owen's formula divides by h, k and sqrt(1 - rho^2); its limits at 0 are reached from
    # a distance that no float64 result can tell from 0.
    tiny = 1e-300
    h, k = np.where(h == 0, tiny, h), np.where(k == 0, tiny, k)
    rest = np.maximum(np.sqrt((1 - rho) * (1 + rho)), tiny)
    with np.errstate(over="ignore"):
        tails = special.owens_t(h, (k - rho * h) / rest / h)
        tails = tails + special.owens_t(k, (h - rho * k) / rest / k)
    return (special.ndtr(h) + special.ndtr(k)) / 2 - tails - np.where(h * k < 0, 0.5, 0.0)


def closed_single(mu, r):
    """out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = erf(x).

    E[f] = 2*NormalCdf(sqrt(2)*mu/sqrt(2*r + 1)) - 1; E[f^2] =
    4*BivariateNormalCdf(sqrt(2)*mu/sqrt(2*r + 1), sqrt(2)*mu/sqrt(2*r + 1), 2*r/(2*r + 1)) -
    4*NormalCdf(sqrt(2)*mu/sqrt(2*r + 1)) + 1.
    """
    out = np.empty((3, 3, *np.broadcast_shapes(np.shape(mu), np.shape(r))))
    w_0 = 2*r
    w_1 = w_0 + 1
    w_2 = 1.0/np.sqrt(w_1)
    w_3 = np.sqrt(2)
    w_4 = mu*w_3
    w_5 = w_2*w_4
    w_6 = special.ndtr(w_5)
    w_7 = mu**2
    w_8 = 1.0/w_1
    w_9 = np.exp(-w_7*w_8)/np.sqrt(np.pi)
    w_10 = w_2*w_9
    w_11 = w_1**(-1.5)
    w_12 = mu*w_11*w_9
    w_13 = r**2
    w_14 = w_1**(-2.0)
    w_15 = 4*w_14
    w_16 = 1.0/np.sqrt(-w_13*w_15 + 1)
    w_17 = special.ndtr(w_16*(mu*w_2*w_3 - w_0*w_11*w_4))
    w_18 = 8*w_14
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = 2*w_6 - 1
    out[1, 1] = 2*w_10
    out[1, 2] = -4*w_12
    out[2, 0] = -4*w_6 + 4*_bivariate_normal_cdf(w_5, w_5, w_0*w_8) + 1
    out[2, 1] = 8*w_10*w_17 - 4*w_10
    out[2, 2] = -16*w_12*w_17 + 8*w_12 + 4*w_16*(-r*w_15 + 2*w_8)*np.exp(-(-r*w_18*w_7 + 4*w_7*w_8)/(-w_13*w_18 + 2))/np.pi
    return out


def closed_pair(mu, nu, r, q, c):
    """out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 3;
    x, y normal with means mu, nu, variances r, q, covariance c.

    E[f(x) f(y)] = 4*BivariateNormalCdf(sqrt(2)*mu/sqrt(2*r + 1), sqrt(2)*nu/sqrt(2*q + 1),
    2*c/(sqrt(2*q + 1)*sqrt(2*r + 1))) - 2*NormalCdf(sqrt(2)*mu/sqrt(2*r + 1)) -
    2*NormalCdf(sqrt(2)*nu/sqrt(2*q + 1)) + 1.
    """
    shapes = (np.shape(z) for z in (mu, nu, r, q, c))
    out = np.zeros((3, 3, *np.broadcast_shapes(*shapes)))
    w_0 = 2*r + 1
    w_1 = 1.0/np.sqrt(w_0)
    w_2 = np.sqrt(2)
    w_3 = mu*w_2
    w_4 = w_1*w_3
    w_5 = 2*q + 1
    w_6 = 1.0/np.sqrt(w_5)
    w_7 = nu*w_2
    w_8 = w_6*w_7
    w_9 = 2*w_1
    w_10 = c*w_6
    w_11 = 1.0/np.sqrt(np.pi)
    w_12 = 1.0/w_0
    w_13 = mu**2*w_12
    w_14 = np.exp(-w_13)
    w_15 = w_11*w_14
    w_16 = 1.0/w_5
    w_17 = w_12*w_16
    w_18 = c**2*w_17
    w_19 = 1.0/np.sqrt(1 - 4*w_18)
    w_20 = special.ndtr(w_19*(nu*w_2*w_6 - 2*w_10*w_12*w_3))
    w_21 = nu**2*w_16
    w_22 = np.exp(-w_21)
    w_23 = w_11*w_22
    w_24 = w_23*w_6
    w_25 = special.ndtr(w_19*(-c*w_16*w_7*w_9 + mu*w_1*w_2))
    w_26 = w_0**(-1.5)
    w_27 = 8*c
    w_28 = w_19*np.exp(-(-mu*nu*w_17*w_27 + 2*w_13 + 2*w_21)/(2 - 8*w_18))/np.pi
    w_29 = w_5**(-1.5)
    w_30 = w_1*w_28
    out[0, 0] = 4*_bivariate_normal_cdf(w_4, w_8, w_10*w_9) - 2*special.ndtr(w_4) - 2*special.ndtr(w_8) + 1
    out[1, 0] = 4*w_1*w_15*w_20 - w_15*w_9
    out[0, 1] = 4*w_24*w_25 - 2*w_24
    out[2, 0] = 4*mu*w_11*w_14*w_26 - 8*mu*w_15*w_20*w_26 - 8*w_10*w_26*w_28
    out[0, 2] = 4*nu*w_11*w_22*w_29 - 8*nu*w_23*w_25*w_29 - w_27*w_29*w_30
    out[1, 1] = 4*w_30*w_6
    return out


def single_moments(s, relevant, noise, powers):
    """Integrands in the logarithmic lift variables.

    linear = E_star[f(x[h])]; square = (L-1)*1^(L-2)*E_0[f(x[h])**2] + E_star[f(x[h])**2].
    """
    _, score_relevant, square_relevant = relevant
    _, _, square_noise = noise
    _, power_1, _ = powers
    linear = score_relevant
    square = power_1*square_noise + square_relevant
    return linear, square


def single_variation(s, relevant, noise, powers, gamma):
    """out[density, n] = d(risk integrand) / d(average of X_n), density 0 relevant, 1 noise."""
    _, power_1, _ = powers
    out = np.empty((2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = gamma**2
    out[0, 0] = 0
    out[0, 1] = -2*gamma
    out[0, 2] = w_0
    out[1, 0] = 0
    out[1, 1] = 0
    out[1, 2] = power_1*w_0
    return out


def pair_moments(s, v, relevant, noise, powers):
    """Integrands in the logarithmic lift variables.

    pair = (L-1)*1^(L-2)*E_0[f(x[h])*f(x[k])] + E_star[f(x[h])*f(x[k])].
    """
    _, score_relevant, _ = relevant
    _, score_noise, _ = noise
    _, power_1, _ = powers
    pair = power_1*score_noise + score_relevant
    return pair


def pair_variation(s, v, relevant, noise, powers, gamma):
    """out[density, n] = d(risk integrand) / d(average of X_n), density 0 relevant, 1 noise."""
    _, power_1, _ = powers
    out = np.empty((2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
    w_0 = 2*gamma**2
    out[0, 0] = 0
    out[0, 1] = w_0
    out[0, 2] = 0
    out[1, 0] = 0
    out[1, 1] = power_1*w_0
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

    local = f1, shared = 0, f1 and g1 the slopes of score and normalizer; x of shape (..., L,
    H), bias included.
    """
    score = special.erf(x)
    f1 = 2*np.exp(-x**2)/np.sqrt(np.pi)
    return score + np.zeros_like(x), f1 + np.zeros_like(x), None


def pullback(weights, linear):
    """sum_j weights_j d A_j / d x_lh at gain 1, shape (..., L, H), from ``linearized``.

    = weights_l local_l; weights (..., L).
    """
    a, local, shared = linear
    weights = weights[..., None]
    return weights * local


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

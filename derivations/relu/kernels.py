"""Kernels of the activation relu, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np
from scipy import special

DEFINITION = {
    "name": "relu",
    "score": "Ramp(Symbol('x', real=True))",
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
SMOOTH = False
CONTINUOUS = True
CLOSED = True
FREE_BIAS = False
FREE_GAIN = False


def _exp(z):
    """An exponential inside exp(-...): beyond e^150.0 the outer one is 0 in any case."""
    return np.exp(np.minimum(z, 150.0))


def attention(x):
    """a = Ramp(x); x of shape (..., L, H), bias included."""
    score = np.maximum(x, 0.0)
    return np.broadcast_to(score, np.shape(x)).copy()


def factors(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; X_2 = f0**2; f0 = Ramp(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    out = np.empty((3, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = np.maximum(x, 0.0)
    w_1 = np.heaviside(x, 0.5)
    w_2 = (0.0 * x)
    w_3 = 2*w_0
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = w_0
    out[1, 1] = w_1
    out[1, 2] = w_2
    out[2, 0] = w_0**2
    out[2, 1] = w_1*w_3
    out[2, 2] = 2*w_1**2 + w_2*w_3
    return out


def pair_factors(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; f0 = Ramp(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    out = np.empty((2, 3, *np.broadcast_shapes(s.shape, x.shape)))
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = np.maximum(x, 0.0)
    out[1, 1] = np.heaviside(x, 0.5)
    out[1, 2] = (0.0 * x)
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
    """out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = Ramp(x).

    E[f] = mu*NormalCdf(mu/sqrt(r)) + sqrt(2)*sqrt(r)*exp(-mu**2/(2*r))/(2*sqrt(pi)); E[f^2] =
    sqrt(2)*mu*sqrt(r)*exp(-mu**2/(2*r))/(2*sqrt(pi)) + (mu**2 + r)*NormalCdf(mu/sqrt(r)).
    """
    out = np.empty((3, 3, *np.broadcast_shapes(np.shape(mu), np.shape(r))))
    w_0 = np.sqrt(r)
    w_1 = 1.0/w_0
    w_2 = mu*w_1
    w_3 = special.ndtr(w_2)
    w_4 = mu*w_3
    w_5 = mu**2
    w_6 = (0.5)*w_5
    w_7 = np.sqrt(2)*np.exp(-w_6/r)/np.sqrt(np.pi)
    w_8 = (0.5)*w_7
    w_9 = w_0*w_8
    w_10 = w_1*w_8
    w_11 = r + w_5
    w_12 = w_8/r**(1.5)
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = w_4 + w_9
    out[1, 1] = w_3
    out[1, 2] = w_10
    out[2, 0] = mu*w_9 + w_11*w_3
    out[2, 1] = -w_1*w_6*w_7 + w_10*w_11 + 2*w_4 + w_9
    out[2, 2] = (mu*mu*mu)*w_12 - mu*w_11*w_12 + w_2*w_8 + 2*w_3
    return out


def closed_pair(mu, nu, r, q, c):
    """out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 3;
    x, y normal with means mu, nu, variances r, q, covariance c.

    E[f(x) f(y)] = sqrt(2)*mu*sqrt(q)*exp(-nu**2/(2*q))*NormalCdf((-c*nu/(q*sqrt(r)) +
    mu/sqrt(r))/sqrt(-c**2/(q*r) + 1))/(2*sqrt(pi)) +
    sqrt(2)*nu*sqrt(r)*exp(-mu**2/(2*r))*NormalCdf((-c*mu/(sqrt(q)*r) +
    nu/sqrt(q))/sqrt(-c**2/(q*r) + 1))/(2*sqrt(pi)) + sqrt(q)*sqrt(r)*sqrt(-c**2/(q*r) +
    1)*exp(-mu**2/(2*r))*exp(-(-c*mu/(sqrt(q)*r) + nu/sqrt(q))**2/(2*(-c**2/(q*r) + 1)))/(2*pi)
    + (c + mu*nu)*BivariateNormalCdf(mu/sqrt(r), nu/sqrt(q), c/(sqrt(q)*sqrt(r))).
    """
    shapes = (np.shape(z) for z in (mu, nu, r, q, c))
    out = np.zeros((3, 3, *np.broadcast_shapes(*shapes)))
    w_0 = mu*nu
    w_1 = c + w_0
    w_2 = np.sqrt(r)
    w_3 = 1.0/w_2
    w_4 = mu*w_3
    w_5 = np.sqrt(q)
    w_6 = 1.0/w_5
    w_7 = nu*w_6
    w_8 = c*w_3
    w_9 = w_6*w_8
    w_10 = _bivariate_normal_cdf(w_4, w_7, w_9)
    w_11 = nu**2
    w_12 = 1.0/q
    w_13 = w_11*w_12
    w_14 = np.exp(-0.5*w_13)
    w_15 = w_14*w_5
    w_16 = c**2
    w_17 = 1.0/r
    w_18 = w_12*w_17
    w_19 = w_16*w_18
    w_20 = 1 - w_19
    w_21 = np.sqrt(w_20)
    w_22 = 1.0/w_21
    w_23 = nu*w_12
    w_24 = mu*w_3 - w_23*w_8
    w_25 = special.ndtr(w_22*w_24)
    w_26 = np.sqrt(2)/np.sqrt(np.pi)
    w_27 = (0.5)*w_26
    w_28 = w_25*w_27
    w_29 = w_15*w_28
    w_30 = mu**2
    w_31 = w_17*w_30
    w_32 = np.exp(-0.5*w_31)
    w_33 = w_2*w_32
    w_34 = c*w_6
    w_35 = mu*w_17
    w_36 = nu*w_6 - w_34*w_35
    w_37 = w_22*w_36
    w_38 = special.ndtr(w_37)
    w_39 = w_27*w_38
    w_40 = w_33*w_39
    w_41 = 1.0/np.pi
    w_42 = w_36**2
    w_43 = 1.0/w_20
    w_44 = (0.5)*w_43
    w_45 = w_41*np.exp(-w_42*w_44)
    w_46 = w_33*w_45
    w_47 = (0.5)*w_46
    w_48 = w_21*w_5
    w_49 = w_47*w_48
    w_50 = w_3*w_32
    w_51 = w_39*w_50
    w_52 = w_41*np.exp(-w_24**2*w_44)
    w_53 = w_15*w_52
    w_54 = (0.5)*w_4
    w_55 = (0.5)*w_45
    w_56 = w_48*w_55
    w_57 = w_22*w_8
    w_58 = w_32*w_55
    w_59 = w_14*w_28
    w_60 = w_59*w_6
    w_61 = w_1*w_6
    w_62 = w_22*w_34
    w_63 = w_26*w_32*w_38
    w_64 = r**(-1.5)
    w_65 = (0.5)*w_64
    w_66 = w_30*w_65
    w_67 = w_32*w_45
    w_68 = r**(-2.0)
    w_69 = w_20**(-1.5)
    w_70 = w_36*w_69
    w_71 = (0.5)*w_16
    w_72 = w_12*w_68
    w_73 = w_71*w_72
    w_74 = nu*w_46
    w_75 = w_24*w_69
    w_76 = w_71*w_75
    w_77 = mu*w_53
    w_78 = (0.25)*w_64
    w_79 = c*w_18
    w_80 = w_41*np.exp(-(-2*w_0*w_79 + w_13 + w_31)/(2 - 2*w_19))
    w_81 = 2*w_1
    w_82 = w_42/w_20**2
    w_83 = w_46*w_48
    w_84 = q**(-1.5)
    w_85 = w_22*w_3
    w_86 = q**(-2.0)
    w_87 = w_17*w_86
    w_88 = nu*w_84
    w_89 = c*w_35*w_84
    w_90 = w_71*w_87
    out[0, 0] = mu*w_29 + nu*w_40 + w_1*w_10 + w_49
    out[1, 0] = nu*w_10 - w_0*w_51 + w_1*w_51 + w_22*w_53*w_54 + w_29 - w_32*w_4*w_56 + w_37*w_58*w_8 - w_57*w_58*w_7
    out[0, 1] = mu*w_10 - w_0*w_60 - w_14*w_52*w_54*w_62 + w_22*w_47*w_7 - w_37*w_47 + w_40 + w_59*w_61
    out[2, 0] = nu*w_51 + nu*w_63*w_66 + w_16*w_22*w_6*w_65*w_67 + w_48*w_66*w_67 + w_50*w_56 + w_74*(c*mu*w_22*w_6*w_68 - w_70*w_73) + w_77*(w_22*(c*w_23*w_65 - mu*w_65) - w_72*w_76) + w_81*(-mu*w_63*w_78 - w_62*w_78*w_80) + w_83*(-mu*w_34*w_36*w_43*w_68 + w_73*w_82)
    out[0, 2] = mu*w_11*w_59*w_84 + mu*w_60 + w_21*w_47*w_6 + w_67*w_71*w_84*w_85 + w_74*(w_22*(-0.5*w_88 + (0.5)*w_89) - w_70*w_90) + w_77*(c*nu*w_22*w_3*w_86 - w_76*w_87) + w_81*(-0.25*w_14*w_25*w_26*w_88 - 0.25*w_57*w_80*w_84) + w_83*(-w_36*w_44*(-w_88 + w_89) + w_82*w_90)
    out[1, 1] = w_10 - w_22*w_58*w_9 + w_49*(mu*w_17*w_36*w_43*w_6 - w_79*w_82) + (0.5)*w_61*w_80*w_85 + (0.5)*w_74*(-w_22*w_35*w_6 + w_70*w_79) + (0.5)*w_77*(-w_23*w_85 + w_75*w_79)
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
    score = np.maximum(x, 0.0)
    f1 = np.heaviside(x, 0.5)
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

"""Kernels of the activation probit, derived by theory/ and written by its code generator.

Do not edit: `headflow derive --all` rebuilds the catalogue. Every function broadcasts over its
array arguments; all numbers are float64. Factors of one token, n = 0, 1, 2 (named survival,
score, square): X_n = t^(n p) f^n exp(-t g), t = e^s. Averages come as ``relevant`` and
``noise``, indexed by n; ``powers`` are the derivatives of phi^(L-1) in phi = noise[0].
"""

import numpy as np
from scipy import special

# Values of named parameters: no other line of this text depends on them.
PARAMETERS: dict[str, str] = {}
DEFINITION = {
    "name": "probit",
    "score": "NormalCdf(Symbol('x', real=True))",
    "normalizer": None,
    "scope": "none",
    "offset": "0",
    "power": "1",
    "bias": "none",
    "gain": "mean",
    "positive": [],
    "parameters": {}
}
SCOPE = 'none'
OFFSET = 0
POWER = 1
LOG_SLOPE = 0
LARGEST_LOG = 100.0
SMOOTH = True
KINKS = ()
CONTINUOUS = True
CLOSED = True
FREE_BIAS = False
FREE_GAIN = False


def _exp(z):
    """An exponential inside exp(-...): beyond e^100.0 the outer one is 0 in any case."""
    return np.exp(np.minimum(z, 100.0))


def attention(x):
    """a = NormalCdf(x); x of shape (..., L, H), bias included."""
    score = special.ndtr(x)
    return np.broadcast_to(score, np.shape(x)).copy()


def factors(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; X_2 = f0**2; f0 = NormalCdf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    w_0 = (0.5)*np.sqrt(2)*np.exp(-0.5*x**2)/np.sqrt(np.pi)
    f0 = special.ndtr(x)
    f1 = w_0
    f2 = -w_0*x
    out = np.empty((3, 3, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = 2*f0
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = f0
    out[1, 1] = f1
    out[1, 2] = f2
    out[2, 0] = f0**2
    out[2, 1] = f1*w_0
    out[2, 2] = 2*f1**2 + f2*w_0
    return out


def pair_factors(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; f0 = NormalCdf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    w_0 = (0.5)*np.sqrt(2)*np.exp(-0.5*x**2)/np.sqrt(np.pi)
    f0 = special.ndtr(x)
    f1 = w_0
    f2 = -w_0*x
    out = np.empty((2, 3, *np.broadcast_shapes(s.shape, x.shape)))
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = f0
    out[1, 1] = f1
    out[1, 2] = f2
    return out


def jets(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; X_2 = f0**2; f0 = NormalCdf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    w_0 = x**2
    w_1 = (0.5)*np.sqrt(2)*np.exp(-0.5*w_0)/np.sqrt(np.pi)
    w_2 = w_1*x
    f0 = special.ndtr(x)
    f1 = w_1
    f2 = -w_2
    f3 = w_1*(w_0 - 1)
    f4 = w_2*(3 - w_0)
    out = np.empty((3, 5, *np.broadcast_shapes(s.shape, x.shape)))
    w_0 = 2*f0
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[0, 3] = 0
    out[0, 4] = 0
    out[1, 0] = f0
    out[1, 1] = f1
    out[1, 2] = f2
    out[1, 3] = f3
    out[1, 4] = f4
    out[2, 0] = f0**2
    out[2, 1] = f1*w_0
    out[2, 2] = 2*f1**2 + f2*w_0
    out[2, 3] = 6*f1*f2 + f3*w_0
    out[2, 4] = 8*f1*f3 + 6*f2**2 + f4*w_0
    return out


def pair_jets(s, x):
    """out[n, d], n < 2: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; f0 = NormalCdf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    w_0 = x**2
    w_1 = (0.5)*np.sqrt(2)*np.exp(-0.5*w_0)/np.sqrt(np.pi)
    w_2 = w_1*x
    f0 = special.ndtr(x)
    f1 = w_1
    f2 = -w_2
    f3 = w_1*(w_0 - 1)
    f4 = w_2*(3 - w_0)
    out = np.empty((2, 5, *np.broadcast_shapes(s.shape, x.shape)))
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[0, 3] = 0
    out[0, 4] = 0
    out[1, 0] = f0
    out[1, 1] = f1
    out[1, 2] = f2
    out[1, 3] = f3
    out[1, 4] = f4
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
    """out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = NormalCdf(x).

    E[f] = NormalCdf(mu/sqrt(r + 1)); E[f^2] = BivariateNormalCdf(mu/sqrt(r + 1), mu/sqrt(r +
    1), r/(r + 1)).
    """
    out = np.empty((3, 3, *np.broadcast_shapes(np.shape(mu), np.shape(r))))
    w_0 = r + 1
    w_1 = 1.0/np.sqrt(w_0)
    w_2 = mu*w_1
    w_3 = 1.0/w_0
    w_4 = mu**2
    w_5 = np.sqrt(2)*np.exp(-0.5*w_3*w_4)/np.sqrt(np.pi)
    w_6 = w_1*w_5
    w_7 = mu/w_0**(1.5)
    w_8 = w_5*w_7
    w_9 = w_0**(-2.0)
    w_10 = r**2*w_9
    w_11 = 1.0/np.sqrt(1 - w_10)
    w_12 = special.ndtr(w_11*(mu*w_1 - r*w_7))
    w_13 = r*w_9
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = special.ndtr(w_2)
    out[1, 1] = (0.5)*w_6
    out[1, 2] = -0.5*w_8
    out[2, 0] = _bivariate_normal_cdf(w_2, w_2, r*w_3)
    out[2, 1] = w_12*w_6
    out[2, 2] = w_11*(-w_13 + w_3)*np.exp(-(-2*w_13*w_4 + 2*w_3*w_4)/(2 - 2*w_10))/np.pi - w_12*w_8
    return out


def closed_pair(mu, nu, r, v, c):
    """out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 3;
    x, y normal with means mu, nu, variances r, v, covariance c.

    E[f(x) f(y)] = BivariateNormalCdf(mu/sqrt(r + 1), nu/sqrt(v + 1), c/(sqrt(r + 1)*sqrt(v +
    1))).
    """
    shapes = (np.shape(z) for z in (mu, nu, r, v, c))
    out = np.zeros((3, 3, *np.broadcast_shapes(*shapes)))
    w_0 = r + 1
    w_1 = 1.0/np.sqrt(w_0)
    w_2 = v + 1
    w_3 = 1.0/np.sqrt(w_2)
    w_4 = c*w_1
    w_5 = (0.5)*w_3
    w_6 = 1.0/w_0
    w_7 = 1.0/w_2
    w_8 = w_6*w_7
    w_9 = c**2*w_8
    w_10 = 1.0/np.sqrt(1 - w_9)
    w_11 = nu**2*w_7
    w_12 = np.sqrt(2)/np.sqrt(np.pi)
    w_13 = w_12*np.exp(-0.5*w_11)*special.ndtr(w_10*(mu*w_1 - nu*w_4*w_7))
    w_14 = c*mu
    w_15 = mu**2*w_6
    w_16 = (0.5)*w_12*np.exp(-0.5*w_15)*special.ndtr(w_10*(nu*w_3 - w_14*w_3*w_6))
    w_17 = (0.5)/w_2**(1.5)
    w_18 = w_10*np.exp(-(-2*nu*w_14*w_8 + w_11 + w_15)/(2 - 2*w_9))/np.pi
    w_19 = w_18*w_5
    w_20 = w_0**(-1.5)
    out[0, 0] = _bivariate_normal_cdf(mu*w_1, nu*w_3, w_3*w_4)
    out[0, 1] = w_13*w_5
    out[1, 0] = w_1*w_16
    out[0, 2] = -nu*w_13*w_17 - w_17*w_18*w_4
    out[1, 1] = w_1*w_19
    out[2, 0] = -c*w_19*w_20 - mu*w_16*w_20
    return out


def closed_single_jets(mu, r):
    """out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = NormalCdf(x).

    E[f] = NormalCdf(mu/sqrt(r + 1)); E[f^2] = BivariateNormalCdf(mu/sqrt(r + 1), mu/sqrt(r +
    1), r/(r + 1)).
    """
    out = np.empty((3, 5, *np.broadcast_shapes(np.shape(mu), np.shape(r))))
    w_0 = r + 1
    w_1 = 1.0/np.sqrt(w_0)
    w_2 = mu*w_1
    w_3 = 1.0/w_0
    w_4 = mu**2
    w_5 = np.exp(-0.5*w_3*w_4)
    w_6 = w_1*w_5
    w_7 = np.sqrt(2)
    w_8 = 1.0/np.sqrt(np.pi)
    w_9 = w_7*w_8
    w_10 = (0.5)*w_9
    w_11 = w_0**(-1.5)
    w_12 = mu*w_11
    w_13 = w_10*w_5
    w_14 = w_11*w_5
    w_15 = w_0**(-2.5)
    w_16 = w_15*w_4
    w_17 = (mu*mu*mu)/w_0**(3.5)
    w_18 = r**2
    w_19 = w_0**(-2.0)
    w_20 = w_18*w_19
    w_21 = 1 - w_20
    w_22 = 1.0/np.sqrt(w_21)
    w_23 = mu*w_1 - r*w_12
    w_24 = w_9*special.ndtr(w_22*w_23)
    w_25 = w_24*w_5
    w_26 = 1.0/np.pi
    w_27 = r*w_19
    w_28 = -w_27 + w_3
    w_29 = 2 - 2*w_20
    w_30 = 1.0/w_29
    w_31 = -2*w_27*w_4 + 2*w_3*w_4
    w_32 = np.exp(-w_30*w_31)
    w_33 = mu*w_15
    w_34 = w_0**(-3.0)
    w_35 = w_18*w_34
    w_36 = (w_27 - w_35)/w_21**(1.5)
    w_37 = 2*w_26
    w_38 = w_37*(w_22*((1.5)*r*w_33 - 1.5*w_12) + w_23*w_36)*np.exp(-0.5*w_23**2/w_21)
    w_39 = r*w_34
    w_40 = w_22*w_26*w_32
    w_41 = 4*w_4
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[0, 3] = 0
    out[0, 4] = 0
    out[1, 0] = special.ndtr(w_2)
    out[1, 1] = w_10*w_6
    out[1, 2] = -w_12*w_13
    out[1, 3] = -w_10*w_14 + w_13*w_16
    out[1, 4] = (1.5)*mu*w_15*w_5*w_7*w_8 - w_13*w_17
    out[2, 0] = _bivariate_normal_cdf(w_2, w_2, r*w_3)
    out[2, 1] = w_24*w_6
    out[2, 2] = -w_12*w_25 + w_22*w_26*w_28*w_32
    out[2, 3] = -w_14*w_24 + w_16*w_25 + w_38*w_6
    out[2, 4] = -w_12*w_38*w_5 - w_17*w_25 + 3*w_25*w_33 + w_28*w_32*w_36*w_37 + 2*w_28*w_40*(-w_30*(-w_19*w_41 + w_39*w_41) - w_31*(4*r*w_19 - 4*w_35)/w_29**2) + 2*w_40*(-2*w_19 + 2*w_39)
    return out


def closed_pair_jets(mu, nu, r, v, c):
    """out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 5;
    x, y normal with means mu, nu, variances r, v, covariance c.

    E[f(x) f(y)] = BivariateNormalCdf(mu/sqrt(r + 1), nu/sqrt(v + 1), c/(sqrt(r + 1)*sqrt(v +
    1))).
    """
    shapes = (np.shape(z) for z in (mu, nu, r, v, c))
    out = np.zeros((5, 5, *np.broadcast_shapes(*shapes)))
    w_0 = r + 1
    w_1 = 1.0/np.sqrt(w_0)
    w_2 = v + 1
    w_3 = 1.0/np.sqrt(w_2)
    w_4 = c*w_1
    w_5 = nu**2
    w_6 = 1.0/w_2
    w_7 = w_5*w_6
    w_8 = np.exp(-0.5*w_7)
    w_9 = w_3*w_8
    w_10 = c**2
    w_11 = 1.0/w_0
    w_12 = w_11*w_6
    w_13 = w_10*w_12
    w_14 = 1 - w_13
    w_15 = 1.0/np.sqrt(w_14)
    w_16 = mu*w_1 - nu*w_4*w_6
    w_17 = special.ndtr(w_15*w_16)
    w_18 = np.sqrt(2)/np.sqrt(np.pi)
    w_19 = (0.5)*w_18
    w_20 = w_17*w_19
    w_21 = mu**2
    w_22 = w_11*w_21
    w_23 = np.exp(-0.5*w_22)
    w_24 = w_1*w_23
    w_25 = c*mu
    w_26 = w_11*w_25
    w_27 = nu*w_3 - w_26*w_3
    w_28 = special.ndtr(w_15*w_27)
    w_29 = w_19*w_28
    w_30 = w_2**(-1.5)
    w_31 = (0.5)*w_30
    w_32 = nu*w_31
    w_33 = w_17*w_18*w_8
    w_34 = w_15*w_31
    w_35 = 1.0/np.pi
    w_36 = 2 - 2*w_13
    w_37 = 1.0/w_36
    w_38 = 2*nu
    w_39 = -w_12*w_25*w_38 + w_22 + w_7
    w_40 = np.exp(-w_37*w_39)
    w_41 = w_35*w_40
    w_42 = w_4*w_41
    w_43 = w_15*w_3
    w_44 = w_1*w_41
    w_45 = w_0**(-1.5)
    w_46 = (0.5)*w_45
    w_47 = mu*w_46
    w_48 = w_18*w_23*w_28
    w_49 = c*w_46
    w_50 = w_41*w_43
    w_51 = w_2**(-2.5)
    w_52 = w_20*w_8
    w_53 = w_2**(-2.0)
    w_54 = w_11*w_53
    w_55 = w_14**(-1.5)
    w_56 = w_10*w_55
    w_57 = (0.5)*w_56
    w_58 = w_16*w_57
    w_59 = c*nu*w_1*w_15*w_53 - w_54*w_58
    w_60 = (0.5)/w_14
    w_61 = np.exp(-w_16**2*w_60)
    w_62 = w_35*w_61*w_9
    w_63 = w_27*w_57
    w_64 = w_15*(w_26*w_31 - w_32) - w_54*w_63
    w_65 = w_35*np.exp(-w_27**2*w_60)
    w_66 = w_24*w_65
    w_67 = nu*w_6
    w_68 = w_0**(-2.0)
    w_69 = w_6*w_68
    w_70 = w_0**(-2.5)
    w_71 = w_23*w_29
    w_72 = c*mu*w_15*w_3*w_68 - w_63*w_69
    w_73 = (1.5)*w_51
    w_74 = w_2**(-3.5)
    w_75 = w_15*w_42
    w_76 = w_41*w_46
    w_77 = (c*c*c)*w_55
    w_78 = 2*w_10*w_39/w_36**2
    w_79 = -w_37*(w_26*w_38*w_53 - w_5*w_53) + w_54*w_78
    w_80 = c*w_45
    w_81 = w_41*w_70
    w_82 = mu*w_23*w_45*w_65
    w_83 = w_50*w_80
    w_84 = -w_37*(-w_21*w_68 + 2*w_25*w_67*w_68) + w_69*w_78
    w_85 = (1.5)*w_70
    w_86 = w_0**(-3.5)
    out[0, 0] = _bivariate_normal_cdf(mu*w_1, nu*w_3, w_3*w_4)
    out[0, 1] = w_20*w_9
    out[1, 0] = w_24*w_29
    out[0, 2] = -w_32*w_33 - w_34*w_42
    out[1, 1] = (0.5)*w_43*w_44
    out[2, 0] = -w_47*w_48 - w_49*w_50
    out[0, 3] = -w_31*w_33 + w_5*w_51*w_52 + w_59*w_62
    out[1, 2] = w_64*w_66
    out[2, 1] = w_62*(w_15*(-w_47 + w_49*w_67) - w_58*w_69)
    out[3, 0] = w_21*w_70*w_71 - w_46*w_48 + w_66*w_72
    out[0, 4] = -(nu*nu*nu)*w_52*w_74 - nu*w_30*w_35*w_59*w_61*w_8 + nu*w_33*w_73 - w_30*w_75*w_79 + w_73*w_75 + w_74*w_76*w_77
    out[1, 3] = w_1*w_15*w_3*w_35*w_40*w_79 - w_34*w_44 - w_51*w_56*w_76
    out[2, 2] = w_34*w_41*w_80 + (0.5)*w_51*w_77*w_81 - w_64*w_82 - w_79*w_83
    out[3, 1] = w_1*w_15*w_3*w_35*w_40*w_84 - w_31*w_56*w_81 - w_46*w_50
    out[4, 0] = c*w_50*w_85 - (mu*mu*mu)*w_71*w_86 + mu*w_48*w_85 + w_31*w_41*w_77*w_86 - w_72*w_82 - w_83*w_84
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


def single_second_variation(s, relevant, noise, powers, gamma):
    """out[density, n, other density, n'] = second derivative of the risk integrand in the averages
    of X_n and X_n'; ``powers`` up to the third derivative.
    """
    out = np.zeros((2, 3, 2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
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


def pair_second_variation(s, v, relevant, noise, powers, gamma):
    """out[density, n, other density, n'] = second derivative of the risk integrand in the averages
    of X_n and X_n'; ``powers`` up to the third derivative.
    """
    out = np.zeros((2, 3, 2, 3, *np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])))
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
    score = special.ndtr(x)
    f1 = (0.5)*np.sqrt(2)*np.exp(-0.5*x**2)/np.sqrt(np.pi)
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

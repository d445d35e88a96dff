"""Kernels of the activation erf, derived by theory/ and written by its code generator.

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
    "name": "erf",
    "score": "erf(Symbol('x', real=True))",
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
    """a = erf(x); x of shape (..., L, H), bias included."""
    score = special.erf(x)
    return np.broadcast_to(score, np.shape(x)).copy()


def factors(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; X_2 = f0**2; f0 = erf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    w_0 = np.exp(-x**2)/np.sqrt(np.pi)
    f0 = special.erf(x)
    f1 = 2*w_0
    f2 = -4*w_0*x
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

    X_0 = 1; X_1 = f0; f0 = erf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    w_0 = np.exp(-x**2)/np.sqrt(np.pi)
    f0 = special.erf(x)
    f1 = 2*w_0
    f2 = -4*w_0*x
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

    X_0 = 1; X_1 = f0; X_2 = f0**2; f0 = erf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    w_0 = x**2
    w_1 = np.exp(-w_0)/np.sqrt(np.pi)
    w_2 = 4*w_1
    w_3 = 2*w_0
    f0 = special.erf(x)
    f1 = 2*w_1
    f2 = -w_2*x
    f3 = w_2*(w_3 - 1)
    f4 = 8*w_1*x*(3 - w_3)
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

    X_0 = 1; X_1 = f0; f0 = erf(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    w_0 = x**2
    w_1 = np.exp(-w_0)/np.sqrt(np.pi)
    w_2 = 4*w_1
    w_3 = 2*w_0
    f0 = special.erf(x)
    f1 = 2*w_1
    f2 = -w_2*x
    f3 = w_2*(w_3 - 1)
    f4 = 8*w_1*x*(3 - w_3)
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


def closed_pair(mu, nu, r, v, c):
    """out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 3;
    x, y normal with means mu, nu, variances r, v, covariance c.

    E[f(x) f(y)] = 4*BivariateNormalCdf(sqrt(2)*mu/sqrt(2*r + 1), sqrt(2)*nu/sqrt(2*v + 1),
    2*c/(sqrt(2*r + 1)*sqrt(2*v + 1))) - 2*NormalCdf(sqrt(2)*mu/sqrt(2*r + 1)) -
    2*NormalCdf(sqrt(2)*nu/sqrt(2*v + 1)) + 1.
    """
    shapes = (np.shape(z) for z in (mu, nu, r, v, c))
    out = np.zeros((3, 3, *np.broadcast_shapes(*shapes)))
    w_0 = np.sqrt(2)
    w_1 = 2*r + 1
    w_2 = 1.0/np.sqrt(w_1)
    w_3 = w_0*w_2
    w_4 = mu*w_3
    w_5 = 2*v + 1
    w_6 = 1.0/np.sqrt(w_5)
    w_7 = w_0*w_6
    w_8 = nu*w_7
    w_9 = 2*w_6
    w_10 = c*w_2
    w_11 = 1.0/np.sqrt(np.pi)
    w_12 = 1.0/w_5
    w_13 = nu**2*w_12
    w_14 = np.exp(-w_13)
    w_15 = w_11*w_14
    w_16 = 1.0/w_1
    w_17 = w_12*w_16
    w_18 = c**2*w_17
    w_19 = 1.0/np.sqrt(1 - 4*w_18)
    w_20 = 2*c
    w_21 = special.ndtr(w_19*(mu*w_0*w_2 - nu*w_12*w_20*w_3))
    w_22 = mu**2*w_16
    w_23 = np.exp(-w_22)
    w_24 = w_11*w_23
    w_25 = w_2*w_24
    w_26 = special.ndtr(w_19*(-mu*w_16*w_20*w_7 + nu*w_0*w_6))
    w_27 = w_5**(-1.5)
    w_28 = 8*c
    w_29 = w_19*np.exp(-(-mu*nu*w_17*w_28 + 2*w_13 + 2*w_22)/(2 - 8*w_18))/np.pi
    w_30 = w_29*w_6
    w_31 = w_1**(-1.5)
    out[0, 0] = 4*_bivariate_normal_cdf(w_4, w_8, w_10*w_9) - 2*special.ndtr(w_4) - 2*special.ndtr(w_8) + 1
    out[0, 1] = 4*w_15*w_21*w_6 - w_15*w_9
    out[1, 0] = 4*w_25*w_26 - 2*w_25
    out[0, 2] = 4*nu*w_11*w_14*w_27 - 8*nu*w_15*w_21*w_27 - 8*w_10*w_27*w_29
    out[1, 1] = 4*w_2*w_30
    out[2, 0] = 4*mu*w_11*w_23*w_31 - 8*mu*w_24*w_26*w_31 - w_28*w_30*w_31
    return out


def closed_single_jets(mu, r):
    """out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = erf(x).

    E[f] = 2*NormalCdf(sqrt(2)*mu/sqrt(2*r + 1)) - 1; E[f^2] =
    4*BivariateNormalCdf(sqrt(2)*mu/sqrt(2*r + 1), sqrt(2)*mu/sqrt(2*r + 1), 2*r/(2*r + 1)) -
    4*NormalCdf(sqrt(2)*mu/sqrt(2*r + 1)) + 1.
    """
    out = np.empty((3, 5, *np.broadcast_shapes(np.shape(mu), np.shape(r))))
    w_0 = 2*r
    w_1 = w_0 + 1
    w_2 = 1.0/np.sqrt(w_1)
    w_3 = np.sqrt(2)
    w_4 = mu*w_3
    w_5 = w_2*w_4
    w_6 = special.ndtr(w_5)
    w_7 = 1.0/np.sqrt(np.pi)
    w_8 = mu**2
    w_9 = 1.0/w_1
    w_10 = np.exp(-w_8*w_9)
    w_11 = w_10*w_7
    w_12 = w_11*w_2
    w_13 = w_1**(-1.5)
    w_14 = w_11*w_13
    w_15 = 4*w_14
    w_16 = w_1**(-2.5)
    w_17 = w_11*w_16
    w_18 = w_17*w_8
    w_19 = (mu*mu*mu)*w_11/w_1**(3.5)
    w_20 = r**2
    w_21 = w_1**(-2.0)
    w_22 = 4*w_21
    w_23 = -w_20*w_22 + 1
    w_24 = 1.0/np.sqrt(w_23)
    w_25 = w_13*w_4
    w_26 = mu*w_2*w_3 - w_0*w_25
    w_27 = special.ndtr(w_24*w_26)
    w_28 = 8*w_14
    w_29 = 16*w_14*w_27
    w_30 = r*w_22
    w_31 = -w_30 + 2*w_9
    w_32 = 1.0/np.pi
    w_33 = 8*w_21
    w_34 = -w_20*w_33 + 2
    w_35 = 1.0/w_34
    w_36 = r*w_8
    w_37 = -w_33*w_36 + 4*w_8*w_9
    w_38 = np.exp(-w_35*w_37)
    w_39 = w_24*w_32*w_38
    w_40 = w_31*w_39
    w_41 = 16*w_8
    w_42 = 8*w_32
    w_43 = w_1**(-3.0)
    w_44 = w_20*w_43
    w_45 = (w_30 - 8*w_44)/w_23**(1.5)
    w_46 = w_10*(w_24*(6*r*w_16*w_4 - 3*w_25) + w_26*w_45)*np.exp(-0.5*w_26**2/w_23)
    w_47 = mu*w_17
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[0, 3] = 0
    out[0, 4] = 0
    out[1, 0] = 2*w_6 - 1
    out[1, 1] = 2*w_12
    out[1, 2] = -mu*w_15
    out[1, 3] = -w_15 + 8*w_18
    out[1, 4] = 24*mu*w_10*w_16*w_7 - 16*w_19
    out[2, 0] = -4*w_6 + 4*_bivariate_normal_cdf(w_5, w_5, w_0*w_9) + 1
    out[2, 1] = 8*w_12*w_27 - 4*w_12
    out[2, 2] = mu*w_28 - mu*w_29 + 4*w_40
    out[2, 3] = -w_17*w_41 + 32*w_18*w_27 + w_2*w_3*w_42*w_46 + w_28 - w_29
    out[2, 4] = -64*w_19*w_27 + 32*w_19 - 16*w_25*w_32*w_46 + 96*w_27*w_47 + w_31*w_38*w_42*w_45 + 8*w_39*(16*r*w_43 - w_33) + 8*w_40*(-w_35*(-w_21*w_41 + 32*w_36*w_43) - w_37*(16*r*w_21 - 32*w_44)/w_34**2) - 48*w_47
    return out


def closed_pair_jets(mu, nu, r, v, c):
    """out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 5;
    x, y normal with means mu, nu, variances r, v, covariance c.

    E[f(x) f(y)] = 4*BivariateNormalCdf(sqrt(2)*mu/sqrt(2*r + 1), sqrt(2)*nu/sqrt(2*v + 1),
    2*c/(sqrt(2*r + 1)*sqrt(2*v + 1))) - 2*NormalCdf(sqrt(2)*mu/sqrt(2*r + 1)) -
    2*NormalCdf(sqrt(2)*nu/sqrt(2*v + 1)) + 1.
    """
    shapes = (np.shape(z) for z in (mu, nu, r, v, c))
    out = np.zeros((5, 5, *np.broadcast_shapes(*shapes)))
    w_0 = 2*r + 1
    w_1 = 1.0/np.sqrt(w_0)
    w_2 = np.sqrt(2)
    w_3 = mu*w_2
    w_4 = w_1*w_3
    w_5 = 2*v + 1
    w_6 = 1.0/np.sqrt(w_5)
    w_7 = nu*w_2
    w_8 = w_6*w_7
    w_9 = 2*w_6
    w_10 = c*w_1
    w_11 = 1.0/np.sqrt(np.pi)
    w_12 = nu**2
    w_13 = 1.0/w_5
    w_14 = w_12*w_13
    w_15 = np.exp(-w_14)
    w_16 = w_11*w_15
    w_17 = c**2
    w_18 = 1.0/w_0
    w_19 = w_13*w_18
    w_20 = w_17*w_19
    w_21 = 1 - 4*w_20
    w_22 = 1.0/np.sqrt(w_21)
    w_23 = 2*w_13
    w_24 = mu*w_1*w_2 - w_10*w_23*w_7
    w_25 = special.ndtr(w_22*w_24)
    w_26 = 4*w_16
    w_27 = mu**2
    w_28 = w_18*w_27
    w_29 = np.exp(-w_28)
    w_30 = w_11*w_29
    w_31 = w_1*w_30
    w_32 = c*w_18
    w_33 = w_3*w_32
    w_34 = nu*w_2*w_6 - w_33*w_9
    w_35 = special.ndtr(w_22*w_34)
    w_36 = w_5**(-1.5)
    w_37 = 8*w_16
    w_38 = w_25*w_36*w_37
    w_39 = 1.0/np.pi
    w_40 = 2 - 8*w_20
    w_41 = 1.0/w_40
    w_42 = mu*nu
    w_43 = 8*c
    w_44 = 2*w_14 - w_19*w_42*w_43 + 2*w_28
    w_45 = np.exp(-w_41*w_44)
    w_46 = w_39*w_45
    w_47 = w_22*w_46
    w_48 = w_36*w_47
    w_49 = w_10*w_48
    w_50 = 4*w_1
    w_51 = w_22*w_46*w_6
    w_52 = w_0**(-1.5)
    w_53 = w_30*w_52
    w_54 = 8*w_35*w_53
    w_55 = w_51*w_52
    w_56 = w_5**(-2.5)
    w_57 = w_12*w_56
    w_58 = 16*w_16
    w_59 = w_5**(-2.0)
    w_60 = w_21**(-1.5)
    w_61 = w_17*w_60
    w_62 = w_24*w_61
    w_63 = 4*w_59
    w_64 = w_18*w_63
    w_65 = (0.5)/w_21
    w_66 = np.exp(-w_24**2*w_65)
    w_67 = w_15*w_66*(4*c*nu*w_1*w_2*w_22*w_59 - w_62*w_64)
    w_68 = w_2*w_39
    w_69 = 4*w_6*w_68
    w_70 = w_36*w_7
    w_71 = w_34*w_61
    w_72 = w_29*np.exp(-w_34**2*w_65)
    w_73 = w_72*(w_22*(2*w_33*w_36 - w_70) - w_64*w_71)
    w_74 = w_50*w_68
    w_75 = w_3*w_52
    w_76 = c*w_52
    w_77 = w_0**(-2.0)
    w_78 = 4*w_77
    w_79 = w_13*w_78
    w_80 = w_0**(-2.5)
    w_81 = w_30*w_80
    w_82 = w_27*w_81
    w_83 = w_72*(4*c*mu*w_2*w_22*w_6*w_77 - w_71*w_79)
    w_84 = nu*w_16*w_56
    w_85 = w_5**(-3.5)
    w_86 = (nu*nu*nu)*w_85
    w_87 = w_46*w_52
    w_88 = 64*(c*c*c)*w_60
    w_89 = 8*w_39
    w_90 = 16*w_59
    w_91 = w_17*w_44/w_40**2
    w_92 = w_18*w_90*w_91 - w_41*(-w_12*w_63 + w_32*w_42*w_90)
    w_93 = 32*w_61
    w_94 = 16*w_76
    w_95 = w_46*w_80
    w_96 = w_75*w_89
    w_97 = w_51*w_94
    w_98 = 16*w_13*w_77
    w_99 = -w_41*(c*w_42*w_98 - w_27*w_78) + w_91*w_98
    w_100 = mu*w_81
    w_101 = w_0**(-3.5)
    w_102 = (mu*mu*mu)*w_101*w_30
    out[0, 0] = 4*_bivariate_normal_cdf(w_4, w_8, w_10*w_9) - 2*special.ndtr(w_4) - 2*special.ndtr(w_8) + 1
    out[0, 1] = -w_16*w_9 + w_25*w_26*w_6
    out[1, 0] = 4*w_31*w_35 - 2*w_31
    out[0, 2] = 4*nu*w_11*w_15*w_36 - nu*w_38 - 8*w_49
    out[1, 1] = w_50*w_51
    out[2, 0] = 4*mu*w_11*w_29*w_52 - mu*w_54 - w_43*w_55
    out[0, 3] = w_25*w_57*w_58 + w_26*w_36 - w_37*w_57 - w_38 + w_67*w_69
    out[1, 2] = w_73*w_74
    out[2, 1] = w_15*w_66*w_69*(w_22*(w_23*w_7*w_76 - w_75) - w_62*w_79)
    out[3, 0] = 16*w_35*w_82 + 4*w_53 - w_54 + w_74*w_83 - 8*w_82
    out[0, 4] = 48*w_10*w_47*w_56 - 32*w_16*w_25*w_86 + 48*w_25*w_84 - 16*w_49*w_92 + w_58*w_86 - w_67*w_70*w_89 - 24*w_84 + w_85*w_87*w_88
    out[1, 3] = 8*w_1*w_22*w_39*w_45*w_6*w_92 - 8*w_1*w_48 - w_56*w_87*w_93
    out[2, 2] = w_48*w_94 + w_56*w_88*w_95 - w_73*w_96 - w_92*w_97
    out[3, 1] = 8*w_1*w_22*w_39*w_45*w_6*w_99 - w_36*w_93*w_95 - 8*w_55
    out[4, 0] = 48*c*w_51*w_80 + 48*w_100*w_35 - 24*w_100 + w_101*w_36*w_46*w_88 - 32*w_102*w_35 + 16*w_102 - w_83*w_96 - w_97*w_99
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

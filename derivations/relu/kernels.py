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
LARGEST_LOG = 100.0
SMOOTH = False
CONTINUOUS = True
CLOSED = True
FREE_BIAS = False
FREE_GAIN = False


def _exp(z):
    """An exponential inside exp(-...): beyond e^100.0 the outer one is 0 in any case."""
    return np.exp(np.minimum(z, 100.0))


def attention(x):
    """a = Ramp(x); x of shape (..., L, H), bias included."""
    score = np.maximum(x, 0.0)
    return np.broadcast_to(score, np.shape(x)).copy()


def factors(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; X_2 = f0**2; f0 = Ramp(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    f0 = np.maximum(x, 0.0)
    f1 = np.heaviside(x, 0.5)
    f2 = (0.0 * x)
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

    X_0 = 1; X_1 = f0; f0 = Ramp(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    f0 = np.maximum(x, 0.0)
    f1 = np.heaviside(x, 0.5)
    f2 = (0.0 * x)
    out = np.empty((2, 3, *np.broadcast_shapes(s.shape, x.shape)))
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = f0
    out[1, 1] = f1
    out[1, 2] = f2
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
    w_11 = c**2
    w_12 = 1.0/r
    w_13 = 1.0/q
    w_14 = w_12*w_13
    w_15 = w_11*w_14
    w_16 = 1 - w_15
    w_17 = np.sqrt(w_16)
    w_18 = 1.0/w_17
    w_19 = nu*w_13
    w_20 = mu*w_3 - w_19*w_8
    w_21 = special.ndtr(w_18*w_20)
    w_22 = nu**2
    w_23 = w_13*w_22
    w_24 = np.exp(-0.5*w_23)
    w_25 = w_24*w_5
    w_26 = w_21*w_25
    w_27 = (0.5)*mu
    w_28 = np.sqrt(2)/np.sqrt(np.pi)
    w_29 = w_27*w_28
    w_30 = mu**2
    w_31 = w_12*w_30
    w_32 = np.exp(-0.5*w_31)
    w_33 = w_2*w_32
    w_34 = c*w_12
    w_35 = mu*w_34
    w_36 = nu*w_6 - w_35*w_6
    w_37 = w_18*w_36
    w_38 = special.ndtr(w_37)
    w_39 = (0.5)*w_28
    w_40 = w_38*w_39
    w_41 = w_33*w_40
    w_42 = 1.0/np.pi
    w_43 = w_36**2
    w_44 = 1.0/w_16
    w_45 = (0.5)*w_44
    w_46 = w_42*np.exp(-w_43*w_45)
    w_47 = w_33*w_46
    w_48 = (0.5)*w_47
    w_49 = w_17*w_48
    w_50 = w_49*w_5
    w_51 = w_21*w_24
    w_52 = w_39*w_51
    w_53 = w_1*w_6
    w_54 = w_42*np.exp(-w_20**2*w_45)
    w_55 = (0.5)*w_4
    w_56 = w_3*w_32
    w_57 = w_40*w_56
    w_58 = w_25*w_54
    w_59 = w_17*w_5
    w_60 = (0.5)*w_46
    w_61 = w_59*w_60
    w_62 = w_18*w_8
    w_63 = w_32*w_60
    w_64 = q**(-1.5)
    w_65 = w_27*w_64
    w_66 = w_18*w_3
    w_67 = (0.5)*w_11
    w_68 = w_46*w_67
    w_69 = q**(-2.0)
    w_70 = w_16**(-1.5)
    w_71 = w_20*w_70
    w_72 = w_67*w_71
    w_73 = w_12*w_69
    w_74 = mu*w_58
    w_75 = nu*w_64
    w_76 = w_36*w_70
    w_77 = w_67*w_73
    w_78 = nu*w_47
    w_79 = (0.25)*w_28
    w_80 = c*w_14
    w_81 = w_42*np.exp(-(-2*w_0*w_80 + w_23 + w_31)/(2 - 2*w_15))
    w_82 = (0.25)*w_81
    w_83 = 2*w_1
    w_84 = w_43/w_16**2
    w_85 = w_47*w_59
    w_86 = mu*w_6
    w_87 = r**(-1.5)
    w_88 = w_32*w_87
    w_89 = w_30*w_88
    w_90 = w_18*w_6
    w_91 = r**(-2.0)
    w_92 = w_13*w_91
    w_93 = w_67*w_92
    w_94 = c*w_87
    out[0, 0] = nu*w_41 + w_1*w_10 + w_26*w_29 + w_50
    out[0, 1] = -c*w_18*w_24*w_54*w_55*w_6 + mu*w_10 - w_0*w_52*w_6 + w_18*w_48*w_7 - w_37*w_48 + w_41 + w_52*w_53
    out[1, 0] = nu*w_10 - w_0*w_57 + w_1*w_57 + w_18*w_55*w_58 + w_26*w_39 - w_32*w_4*w_61 + w_37*w_63*w_8 - w_62*w_63*w_7
    out[0, 2] = w_22*w_28*w_51*w_65 + w_29*w_51*w_6 + w_32*w_64*w_66*w_68 + w_49*w_6 + w_74*(c*nu*w_18*w_3*w_69 - w_72*w_73) + w_78*(w_18*(w_34*w_65 - 0.5*w_75) - w_76*w_77) + w_83*(-w_51*w_75*w_79 - w_62*w_64*w_82) + w_85*(-w_36*w_45*(w_35*w_64 - w_75) + w_77*w_84)
    out[1, 1] = w_10 - w_18*w_63*w_9 + w_27*w_58*(-w_19*w_66 + w_71*w_80) + w_50*(mu*w_12*w_36*w_44*w_6 - w_80*w_84) + (0.5)*w_53*w_66*w_81 + (0.5)*w_78*(-w_12*w_18*w_86 + w_76*w_80)
    out[2, 0] = nu*w_40*w_89 + nu*w_57 + w_56*w_61 + w_61*w_89 + w_68*w_88*w_90 + w_74*(w_18*((0.5)*w_19*w_94 - w_27*w_87) - w_72*w_92) + w_78*(c*mu*w_18*w_6*w_91 - w_76*w_93) + w_83*(-mu*w_38*w_79*w_88 - w_82*w_90*w_94) + w_85*(-c*w_36*w_44*w_86*w_91 + w_84*w_93)
    return out


def closed_single_jets(mu, r):
    """out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = Ramp(x).

    E[f] = mu*NormalCdf(mu/sqrt(r)) + sqrt(2)*sqrt(r)*exp(-mu**2/(2*r))/(2*sqrt(pi)); E[f^2] =
    sqrt(2)*mu*sqrt(r)*exp(-mu**2/(2*r))/(2*sqrt(pi)) + (mu**2 + r)*NormalCdf(mu/sqrt(r)).
    """
    out = np.empty((3, 5, *np.broadcast_shapes(np.shape(mu), np.shape(r))))
    w_0 = np.sqrt(r)
    w_1 = 1.0/w_0
    w_2 = mu*w_1
    w_3 = special.ndtr(w_2)
    w_4 = mu*w_3
    w_5 = np.sqrt(2)
    w_6 = 1.0/np.sqrt(np.pi)
    w_7 = mu**2
    w_8 = (0.5)*w_7
    w_9 = np.exp(-w_8/r)
    w_10 = w_5*w_6*w_9
    w_11 = (0.5)*w_10
    w_12 = w_0*w_11
    w_13 = w_1*w_11
    w_14 = r**(-1.5)
    w_15 = w_11*w_14
    w_16 = mu*w_15
    w_17 = r**(-2.5)
    w_18 = w_10*w_17
    w_19 = r + w_7
    w_20 = (mu*mu*mu)
    w_21 = r**(-3.5)
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[0, 3] = 0
    out[0, 4] = 0
    out[1, 0] = w_12 + w_4
    out[1, 1] = w_3
    out[1, 2] = w_13
    out[1, 3] = -w_16
    out[1, 4] = -w_15 + w_18*w_8
    out[2, 0] = mu*w_12 + w_19*w_3
    out[2, 1] = -w_1*w_10*w_8 + w_12 + w_13*w_19 + 2*w_4
    out[2, 2] = w_11*w_2 + w_15*w_20 - w_16*w_19 + 2*w_3
    out[2, 3] = -(mu*mu*mu*mu)*w_11*w_17 + (1.5)*w_1*w_5*w_6*w_9 - w_15*w_19 + (0.5)*w_17*w_19*w_5*w_6*w_7*w_9
    out[2, 4] = (0.5)*(mu*mu*mu*mu*mu)*w_21*w_5*w_6*w_9 - 2.5*mu*w_10*w_14 + (1.5)*mu*w_17*w_19*w_5*w_6*w_9 - w_11*w_19*w_20*w_21 - w_18*w_20
    return out


def closed_pair_jets(mu, nu, r, q, c):
    """out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 5;
    x, y normal with means mu, nu, variances r, q, covariance c.

    E[f(x) f(y)] = sqrt(2)*mu*sqrt(q)*exp(-nu**2/(2*q))*NormalCdf((-c*nu/(q*sqrt(r)) +
    mu/sqrt(r))/sqrt(-c**2/(q*r) + 1))/(2*sqrt(pi)) +
    sqrt(2)*nu*sqrt(r)*exp(-mu**2/(2*r))*NormalCdf((-c*mu/(sqrt(q)*r) +
    nu/sqrt(q))/sqrt(-c**2/(q*r) + 1))/(2*sqrt(pi)) + sqrt(q)*sqrt(r)*sqrt(-c**2/(q*r) +
    1)*exp(-mu**2/(2*r))*exp(-(-c*mu/(sqrt(q)*r) + nu/sqrt(q))**2/(2*(-c**2/(q*r) + 1)))/(2*pi)
    + (c + mu*nu)*BivariateNormalCdf(mu/sqrt(r), nu/sqrt(q), c/(sqrt(q)*sqrt(r))).
    """
    shapes = (np.shape(z) for z in (mu, nu, r, q, c))
    out = np.zeros((5, 5, *np.broadcast_shapes(*shapes)))
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
    w_34 = mu*w_6
    w_35 = c*w_17
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
    w_50 = w_14*w_6
    w_51 = w_28*w_50
    w_52 = w_1*w_50
    w_53 = (0.5)*w_22
    w_54 = w_46*w_7
    w_55 = w_24**2
    w_56 = w_41*np.exp(-w_44*w_55)
    w_57 = w_50*w_56
    w_58 = c*w_53
    w_59 = w_4*w_58
    w_60 = w_3*w_32
    w_61 = w_39*w_60
    w_62 = w_1*w_60
    w_63 = w_15*w_56
    w_64 = w_4*w_53
    w_65 = w_32*w_45
    w_66 = w_48*w_65
    w_67 = w_4*w_66
    w_68 = w_65*w_8
    w_69 = w_53*w_68
    w_70 = w_37*w_68
    w_71 = w_14*w_34
    w_72 = q**(-1.5)
    w_73 = mu*w_72
    w_74 = w_14*w_28
    w_75 = w_73*w_74
    w_76 = w_21*w_47
    w_77 = w_6*w_76
    w_78 = w_22*w_3
    w_79 = w_16*w_65
    w_80 = w_78*w_79
    w_81 = (0.5)*w_72
    w_82 = w_80*w_81
    w_83 = q**(-2.0)
    w_84 = w_20**(-1.5)
    w_85 = w_24*w_84
    w_86 = w_16*w_17
    w_87 = w_83*w_86
    w_88 = (0.5)*w_87
    w_89 = c*nu*w_22*w_3*w_83 - w_85*w_88
    w_90 = w_63*w_89
    w_91 = mu*w_90
    w_92 = nu*w_72
    w_93 = (0.5)*w_92
    w_94 = mu*w_35
    w_95 = w_72*w_94
    w_96 = -w_93 + (0.5)*w_95
    w_97 = w_36*w_84
    w_98 = w_22*w_96 - w_88*w_97
    w_99 = w_46*w_98
    w_100 = nu*w_99
    w_101 = (0.25)*w_26
    w_102 = w_14*w_92
    w_103 = w_22*w_8
    w_104 = 2 - 2*w_19
    w_105 = 1.0/w_104
    w_106 = c*w_18
    w_107 = 2*w_0
    w_108 = -w_106*w_107 + w_13 + w_31
    w_109 = w_41*np.exp(-w_105*w_108)
    w_110 = (0.25)*w_109
    w_111 = w_103*w_110*w_72
    w_112 = -w_101*w_102*w_25 - w_111
    w_113 = 2*w_1
    w_114 = w_20**(-2.0)
    w_115 = w_114*w_42
    w_116 = -w_92 + w_95
    w_117 = w_36*w_44
    w_118 = w_115*w_88 - w_116*w_117
    w_119 = w_46*w_48
    w_120 = w_118*w_119
    w_121 = w_65*w_9
    w_122 = (0.5)*w_6
    w_123 = w_1*w_109
    w_124 = w_123*w_78
    w_125 = mu*w_63
    w_126 = w_106*w_85 - w_23*w_78
    w_127 = (0.5)*w_126
    w_128 = w_22*w_34
    w_129 = w_106*w_97 - w_128*w_17
    w_130 = nu*w_46
    w_131 = w_129*w_130
    w_132 = mu*w_17*w_36*w_43*w_6 - w_106*w_115
    w_133 = r**(-1.5)
    w_134 = nu*w_133
    w_135 = w_30*w_32
    w_136 = w_134*w_135
    w_137 = w_45*w_60
    w_138 = (0.5)*w_137
    w_139 = w_138*w_48
    w_140 = w_133*w_6
    w_141 = w_140*w_53
    w_142 = w_141*w_79
    w_143 = (0.5)*w_133
    w_144 = w_143*w_66
    w_145 = w_144*w_30
    w_146 = r**(-2.0)
    w_147 = w_12*w_16
    w_148 = w_146*w_147
    w_149 = (0.5)*w_148
    w_150 = c*mu*w_146*w_22*w_6 - w_149*w_97
    w_151 = w_150*w_46
    w_152 = nu*w_151
    w_153 = mu*w_133
    w_154 = (0.5)*w_153
    w_155 = w_133*w_23
    w_156 = c*w_155
    w_157 = -w_154 + (0.5)*w_156
    w_158 = w_146*w_85
    w_159 = -0.5*w_147*w_158 + w_157*w_22
    w_160 = w_159*w_63
    w_161 = mu*w_160
    w_162 = w_153*w_32
    w_163 = c*w_22
    w_164 = w_110*w_140*w_163
    w_165 = -w_101*w_162*w_38 - w_164
    w_166 = w_34*w_43
    w_167 = w_146*w_36
    w_168 = w_166*w_167
    w_169 = -c*w_168 + w_115*w_149
    w_170 = w_119*w_169
    w_171 = w_72*w_74
    w_172 = (nu*nu*nu)
    w_173 = q**(-2.5)
    w_174 = mu*w_173
    w_175 = w_14*w_56
    w_176 = w_175*w_72
    w_177 = nu*w_173
    w_178 = w_16*w_84
    w_179 = (c*c*c)
    w_180 = w_179*w_84
    w_181 = w_11*w_14
    w_182 = w_181*w_56
    w_183 = w_22*w_96
    w_184 = w_16*w_83
    w_185 = w_56*w_89
    w_186 = w_0*w_50
    w_187 = 2*w_112
    w_188 = nu*w_83
    w_189 = w_114*w_55
    w_190 = -w_188*w_24*w_43*w_8 + w_189*w_88
    w_191 = w_190*w_4
    w_192 = w_163*w_57
    w_193 = w_118*w_22
    w_194 = w_37*w_46
    w_195 = w_122*w_21
    w_196 = w_4*w_65
    w_197 = w_103*w_65
    w_198 = w_22*w_79
    w_199 = (0.5)*w_180
    w_200 = w_133*w_65
    w_201 = w_199*w_200
    w_202 = w_143*w_65
    w_203 = w_179*w_97
    w_204 = w_45*w_98
    w_205 = w_204*w_60
    w_206 = w_22*w_63
    w_207 = w_118*w_48
    w_208 = w_197*w_7
    w_209 = w_133*w_39
    w_210 = (0.5)*w_65
    w_211 = r**(-2.5)
    w_212 = w_199*w_211
    w_213 = w_200*w_30
    w_214 = w_53*w_7
    w_215 = w_30*w_37
    w_216 = 2*w_165
    w_217 = w_159*w_56
    w_218 = w_169*w_46
    w_219 = w_149*w_189 - w_24*w_44*(-w_153 + w_156)
    w_220 = w_219*w_4
    w_221 = w_209*w_32
    w_222 = (mu*mu*mu)
    w_223 = nu*w_211
    w_224 = w_32*w_39
    w_225 = w_133*w_58
    w_226 = w_225*w_65
    w_227 = (0.5)*w_211
    w_228 = w_178*w_227
    w_229 = c*w_211
    w_230 = w_229*w_30*w_65
    w_231 = w_150*w_45
    w_232 = w_231*w_60
    w_233 = w_14*w_25*w_26
    w_234 = q**(-3.5)
    w_235 = (c*c*c*c)
    w_236 = w_235*w_84
    w_237 = 2*w_185
    w_238 = w_181*w_73
    w_239 = w_21*w_6
    w_240 = 2*w_118
    w_241 = 2*w_119
    w_242 = w_72*w_80
    w_243 = q**(-3.0)
    w_244 = 2*w_243
    w_245 = q**(-4.0)
    w_246 = w_243*w_86
    w_247 = w_20**(-2.5)
    w_248 = w_24*w_247
    w_249 = w_146*w_245
    w_250 = (0.75)*w_235
    w_251 = w_249*w_250
    w_252 = 2*w_125
    w_253 = 2*w_190
    w_254 = w_247*w_36
    w_255 = w_84*w_96
    w_256 = 2*w_130
    w_257 = w_42/(w_20*w_20*w_20)
    w_258 = w_235*w_257
    w_259 = (0.125)*w_234
    w_260 = w_109*w_173
    w_261 = w_109*w_133
    w_262 = w_35*w_83
    w_263 = 2*w_108/w_104**2
    w_264 = -w_105*(w_107*w_262 - w_11*w_83) + w_263*w_87
    w_265 = 4*w_1
    w_266 = w_109*w_72
    w_267 = w_127*w_56
    w_268 = w_124*w_6
    w_269 = (1.5)*w_243
    w_270 = w_146*w_179
    w_271 = w_125*w_126
    w_272 = w_17*w_73
    w_273 = (0.5)*w_146
    w_274 = w_166*w_96
    w_275 = w_236*w_65
    w_276 = w_211*w_30
    w_277 = w_140*w_198
    w_278 = r**(-3.0)
    w_279 = w_157*w_84
    w_280 = 2*w_169
    w_281 = (0.125)*w_180
    w_282 = (0.25)*w_162
    w_283 = w_26*w_38
    w_284 = w_283*w_32
    w_285 = w_109*w_6
    w_286 = c*w_12
    w_287 = w_146*w_286
    w_288 = -w_105*(w_107*w_287 - w_146*w_30) + w_148*w_263
    w_289 = w_179*w_278*w_83
    w_290 = (1.5)*w_289
    w_291 = w_30*w_43
    w_292 = r**(-3.5)
    w_293 = (mu*mu*mu*mu)*w_292
    w_294 = w_198*w_6
    w_295 = r**(-4.0)
    w_296 = w_147*w_278
    w_297 = w_295*w_83
    w_298 = w_250*w_297
    out[0, 0] = mu*w_29 + nu*w_40 + w_1*w_10 + w_49
    out[0, 1] = mu*w_10 - w_0*w_51 + w_28*w_52 - w_37*w_47 + w_40 + w_53*w_54 - w_57*w_59
    out[1, 0] = nu*w_10 - w_0*w_61 + w_29 + w_39*w_62 + w_63*w_64 - 0.5*w_67 - w_69*w_7 + (0.5)*w_70
    out[0, 2] = w_100 + w_11*w_75 + w_112*w_113 + w_120 + w_28*w_71 + w_77 + w_82 + w_91
    out[1, 1] = w_10 - w_121*w_53 + w_122*w_124 + w_125*w_127 + (0.5)*w_131 + w_132*w_49
    out[2, 0] = nu*w_61 + w_113*w_165 + w_136*w_39 + w_139 + w_142 + w_145 + w_152 + w_161 + w_170
    out[0, 3] = mu*w_187 + w_0*w_171 + w_1*w_11*w_173*w_74 - w_1*w_171 - w_118*w_194 - w_138*w_177*w_178 + w_138*w_184*w_97 + w_154*w_173*w_175*w_180 - w_172*w_174*w_74 - w_173*w_182*w_59 + w_176*w_59 - w_183*w_46 - w_185*w_186 + w_185*w_52 - w_191*w_192 + w_193*w_54 - w_22*w_46*w_93 + w_99
    out[1, 2] = nu*w_187 - w_0*w_205 + w_11*w_171 - w_118*w_208 + w_118*w_70 - w_154*w_176*w_178 - w_154*w_198*w_72 + w_177*w_201 + w_182*w_64*w_72 + w_183*w_68 + w_191*w_206 - w_195*w_196 - w_196*w_207 + w_197*w_93 - w_202*w_203*w_83 + w_204*w_62 + w_51 + w_57*w_64 + w_90
    out[2, 1] = mu*w_216 + w_135*w_209 - w_138*w_37 + (0.5)*w_147*w_200*w_97 + w_151 + w_154*w_192 - w_162*w_163*w_45*w_6 - w_169*w_194 + w_175*w_212*w_73 - w_178*w_200*w_93 - w_186*w_217 - w_192*w_220 - w_202*w_215 + w_210*w_7*w_78 + w_213*w_214 + w_217*w_52 + w_218*w_22*w_7 + w_61
    out[3, 0] = -c*w_202*w_37 + nu*w_216 + w_0*w_221 - w_0*w_232 + w_1*w_135*w_211*w_39 - w_1*w_221 - w_12*w_203*w_227*w_65 + w_128*w_227*w_79 - w_154*w_206 + w_154*w_66 + w_160 - w_169*w_208 - w_169*w_67 + w_169*w_70 + w_180*w_211*w_65*w_93 + w_206*w_220 + w_210*w_215*w_229 - w_214*w_230 - w_222*w_223*w_224 - w_222*w_227*w_66 + w_226*w_7 - w_228*w_56*w_71 + w_231*w_62
    out[0, 4] = mu*(nu*nu*nu*nu)*w_234*w_74 + w_100*w_240 - w_11*w_174*w_233 + w_118**2*w_241 - w_173*w_80 - w_202*w_234*w_236 + w_237*w_238 + w_237*w_71 + w_239*w_240*w_46 + w_240*w_242 + w_241*(w_114*w_116*w_16*w_17*w_36*w_83 - w_115*w_246 - w_116*w_44*w_96 - w_117*((1.5)*nu*w_173 - 1.5*w_173*w_94) - w_249*w_258) + w_252*(-nu*w_103*w_244 - w_134*w_180*w_245 + w_246*w_85 + w_248*w_251) + w_253*w_91 + w_256*(w_22*(-0.75*mu*w_173*w_35 + (0.75)*nu*w_173) + w_246*w_97 + w_251*w_254 - w_255*w_87) + w_265*(-0.25*w_102*w_185 + (0.375)*w_103*w_260 - w_111*w_264 - w_172*w_233*w_259 + (0.375)*w_177*w_233 + w_180*w_259*w_261) - w_72*w_76 - w_75
    out[1, 3] = w_118*w_131 + w_119*(-w_106*w_114*w_116*w_36 - w_114*w_16*w_167*w_174 + w_115*w_262 - w_117*w_272 + w_17*w_274 + w_244*w_257*w_270) + w_120*w_132 - w_121*w_193 - w_123*w_143*w_173*w_178 - w_124*w_81 + w_125*((1.5)*nu*w_133*w_16*w_243*w_84 + nu*w_22*w_3*w_83 - w_248*w_269*w_270 - w_262*w_85) + w_130*(w_106*w_255 - w_167*w_179*w_247*w_269 + w_174*w_178*w_273 - w_262*w_97 + w_272*w_53) + w_132*w_77 + w_132*w_82 + w_173*w_201 + w_190*w_271 - w_233*w_93 + w_238*w_267 + w_264*w_268 - w_266*w_53*w_8 + w_267*w_71 + w_69*w_72
    out[2, 2] = nu*w_205 + w_118*w_277 + w_120*w_280 + w_136*w_204 + w_137*w_195 + w_137*w_207 + w_152*w_240 + w_161*w_253 + w_169*w_242 - w_173*w_227*w_275 + w_195*w_213 + w_207*w_213 + w_217*w_238 + w_217*w_71 + w_218*w_239 + w_241*((0.5)*c*mu*w_146*w_36*w_43*w_72 - c*w_146*w_274 + mu*w_114*w_173*w_179*w_278*w_36 + (0.5)*w_114*w_116*w_12*w_146*w_16*w_36 - w_115*w_184*w_273 - w_243*w_258*w_278) + w_252*((0.5)*w_146*w_16*w_24*w_83*w_84 - w_188*w_225 - w_199*w_223*w_243 + (0.75)*w_235*w_24*w_243*w_247*w_278 - w_279*w_88) + w_256*((0.5)*w_146*w_16*w_36*w_83*w_84 - w_146*w_58*w_73 - w_149*w_255 - w_174*w_199*w_278 + (0.75)*w_235*w_243*w_247*w_278*w_36) + w_265*((0.125)*w_163*w_261*w_72 - w_164*w_264 - w_204*w_282 + w_211*w_260*w_281) + w_276*w_53*w_72*w_79
    out[3, 1] = nu*w_129*w_138 + w_119*(-3*w_114*w_16*w_278*w_36*w_73 + w_115*w_287 - w_168 + 2*w_257*w_289 + w_278*w_286*w_291) - w_121*w_169*w_22 - w_123*w_141 - w_123*w_228*w_72 + w_125*(w_106*w_279 + w_155*w_53 - w_158*w_286 + w_188*w_228 - w_248*w_290) + w_129*w_134*w_210*w_30 + w_130*(mu*w_146*w_22*w_6 + (1.5)*mu*w_16*w_278*w_72*w_84 - w_254*w_290 - w_287*w_97) + w_131*w_169 + w_132*w_139 + w_132*w_142 + w_132*w_145 + w_132*w_170 - w_154*w_284 + w_212*w_65*w_72 + w_219*w_271 - w_225*w_285 + w_226*w_6 - w_230*w_53*w_6 + w_268*w_288
    out[4, 0] = nu*w_224*w_293 + 2*nu*w_232 + w_133*w_280*w_30*w_66 - w_134*w_224 - w_135*w_223*w_283 + 2*w_136*w_231 + w_137*w_280*w_48 - w_144 + w_152*w_280 + 2*w_161*w_219 + w_169**2*w_241 - w_211*w_294 + w_241*(2*c*mu*w_278*w_36*w_43*w_6 + 2*mu*w_114*w_179*w_295*w_36*w_72 - w_115*w_296 - w_147*w_291*w_295 - w_258*w_297) + w_252*(-w_148*w_279 + w_22*((0.75)*mu*w_211 - 0.75*w_229*w_23) + w_248*w_298 + w_296*w_85) + w_256*(-2*c*w_128*w_278 - w_180*w_295*w_73 + w_254*w_298 + w_296*w_97) + w_265*((0.375)*mu*w_211*w_284 - w_164*w_288 + (0.375)*w_22*w_229*w_285 - 0.125*w_222*w_284*w_292 - w_231*w_282 + w_266*w_281*w_292) - w_275*w_292*w_81 - w_276*w_66 + w_277*w_280 + w_292*w_294*w_30 + (0.5)*w_293*w_66
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

"""Kernels of the activation relu, derived by theory/ and written by its code generator.

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
    "name": "relu",
    "score": "Ramp(Symbol('x', real=True))",
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
SMOOTH = False
KINKS = (0.0, )
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


def jets(s, x):
    """out[n, d], n < 3: d-th derivative in x of X_n.

    X_0 = 1; X_1 = f0; X_2 = f0**2; f0 = Ramp(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    f0 = np.maximum(x, 0.0)
    f1 = np.heaviside(x, 0.5)
    f2 = (0.0 * x)
    f3 = (0.0 * x)
    f4 = (0.0 * x)
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

    X_0 = 1; X_1 = f0; f0 = Ramp(x).
    """
    s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)
    f0 = np.maximum(x, 0.0)
    f1 = np.heaviside(x, 0.5)
    f2 = (0.0 * x)
    f3 = (0.0 * x)
    f4 = (0.0 * x)
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
    """out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = Ramp(x).

    E[f] = mu*NormalCdf(mu/sqrt(r)) + sqrt(2)*sqrt(r)*exp(-mu**2/(2*r))/(2*sqrt(pi)); E[f^2] =
    mu*(mu*NormalCdf(mu/sqrt(r)) + sqrt(2)*sqrt(r)*exp(-mu**2/(2*r))/(2*sqrt(pi))) +
    r*NormalCdf(mu/sqrt(r)).
    """
    out = np.empty((3, 3, *np.broadcast_shapes(np.shape(mu), np.shape(r))))
    w_0 = np.sqrt(r)
    w_1 = 1.0/w_0
    w_2 = special.ndtr(mu*w_1)
    w_3 = mu*w_2
    w_4 = np.sqrt(2)*np.exp(-0.5*mu**2/r)/np.sqrt(np.pi)
    w_5 = w_0*w_4
    w_6 = w_3 + (0.5)*w_5
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[1, 0] = w_6
    out[1, 1] = w_2
    out[1, 2] = (0.5)*w_1*w_4
    out[2, 0] = mu*w_6 + r*w_2
    out[2, 1] = 2*w_3 + w_5
    out[2, 2] = 2*w_2
    return out


def closed_pair(mu, nu, r, v, c):
    """out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 3;
    x, y normal with means mu, nu, variances r, v, covariance c.

    E[f(x) f(y)] = c*BivariateNormalCdf(mu/sqrt(r), nu/sqrt(v), c/(sqrt(r)*sqrt(v))) +
    mu*(sqrt(2)*c*exp(-mu**2/(2*r))*NormalCdf((-c*mu/r + nu)/sqrt(-c**2/r +
    v))/(2*sqrt(pi)*sqrt(r)) + nu*BivariateNormalCdf(mu/sqrt(r), nu/sqrt(v),
    c/(sqrt(r)*sqrt(v))) + sqrt(2)*sqrt(v)*exp(-nu**2/(2*v))*NormalCdf((-c*nu/v +
    mu)/sqrt(-c**2/v + r))/(2*sqrt(pi))) + sqrt(2)*sqrt(r)*(sqrt(2)*sqrt(-c**2/r +
    v)*exp(-(-c*mu/r + nu)**2/(2*(-c**2/r + v)))/(2*sqrt(pi)) + (-c*mu/r +
    nu)*NormalCdf((-c*mu/r + nu)/sqrt(-c**2/r + v)))*exp(-mu**2/(2*r))/(2*sqrt(pi)).
    """
    shapes = (np.shape(z) for z in (mu, nu, r, v, c))
    out = np.zeros((3, 3, *np.broadcast_shapes(*shapes)))
    w_0 = np.sqrt(r)
    w_1 = 1.0/w_0
    w_2 = mu*w_1
    w_3 = np.sqrt(v)
    w_4 = 1.0/w_3
    w_5 = nu*w_4
    w_6 = c*w_1
    w_7 = w_4*w_6
    w_8 = _bivariate_normal_cdf(w_2, w_5, w_7)
    w_9 = 1.0/r
    w_10 = mu*w_9
    w_11 = c*w_10
    w_12 = nu - w_11
    w_13 = c**2
    w_14 = v - w_13*w_9
    w_15 = np.sqrt(w_14)
    w_16 = 1.0/w_15
    w_17 = w_12*w_16
    w_18 = special.ndtr(w_17)
    w_19 = np.sqrt(2)
    w_20 = 1.0/np.sqrt(np.pi)
    w_21 = w_19*w_20
    w_22 = 1.0/w_14
    w_23 = w_12**2
    w_24 = (0.5)*w_23
    w_25 = np.exp(-w_22*w_24)
    w_26 = (0.5)*w_25
    w_27 = w_21*w_26
    w_28 = w_15*w_27
    w_29 = w_12*w_18 + w_28
    w_30 = mu**2
    w_31 = w_30*w_9
    w_32 = np.exp(-0.5*w_31)
    w_33 = w_0*w_32
    w_34 = w_21*w_33
    w_35 = (0.5)*w_34
    w_36 = (0.5)*w_21
    w_37 = w_32*w_36
    w_38 = w_37*w_6
    w_39 = nu**2
    w_40 = 1.0/v
    w_41 = w_39*w_40
    w_42 = np.exp(-0.5*w_41)
    w_43 = w_3*w_42
    w_44 = nu*w_40
    w_45 = -c*w_44 + mu
    w_46 = w_13*w_40
    w_47 = r - w_46
    w_48 = 1.0/np.sqrt(w_47)
    w_49 = special.ndtr(w_45*w_48)
    w_50 = w_36*w_49
    w_51 = nu*w_8 + w_43*w_50
    w_52 = w_4*w_42
    w_53 = w_46*w_9
    w_54 = 1.0/np.sqrt(1 - w_53)
    w_55 = special.ndtr(w_54*(mu*w_1 - w_44*w_6))
    w_56 = w_36*w_55
    w_57 = (0.25)*w_21
    w_58 = w_25*w_57
    w_59 = w_42*w_5
    w_60 = 1.0/np.pi
    w_61 = w_26*w_60
    w_62 = w_16*w_61
    w_63 = w_32*w_62
    w_64 = np.exp(-0.5*w_45**2/w_47)
    w_65 = (0.5)*w_60
    w_66 = w_64*w_65
    w_67 = r**(-1.5)
    w_68 = c*mu
    w_69 = special.ndtr(w_54*(nu*w_4 - w_11*w_4))
    w_70 = w_29*w_37
    w_71 = v**(-1.5)
    w_72 = w_42*w_71
    w_73 = w_54*np.exp(-(-2*nu*w_11*w_40 + w_31 + w_41)/(2 - 2*w_53))
    w_74 = (0.25)*w_60
    w_75 = w_6*w_74
    w_76 = -nu*w_55*w_57*w_72 - w_71*w_73*w_75
    w_77 = 2*c
    w_78 = w_49*w_57
    w_79 = w_12/w_14**(1.5)
    w_80 = v**(-2.0)
    w_81 = w_45/w_47**(1.5)
    w_82 = (0.5)*w_13
    w_83 = w_43*w_66
    w_84 = 2*mu
    w_85 = w_65*w_73
    w_86 = c*w_9
    w_87 = -w_10*w_16 + w_79*w_86
    w_88 = w_14**(-2.0)
    w_89 = w_1*w_37
    w_90 = w_32*w_6*w_61
    w_91 = w_32*w_57
    w_92 = c*w_67
    w_93 = -mu*w_67*w_69*w_91 - w_4*w_73*w_74*w_92
    w_94 = r**(-2.0)
    w_95 = w_68*w_94
    w_96 = c*mu*w_16*w_94 - w_79*w_82*w_94
    w_97 = w_18*w_91
    out[0, 0] = c*w_8 + mu*(w_18*w_38 + w_51) + w_29*w_35
    out[0, 1] = c*w_52*w_56 + mu*(-c*w_48*w_52*w_66 - w_50*w_59 + w_56*w_59 + w_6*w_63 + w_8) + w_35*(-w_16*w_58*(2*nu - 2*w_11) + w_17*w_27 + w_18)
    out[1, 0] = mu*((0.5)*nu*w_1*w_19*w_20*w_32*w_69 - w_13*w_63*w_67 - w_18*w_37*w_67*w_68 + (0.5)*w_3*w_42*w_48*w_60*w_64) - w_2*w_70 + w_38*w_69 + w_51
    out[0, 2] = w_33*w_62 + w_76*w_77 + w_84*(nu*w_76 - w_25*w_32*w_75*w_79 + w_39*w_72*w_78 + w_52*w_78 + w_83*(c*nu*w_48*w_80 - w_80*w_81*w_82))
    out[1, 1] = mu*(w_1*w_5*w_85 + w_18*w_89 + w_83*(c*w_40*w_81 - w_44*w_48) + w_87*w_90) + w_35*(-w_10*w_18 + (0.5)*w_12*w_19*w_20*w_25*w_87 + (0.5)*w_15*w_19*w_20*w_25*(mu*w_12*w_22*w_9 - w_23*w_86*w_88) - w_16*w_27*w_86) + w_7*w_85 + w_8
    out[2, 0] = w_29*w_89 + w_30*w_67*w_70 + w_34*(w_12*w_27*w_96 + w_13*w_16*w_58*w_94 + w_18*w_95 + w_28*(-w_12*w_22*w_95 + w_13*w_24*w_88*w_94)) + w_77*w_93 + w_84*(c*w_30*w_97/r**(2.5) + nu*w_93 - w_43*w_64*w_74*w_81 + w_90*w_96 - w_92*w_97)
    return out


def closed_single_jets(mu, r):
    """out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = Ramp(x).

    E[f] = mu*NormalCdf(mu/sqrt(r)) + sqrt(2)*sqrt(r)*exp(-mu**2/(2*r))/(2*sqrt(pi)); E[f^2] =
    mu*(mu*NormalCdf(mu/sqrt(r)) + sqrt(2)*sqrt(r)*exp(-mu**2/(2*r))/(2*sqrt(pi))) +
    r*NormalCdf(mu/sqrt(r)).
    """
    out = np.empty((3, 5, *np.broadcast_shapes(np.shape(mu), np.shape(r))))
    w_0 = np.sqrt(r)
    w_1 = 1.0/w_0
    w_2 = special.ndtr(mu*w_1)
    w_3 = mu*w_2
    w_4 = (0.5)*mu**2
    w_5 = np.sqrt(2)*np.exp(-w_4/r)/np.sqrt(np.pi)
    w_6 = w_0*w_5
    w_7 = w_3 + (0.5)*w_6
    w_8 = w_1*w_5
    w_9 = w_5/r**(1.5)
    w_10 = (0.5)*w_9
    out[0, 0] = 1
    out[0, 1] = 0
    out[0, 2] = 0
    out[0, 3] = 0
    out[0, 4] = 0
    out[1, 0] = w_7
    out[1, 1] = w_2
    out[1, 2] = (0.5)*w_8
    out[1, 3] = -mu*w_10
    out[1, 4] = -w_10 + w_4*w_5/r**(2.5)
    out[2, 0] = mu*w_7 + r*w_2
    out[2, 1] = 2*w_3 + w_6
    out[2, 2] = 2*w_2
    out[2, 3] = w_8
    out[2, 4] = -mu*w_9
    return out


def closed_pair_jets(mu, nu, r, v, c):
    """out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 5;
    x, y normal with means mu, nu, variances r, v, covariance c.

    E[f(x) f(y)] = c*BivariateNormalCdf(mu/sqrt(r), nu/sqrt(v), c/(sqrt(r)*sqrt(v))) +
    mu*(sqrt(2)*c*exp(-mu**2/(2*r))*NormalCdf((-c*mu/r + nu)/sqrt(-c**2/r +
    v))/(2*sqrt(pi)*sqrt(r)) + nu*BivariateNormalCdf(mu/sqrt(r), nu/sqrt(v),
    c/(sqrt(r)*sqrt(v))) + sqrt(2)*sqrt(v)*exp(-nu**2/(2*v))*NormalCdf((-c*nu/v +
    mu)/sqrt(-c**2/v + r))/(2*sqrt(pi))) + sqrt(2)*sqrt(r)*(sqrt(2)*sqrt(-c**2/r +
    v)*exp(-(-c*mu/r + nu)**2/(2*(-c**2/r + v)))/(2*sqrt(pi)) + (-c*mu/r +
    nu)*NormalCdf((-c*mu/r + nu)/sqrt(-c**2/r + v)))*exp(-mu**2/(2*r))/(2*sqrt(pi)).
    """
    shapes = (np.shape(z) for z in (mu, nu, r, v, c))
    out = np.zeros((5, 5, *np.broadcast_shapes(*shapes)))
    w_0 = np.sqrt(r)
    w_1 = 1.0/w_0
    w_2 = mu*w_1
    w_3 = np.sqrt(v)
    w_4 = 1.0/w_3
    w_5 = nu*w_4
    w_6 = c*w_1
    w_7 = w_4*w_6
    w_8 = _bivariate_normal_cdf(w_2, w_5, w_7)
    w_9 = 1.0/r
    w_10 = mu*w_9
    w_11 = c*w_10
    w_12 = nu - w_11
    w_13 = c**2
    w_14 = w_13*w_9
    w_15 = v - w_14
    w_16 = np.sqrt(w_15)
    w_17 = 1.0/w_16
    w_18 = w_12*w_17
    w_19 = special.ndtr(w_18)
    w_20 = np.sqrt(2)
    w_21 = 1.0/np.sqrt(np.pi)
    w_22 = w_20*w_21
    w_23 = 1.0/w_15
    w_24 = w_12**2
    w_25 = (0.5)*w_24
    w_26 = np.exp(-w_23*w_25)
    w_27 = (0.5)*w_26
    w_28 = w_22*w_27
    w_29 = w_16*w_28
    w_30 = w_12*w_19 + w_29
    w_31 = mu**2
    w_32 = w_31*w_9
    w_33 = np.exp(-0.5*w_32)
    w_34 = w_0*w_33
    w_35 = w_22*w_34
    w_36 = (0.5)*w_35
    w_37 = w_22*w_33
    w_38 = w_19*w_37
    w_39 = (0.5)*w_6
    w_40 = nu**2
    w_41 = 1.0/v
    w_42 = w_40*w_41
    w_43 = np.exp(-0.5*w_42)
    w_44 = w_3*w_43
    w_45 = nu*w_41
    w_46 = c*w_45
    w_47 = mu - w_46
    w_48 = w_13*w_41
    w_49 = r - w_48
    w_50 = 1.0/np.sqrt(w_49)
    w_51 = special.ndtr(w_47*w_50)
    w_52 = w_22*w_51
    w_53 = (0.5)*w_52
    w_54 = nu*w_8 + w_44*w_53
    w_55 = w_4*w_43
    w_56 = (0.5)*w_55
    w_57 = w_48*w_9
    w_58 = 1 - w_57
    w_59 = 1.0/np.sqrt(w_58)
    w_60 = mu*w_1 - w_45*w_6
    w_61 = special.ndtr(w_59*w_60)
    w_62 = w_22*w_61
    w_63 = c*w_62
    w_64 = w_18*w_28
    w_65 = 2*nu - 2*w_11
    w_66 = (0.25)*w_22
    w_67 = w_17*w_26
    w_68 = w_66*w_67
    w_69 = w_65*w_68
    w_70 = w_19 + w_64 - w_69
    w_71 = w_43*w_5
    w_72 = (0.5)*w_71
    w_73 = w_17*w_27
    w_74 = 1.0/np.pi
    w_75 = w_33*w_74
    w_76 = w_6*w_75
    w_77 = 1.0/w_49
    w_78 = w_47**2
    w_79 = (0.5)*w_78
    w_80 = np.exp(-w_77*w_79)
    w_81 = w_74*w_80
    w_82 = c*w_50
    w_83 = w_81*w_82
    w_84 = w_56*w_83
    w_85 = r**(-1.5)
    w_86 = (0.5)*w_85
    w_87 = mu*w_86
    w_88 = c*w_38
    w_89 = nu*w_4 - w_11*w_4
    w_90 = special.ndtr(w_59*w_89)
    w_91 = w_13*w_75
    w_92 = w_67*w_91
    w_93 = w_86*w_92
    w_94 = w_37*w_90
    w_95 = w_30*w_37
    w_96 = (0.5)*w_95
    w_97 = w_34*w_74
    w_98 = v**(-1.5)
    w_99 = w_43*w_98
    w_100 = nu*w_99
    w_101 = 2 - 2*w_57
    w_102 = 1.0/w_101
    w_103 = 2*nu
    w_104 = w_103*w_11
    w_105 = -w_104*w_41 + w_32 + w_42
    w_106 = np.exp(-w_102*w_105)
    w_107 = w_106*w_74
    w_108 = w_107*w_59*w_6
    w_109 = w_108*w_98
    w_110 = (0.25)*w_109
    w_111 = -w_100*w_61*w_66 - w_110
    w_112 = 2*c
    w_113 = (0.25)*w_55
    w_114 = w_52*w_99
    w_115 = w_15**(-1.5)
    w_116 = w_115*w_12
    w_117 = w_116*w_26
    w_118 = (0.25)*w_117
    w_119 = v**(-2.0)
    w_120 = w_49**(-1.5)
    w_121 = w_120*w_47
    w_122 = w_121*w_13
    w_123 = (0.5)*w_119
    w_124 = c*nu*w_119*w_50 - w_122*w_123
    w_125 = w_44*w_81
    w_126 = w_124*w_125
    w_127 = (0.5)*w_126
    w_128 = 2*mu
    w_129 = w_107*w_59
    w_130 = w_129*w_7
    w_131 = c*w_9
    w_132 = w_17*w_28
    w_133 = w_131*w_132
    w_134 = -w_10*w_17 + w_116*w_131
    w_135 = w_15**(-2.0)
    w_136 = w_135*w_24
    w_137 = mu*w_12*w_23*w_9 - w_131*w_136
    w_138 = -w_10*w_19 + (0.5)*w_12*w_134*w_20*w_21*w_26 - w_133 + (0.5)*w_137*w_16*w_20*w_21*w_26
    w_139 = (0.5)*w_1
    w_140 = w_129*w_5
    w_141 = w_139*w_140
    w_142 = c*w_41
    w_143 = w_121*w_142 - w_45*w_50
    w_144 = (0.5)*w_125
    w_145 = w_143*w_144
    w_146 = w_27*w_76
    w_147 = w_134*w_146
    w_148 = w_139*w_37
    w_149 = w_86*w_95
    w_150 = w_33*w_85
    w_151 = w_150*w_66
    w_152 = w_4*w_59
    w_153 = c*w_74
    w_154 = w_106*w_153*w_85
    w_155 = w_152*w_154
    w_156 = (0.25)*w_155
    w_157 = mu*w_151*w_90 + w_156
    w_158 = -w_157
    w_159 = r**(-2.0)
    w_160 = mu*w_159
    w_161 = w_160*w_19
    w_162 = w_13*w_159
    w_163 = w_116*w_162
    w_164 = c*mu*w_159*w_17 - 0.5*w_163
    w_165 = w_164*w_28
    w_166 = w_12*w_165
    w_167 = w_12*w_160*w_23
    w_168 = -c*w_167 + w_135*w_162*w_25
    w_169 = c*w_161 + w_162*w_68 + w_166 + w_168*w_29
    w_170 = w_151*w_19
    w_171 = r**(-2.5)
    w_172 = w_171*w_31
    w_173 = w_172*w_33
    w_174 = w_19*w_66
    w_175 = w_173*w_174
    w_176 = (0.25)*w_125
    w_177 = w_121*w_176
    w_178 = w_164*w_27
    w_179 = w_178*w_76
    w_180 = (0.5)*w_98
    w_181 = w_180*w_43
    w_182 = v**(-2.5)
    w_183 = w_58**(-1.5)
    w_184 = w_183*w_60
    w_185 = w_123*w_14
    w_186 = c*nu*w_1*w_119*w_59 - w_184*w_185
    w_187 = (0.5)/w_58
    w_188 = np.exp(-w_187*w_60**2)
    w_189 = w_186*w_188
    w_190 = w_153*w_55
    w_191 = w_15**(-2.5)
    w_192 = w_191*w_26
    w_193 = (w_12*w_12*w_12)
    w_194 = w_193*w_66
    w_195 = w_115*w_26
    w_196 = (0.125)*w_22
    w_197 = w_196*w_65
    w_198 = w_195*w_197
    w_199 = w_192*w_24
    w_200 = (nu*nu*nu)
    w_201 = w_43*w_52
    w_202 = (0.25)*w_182
    w_203 = w_201*w_202
    w_204 = nu*w_180
    w_205 = w_43*w_62
    w_206 = w_204*w_205
    w_207 = (0.25)*w_195
    w_208 = (c*c*c)
    w_209 = w_124*w_81
    w_210 = w_49**(-2.0)
    w_211 = -c*nu*w_119*w_47*w_77 + w_119*w_13*w_210*w_79
    w_212 = w_183*w_89
    w_213 = -w_185*w_212 + w_59*(w_11*w_180 - w_204)
    w_214 = np.exp(-w_187*w_89**2)
    w_215 = w_214*w_76
    w_216 = w_113*w_81
    w_217 = w_85*w_91
    w_218 = (0.25)*w_99
    w_219 = w_218*w_81
    w_220 = w_219*w_40
    w_221 = w_150*w_153
    w_222 = (0.25)*w_221
    w_223 = w_214*w_75
    w_224 = w_213*w_223
    w_225 = nu*w_139
    w_226 = w_159*w_48
    w_227 = (0.5)*w_226
    w_228 = -w_184*w_227 + w_59*(w_46*w_86 - w_87)
    w_229 = w_31*w_86
    w_230 = w_229*w_37
    w_231 = w_207*w_75
    w_232 = w_171*w_208
    w_233 = w_49**(-2.5)
    w_234 = w_233*w_78
    w_235 = c*w_94
    w_236 = (mu*mu*mu)
    w_237 = w_171*w_95
    w_238 = c*mu*w_159*w_4*w_59 - w_212*w_227
    w_239 = w_169*w_37
    w_240 = (0.75)*w_171
    w_241 = r**(-3.5)
    w_242 = w_236*w_241
    w_243 = nu*w_90
    w_244 = (c*c*c*c)
    w_245 = w_241*w_31
    w_246 = w_164*w_26
    w_247 = w_153*w_246*w_33
    w_248 = w_223*w_238
    w_249 = (0.5)*w_115
    w_250 = (0.375)*w_182
    w_251 = v**(-3.5)
    w_252 = (0.125)*w_251
    w_253 = w_107*w_183
    w_254 = w_208*w_253
    w_255 = 2*w_105/w_101**2
    w_256 = -w_102*(w_104*w_119 - w_119*w_40) + w_119*w_14*w_255
    w_257 = nu*w_205*w_250 - 0.25*w_100*w_189*w_74 + w_108*w_250 - w_110*w_256 - w_196*w_200*w_251*w_43*w_61 + w_252*w_254*w_85
    w_258 = 4*c
    w_259 = w_12*w_191
    w_260 = w_26*w_76
    w_261 = v**(-3.0)
    w_262 = v**(-4.0)
    w_263 = nu*w_120
    w_264 = w_233*w_47
    w_265 = 4*mu
    w_266 = w_195*w_66
    w_267 = w_117*w_66
    w_268 = (1.5)*w_259
    w_269 = (0.5)*mu*w_115*w_9 - w_131*w_268
    w_270 = w_12*w_28
    w_271 = w_137*w_68
    w_272 = w_134*w_26
    w_273 = w_135*w_194
    w_274 = w_24/(w_15*w_15*w_15)
    w_275 = w_24*w_266
    w_276 = w_1*w_75
    w_277 = (0.25)*nu*w_98
    w_278 = w_13*w_253
    w_279 = (0.25)*w_136*w_76
    w_280 = (0.125)*w_98
    w_281 = w_232*w_253
    w_282 = (0.25)*w_85
    w_283 = mu*w_282
    w_284 = w_154*w_280*w_59 - w_156*w_256 + (0.125)*w_182*w_281 - w_224*w_283
    w_285 = w_195*w_196
    w_286 = c*w_160
    w_287 = (0.75)*w_259
    w_288 = w_162*w_287 - w_249*w_286
    w_289 = 2*w_35
    w_290 = (0.125)*w_121*w_81
    w_291 = (0.125)*w_117
    w_292 = (0.375)*w_264
    w_293 = w_153*w_173
    w_294 = -w_102*(w_103*w_142*w_160 - w_159*w_31) + w_226*w_255
    w_295 = r**(-3.0)
    w_296 = c*w_159
    w_297 = w_208*w_295
    w_298 = (1.5)*mu*w_115*w_13*w_295 + mu*w_159*w_17 - w_116*w_296 - w_268*w_297
    w_299 = w_23*w_31
    w_300 = w_13*w_295
    w_301 = (mu*mu*mu*mu)
    w_302 = 2*w_239
    w_303 = (0.375)*w_171
    w_304 = mu*w_303*w_94 + w_106*w_152*w_153*w_303 - w_156*w_294 + w_241*w_254*w_280 - 0.125*w_242*w_94 - w_248*w_283
    w_305 = mu*w_112*w_295
    w_306 = r**(-4.0)
    w_307 = w_244*w_306
    w_308 = -mu*w_115*w_208*w_306 + w_116*w_300 - w_17*w_305 + w_287*w_307
    out[0, 0] = c*w_8 + mu*(w_38*w_39 + w_54) + w_30*w_36
    out[0, 1] = mu*(-w_53*w_71 + w_62*w_72 + w_73*w_76 + w_8 - w_84) + w_36*w_70 + w_56*w_63
    out[1, 0] = mu*((0.5)*nu*w_1*w_20*w_21*w_33*w_90 + (0.5)*w_3*w_43*w_50*w_74*w_80 - w_87*w_88 - w_93) - w_2*w_96 + w_39*w_94 + w_54
    out[0, 2] = w_111*w_112 + w_128*(nu*w_111 + w_113*w_52 + (0.25)*w_114*w_40 - w_118*w_76 + w_127) + w_73*w_97
    out[1, 1] = mu*(w_139*w_38 + w_141 + w_145 + w_147) + (0.5)*w_130 + w_138*w_36 + w_8
    out[2, 0] = w_112*w_158 + w_128*(-c*w_170 + c*w_175 + nu*w_158 - w_177 + w_179) + w_148*w_30 + w_149*w_31 + w_169*w_35
    out[0, 3] = w_128*((0.25)*c*w_1*w_191*w_24*w_26*w_33*w_74 + (0.25)*c*w_43*w_50*w_74*w_80*w_98 + (0.5)*nu*w_186*w_188*w_4*w_43*w_74 + (0.25)*nu*w_20*w_21*w_43*w_51*w_98 - w_110 + (0.25)*w_120*w_182*w_208*w_43*w_74*w_80 + (0.25)*w_182*w_20*w_200*w_21*w_43*w_61 - w_200*w_203 - w_202*w_40*w_43*w_83 - w_206 - w_207*w_76 - w_209*w_72 - w_211*w_84) - w_181*w_63 + (0.5)*w_182*w_40*w_43*w_63 + w_189*w_190 + w_35*(-w_116*w_28 + w_192*w_194 - w_197*w_199 + w_198)
    out[1, 2] = w_103*w_111 + w_126 + w_128*(mu*w_117*w_222 - w_120*w_13*w_218*w_81 + w_144*w_211*w_50 - 0.25*w_199*w_217 + w_207*w_217 + w_216*w_50 + w_220*w_50 + w_224*w_225) + w_180*w_201*w_40 - w_2*w_73*w_75 + w_213*w_215 + w_53*w_55
    out[2, 1] = w_128*((0.5)*c*w_1*w_168*w_17*w_26*w_33*w_74 + (0.25)*c*w_120*w_4*w_43*w_74*w_80 + (0.25)*c*w_17*w_171*w_26*w_31*w_33*w_74 - c*w_216*w_234 + (0.25)*nu*w_120*w_4*w_43*w_47*w_74*w_80 + (0.5)*nu*w_188*w_228*w_4*w_43*w_74 - w_157 - w_222*w_67 - w_231*w_232) + w_148*w_70 + w_188*w_190*w_228 + w_230*w_70 + w_35*(w_162*w_198 - w_163*w_26*w_66 + w_165 + w_168*w_64 - w_168*w_69)
    out[3, 0] = w_103*w_158 - w_121*w_144 + w_128*(-c*w_174*w_242*w_33 + mu*w_240*w_88 - w_120*w_176 - w_151*w_243 - w_168*w_93 + w_173*w_243*w_66 + w_176*w_234 + w_225*w_248 + w_231*w_241*w_244 + w_240*w_92 - 0.25*w_245*w_92 - w_247*w_87) + (0.5)*w_172*w_235 - w_2*w_239 + w_215*w_238 - w_235*w_86 - 0.5*w_236*w_237 + w_87*w_95
    out[0, 4] = w_192*w_25*w_97 - w_249*w_26*w_97 + w_257*w_258 + w_265*((nu*nu*nu*nu)*w_201*w_252 + nu*w_257 - 0.125*w_114 + w_127*w_211 + w_144*(-w_103*w_261*w_82 + w_122*w_261 - w_208*w_262*w_263 + (0.75)*w_244*w_262*w_264) + w_181*w_209*w_40 - w_203*w_40 + w_209*w_56 + (0.375)*w_259*w_260 - 0.125*w_193*w_260/w_15**(3.5))
    out[1, 3] = c*w_1*w_106*w_256*w_4*w_59*w_74 + 2*mu*(-nu*w_202*w_278*w_85 - w_1*w_129*w_277 - w_118*w_276 + w_141*w_256 + w_143*w_216 + w_143*w_220 + w_144*(-c*w_119*w_121 + nu*w_119*w_50 + (1.5)*nu*w_120*w_13*w_261 - 1.5*w_208*w_261*w_264) + w_145*w_211 + w_146*w_269 + w_272*w_279) + w_0*w_20*w_21*w_33*(w_10*w_267 - w_131*w_199*w_66 + w_131*w_266 + w_137*w_275 + w_269*w_270 + w_271 + w_272*w_273 + w_29*(-w_10*w_12*w_135 + w_112*w_274*w_9)) - w_109 - w_182*w_254*w_86 - w_206
    out[2, 2] = w_229*w_67*w_75 + w_258*w_284 + w_265*(-c*w_219*w_263 + nu*w_284 + w_13*w_292*w_81*w_99 + w_146*w_288 - w_177*w_211 + w_221*w_291 + w_246*w_279 - w_290*w_40*w_99 - w_290*w_55 - w_291*w_293) + w_276*w_73 + w_289*(w_162*w_196*w_199 - w_162*w_285 + w_168*w_275 + w_168*w_68 + w_246*w_273 - w_267*w_286 + w_270*w_288 + w_29*(c*mu*w_12*w_135*w_159 - w_162*w_274))
    out[3, 1] = w_128*(-w_140*w_282 + w_141*w_294 + w_143*w_176*w_210*w_78 + w_144*((0.5)*nu*w_120*w_41 - 1.5*w_142*w_264) + w_146*w_298 + w_147*w_168 - w_170 - w_171*w_277*w_278 + w_175 + w_178*w_276 - w_222*w_272 + (0.25)*w_272*w_293) + w_130*w_294 + w_138*w_148 + w_138*w_230 - w_155 - w_180*w_281 + w_35*(-w_10*w_165 + w_132*w_296 - w_133*w_168 + w_134*w_168*w_270 + w_134*w_28*w_286 + w_137*w_168*w_29 + w_161 + w_162*w_271 + w_266*w_297 + w_270*w_298 + w_29*(c*w_295*w_299 - 3*mu*w_12*w_135*w_300 + w_136*w_296 - w_167 + 2*w_274*w_297)) - w_87*w_94
    out[4, 0] = w_1*w_302 - w_149 - w_237*w_31 + w_241*w_301*w_96 + w_258*w_304 + w_265*(nu*w_304 + w_125*w_292 - 0.125*w_125*(w_47*w_47*w_47)/w_49**(3.5) + w_146*w_308 + w_168*w_179 + w_178*w_293 - 0.75*w_245*w_88 - w_247*w_86 + w_303*w_88 + (0.125)*w_301*w_88/r**(4.5)) + w_289*(w_132*w_162*w_168 - w_132*w_300 + w_166*w_168 + w_168**2*w_29 - w_19*w_305 + w_22*w_246*w_286 + w_270*w_308 - w_285*w_307 + w_29*(2*c*mu*w_12*w_23*w_295 + 2*mu*w_12*w_135*w_208*w_306 - w_13*w_299*w_306 - w_136*w_300 - w_274*w_307)) + w_302*w_31*w_85
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

"""Every symbol of the model with its assumptions, made once.

A formula of this package never makes a symbol of its own: two symbols with one name and
different assumptions are different to SymPy, and a derivative by the wrong one is silently 0.
"""

from __future__ import annotations

import sympy as sp

# Sizes and indices. Token 0 stands for any one noise token, token eps for the relevant one.
L, H, F = sp.symbols("L H F", integer=True, positive=True)
l, j, h, k, n, eps = sp.symbols("l j h k n epsilon", integer=True, positive=True)
NOISE_TOKEN = sp.S.Zero

# The activation: its argument, and the names that stand for any score and any normalizer.
logit = sp.Symbol("x", real=True)
score = sp.Function("f", real=True)
normalizer = sp.Function("g", real=True)
gain = sp.Symbol("gamma", real=True)

# Attention A_l, attention a_l at gain 1, head attention a_l^h, logits (with bias): x_l^h while
# tokens are told apart, x_h once one token is left.
A = sp.IndexedBase("A", real=True)
a = sp.IndexedBase("a", real=True)
x = sp.IndexedBase("x", real=True)

# delta_l^h: the per-sample loss differentiated by the logit x_l^h.
delta = sp.IndexedBase("delta", real=True)

# Lift variables t, u of one or two normalizers, and their logarithms s, v.
t, u = sp.symbols("t u", positive=True)
s, v = sp.symbols("s v", real=True)
LOG_OF_LIFT = {t: s, u: v}

# Two densities of one token's logits: the relevant token's and a noise token's.
RELEVANT = sp.Symbol("star")
NOISE = sp.Symbol("noise")

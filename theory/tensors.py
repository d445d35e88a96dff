# notation: as in theory/flow.py and theory/online.py.
"""Numeric meaning of tensor formulas: random vectors, every product of them by definition."""

from __future__ import annotations

import numpy as np
import sympy as sp

from theory.derivation import Step
from theory.index_notation import einsum

HEADS, SPIKES, TOKENS, DIMENSION = 3, 2, 4, 11
# "by k", "by c": after is the derivative of before in that array. "tensor": both sides are equal
# for any spikes; "orthonormal": for orthonormal ones.
# Indices that are not summed, in the order of axes.
FREE = "ije"
RELATIONS = ("tensor", "orthonormal", "by k", "by c")


def both_sides(step: Step) -> tuple[float, float]:
    """Both sides of a step contracted with one array of unequal numbers."""
    free = tuple(i for name in FREE for i in _free(step.after) if i.name == name)
    arrays = _arrays(orthonormal=step.relation != "tensor")
    after = _value(step.after, free, arrays)
    contraction = np.cos(1.0 + np.arange(after.size)).reshape(after.shape)
    if step.relation in ("tensor", "orthonormal"):
        left = np.sum(contraction * _value(step.before, free, arrays))
    else:
        # A quadratic form: its central difference is exact for any step.
        name = step.relation.removeprefix("by ")
        ahead, behind = (
            _value(step.before, (), {**arrays, name: arrays[name] + sign * contraction})
            for sign in (1, -1)
        )
        left = (ahead - behind) / 2
    return float(left), float(np.sum(contraction * after))


def _value(expression: sp.Expr, free: tuple, arrays: dict) -> np.ndarray:
    return np.asarray(eval(einsum(expression, free), {"np": np, **arrays}))


def _free(expression: sp.Expr) -> set[sp.Symbol]:
    return {s for s in expression.free_symbols if getattr(s, "name", "") in FREE}


def _arrays(orthonormal: bool) -> dict[str, np.ndarray | int]:
    rng = np.random.default_rng(5)
    s = rng.normal(size=(SPIKES, DIMENSION))
    if orthonormal:
        s = np.linalg.qr(s.T)[0].T
    k = rng.normal(size=(HEADS, DIMENSION))
    G = rng.normal(size=(HEADS, HEADS))
    X = rng.normal(size=(TOKENS, DIMENSION))
    c = rng.normal(size=TOKENS)
    m, R = k @ s.T, k @ k.T
    frame = np.linalg.qr(np.vstack([s, k]).T)[0].T  # spikes first, then what heads add
    q = frame[SPIKES:]
    outside = X - X @ frame.T @ frame
    return {
        "k": k,
        "s": s,
        "m": m,
        "R": R,
        "P": s @ s.T,
        "C": R - m @ m.T,
        "E_m": rng.normal(size=(HEADS, SPIKES)),
        "G": G + G.T,
        "X": X,
        "delta": rng.normal(size=(TOKENS, HEADS)),
        "u": X @ s.T,
        "q": q,
        "v": X @ q.T,
        "Q": k @ q.T,
        "O": outside,
        "W": outside @ outside.T,
        "c": c,
        "Gamma": X @ X.T,
        "D": DIMENSION,
    }

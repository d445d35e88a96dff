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
# "along": after is the change of before when all that has a change (dm of m) moves by it;
# "transport": the same where mean and covariance of the logits move the averages of an exponential.
RELATIONS = ("tensor", "orthonormal", "by k", "by c")
DIRECTIONS, ROWS = 2, 2
TRANSPORT_DIFFERENCE = 1e-4


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


def along(step: Step) -> tuple[float, float]:
    """Both sides of a change along directions, its first index, by central differences."""
    arrays = _arrays(orthonormal=False)
    direction, *others = step.free
    exact = step.relation == "along"
    size = 1.0 if exact else TRANSPORT_DIFFERENCE  # no formula is above quadratic
    after = _value(step.after, step.free, arrays if exact else _averages(arrays))
    rows = []
    for one in range(DIRECTIONS):
        ahead, behind = (
            _value(step.before, tuple(others), _moved(arrays, one, sign * size, exact))
            for sign in (1, -1)
        )
        rows.append((ahead - behind) / (2 * size))
    contraction = np.cos(1.0 + np.arange(after.size)).reshape(after.shape)
    return float(np.sum(contraction * np.array(rows))), float(np.sum(contraction * after))


def _moved(arrays: dict, direction: int, size: float, exact: bool) -> dict:
    if exact:
        pairs = {name: arrays[name] for name in arrays if f"d{name}" in arrays}
        moved = {n: value + size * arrays[f"d{n}"][direction] for n, value in pairs.items()}
        return {**arrays, **moved}
    mean = arrays["mean"] + size * arrays["d_mean"][direction]
    covariance = arrays["covariance"] + size * arrays["d_covariance"][direction]
    return _averages({**arrays, "mean": mean, "covariance": covariance})


def _averages(arrays: dict) -> dict:
    """Averages of exp(c . x) over normal logits x, and of its derivatives in them."""
    c = np.array([0.6, -0.3, 0.45])
    value = np.exp(arrays["mean"] @ c + np.einsum("ahk,h,k->a", arrays["covariance"], c, c) / 2)
    names = ("value", "slope", "curvature", "third", "fourth")
    found, last = {}, value
    for name in names:
        found[name] = last
        last = last[..., None] * c
    return {**arrays, **found}


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
        **_directions(rng),
    }


def _directions(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A law of the logits, and changes of everything along two directions."""
    many, square = (DIRECTIONS, ROWS), (HEADS, HEADS)
    shapes = {"dm": (HEADS, SPIKES), "dk": (HEADS, DIMENSION), "dE_m": (HEADS, SPIKES)}
    changes = {name: rng.normal(size=(DIRECTIONS, *shape)) for name, shape in shapes.items()}
    V = rng.normal(size=(ROWS, SPIKES, SPIKES))
    return {
        **changes,
        "dR": _symmetric(rng.normal(size=(DIRECTIONS, *square))),
        "dG": _symmetric(rng.normal(size=(DIRECTIONS, *square))),
        "d_mean": rng.normal(size=(*many, HEADS)),
        "d_covariance": _symmetric(rng.normal(size=(*many, *square))),
        "mean": rng.normal(size=(ROWS, HEADS)),
        "covariance": _symmetric(rng.normal(size=(ROWS, *square))),
        "w": np.array([0.7, 0.4]),
        "p": np.array([0.6, 0.4]),
        "theta": rng.normal(size=(ROWS, SPIKES)),
        "V": _symmetric(V),
    }


def _symmetric(array: np.ndarray) -> np.ndarray:
    return array + np.swapaxes(array, -1, -2)

"""Numeric meaning of averages, for checking derivation steps without trusting them.

A rule about tokens (exchangeability, Gamma lift, independence) holds for any law of the logits.
So it is checked on a toy law with a few atoms, where every average is a finite sum and
L = 3 tokens are written out; rules about Gaussians are checked on a grid of normal logits.
Values are NumPy arrays with four axes: lift t, lift u, then one for the atoms of an average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import erfc
from typing import Any

import numpy as np
import sympy as sp

from theory import symbols as sym
from theory.activation import Activation
from theory.expectation import Average, LengthPower, Mean

TOKENS, HEADS = 3, 2
# Uniform grids in the logarithm of a lift variable, (lowest, step); double-exponential decay to the
# right, exp(p s) to the left. Their error is far below the tolerance of a check.
FINE_LOGS, COARSE_LOGS = (-34.0, 0.25), (-24.0, 0.5)
HIGHEST_LOG = 6.0
LOGIT_DIFFERENCE = 1e-5
REACH = 6.4  # of a grid of normal logits, in standard deviations
_LIFT_AXES = {sym.t: 0, sym.s: 0, sym.u: 1, sym.v: 1}


@dataclass(frozen=True)
class Law:
    """Atoms of one token's logits: weights (N,) and logits (N, HEADS)."""

    weights: np.ndarray
    logits: np.ndarray


# Asymmetric on purpose: no zero, no equal pair, unequal odds.
TOY_RELEVANT = Law(np.array([0.6, 0.4]), np.array([[0.9, -0.4], [0.3, 1.2]]))
TOY_NOISE = Law(np.array([0.35, 0.65]), np.array([[-0.7, 0.5], [0.4, -0.2]]))


def normal_law(mean: np.ndarray, covariance: np.ndarray, step: float) -> Law:
    """A trapezoid grid for a two-dimensional Gaussian; step 0.4 gives eight digits of exp(x)."""
    z = np.arange(-round(REACH / step), round(REACH / step) + 1) * step
    one = np.exp(-z * z / 2)
    weights = np.outer(one, one).ravel()
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1).reshape(-1, 2)
    root = np.linalg.cholesky(covariance)
    return Law(weights / weights.sum(), mean + grid @ root.T)


def panel_law(mean: np.ndarray, covariance: np.ndarray, breaks: list[float]) -> Law:
    """Gauss-Legendre panels for a two-dimensional Gaussian, split where a function has kinks."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    axes = []
    for centre, variance in zip(mean, np.diagonal(covariance), strict=True):
        reach = 9.0 * np.sqrt(variance)
        ends = np.linspace(centre - reach, centre + reach, 5)
        ends = np.unique([*ends, *(b for b in breaks if abs(b - centre) < reach)])
        half, middle = np.diff(ends)[:, None] / 2, (ends[:-1] + ends[1:])[:, None] / 2
        axes.append(((middle + half * nodes).ravel(), (half * weights).ravel()))
    (x, wx), (y, wy) = axes
    logits = np.array(list(product(x, y)))
    centred = logits - mean
    exponent = np.einsum("ni,ij,nj->n", centred, np.linalg.inv(covariance), centred)
    scale = 2 * np.pi * np.sqrt(np.linalg.det(covariance))
    return Law(np.outer(wx, wy).ravel() * np.exp(-exponent / 2) / scale, logits)


@dataclass
class Evaluator:
    """Evaluates the expressions of a derivation on given laws of the two kinds of token."""

    activation: Activation
    relevant: Law = TOY_RELEVANT
    noise: Law = TOY_NOISE
    gamma: float = 0.8
    length: int = TOKENS
    grid: tuple[float, float] = FINE_LOGS
    _functions: dict[Any, Callable] = field(default_factory=dict)

    @cached_property
    def logs(self) -> np.ndarray:
        lowest, step = self.grid
        return np.arange(lowest / min(1.0, float(self.activation.power)), HIGHEST_LOG, step)

    def __call__(self, expression: sp.Expr) -> float:
        """The value of an expression with no free index."""
        return float(np.squeeze(self._value(sp.sympify(expression), {})))

    def _value(self, e: sp.Expr, env: dict[sp.Basic, Any]) -> Any:
        if e in env:
            return env[e]
        if e.is_Number or e.is_NumberSymbol:
            return float(e)
        for kind, method in self._METHODS.items():
            if isinstance(e, kind):
                return method(self, e, env)
        values = [self._value(argument, env) for argument in e.args]
        return self._function(e.func, len(values))(*values)

    def _symbol(self, e, env):
        constants = {sym.gain: self.gamma, sym.L: self.length, sym.H: HEADS}
        constants |= self.activation.values
        if e not in constants:
            raise ValueError(f"{e} has no value")
        return float(constants[e])

    def _sum(self, e, env):
        return self._add_up(e.function, list(reversed(e.limits)), env)

    def _add_up(self, body, limits, env):
        if not limits:
            return self._value(body, env)
        (index, low, high), *inner = limits
        ends = int(self._value(low, env)), int(self._value(high, env))
        values = (self._add_up(body, inner, {**env, index: i}) for i in range(ends[0], ends[1] + 1))
        return sum(values, start=0.0)

    def _integral(self, e, env):
        env = dict(env)
        weights: Any = 1.0
        axes = []
        for variable, *_ in e.limits:
            axis = _LIFT_AXES[variable]
            shape = [1, 1, 1]
            shape[axis] = self.logs.size
            logs = self.logs.reshape(shape)
            is_log = variable in (sym.s, sym.v)
            env[variable] = logs if is_log else np.exp(logs)
            # An array, too, where the integrand is a number.
            measure = np.ones_like(logs) if is_log else np.exp(logs)
            weights = weights * (self.logs[1] - self.logs[0]) * measure
            axes.append(axis)
        return np.sum(weights * self._value(e.function, env), axis=tuple(axes), keepdims=True)

    def _average(self, e, env):
        law = self.relevant if e.density == sym.RELEVANT else self.noise
        env = {**env, **{sym.x[i + 1]: law.logits[:, i] for i in range(HEADS)}}
        total: Any = 0.0
        for term in sp.Add.make_args(e.integrand):
            factors = [self._value(factor, env) for factor in sp.Mul.make_args(term)]
            total = total + _average_of_product(law.weights, factors)
        return total

    def _mean(self, e, env):
        """Enumerate the location and every combination of the tokens' atoms."""
        total: Any = 0.0
        for location in range(1, self.length + 1):
            laws = [
                self.relevant if j == location else self.noise for j in range(1, self.length + 1)
            ]
            choices = np.array(list(product(*(range(law.weights.size) for law in laws))))
            weight = np.prod([law.weights[choices[:, j]] for j, law in enumerate(laws)], axis=0)
            logits = np.stack([law.logits[choices[:, j]] for j, law in enumerate(laws)])
            value = self._value(e.args[0], {**env, sym.eps: location, "logits": logits})
            value = value + np.zeros(weight.size)
            total = total + np.sum(weight * value, axis=-1, keepdims=True) / self.length
        return total

    def _indexed(self, e, env):
        indices = [i if i == sym.NOISE_TOKEN else self._value(i, env) for i in e.indices]
        if e.base == sym.x and len(indices) == 1:
            return self._value(sym.x[int(indices[0])], env)
        location = env[sym.eps]
        first_noise = 1 if location != 1 else 2
        token = (first_noise if indices[0] == sym.NOISE_TOKEN else int(indices[0])) - 1
        logits = env["logits"]
        if e.base == sym.x:
            return logits[token, :, int(indices[1]) - 1]
        if e.base == sym.delta:
            return self._loss_slope(logits, location - 1, token, int(indices[1]) - 1)
        attention = self._attention(logits)[token]
        if len(indices) == 2:
            return attention[:, int(indices[1]) - 1]
        return attention.sum(axis=-1) * (self.gamma if e.base == sym.A else 1.0)

    def _attention(self, logits: np.ndarray) -> np.ndarray:
        """Head attention (token, configuration, head) by its definition."""
        act = self.activation
        score = self._one_logit(act.score)(logits) + np.zeros_like(logits)
        if act.scope == "none":
            return score
        axes = (0,) if act.scope == "tokens" else (0, 2)
        normalizer = self._one_logit(act.normalizer)(logits) + np.zeros_like(logits)
        total = float(act.typed(act.offset)) + normalizer.sum(axis=axes, keepdims=True)
        return score / total ** float(act.power)

    def _loss_slope(self, logits: np.ndarray, location: int, token: int, head: int) -> np.ndarray:
        """The loss of each configuration differentiated by one logit, by central differences."""
        losses = []
        for sign in (1, -1):
            moved = logits.copy()
            moved[token, :, head] += sign * LOGIT_DIFFERENCE
            losses.append(self.loss(moved, location))
        return (losses[0] - losses[1]) / (2 * LOGIT_DIFFERENCE)

    def loss(self, logits: np.ndarray, location: int) -> np.ndarray:
        """sum_l (1[l = location] - A_l)^2 of each configuration of logits (token, N, head)."""
        miss = -self.gamma * self._attention(logits).sum(axis=-1)
        miss[location] += 1.0
        return np.sum(miss**2, axis=0)

    def _one_logit(self, expression: sp.Expr) -> Callable:
        if expression not in self._functions:
            typed = self.activation.typed(expression)
            self._functions[expression] = sp.lambdify(sym.logit, typed, [_SPECIAL, "numpy"])
        return self._functions[expression]

    def _score(self, e, env):
        return self._one_logit(self.activation.score)(self._value(e.args[0], env))

    def _normalizer(self, e, env):
        return self._one_logit(self.activation.normalizer)(self._value(e.args[0], env))

    def _length_power(self, e, env):
        dummy = sp.Dummy()
        explicit = LengthPower(dummy, e.args[1]).explicit()
        return self._value(explicit, {**env, dummy: self._value(e.args[0], env)})

    def _delta(self, e, env):
        left, right = (self._value(index, env) for index in e.args)
        return 1.0 * (left == right)

    def _function(self, func, count):
        if (func, count) not in self._functions:
            names = sp.symbols(f"z0:{count}", real=True)
            self._functions[func, count] = sp.lambdify(names, func(*names), [_SPECIAL, "numpy"])
        return self._functions[func, count]

    _METHODS = {
        sp.Indexed: _indexed,
        sp.Symbol: _symbol,
        sp.Sum: _sum,
        sp.Integral: _integral,
        Average: _average,
        Mean: _mean,
        LengthPower: _length_power,
        sp.KroneckerDelta: _delta,
        sym.score: _score,
        sym.normalizer: _normalizer,
    }


def _average_of_product(weights: np.ndarray, factors: list[Any]) -> np.ndarray:
    """Average over the last axis; factors of one lift meet those of the other in a matrix product.

    That is done without BLAS, whose threads wait for each other on a busy machine.
    """
    by_t, by_u = weights[None, None], np.ones((1, 1, weights.size))
    for factor in map(np.asarray, factors):
        if factor.ndim == 3 and factor.shape[0] == 1:
            by_u = by_u * factor
        else:
            by_t = by_t * factor
    if by_t.shape[1] > 1:
        return np.sum(by_t * by_u, axis=-1, keepdims=True)
    return np.einsum("tn,un->tu", by_t[:, 0], by_u[0])[..., None]


def _normal_cdf(z):
    return np.vectorize(lambda one: erfc(-one / np.sqrt(2)) / 2)(z)


_SPECIAL = {
    "Sigmoid": lambda z: 0.5 * (1 + np.tanh(z / 2)),
    "Softplus": lambda z: np.logaddexp(0.0, z),
    "NormalCdf": _normal_cdf,
    "Step": lambda z: np.heaviside(z, 0.5),
    "Ramp": lambda z: np.maximum(z, 0.0),
    "Away": lambda z, point, radius: np.where(np.abs(z - point) < radius, point + radius, z),
    "Regular": lambda near, far, z, radius: np.where(np.abs(z) < radius, near, far),
    # Almost everywhere: no atom of a law lies on a kink.
    "DiracDelta": lambda z: 0.0 * z,
    "erf": lambda z: 2 * _normal_cdf(np.sqrt(2) * z) - 1,
}

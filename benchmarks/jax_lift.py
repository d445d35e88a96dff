# notation: s, v logarithms of the lift variables; m, R, B as in problems; mu, rho of two logits.
"""The lifted integral of softmax (docs/model.md section 4) written by hand in JAX.

A competent implementation for one problem: uniform grids in s and in standardized Gaussians,
all pairs and atoms in one broadcast, two-head sums as matrix products, one exponential a node,
jit, float64, gradients by autodiff. It has fixed node counts and no error estimate: `Nodes` is
chosen so that it just reaches the wanted accuracy on the benchmark's problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.problems import Problem

jax.config.update("jax_enable_x64", True)

# Keeps the width of one logit given another from being nan where two heads are parallel.
SMALLEST = 1e-14


@dataclass(frozen=True)
class Nodes:
    """Counts: lift grid, first logit, second logit given the first; Gaussian half-width.

    ``tail``: how far below its largest value the integrand of the lift is still summed.
    """

    lift: int
    outer: int
    inner: int
    window: float
    tail: float


# From cheapest to safest; the benchmark takes the first that reaches its accuracy. Coarse
# Gaussian grids need a fine lift grid: a sum over few nodes is not as smooth as the average.
LADDER = (
    Nodes(lift=42, outer=21, inner=15, window=4.8, tail=15.0),
    Nodes(lift=46, outer=21, inner=15, window=4.8, tail=16.0),
    Nodes(lift=46, outer=23, inner=17, window=5.0, tail=16.0),
    Nodes(lift=52, outer=23, inner=17, window=5.0, tail=18.0),
    Nodes(lift=52, outer=27, inner=19, window=5.2, tail=20.0),
    Nodes(lift=64, outer=35, inner=25, window=5.8, tail=23.0),
    Nodes(lift=100, outer=51, inner=51, window=6.5, tail=27.0),
)


def _normal(count, window):
    z = jnp.linspace(-window, window, count)
    weights = jnp.exp(-z * z / 2)
    return z, weights / weights.sum()


def _factors(t, x):
    """exp(-T), T exp(-T) with T = t e^x, stacked in front."""
    T = t * jnp.exp(x)
    survival = jnp.exp(-T)
    return jnp.stack([survival, T * survival])


def _single(s, mean, width, odds, L, nodes):
    """Sums over heads of E[a_eps], E[a_eps^2] + (L-1) E[a_0^2] per node of s (H, S)."""
    z, weights = _normal(nodes.outer, nodes.window)
    x = mean.T[:, :, None, None] + width[:, None, None, None] * z  # (H, A + 1, 1, Z)
    T = jnp.exp(s[:, None, :, None]) * jnp.exp(x)
    survival = jnp.exp(-T)
    first, second, third = (f @ weights for f in (survival, T * survival, T * T * survival))
    relevant = [jnp.einsum("a,has->hs", odds, f[:, :-1]) for f in (first, second, third)]
    phi = first[:, -1]
    linear = relevant[1] * phi ** (L - 1)
    square = relevant[2] * phi ** (L - 1)
    square += (L - 1) * relevant[0] * third[:, -1] * phi ** (L - 2)
    return linear, square


def _pairs(s, mean, R, odds, L, nodes):
    """Sum over pairs of heads of E[a_eps^h a_eps^k] + (L-1) E[a_0^h a_0^k]."""
    h, k = np.array(list(combinations(range(len(R)), 2))).T
    z, weights = _normal(nodes.outer, nodes.window)
    y, inner = _normal(nodes.inner, nodes.window)
    first = jnp.sqrt(R[h, h])
    slope = R[h, k] / first
    rest = jnp.sqrt(jnp.maximum(R[k, k] - slope * slope, SMALLEST))
    column = (slice(None), None, None, None)
    # (2, pairs, A + 1, S, Z) and the same for the second head, averaged over its own part.
    x_h = mean[:, h].T[:, :, None, None] + first[column] * z
    left = _factors(jnp.exp(s[h])[:, None, :, None], x_h) * weights
    x_k = mean[:, k].T[:, :, None, None] + slope[column] * z
    x_k = x_k[..., None] + rest[(*column, None)] * y
    right = _factors(jnp.exp(s[k])[:, None, :, None, None], x_k) @ inner
    means = left @ jnp.swapaxes(right, -1, -2)
    survival, score = jnp.einsum("a,npasv->npsv", odds, means[:, :, :-1])
    phi, noise = means[:, :, -1]
    integrand = score * phi ** (L - 1) + (L - 1) * survival * noise * phi ** (L - 2)
    steps = s[:, 1] - s[:, 0]
    return jnp.sum(steps[h] * steps[k] * integrand.sum(axis=(1, 2)))


def risk(m, R, theta, odds, s, L, nodes):
    """E at alignments m (H, F) and overlaps R (H, H), of which one triangle is read; s (H, S)."""
    gamma = 1 / len(m)
    mean = jnp.concatenate([theta @ m.T, jnp.zeros((1, len(m)))])  # (A + 1, H), noise last
    linear, square = _single(s, mean, jnp.sqrt(jnp.diagonal(R)), odds, L, nodes)
    steps = s[:, 1] - s[:, 0]
    linear, square = steps @ linear.sum(axis=1), steps @ square.sum(axis=1)
    pair = _pairs(s, mean, R, odds, L, nodes)
    return 1 - 2 * gamma * linear + gamma**2 * (square + 2 * pair)


def _risk_of_factor(m, B, theta, odds, s, L, nodes):
    return risk(m, B @ B.T, theta, odds, s, L, nodes)


@partial(jax.jit, static_argnames=("L", "nodes"))
def _value_and_gradient(m, B, theta, odds, s, L, nodes):
    return jax.value_and_grad(_risk_of_factor, argnums=(0, 1))(m, B, theta, odds, s, L, nodes)


def lift_grid(problem: Problem, nodes: Nodes) -> np.ndarray:
    """Nodes of s (H, S) where the integrand of each head is above e^-tail of its largest value.

    Found once by looking, as a user would, and not timed.
    """
    mean = np.vstack([problem.theta @ problem.m.T, np.zeros(len(problem.m))])
    width = np.sqrt(np.diagonal(problem.R))
    wide = np.broadcast_to(np.linspace(-60.0, 60.0, 601), (len(width), 601))
    fine = Nodes(0, 201, 0, 7.0, 0.0)
    linear, square = _single(wide, mean, width, problem.odds, problem.tokens, fine)
    size = np.asarray(linear + square)
    rows = []
    for row, line in zip(size, wide, strict=True):
        kept = line[row > np.exp(-nodes.tail) * row.max()]
        rows.append(np.linspace(kept[0], kept[-1], nodes.lift))
    return np.array(rows)


def prepare(problem: Problem, nodes: Nodes):
    """A function without arguments: value, (dE/dm (H, F), dE/dB (H, H)). This is timed."""
    arrays = problem.m, problem.B, problem.theta, problem.odds, lift_grid(problem, nodes)
    arguments = [jnp.asarray(array) for array in arrays]
    return lambda: jax.block_until_ready(
        _value_and_gradient(*arguments, L=problem.tokens, nodes=nodes)
    )

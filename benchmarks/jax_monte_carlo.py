# notation: m alignments, B a factor of the overlaps R = B B^T, chi logits, theta latent weights.
"""Monte Carlo of the population risk in JAX: jitted, float64, gradients by autodiff.

What a careful user would write without headflow: the D-dimensional tokens are already reduced
to their Gaussian logits chi = g B^T (+ m theta on the relevant token, first without loss of
generality), so a sample costs L H normals whatever D is.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.problems import Problem

jax.config.update("jax_enable_x64", True)


def _loss(m, B, theta, g, activation):
    """sum_l (1[l = eps] - A_l)^2 of samples: theta (N, F), g (N, L, H)."""
    chi = g @ B.T
    chi = chi.at[:, 0].add(theta @ m.T)
    if activation == "softmax":
        attention = jax.nn.softmax(chi, axis=1).mean(axis=2)
    else:
        chi = chi - jnp.sum(B * B, axis=1) / 2
        attention = jax.nn.softmax(chi, axis=(1, 2)).sum(axis=2)
    return jnp.sum(attention.at[:, 0].add(-1.0) ** 2, axis=1)


def _draw(key, atoms, odds, size, tokens, heads):
    which, normals = jax.random.split(key)
    theta = atoms[jax.random.choice(which, odds.size, (size,), p=odds)]
    return theta, jax.random.normal(normals, (size, tokens, heads), dtype=jnp.float64)


@partial(jax.jit, static_argnames=("size", "tokens", "activation"))
def _estimate(key, m, B, atoms, odds, size, tokens, activation):
    theta, g = _draw(key, atoms, odds, size, tokens, len(m))

    def risk(m, B):
        return jnp.mean(_loss(m, B, theta, g, activation))

    return jax.value_and_grad(risk, argnums=(0, 1))(m, B)


@partial(jax.jit, static_argnames=("size", "tokens", "activation"))
def _spread(key, m, B, atoms, odds, size, tokens, activation):
    theta, g = _draw(key, atoms, odds, size, tokens, len(m))

    def one(theta, g):
        def risk(m, B):
            return _loss(m, B, theta[None], g[None], activation)[0]

        return jax.value_and_grad(risk, argnums=(0, 1))(m, B)

    value, (by_m, by_B) = jax.vmap(one)(theta, g)
    return value.std(), by_m.std(axis=0), by_B.std(axis=0)


def value_and_gradient(problem: Problem, activation: str, size: int, seed: int = 0):
    """The mean over ``size`` samples: value, (dE/dm (H, F), dE/dB (H, H)). This is timed."""
    key = jax.random.key(seed)
    arguments = problem.m, problem.B, problem.theta, problem.odds
    return jax.block_until_ready(_estimate(key, *arguments, size, problem.tokens, activation))


def standard_deviations(problem: Problem, activation: str, size: int, seed: int = 1):
    """Per-sample standard deviations of the value and of the worst gradient entry. Not timed."""
    key = jax.random.key(seed)
    arguments = problem.m, problem.B, problem.theta, problem.odds
    value, *entries = _spread(key, *arguments, size, problem.tokens, activation)
    return float(value), max(float(np.max(entry)) for entry in entries)

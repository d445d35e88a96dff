# notation: m, R alignments and overlaps; C = R - m m^T; s logarithm of the lift variable; tau
# time; G the matrix gradient of the risk in R.
"""Gradient flow of softmax written by hand in JAX and NumPy: a right-hand side for SciPy.

The risk is the lifted integral of jax_lift, jitted in float64 with gradients by autodiff in m and
R; node counts are fixed for the whole trajectory. Where the lift grid lies follows the state by a
formula that costs nothing, since a grid found by looking would cost as much as the gradient.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import jax_lift
from benchmarks.jax_lift import Nodes

# From cheapest to safest for the trajectory of benchmarks.flow; the last has half as many again
# as just do, or more, as someone takes who does not know the answer.
LADDER = (
    Nodes(lift=40, outer=19, inner=13, window=5.0, tail=15.0),
    Nodes(lift=44, outer=19, inner=15, window=5.2, tail=16.0),
    Nodes(lift=46, outer=21, inner=15, window=5.4, tail=17.0),
    Nodes(lift=50, outer=23, inner=17, window=5.6, tail=18.0),
    Nodes(lift=60, outer=25, inner=17, window=5.8, tail=19.0),
    Nodes(lift=60, outer=27, inner=19, window=6.0, tail=20.0),
    Nodes(lift=92, outer=43, inner=31, window=6.5, tail=24.0),
)


@partial(jax.jit, static_argnames=("L", "nodes"))
def _gradient(m, R, theta, odds, s, L, nodes):
    return jax.grad(jax_lift.risk, argnums=(0, 1))(m, R, theta, odds, s, L, nodes)


def lift_grid(m: np.ndarray, R: np.ndarray, theta: np.ndarray, L: int, nodes: Nodes) -> np.ndarray:
    """Nodes of s (H, S) between the a-priori ends of the integrand, exp(-tail) of its largest.

    To the left it falls like e^s E[e^x]; to the right like the survival of the L - 1 noise
    tokens, each of which survives beyond s > 0 only where its logit is below -s.
    """
    variance = np.diagonal(R)
    low = -nodes.tail - np.maximum(0.0, (theta @ m.T).max(axis=0)) - variance / 2
    noise = nodes.tail / (L - 1)
    high = np.log(noise + 1) + np.sqrt(2 * noise * variance)
    return np.linspace(low, high, nodes.lift, axis=1)


def slopes(m, C, by_m, by_R):
    """dm/dtau (H, F), dC/dtau (H, H): k moves against the gradient, -(E_m k* + 2 G k)."""
    return -by_m - 2 * by_R @ m, -2 * (by_R @ C + C @ by_R)


def right_hand_side(theta: np.ndarray, odds: np.ndarray, L: int, nodes: Nodes, heads: int):
    """d/dtau of the vector of m (H F) and the upper half of C, as a function of tau and it."""
    spikes = theta.shape[1]
    upper = np.triu_indices(heads)
    fixed = jnp.asarray(theta), jnp.asarray(odds)

    def rate(tau: float, y: np.ndarray) -> np.ndarray:
        m = y[: heads * spikes].reshape(heads, spikes)
        C = np.zeros((heads, heads))
        C[upper] = y[heads * spikes :]
        C = C + np.triu(C, 1).T
        R = m @ m.T + C
        s = lift_grid(m, R, theta, L, nodes)
        by_m, by_R = map(np.asarray, _gradient(m, R, *fixed, s, L=L, nodes=nodes))
        # Autodiff fills one triangle; the matrix gradient shares it between both.
        dm, dC = slopes(m, C, by_m, (by_R + by_R.T) / 2)
        return np.concatenate([dm.ravel(), dC[upper]])

    return rate

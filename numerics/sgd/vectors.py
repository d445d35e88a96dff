# notation: X_l tokens, A_l attention, r = y - yhat the residual; delta_l^h = d ell / d x_l^h.
"""Steps of online SGD on explicit vectors in R^D: the reference at small D."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numerics.sgd.plan import Plan
from numerics.sgd.runs import Runs, at_least_two


class VectorRuns:
    """Runs that advance together, by their heads (n, H, D); the spikes are the first F axes."""

    def __init__(self, plan: Plan, runs: Runs):
        self.plan = plan
        self.pull = plan.pull
        self.heads = np.zeros((runs.size, plan.heads, plan.dimension))
        self.heads[..., : runs.heads.shape[-1]] = runs.heads
        self.beta, self.gain = runs.beta.copy(), runs.gain.copy()

    def draw(self, streams: Sequence[np.random.Generator], steps: int) -> None:
        """The samples of the next ``steps`` steps, those of each run from its own stream."""
        plan, n = self.plan, len(streams)
        shape = (plan.batch, plan.length.longest, plan.dimension)
        self.X = np.empty((steps, n, *shape))
        self.sizes = np.empty((steps, n, plan.batch), dtype=int)
        spikes = plan.prior.spikes
        for run, rng in enumerate(streams):
            self.sizes[:, run] = plan.length.sample(rng, (steps, plan.batch))
            theta = plan.prior.sample(rng, steps * plan.batch)
            self.X[:, run] = rng.standard_normal((steps, *shape))
            self.X[:, run, :, 0, :spikes] += theta.reshape(steps, plan.batch, spikes)

    def step(self, i: int) -> np.ndarray:
        """Take the i-th step that was drawn; losses (batch, n) of its samples before it."""
        plan, kernels = self.plan, self.plan.kernels
        n = len(self.heads)
        losses = np.empty((plan.batch, n))
        descent, beta, gain = (np.zeros_like(a) for a in (self.heads, self.beta, self.gain))
        for b in range(plan.batch):
            for size in plan.length.lengths:
                chosen = np.flatnonzero(self.sizes[i, :, b] == size)
                if chosen.size == 0:
                    continue
                these = at_least_two(chosen)
                loss, along_heads, along_beta, along_gain = self._gradient(
                    these, self.X[i, these, b, :size]
                )
                losses[b, these] = loss
                # Of a run that stands twice in ``these`` only one gradient counts.
                once = slice(chosen.size)
                descent[chosen] += along_heads[once]
                beta[chosen] += along_beta[once]
                gain[chosen] += along_gain[once]
        rate = plan.rate / plan.batch
        self.heads -= rate * descent
        if kernels.FREE_BIAS:
            self.beta -= rate * beta
        if kernels.FREE_GAIN:
            self.gain -= rate * gain
        return losses

    def _gradient(self, these: np.ndarray, X: np.ndarray):
        """Loss (n,) of tokens X (n, L, D), and its gradient by heads, biases and gain."""
        kernels, D = self.plan.kernels, self.plan.dimension
        heads, gain = self.heads[these], self.gain[these]
        bias = kernels.bias(np.moveaxis(overlaps(heads), 0, -1), self.beta[these])
        x = X @ np.swapaxes(heads, 1, 2) + np.broadcast_to(bias, heads.shape[:2])[:, None]
        linear = kernels.linearized(x)
        summed = linear[0].sum(axis=-1)
        misses = -gain[:, None] * summed
        misses[:, 0] += 1
        residual = (misses[:, None] @ X)[:, 0]
        by_attention = (-2 / D) * (X @ residual[..., None])[..., 0]
        delta = gain[:, None, None] * kernels.pullback(by_attention, linear)
        by_bias = delta.sum(axis=1)
        by_heads = np.swapaxes(delta, 1, 2) @ X + (self.pull * by_bias)[..., None] * heads
        loss = np.sum(residual**2, axis=1) / D
        return loss, by_heads, by_bias, np.sum(by_attention * summed, axis=1)

    @property
    def R(self) -> np.ndarray:
        return overlaps(self.heads)

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """heads (n, H, D), beta (n, H) and gain (n,)."""
        return self.heads, self.beta, self.gain


def overlaps(heads: np.ndarray) -> np.ndarray:
    """R (n, H, H) of heads (n, H, D)."""
    return heads @ np.swapaxes(heads, 1, 2)

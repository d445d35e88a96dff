# notation: u, v parts of a token along the spikes and along the heads beyond them; the rows T_l of
# a Bartlett factor stand for the rest, W = T T^T their Gram matrix; m = k . k*, R - m m^T = Q Q^T.
"""Steps of online SGD that never see D: exact in law, at a cost free of D (docs/model.md, 7).

A step needs tokens through their coordinates on the axes of spikes and heads, and the Gram matrix
W of what lies outside. Any vectors with that Gram matrix will do: the rows of T, along one further
axis a token. So a step is plain SGD in F + H + tokens dimensions, after which the axes are turned
until the heads lie along the first F + H again. No square root of R is taken, and R may be 0.

Every array has the run as its first index and, in memory, as its last axis, along which NumPy
works fastest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numerics.dynamics.starts import bartlett
from numerics.sgd.plan import Plan
from numerics.sgd.runs import Runs, at_least_two

# Lengths below this count as 0.
SMALLEST = 1e-150


def zeros(n: int, *shape: int) -> np.ndarray:
    """Zeros (n, ...) whose first index is the last axis in memory."""
    return np.moveaxis(np.zeros((*shape, n)), -1, 0)


def select(array: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """``array[runs]`` in the same order of memory."""
    return np.moveaxis(np.take(np.moveaxis(array, 0, -1), runs, axis=-1), -1, 0)


class ReducedRuns:
    """Runs that advance together, by the coordinates (n, H, F + H + tokens) of their heads."""

    def __init__(self, plan: Plan, runs: Runs):
        self.plan = plan
        self.heads = zeros(runs.size, plan.heads, plan.width)
        self.heads[..., : plan.frame] = runs.heads
        self.beta = zeros(runs.size, plan.heads)
        self.beta[:] = runs.beta
        self.gain = runs.gain.copy()

    def draw(self, streams: Sequence[np.random.Generator], steps: int) -> None:
        """The samples of the next ``steps`` steps, those of each run from its own stream."""
        plan, n = self.plan, len(streams)
        self.tokens = zeros(n, steps, plan.tokens, plan.width)
        self.sizes = np.empty((n, steps, plan.batch), dtype=int)
        spikes, longest = plan.prior.spikes, plan.length.longest
        freedom = plan.dimension - plan.frame
        for run, rng in enumerate(streams):
            self.sizes[run] = plan.length.sample(rng, (steps, plan.batch))
            theta = plan.prior.sample(rng, steps * plan.batch)
            inside = rng.standard_normal((steps, plan.tokens, plan.frame))
            inside[:, ::longest, :spikes] += theta.reshape(steps, plan.batch, spikes)
            self.tokens[run, ..., : plan.frame] = inside
            bartlett(rng, freedom, self.tokens[run, ..., plan.frame :])

    def step(self, i: int) -> np.ndarray:
        """Take the i-th step that was drawn; losses (batch, n) of its samples before it."""
        plan, kernels, tokens = self.plan, self.plan.kernels, self.tokens[:, i]
        delta, losses, slope = self._backward(tokens, self.sizes[:, i])
        rate = plan.rate / plan.batch
        self.heads -= rate * kernels.along_rest(delta, tokens, self.heads)
        if kernels.FREE_BIAS:
            self.beta -= rate * delta.sum(axis=1)
        if kernels.FREE_GAIN:
            self.gain -= rate * slope
        turn(self.heads[..., plan.prior.spikes :])
        return losses

    def _backward(self, tokens: np.ndarray, sizes: np.ndarray):
        """delta (n, tokens, H), losses (batch, n) and summed gain slopes (n,) of one step."""
        plan, n, longest = self.plan, len(tokens), self.plan.length.longest
        # A bias holds diagonal entries of R only: of an R with the shape (H, H, n), np.diagonal
        # makes biases (n, H).
        bias = plan.kernels.bias(self.R.transpose(1, 2, 0), self.beta)
        if len(plan.length.lengths) == 1 and plan.batch == 1:
            delta, loss, slope = backward(plan, tokens, self.heads, bias, self.gain)
            return delta, loss[None], slope
        delta = zeros(n, plan.tokens, plan.heads)
        losses, slopes = np.empty((plan.batch, n)), np.zeros(n)
        bias = np.broadcast_to(bias, self.beta.shape)
        for b in range(plan.batch):
            for size in plan.length.lengths:
                chosen = np.flatnonzero(sizes[:, b] == size)
                if chosen.size == 0:
                    continue
                these = at_least_two(chosen)
                rows = slice(b * longest, b * longest + size)
                given = (tokens[:, rows], self.heads, bias, self.gain)
                part, loss, slope = backward(plan, *(select(a, these) for a in given))
                delta[these, rows] = part
                losses[b, these] = loss
                # Of a run that stands twice in ``these`` only one gradient counts.
                slopes[chosen] += slope[: chosen.size]
        return delta, losses, slopes

    @property
    def R(self) -> np.ndarray:
        heads = self.heads[..., : self.plan.frame]
        return np.einsum("zha,zka->zhk", heads, heads)

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """heads (n, H, F + H), beta (n, H) and gain (n,)."""
        return self.heads[..., : self.plan.frame], self.beta, self.gain


def backward(plan: Plan, tokens, heads, bias, gain):
    """delta (n, L, H), loss (n,) and d loss/d gain (n,) of one sample (n, L, width) a run."""
    kernels, D, frame = plan.kernels, plan.dimension, plan.frame
    logits = np.einsum("zla,zha->zlh", tokens[..., :frame], heads[..., :frame])
    linear = kernels.linearized(logits + bias[..., None, :])
    summed = linear[0].sum(axis=-1)
    misses = -gain[:, None] * summed
    misses[:, 0] += 1
    gram = np.einsum("zla,zna->zln", tokens, tokens)
    weights = -kernels.loss_slope(misses, gram, D)
    delta = gain[:, None, None] * kernels.pullback(weights, linear)
    return delta, kernels.loss(misses, gram, D), np.einsum("zl,zl->z", weights, summed)


def turn(rows: np.ndarray) -> None:
    """Turn the axes of rows (n, H, K) in place so that row h lies along the first h + 1.

    By modified Gram-Schmidt, whose triangular factor is as accurate as that of reflections
    (Bjorck, BIT 7, 1 (1967)) whatever the rank of the rows.
    """
    heads = rows.shape[1]
    turned = zeros(len(rows), heads, heads)
    for h in range(heads):
        row = rows[:, h]
        length = turned[:, h, h]
        np.sqrt(np.einsum("zk,zk->z", row, row), out=length)
        if h + 1 < heads:
            # A row of length 0 is 0 itself, and no later one has a part along it.
            row /= np.maximum(length, SMALLEST)[:, None]
            later = rows[:, h + 1 :]
            along = np.einsum("zrk,zk->zr", later, row)
            later -= along[..., None] * row[:, None]
            turned[:, h + 1 :, h] = along
    rows[..., :heads] = turned
    rows[..., heads:] = 0

# notation: theta latent weights; m, R alignments and overlaps; beta free biases; gamma gain.
"""The population risk and its derivatives by plain simulation, as a check of the quadrature.

Of an activation's kernels only the attention itself, the bias and the gain are used: no lift,
no factorization over tokens, no derivative formula. Samples come in blocks, each with its own
random stream, whose size depends on the problem only: a seed fixes every number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from numerics.checks import (
    count,
    fixed_or_free_gain,
    free_bias,
    order_parameters,
    positive,
    real_array,
)
from numerics.embedding import Vectors, embed, square_root
from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.priors import Prior
from numerics.statistics import Moments, SampleMean, combination, pooled

# Samples of one block, or fewer where their tokens would exceed 4 MB; about six arrays of that
# size live at once.
BLOCK = 8192
BLOCK_NUMBERS = 500_000

Seed = int | np.random.SeedSequence
# From a random stream, a length L and a number n to n samples of each of q quantities (q, n).
Draw = Callable[[np.random.Generator, int, int], np.ndarray]


@dataclass(frozen=True)
class Model:
    """What is simulated: kernels, prior, lengths, free biases (H,) and gain."""

    kernels: ModuleType
    prior: Prior
    length: SequenceLength
    beta: np.ndarray
    gain: float

    @classmethod
    def of(
        cls,
        kernels: ModuleType,
        prior: Prior,
        tokens: Any,
        heads: int,
        beta: Any = None,
        gain: float | None = None,
    ) -> Model:
        """beta and gain are given exactly when the activation leaves them free, or InputError."""
        heads = count("heads", heads)
        beta = free_bias(kernels, beta, heads)
        gamma = fixed_or_free_gain(kernels, gain, heads)
        if gamma is None:
            raise InputError("gain: this activation needs a gain, a number; got None")
        return cls(kernels, prior, SequenceLength.of(tokens), beta, gamma)

    def attention(self, logits: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Total weight A (n, L) of each token, from logits (n, L, H) before the bias."""
        heads = self.kernels.attention(logits + self.kernels.bias(R, self.beta))
        return self.gain * heads.sum(axis=-1)


@dataclass(frozen=True)
class ReducedMeans:
    """Means in the D -> oo limit: the risk, E[A_eps] and E[sum_l A_l^2]."""

    risk: SampleMean
    relevant: SampleMean
    squares: SampleMean


@dataclass(frozen=True)
class FiniteDimensionMeans:
    """The risk of explicit token vectors at D and 2 D, and what both say about D -> oo."""

    dimension: int
    single: SampleMean
    double: SampleMean

    @property
    def limit(self) -> SampleMean:
        """2 E_2D - E_D, which is free of the 1/D term.

        Nothing else is left: A depends on the tokens' parts in the span of spikes and heads
        only, and the Gram matrix of what is outside has the mean (D - F - H) times identity,
        so at fixed m and R the risk is 1/D times an affine function of D.
        """
        return combination([(2.0, self.double), (-1.0, self.single)])


def reduced_risk(
    model: Model, m: Any, R: Any, *, samples: int = 200_000, seed: Seed = 0
) -> ReducedMeans:
    """The D -> oo risk at m (H, F), R (H, H) from sampled logits (docs/model.md section 2).

    Tokens are exchangeable, so the relevant one is token 0. R may be singular. Raises
    InputError for unphysical m and R.
    """
    m, R = _checked(model, m, R)
    root = square_root(R)

    def draw(rng, tokens, n):
        logits = rng.standard_normal((n, tokens, len(R))) @ root.T
        logits[:, 0] += model.prior.sample(rng, n) @ m.T
        attention = model.attention(logits, R)
        return np.stack([_loss(attention), attention[:, 0], np.sum(attention**2, axis=1)])

    return ReducedMeans(*_simulate(draw, model.length, len(R), samples, seed))


def finite_dimension_risk(
    model: Model,
    m: Any,
    R: Any,
    *,
    dimension: int = 200,
    samples: int = 25_000,
    seed: Seed = 0,
) -> FiniteDimensionMeans:
    """The risk |y - yhat|^2 / D of token vectors in R^D and R^2D, ``samples`` of each.

    Spikes and heads have exactly the given m (H, F) and R (H, H). Raises InputError for
    unphysical m and R, and unless D >= F + H.
    """
    m, R = _checked(model, m, R)
    streams = _sequence(seed).spawn(2)
    single, double = (
        _vector_risk(model, embed(m, R, factor * dimension), samples, stream)
        for factor, stream in zip((1, 2), streams, strict=True)
    )
    return FiniteDimensionMeans(dimension, single, double)


def directional_derivatives(
    model: Model,
    vectors: Vectors,
    directions: Any,
    shifts: Any = None,
    *,
    step: float = 1e-3,
    samples: int = 100_000,
    seed: Seed = 0,
) -> list[SampleMean]:
    """Derivatives of the D -> oo risk along changes of the heads and of their biases.

    directions (N, H, W): of the heads, in the space R^W of the vectors; W = F + H reaches every
    change of m and R. shifts (N, H): of the biases, none by default. Central differences of
    width ``step`` with the same tokens on both sides: their own error, step^2 / 6 times a third
    derivative, is far below the standard error. Nothing takes a square root of R, so
    R may be singular. Raises InputError for shapes that do not fit.
    """
    directions = real_array("directions", directions, 3)
    if directions.shape[1:] != vectors.heads.shape:
        raise InputError(
            f"directions: expected shape (N, {vectors.heads.shape[0]}, {vectors.heads.shape[1]}), "
            f"got {directions.shape}"
        )
    wanted = directions.shape[:2]
    shifts = np.zeros(wanted) if shifts is None else real_array("shifts", shifts, 2)
    if shifts.shape != wanted:
        raise InputError(f"shifts: expected shape {wanted}, got {shifts.shape}")
    step = positive("step", step)

    def loss(tokens, heads, shift):
        logits = tokens @ heads.T + shift
        return _loss(model.attention(logits, heads @ heads.T))

    def draw(rng, tokens, n):
        X = _tokens(model, vectors, rng, tokens, n)
        return np.stack(
            [
                loss(X, vectors.heads + step * along, step * shift)
                - loss(X, vectors.heads - step * along, -step * shift)
                for along, shift in zip(directions, shifts, strict=True)
            ]
        ) / (2 * step)

    return _simulate(draw, model.length, vectors.heads.shape[1], samples, seed)


def _vector_risk(model: Model, vectors: Vectors, samples: int, seed: Seed) -> SampleMean:
    dimension = vectors.heads.shape[1]

    def draw(rng, tokens, n):
        X = _tokens(model, vectors, rng, tokens, n)
        attention = model.attention(X @ vectors.heads.T, vectors.R)
        prediction = (attention[:, None, :] @ X)[:, 0]
        return np.sum((X[:, 0] - prediction) ** 2, axis=1)[None] / dimension

    return _simulate(draw, model.length, dimension, samples, seed)[0]


def _tokens(model, vectors, rng, tokens: int, n: int) -> np.ndarray:
    """Token vectors (n, L, D), of which token 0 is the relevant one."""
    X = rng.standard_normal((n, tokens, vectors.spikes.shape[1]))
    X[:, 0] += model.prior.sample(rng, n) @ vectors.spikes
    return X


def _loss(attention: np.ndarray) -> np.ndarray:
    """sum_l (1[l = eps] - A_l)^2 of each sample, eps = 0."""
    wanted = np.zeros(attention.shape[1])
    wanted[0] = 1.0
    return np.sum((wanted - attention) ** 2, axis=1)


def _simulate(
    draw: Draw, length: SequenceLength, width: int, samples: int, seed: Seed
) -> list[SampleMean]:
    """Means of each quantity over ``samples`` draws whose lengths follow their law."""
    samples = count("samples", samples, least=2)
    length.require_whole()
    block = max(1, min(BLOCK, BLOCK_NUMBERS // (length.longest * width)))
    sizes = [min(block, samples - start) for start in range(0, samples, block)]
    odds = np.array(length.odds) / np.sum(length.odds)

    def moments(size, stream):
        rng = np.random.default_rng(stream)
        counts = rng.multinomial(size, odds)
        parts = [draw(rng, L, int(n)) for L, n in zip(length.lengths, counts, strict=True)]
        return [Moments.of(values) for values in np.concatenate(parts, axis=1)]

    streams = _sequence(seed).spawn(len(sizes))
    blocks = [moments(*one) for one in zip(sizes, streams, strict=True)]
    return [pooled(quantity) for quantity in zip(*blocks, strict=True)]


def _sequence(seed: Seed) -> np.random.SeedSequence:
    """A fresh sequence: one that has spawned before would give other children next time."""
    if not isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(count("seed", seed, least=0))
    return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)


def _checked(model: Model, m: Any, R: Any) -> tuple[np.ndarray, np.ndarray]:
    m, R = order_parameters(m, R, model.prior.spikes)
    if len(m) != model.beta.size:
        raise InputError(f"m: expected {model.beta.size} rows, one a head, got {m.shape}")
    return m, R

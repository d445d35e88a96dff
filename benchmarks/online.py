# notation: tau = steps * learning rate / D; k (H, D) heads.
"""Online SGD without vectors: its cost beside other dimensions and beside SGD with vectors."""

from __future__ import annotations

import statistics
import time

import numpy as np

import headflow as hf
from benchmarks.table import Row, number, seconds
from benchmarks.timing import timings
from numerics.sgd import simulate
from numerics.threads import one_thread

TOKENS, HEADS, SPIKES = 5, 4, 2
STRENGTHS, MEAN = (2.0, 1.5), (0.3, 0.2)
RATE = 0.5
SEEDS, STEPS = 64, 400
SMALL, LARGE, WITH_VECTORS = 100, 100_000, 10_000
# Simulations with vectors hold and draw L * D numbers a step: fewer of them do.
VECTOR_SEEDS, VECTOR_STEPS = 2, 100
REPETITIONS = 7


def rows() -> list[Row]:
    """CPU time per step and run: other loads of the machine touch it least."""
    kernels = hf.PopulationRisk("softmax", hf.flipped_spikes(STRENGTHS), tokens=TOKENS).kernels
    prior = hf.flipped_spikes(STRENGTHS, mean=MEAN)

    def ours(simulator: str, dimension: int, seeds: int, steps: int):
        tau = steps * RATE / dimension

        def call():
            simulate(
                kernels,
                prior,
                TOKENS,
                HEADS,
                dimension,
                learning_rate=RATE,
                time=tau,
                times=[tau],
                seeds=seeds,
                simulator=simulator,
            )

        return call, seeds * steps

    sides = {
        "large": ours("reduced", LARGE, SEEDS, STEPS),
        "small": ours("reduced", SMALL, SEEDS, STEPS),
        "vectors": ours("vectors", WITH_VECTORS, VECTOR_SEEDS, VECTOR_STEPS),
        "loop": (lambda: plain_loop(prior, WITH_VECTORS, VECTOR_STEPS), VECTOR_STEPS),
    }
    calls = [call for call, _ in sides.values()]
    with one_thread():
        timings(calls, 1)
        taken = timings(calls, REPETITIONS, time.process_time)
    cost = {
        name: statistics.median(times) / work
        for (name, (_, work)), times in zip(sides.items(), taken, strict=True)
    }
    by_vectors = min("vectors", "loop", key=cost.__getitem__)
    label = {"vectors": "our own with vectors", "loop": "a plain NumPy loop"}[by_vectors]
    what = f"online SGD, softmax, H = {HEADS}, a step of one of {SEEDS} runs"
    return [
        Row(
            f"{what}: D = {number(LARGE)} over D = {SMALL}",
            cost["large"] / cost["small"],
            "at most",
            1.1,
            "x",
            ours=seconds(cost["large"]),
            theirs=f"{seconds(cost['small'])} (ours at D = {SMALL})",
        ),
        Row(
            f"{what}: with vectors at D = {number(WITH_VECTORS)}",
            cost[by_vectors] / cost["large"],
            "at least",
            50.0,
            "x",
            ours=f"{seconds(cost['large'])} (at D = {number(LARGE)})",
            theirs=f"{seconds(cost[by_vectors])} ({label}, the faster of "
            f"{seconds(cost['vectors'])} and {seconds(cost['loop'])})",
        ),
    ]


def plain_loop(prior: hf.FiniteSupport, D: int, steps: int, seed: int = 0) -> np.ndarray:
    """One run of softmax with D-dimensional tokens, as a user would write it; returns k."""
    rng = np.random.default_rng(seed)
    k = rng.standard_normal((HEADS, D)) / np.sqrt(D)
    for _ in range(steps):
        theta = prior.support[rng.choice(len(prior.support), p=prior.probabilities)]
        X = rng.standard_normal((TOKENS, D))
        X[0, :SPIKES] += theta
        logits = X @ k.T
        a = np.exp(logits - logits.max(axis=0))
        a /= a.sum(axis=0)
        misses = -a.mean(axis=1)
        misses[0] += 1
        by_attention = X @ (misses @ X) * (-2 / D)
        delta = a * (by_attention[:, None] - by_attention @ a) / HEADS
        k -= RATE / D * (delta.T @ X)
    return k

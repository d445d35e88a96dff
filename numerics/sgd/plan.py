# notation: tau = steps * learning_rate / D; m, R alignments and overlaps; beta free biases.
"""What defines a simulation of online SGD, checked before any work."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from numerics.checks import count, fixed_or_free_gain, free_bias, positive, real_array
from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.modules import module_from_source, module_source
from numerics.priors import Prior
from numerics.quadrature.noise import require_sample_gradient

# Times recorded when none are given, and the share of the time at which they begin.
RECORDS = 60
EARLIEST = 1e-3
# Random numbers of one run in one block. A block is the unit of random streams, so its size may
# depend on the problem only: not on workers, and not on which runs advance together.
BLOCK_NUMBERS = {"reduced": 1 << 14, "vectors": 1 << 17}


@dataclass(frozen=True)
class Plan:
    """Everything that fixes the bits of a run, apart from its start.

    steps: number of SGD steps. records (T,): the steps after which a run is recorded, increasing.
    block_numbers: random numbers of one run in one block of steps, about.
    """

    kernels: ModuleType
    prior: Prior
    length: SequenceLength
    heads: int
    dimension: int
    learning_rate: float
    steps: int
    records: tuple[int, ...]
    batch: int
    simulator: str
    seed: int
    block_numbers: int

    @classmethod
    def of(
        cls,
        kernels: ModuleType,
        prior: Prior,
        tokens: Any,
        heads: Any,
        dimension: Any,
        *,
        learning_rate: Any,
        time: Any,
        times: Any,
        batch: Any,
        simulator: Any,
        seed: Any,
    ) -> Plan:
        """A checked plan; InputError says in one line what cannot be simulated."""
        if simulator not in BLOCK_NUMBERS:
            raise InputError(f"simulator: expected 'reduced' or 'vectors', got {simulator!r}")
        require_sample_gradient(kernels)
        length, heads, batch = (
            SequenceLength.of(tokens),
            count("heads", heads),
            count("batch", batch),
        )
        dimension = count("dimension", dimension)
        least = prior.spikes + heads + batch * length.longest
        if dimension < least:
            raise InputError(
                f"dimension: expected at least F + H + batch * L = {least}, got {dimension}"
            )
        rate, time = positive("learning_rate", learning_rate), positive("time", time)
        steps = round(time * dimension / rate)
        if steps < 1:
            raise InputError(
                f"time: expected at least one step, learning_rate / D = {rate / dimension:.6g}, "
                f"got {time:.6g}"
            )
        records = _records(times, time, steps, rate / dimension)
        seed = count("seed", seed, least=0)
        return cls(
            kernels,
            prior,
            length,
            heads,
            dimension,
            rate,
            steps,
            records,
            batch,
            simulator,
            seed,
            BLOCK_NUMBERS[simulator],
        )

    def __getstate__(self):
        return {**self.__dict__, "kernels": module_source(self.kernels)}

    def __setstate__(self, state):
        self.__dict__.update(state, kernels=module_from_source(*state["kernels"]))

    @property
    def rate(self) -> float:
        """eta / D: the factor of each step, and the time that it takes."""
        return self.learning_rate / self.dimension

    @property
    def tokens(self) -> int:
        """Tokens of one step, each sample as long as the longest."""
        return self.batch * self.length.longest

    @property
    def frame(self) -> int:
        """F + H: axes that hold the spikes and the heads."""
        return self.prior.spikes + self.heads

    @property
    def width(self) -> int:
        """Coordinates of a token: D for vectors, and otherwise the frame and the tokens' own."""
        return self.dimension if self.simulator == "vectors" else self.frame + self.tokens

    @property
    def block_steps(self) -> int:
        """Steps of a block, the last one excepted."""
        return max(1, self.block_numbers // (self.tokens * self.width))

    @property
    def blocks(self) -> int:
        return -(-self.steps // self.block_steps)

    @property
    def pull(self) -> np.ndarray:
        """p (H,) in db_h/dk_h = p_h k_h: the bias is affine in R_hh = |k_h|^2."""
        zeros = np.zeros((self.heads, self.heads))
        none = np.zeros(self.heads)
        at_one = self.kernels.bias(np.eye(self.heads), none)
        return 2 * (at_one - self.kernels.bias(zeros, none))

    def stream(self, run: int, *block: int) -> np.random.Generator:
        """The random stream of a run's block, or, with no block, of its start."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(run, *block)))

    def describe(self) -> dict[str, Any]:
        """As JSON can hold it; two simulations with the same text have the same bits."""
        return {
            "activation": dict(self.kernels.DEFINITION),
            "prior": self.prior.describe(),
            "tokens": self.length.describe(),
            "heads": self.heads,
            "dimension": self.dimension,
            "learning_rate": self.learning_rate,
            "steps": self.steps,
            "records": list(self.records),
            "batch": self.batch,
            "simulator": self.simulator,
            "seed": self.seed,
            "block_steps": self.block_steps,
        }


def _records(times: Any, time: float, steps: int, step: float) -> tuple[int, ...]:
    """The steps nearest to the wanted times."""
    if times is None:
        first = max(1.0, EARLIEST * steps)
        grid = np.geomspace(first, steps, RECORDS)
        return (0, *(int(n) for n in np.unique(np.round(grid))))
    times = real_array("times", times, 1)
    if times.size == 0 or times[0] < 0 or times[-1] > time or np.any(np.diff(times) <= 0):
        raise InputError(f"times: expected increasing numbers between 0 and time = {time:.6g}")
    nearest = np.minimum(np.round(times / step), steps)
    if np.any(np.diff(nearest) <= 0):
        raise InputError(
            f"times: two of them share a step; keep them at least learning_rate / D = {step:.6g} "
            "apart"
        )
    return tuple(int(n) for n in nearest)


def free_parameters(
    kernels: ModuleType, heads: int, beta0: Any, gain0: Any
) -> tuple[np.ndarray, float]:
    """Start of the free biases (H,) and of the gain; a fixed gain is what the activation says."""
    beta = free_bias(kernels, beta0, heads, "beta0")
    gain = fixed_or_free_gain(kernels, gain0, heads, "gain0")
    if gain is None:
        raise InputError("gain0: this activation needs a gain to start from; give a number")
    return beta, gain

# notation: m, R alignments and overlaps; beta free biases; H heads; gain gamma of their sum.
"""Pruning: the population risk after some of the heads were removed, by one of two conventions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import xarray as xr

from numerics.checks import count, free_bias, order_parameters, real_array
from numerics.errors import InputError
from numerics.estimate import Estimate
from numerics.pruning.dataset import Removal, dataset
from numerics.risk import PopulationRisk

RESCALED, ZEROED = "rescaled", "zeroed"
CONVENTIONS = {
    RESCALED: "removed heads are gone and the gain follows its rule with the heads that remain",
    ZEROED: "removed heads are gone and the gain stays what it was with all heads",
}


@dataclass(frozen=True)
class Pruning:
    """Heads of which some are removed, and the convention by which.

    risk: the activation as it is. held: the same with gain "free", at which "zeroed" keeps the
    gain of all heads; it may be None where the gain has no rule that depends on H. gain: of all
    heads, for an activation that trains its gain, None otherwise.
    """

    risk: PopulationRisk
    held: PopulationRisk | None
    m: np.ndarray
    R: np.ndarray
    beta: np.ndarray | None
    gain: float | None
    convention: str

    @classmethod
    def of(
        cls,
        risk: PopulationRisk,
        held: PopulationRisk | None,
        m: Any,
        R: Any,
        beta: Any,
        gain: Any,
        convention: str,
    ) -> Pruning:
        """Checked; InputError for what does not fit."""
        require_convention(convention)
        m, R = order_parameters(m, R, risk.prior.spikes)
        kernels = risk.kernels
        free = free_bias(kernels, beta, len(m))
        if gain is not None:
            if not kernels.FREE_GAIN:
                raise InputError("gain: this activation has a fixed gain; leave gain out")
            if convention == RESCALED:
                raise InputError(
                    "gain: 'rescaled' takes the best gain of the heads that remain; leave gain out"
                )
            gain = float(real_array("gain", gain, 0))
        elif kernels.FREE_GAIN and convention == ZEROED:
            raise InputError("gain: 'zeroed' keeps the free gain of all heads; give gain=")
        return cls(risk, held, m, R, free if kernels.FREE_BIAS else None, gain, convention)

    @property
    def heads(self) -> int:
        return len(self.m)

    def gain_without(self, removed: int) -> float:
        """The gain once ``removed`` heads are gone; nan for the best one of each subset."""
        if self.risk.kernels.FREE_GAIN:
            return float("nan") if self.gain is None else self.gain
        left = self.heads - (removed if self.convention == RESCALED else 0)
        return float(self.risk.kernels.gain(left))

    def __call__(self, kept: np.ndarray) -> Estimate:
        """The risk of the heads whose numbers are ``kept``: what is removed leaves every sum."""
        m, R = self.m[kept], self.R[np.ix_(kept, kept)]
        beta = None if self.beta is None else self.beta[kept]
        gain = self.gain_without(self.heads - len(kept))
        if np.isnan(gain):
            return self.risk(m, R, beta=beta)
        if self.risk.kernels.FREE_GAIN:
            return self.risk(m, R, beta=beta, gain=gain)
        if self.held is None or gain == float(self.risk.kernels.gain(len(kept))):
            return self.risk(m, R, beta=beta)
        return self.held(m, R, beta=beta, gain=gain)


def require_convention(convention: Any) -> None:
    """InputError unless it is one of the two."""
    if not isinstance(convention, str) or convention not in CONVENTIONS:
        raise InputError(
            f"convention: expected {' or '.join(map(repr, CONVENTIONS))}, got {convention!r}"
        )


def depends_on_heads(risk: PopulationRisk) -> bool:
    """Whether the gain has a rule that changes when heads are removed."""
    kernels = risk.kernels
    return not kernels.FREE_GAIN and float(kernels.gain(1)) != float(kernels.gain(2))


def removed_counts(removed: Any, heads: int) -> list[int]:
    """How many heads are removed, in increasing order: 0 to H - 1 where nothing is asked."""
    if removed is None:
        return list(range(heads))
    given = [removed] if isinstance(removed, int) else removed
    counts = [count("removed", n, least=0) for n in real_array("removed", given, 1).tolist()]
    if not counts:
        raise InputError("removed: expected numbers of heads such as [1, 2], got none")
    if max(counts) >= heads:
        raise InputError(
            f"removed: expected fewer than the {heads} head(s) there are, got {max(counts)}"
        )
    return sorted(set(counts))


def subsets_kept(heads: int, removed: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of the heads that remain (subset, H - removed): all subsets, or ``most`` of them.

    Where there are more, ``most`` different ones are drawn, all sets of that many being equally
    likely. In lexical order.
    """
    left = heads - removed
    if comb(heads, left) <= most:
        return np.array(list(combinations(range(heads), left)))
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(rng.choice(heads, left, replace=False).tolist())))
    return np.array(sorted(drawn))


def prune(
    risk: PopulationRisk,
    m: Any,
    R: Any,
    *,
    held: PopulationRisk | None = None,
    beta: Any = None,
    gain: Any = None,
    removed: Any = None,
    convention: str = RESCALED,
    subsets: int = 200,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> xr.Dataset:
    """Population risks of heads (m, R) without 0, 1, 2, ... of them: docs/model.md section 10.

    held: the same activation with gain "free" (see Pruning). Other arguments, the Dataset and what
    is refused with InputError: as in ``headflow.prune``.
    """
    pruning = Pruning.of(risk, held, m, R, beta, gain, convention)
    counts = removed_counts(removed, pruning.heads)
    most, seed = count("subsets", subsets, least=2), count("seed", seed, least=0)
    total = sum(min(comb(pruning.heads, n), most) for n in counts)
    done = 0

    def risk_of(kept: np.ndarray) -> Estimate:
        nonlocal done
        found = pruning(kept)
        done += 1
        progress(done / total)
        return found

    whole = pruning(np.arange(pruning.heads))
    removals = []
    for n in counts:
        # One stream a count: it draws the same subsets whatever other counts are asked for.
        kept = subsets_kept(pruning.heads, n, most, np.random.default_rng([seed, n]))
        risks = [risk_of(one) for one in kept]
        removals.append(Removal(n, pruning.heads, kept, risks, pruning.gain_without(n)))
    configuration = {
        **risk.describe(),
        "m": pruning.m.tolist(),
        "R": pruning.R.tolist(),
        "beta": None if pruning.beta is None else pruning.beta.tolist(),
        "gain": pruning.gain,
        "removed": counts,
        "convention": convention,
        "subsets": most,
        "rtol": risk.rtol,
        "seed": seed,
    }
    data = dataset(removals, whole)
    return data.assign_attrs(
        convention=convention,
        convention_means=CONVENTIONS[convention],
        configuration=json.dumps(configuration),
    )

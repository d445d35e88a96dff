# notation: alpha rate of false alarms of the whole table.
"""The population risk and its gradient against simulation, at generic asymmetric points."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from numerics.checks import count
from numerics.comparisons import VECTOR_SHARE, compare
from numerics.errors import InputError
from numerics.generic_points import Point, generic_points
from numerics.risk import PopulationRisk
from numerics.statistics import ZScore, family_bound


@dataclass(frozen=True)
class Validation:
    """Theory against simulation, row by row.

    rows: the z-scores. bound: what all |z| stay below with probability 1 - alpha if theory is
    right. notes: what was left out, or says less than it seems. configuration: all that is
    needed to do it again.
    """

    rows: tuple[ZScore, ...]
    bound: float
    alpha: float
    notes: tuple[str, ...]
    configuration: dict[str, Any]

    @property
    def passed(self) -> bool:
        """Whether every |z| is within the bound; an undefined z is not."""
        return all(abs(row.z) <= self.bound for row in self.rows)

    def table(self) -> str:
        """The rows, the verdict and the notes as plain text."""
        width = max(len(row.quantity) for row in self.rows)
        lines = [
            f"{'quantity':<{width}}  {'theory':>11}  {'error':>7}  {'simulation':>11}  "
            f"{'error':>7}  {'samples':>8}  {'z':>6}"
        ]
        for row in self.rows:
            mark = "*" if row.theory_dominates else ""
            mark += "" if abs(row.z) <= self.bound else "  beyond the bound"
            lines.append(
                f"{row.quantity:<{width}}  {row.theory:>11.6g}  {row.theory_error:>7.1e}  "
                f"{row.simulation:>11.6g}  {row.standard_error:>7.1e}  {row.samples:>8}  "
                f"{row.z:>6.2f}{mark}"
            )
        worst = float(np.max(np.abs([row.z for row in self.rows])))
        lines.append(
            f"{'passed' if self.passed else 'FAILED'}: largest |z| {worst:.2f}, bound "
            f"{self.bound:.2f} ({len(self.rows)} rows, family false-alarm rate {self.alpha:g})"
        )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_dataset(self) -> xr.Dataset:
        """The rows over the dimension "row"; the configuration is one JSON attribute."""
        names = ("theory", "theory_error", "simulation", "standard_error", "samples", "z")
        return xr.Dataset(
            {name: ("row", [getattr(row, name) for row in self.rows]) for name in names},
            coords={"quantity": ("row", [row.quantity for row in self.rows])},
            attrs={
                "bound": self.bound,
                "passed": int(self.passed),
                "notes": json.dumps(self.notes),
                "configuration": json.dumps(self.configuration),
            },
        )


def validate(
    risk: PopulationRisk,
    heads: int,
    *,
    seed: int = 0,
    samples: int = 100_000,
    dimension: int = 200,
    alpha: float = 1e-3,
) -> Validation:
    """Compare a population risk with simulation at three generic points drawn from ``seed``.

    At each: the risk from sampled logits and from token vectors in R^D and R^2D, E[A_eps] and
    E[sum_l A_l^2], and derivatives along random changes of the heads and of their biases.
    samples: of logits; an eighth of that of vectors, in each dimension. Raises InputError for
    a number out of range, and when no mean has a standard error that can be trusted.
    """
    heads = count("heads", heads)
    seed = count("seed", seed, least=0)
    samples = count("samples", samples, least=2 * VECTOR_SHARE)
    dimension = count("dimension", dimension, least=risk.prior.spikes + heads)
    family_bound(1, alpha)
    place, *streams = np.random.SeedSequence(seed).spawn(4)
    points = generic_points(risk.kernels, risk.prior, heads, np.random.default_rng(place))
    compared, notes = [], []
    for point, stream in zip(points, streams, strict=True):
        rows, remarks = compare(risk, point, samples, dimension, stream)
        compared += rows
        notes += remarks
    scores = [one.score() for one in compared if not one.heavy]
    if not scores:
        raise InputError("samples: one sample outweighs the others in every mean; take more")
    notes += [
        f"{one.quantity}: left out, one sample holds {one.simulated.largest_share:.0%} of the "
        "variance"
        for one in compared
        if one.heavy
    ]
    dominated = [score.quantity for score in scores if score.theory_dominates]
    if dominated:
        notes.append(
            f"theory's error is larger than the simulation's in {len(dominated)} of {len(scores)} "
            f"rows, marked *: {'; '.join(dominated)}"
        )
    configuration = {
        "activation": risk.kernels.DEFINITION,
        "prior": risk.prior.describe(),
        "tokens": dict(zip(risk.length.lengths, risk.length.odds, strict=True)),
        "heads": heads,
        "rtol": risk.rtol,
        "seed": seed,
        "samples": samples,
        "dimension": dimension,
        "alpha": alpha,
        "points": [_described(point) for point in points],
    }
    bound = family_bound(len(scores), alpha, min(score.samples for score in scores))
    return Validation(tuple(scores), bound, alpha, tuple(notes), configuration)


def _described(point: Point) -> dict[str, object]:
    return {
        "name": point.name,
        "m": point.vectors.m.tolist(),
        "R": point.vectors.R.tolist(),
        "beta": None if point.beta is None else point.beta.tolist(),
        "gain": point.gain,
    }

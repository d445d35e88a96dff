"""A study: which quantity, at which parameters, over which axes and seeds."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from numerics.checks import count
from numerics.errors import InputError
from numerics.sweep.axes import Axis, axes_of, put

KEYS = ("name", "quantity", "fixed", "axes", "seeds", "dims")
VARIABLES = ("value", "error", "status", "reason", "seconds")
# Results of all points are held in memory while a sweep runs.
MOST_POINTS = 10**7


@dataclass(frozen=True)
class Point:
    """One evaluation: its place in the grid (flat, C order), its parameters and its seed."""

    index: int
    parameters: dict[str, Any]
    seed: int

    def stream(self) -> np.random.SeedSequence:
        """The point's random stream: a function of its parameters and its seed, of nothing else."""
        text = json.dumps(self.parameters, sort_keys=True)
        words = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype="<u4")
        return np.random.SeedSequence([self.seed, *words.tolist()])


@dataclass(frozen=True)
class Study:
    """A quantity over a grid.

    fixed: parameters that all points share. axes: what is varied, in order; the grid is their
    product, with the seeds last. dims: names and sizes of the value of one point, none for a
    number. source: whatever else the results depend on, such as a digest of a function.
    """

    name: str
    quantity: str
    fixed: dict[str, Any] = field(default_factory=dict)
    axes: tuple[Axis, ...] = ()
    seeds: tuple[int, ...] = (0,)
    dims: dict[str, int] = field(default_factory=dict)
    source: str = ""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Study:
        """The study that a table (of a TOML file) describes; InputError for anything else."""
        unknown = [key for key in table if key not in KEYS]
        if unknown:
            raise InputError(f"study: unknown key {unknown[0]!r}; expected {', '.join(KEYS)}")
        for key in ("name", "quantity"):
            if not isinstance(table.get(key), str) or not table[key]:
                raise InputError(f"study: {key} must be a text, got {table.get(key)!r}")
        study = cls(
            name=table["name"],
            quantity=table["quantity"],
            fixed=_fixed(table.get("fixed", {})),
            axes=tuple(axes_of(table.get("axes", {}))),
            seeds=_seeds(table.get("seeds", [0])),
            dims=_dims(table.get("dims", {})),
        )
        study._require_names()
        if study.size > MOST_POINTS:
            raise InputError(f"study: {study.size} points, at most {MOST_POINTS} are possible")
        for axis in study.axes:
            put(deepcopy(study.fixed), axis, axis.values[0])
        return study

    @property
    def shape(self) -> tuple[int, ...]:
        return (*(len(axis.values) for axis in self.axes), len(self.seeds))

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the dimensions of the grid."""
        return (*(axis.name for axis in self.axes), "seed")

    def point(self, index: int) -> Point:
        *places, seed = np.unravel_index(index, self.shape)
        parameters = dict(self.fixed)
        for axis, place in zip(self.axes, places, strict=True):
            put(parameters, axis, axis.values[int(place)])
        return Point(int(index), parameters, self.seeds[int(seed)])

    def configuration(self) -> dict[str, Any]:
        """All that results depend on."""
        return {
            "quantity": self.quantity,
            "fixed": self.fixed,
            # Pairs, since their order is that of the dimensions.
            "axes": [[axis.name, list(axis.values)] for axis in self.axes],
            "seeds": list(self.seeds),
            "dims": [[name, size] for name, size in self.dims.items()],
            "source": self.source,
        }

    def _require_names(self) -> None:
        names = [axis.name for axis in self.axes]
        for name in (*names, *self.dims):
            if name in ("seed", *VARIABLES):
                raise InputError(f"study: {name!r} is the name of a result; choose another")
        for name in names:
            above = [other for other in names if name.startswith(f"{other}.")]
            if name in self.fixed or above or name in self.dims:
                twice = above[0] if above else name
                raise InputError(f"axes.{name}: {twice} is given twice; keep one of them")


def _fixed(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"fixed: expected a table of parameters, got {given!r}")
    for name, value in given.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise InputError(
                f"fixed.{name}: expected a finite number, text, list or table, got {value!r}"
            ) from None
    return dict(given)


def _seeds(given: Any) -> tuple[int, ...]:
    """A list of seeds, or their number."""
    if not isinstance(given, list):
        return tuple(range(count("seeds", given)))
    seeds = tuple(count("seeds", one, least=0) for one in given)
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError(f"seeds: expected distinct integers, at least one, got {given}")
    return seeds


def _dims(given: Any) -> dict[str, int]:
    if not isinstance(given, Mapping):
        raise InputError(f"dims: expected a table such as {{ time = 100 }}, got {given!r}")
    return {name: count(f"dims.{name}", size) for name, size in given.items()}

"""Axes of a study: lists of values or ranges, over parameters or over parts of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.checks import count
from numerics.errors import InputError

RANGE = {"start", "stop", "num", "scale"}
SCALES: dict[str, Callable[..., np.ndarray]] = {"linear": np.linspace, "log": np.geomspace}
# Values of a range are whole numbers where rounding alone separates them from such.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Axis:
    """Values of one parameter, or of a part of one: "prior.strengths.0" is an entry of a list."""

    name: str
    values: tuple[Any, ...]

    @property
    def parameter(self) -> str:
        return self.name.partition(".")[0]

    def coordinate(self) -> list[Any]:
        """The values as one kind: numbers, or else texts, those of lists and tables in JSON."""
        if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in self.values):
            return list(self.values)
        return [v if isinstance(v, str) else json.dumps(v, sort_keys=True) for v in self.values]


def axes_of(given: Any, prefix: str = "") -> Iterator[Axis]:
    """The axes of a table: lists, ranges {start, stop, num, scale}, or tables of such."""
    if not isinstance(given, Mapping):
        raise InputError(f"axes: expected a table of names and values, got {given!r}")
    for key, entry in given.items():
        name = f"{prefix}{key}"
        if isinstance(entry, list):
            yield Axis(name, _distinct(name, entry))
        elif isinstance(entry, Mapping) and RANGE & set(entry):
            yield Axis(name, _distinct(name, _range(name, entry)))
        elif isinstance(entry, Mapping) and entry:
            yield from axes_of(entry, f"{name}.")
        else:
            raise InputError(
                f"axes.{name}: expected a list or {{start, stop, num, scale}}, got {entry!r}"
            )


def put(parameters: dict[str, Any], axis: Axis, value: Any) -> None:
    """Set what the axis names; InputError where the parameter has no such part."""
    whole, *parts = axis.name.split(".")
    if not parts:
        parameters[whole] = value
        return
    place: Any = deepcopy(parameters.get(whole))
    parameters[whole] = place
    *inner, last = parts
    try:
        for part in inner:
            place = place[_key(place, part)]
        # Entries of lists must be there; a table may get a new one, which its reader judges.
        if isinstance(place, list):
            place[_key(place, last)]
        place[_key(place, last)] = value
    except (LookupError, TypeError, ValueError):
        raise InputError(
            f"axes.{axis.name}: {whole} = {parameters[whole]!r} has no such part; "
            f"give {whole} as a table or list in [fixed]"
        ) from None


def _key(place: Any, part: str) -> Any:
    return int(part) if isinstance(place, list) else part


def _range(name: str, given: Mapping[str, Any]) -> list[Any]:
    where = f"axes.{name}"
    if not {"start", "stop", "num"} <= set(given) <= RANGE:
        raise InputError(f"{where}: a range has start, stop, num and scale, got {sorted(given)}")
    ends = [given["start"], given["stop"]]
    if any(isinstance(end, bool) or not isinstance(end, (int, float)) for end in ends):
        raise InputError(f"{where}: start and stop must be numbers, got {ends}")
    scale = given.get("scale", "linear")
    if scale not in SCALES:
        raise InputError(f"{where}: scale must be one of {', '.join(SCALES)}, got {scale!r}")
    if scale == "log" and min(ends) <= 0:
        raise InputError(f"{where}: a log scale needs start and stop > 0, got {ends}")
    values = SCALES[scale](*ends, count(f"{where}.num", given["num"]))
    whole = np.round(values)
    if all(isinstance(end, int) for end in ends) and np.allclose(values, whole, ROUNDING, 0):
        return [int(value) for value in whole]
    return [float(value) for value in values]


def _distinct(name: str, values: list[Any]) -> tuple[Any, ...]:
    if not values:
        raise InputError(f"axes.{name}: needs at least one value")
    try:
        texts = [json.dumps(value, sort_keys=True, allow_nan=False) for value in values]
    except (TypeError, ValueError):
        raise InputError(
            f"axes.{name}: expected finite numbers, texts, lists or tables, got {values!r}"
        ) from None
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise InputError(f"axes.{name}: the value {twice} appears twice")
    return tuple(values)

"""A quantity of the product as it goes to the workers: by name, with what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headflow.parameters import PARAMETERS, REQUIRED, read
from headflow.quantities import QUANTITIES
from headflow.versions import require_versions
from numerics.errors import InputError

# Seeds of the product's own functions stay below the largest count they take.
SEED_BITS = 39


@dataclass(frozen=True)
class BuiltIn:
    """A quantity of the product by name, as it goes to the workers."""

    name: str
    versions: Mapping[str, str]

    def require_ready(self) -> None:
        require_versions(self.versions)

    def __call__(self, parameters: Mapping[str, Any], stream: np.random.SeedSequence) -> Any:
        definition = QUANTITIES[self.name]
        complete = {
            name: read(name, parameters[name]) if name in parameters else definition.default(name)
            for name in definition.takes
        }
        return definition.compute(complete, seed_of(stream))

    def require_parameters(self, given: Mapping[str, Any]) -> None:
        """InputError unless ``given`` are what the quantity takes, each readable."""
        definition = QUANTITIES[self.name]
        for name in given:
            if name not in definition.takes:
                raise InputError(
                    f"study: {self.name} has no parameter {name!r}; "
                    f"it takes {', '.join(definition.takes)}"
                )
        for name in definition.takes:
            if name not in given and definition.default(name) is REQUIRED:
                raise InputError(f"study: {self.name} needs the parameter {name!r}")
        if ("m" in given) != ("R" in given) or ("m" in given and "at" in given):
            raise InputError("study: give m and R, or at, or neither")
        for name, value in given.items():
            read(name, value)

    def about(self) -> dict[str, dict[str, str]]:
        """long_name and units of the value and of what is given."""
        definition = QUANTITIES[self.name]
        found = {"value": {"long_name": definition.long_name, "units": definition.units}}
        for name in definition.takes:
            one = PARAMETERS[name]
            found[name] = {"long_name": one.long_name, "units": one.units}
        return found


def seed_of(stream: np.random.SeedSequence) -> int:
    """One integer that stands for a point's stream."""
    return int(stream.generate_state(1, np.uint64)[0] >> np.uint64(64 - SEED_BITS))

"""What computed a result: the versions that belong in its configuration."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ParamSpec

from numerics.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

P = ParamSpec("P")

PACKAGES = ("headflow", "sympy", "numpy", "scipy", "xarray")


@cache
def versions() -> dict[str, str]:
    """Versions of headflow, of Python and of the packages that numbers depend on."""
    return {**{name: version(name) for name in PACKAGES}, "python": platform.python_version()}


def with_versions(data: xr.Dataset, **more: Any) -> xr.Dataset:
    """The Dataset with versions, and more entries, added to its configuration."""
    configuration = json.loads(data.attrs["configuration"])
    data.attrs["configuration"] = json.dumps({**configuration, **more, "versions": versions()})
    return data


def versioned(function: Callable[P, xr.Dataset]) -> Callable[P, xr.Dataset]:
    """The function with versions in what it gives."""

    @wraps(function)
    def wrapped(*args: P.args, **options: P.kwargs) -> xr.Dataset:
        return with_versions(function(*args, **options))

    return wrapped


def require_versions(expected: Mapping[str, str]) -> None:
    """InputError in a process whose numbers would not be those of ``expected`` versions."""
    for name, mine in versions().items():
        if expected.get(name) != mine:
            raise InputError(
                f"cluster: a worker has {name} {mine}, this is {expected.get(name)}; "
                "give all the same versions"
            )

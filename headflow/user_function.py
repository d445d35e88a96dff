"""A user's function "module:function" as a quantity; its source travels with the points."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from headflow.built_in import seed_of
from headflow.versions import require_versions
from numerics.errors import InputError

# What a function may ask for besides parameters: its random numbers.
RANDOM = ("seed", "rng")
KINDS: dict[str, Any] = {"int": int, "float": (int, float), "str": str, "bool": bool}
CALLED_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class UserFunction:
    """module and name of the function, its file and the file's text, and the versions expected.

    Every process runs the text it was sent: a worker that has an older file, or none, computes
    the same. Modules that it imports are found as usual, and beside it where ``path`` exists.
    """

    module: str
    name: str
    path: str
    text: str
    versions: Mapping[str, str]

    @classmethod
    def of(cls, reference: str, folder: Path, versions: Mapping[str, str]) -> UserFunction:
        """The function that a study in ``folder`` names; InputError where there is none."""
        module, _, name = reference.partition(":")
        path = _file(module, folder)
        if path is None:
            raise InputError(
                f"quantity: no module {module!r} beside the study, here or among the installed"
            )
        found = cls(module, name, str(path), path.read_text(encoding="utf-8"), versions)
        try:
            function = getattr(found.load(), name, None)
        except Exception as problem:
            raise InputError(
                f"quantity: {path} cannot be imported: {type(problem).__name__}: {problem}"
            ) from None
        if not callable(function):
            raise InputError(f"quantity: {path} has no function {name!r}")
        return found

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def load(self) -> ModuleType:
        return _module(self.module, self.path, self.text, self.digest)

    def require_ready(self) -> None:
        require_versions(self.versions)
        self.load()

    def __call__(self, parameters: Mapping[str, Any], stream: np.random.SeedSequence) -> Any:
        function = self._function()
        randomness = {"seed": lambda: seed_of(stream), "rng": lambda: np.random.default_rng(stream)}
        asked = inspect.signature(function).parameters
        return function(
            **parameters, **{name: make() for name, make in randomness.items() if name in asked}
        )

    def require_parameters(self, given: Mapping[str, Any], seeds: int) -> None:
        """InputError unless the function takes what is given, of the kind it is annotated with."""
        taken = inspect.signature(self._function()).parameters
        kinds = {one.kind for one in taken.values()}
        for name in given:
            if name in RANDOM or (name not in taken and inspect.Parameter.VAR_KEYWORD not in kinds):
                raise InputError(
                    f"study: {self.name} has no parameter {name!r}; it takes {', '.join(taken)}"
                )
        for name, one in taken.items():
            needed = one.kind in CALLED_BY_NAME and one.default is inspect.Parameter.empty
            if needed and name not in (*given, *RANDOM):
                raise InputError(f"study: {self.name} needs the parameter {name!r}")
            _require_kind(name, one.annotation, given)
        if seeds > 1 and not set(RANDOM) & set(taken):
            raise InputError(
                f"seeds: {self.name} takes neither seed nor rng, so all {seeds} would be the same"
            )

    def about(self) -> dict[str, dict[str, str]]:
        lines = (self._function().__doc__ or "").strip().splitlines()
        return {"value": {"long_name": lines[0] if lines else self.name}}

    def _function(self) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(self.load(), self.name)
        return function


def _file(module: str, folder: Path) -> Path | None:
    """The source file of a module, beside the study first."""
    beside = folder.joinpath(*module.split(".")).with_suffix(".py")
    if beside.is_file():
        return beside.resolve()
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@cache
def _module(name: str, path: str, text: str, digest: str) -> ModuleType:
    """The module that a text defines, under a name that no other text has."""
    folder = str(Path(path).parent)
    if folder not in sys.path and Path(folder).is_dir():
        sys.path.append(folder)
    own = f"{name}_{digest[:16]}"
    module = ModuleType(own)
    module.__file__, module.__package__ = path, name.rpartition(".")[0]
    # Dataclasses look their module up by its name.
    sys.modules[own] = module
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def _require_kind(name: str, annotation: Any, given: Mapping[str, Any]) -> None:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    if name not in given or text not in KINDS:
        return
    value = given[name]
    if not isinstance(value, KINDS[text]) or (isinstance(value, bool) and text != "bool"):
        raise InputError(f"study: {name} must be of type {text}, got {value!r}")

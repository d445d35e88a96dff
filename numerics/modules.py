"""Generated modules: load them, give parameters other values, carry them to another process."""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from numerics.checks import real_array
from numerics.errors import InputError

# The attribute in which a module that has no file of its own keeps its text.
_TEXT = "__text__"


def module_from_file(path: Path) -> ModuleType:
    """Import a generated module by its file, once in a process."""
    name = f"headflow_generated_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python source file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


def at(module: ModuleType, **values: float) -> ModuleType:
    """The same text with other constants: parameters of the activation, by name, at new values.

    Parameters that are not named keep their values. Raises InputError for a name that the module
    does not have and for a value that is not a finite number.
    """
    for name in values:
        if name not in module.PARAMETERS:
            names = ", ".join(module.PARAMETERS) or "none"
            raise InputError(f"parameter {name}: the activation has no such one; it has {names}")
    wanted = {
        module.PARAMETERS[name]: float(real_array(f"parameter {name}", value, 0))
        for name, value in values.items()
    }
    if all(getattr(module, constant) == value for constant, value in wanted.items()):
        return module
    name, text = module_source(module)
    for constant, value in wanted.items():
        text = re.sub(rf"^{constant} = .*$", f"{constant} = {value!r}", text, count=1, flags=re.M)
    try:
        return module_from_source(name, text)
    except ZeroDivisionError:
        given = ", ".join(f"{name} = {value:g}" for name, value in values.items())
        raise InputError(f"parameter: a formula divides by 0 at {given}") from None


def module_source(module: ModuleType) -> tuple[str, str]:
    """Name and source text, from which ``module_from_source`` makes the same module again."""
    if hasattr(module, _TEXT):
        return module.__name__, getattr(module, _TEXT)
    return module.__name__, Path(str(module.__file__)).read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def module_from_source(name: str, text: str) -> ModuleType:
    """A module from its source text, for a process that has no such file."""
    module = ModuleType(name)
    setattr(module, _TEXT, text)
    exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    return module

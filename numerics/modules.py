"""Generated modules: load them from a file, and carry them to another process."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


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


def module_source(module: ModuleType) -> tuple[str, str]:
    """Name and source text, from which ``module_from_source`` makes the same module again."""
    return module.__name__, Path(str(module.__file__)).read_text(encoding="utf-8")


def module_from_source(name: str, text: str) -> ModuleType:
    """A module from its source text, for a process that has no such file."""
    module = ModuleType(name)
    exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    return module

"""Where generated kernels live: derivations/ for the catalogue, a cache folder for the rest."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

import sympy
import xarray as xr
from platformdirs import user_cache_path

import derivations
import theory
from numerics.errors import InputError
from numerics.modules import at, module_from_file
from theory.activation import Activation
from theory.catalogue import CATALOGUE
from theory.codegen import numpy_source

DERIVATIONS = Path(derivations.__file__).parent


def slug(name: str) -> str:
    """The name of an activation as a folder that Python can import."""
    return "".join(c if c.isalnum() else "_" for c in name.lower())


def folder_name(activation: Activation) -> str:
    """The slug, and for what is not in the catalogue a key that no other definition has."""
    if CATALOGUE.get(activation.name) == activation:
        return slug(activation.name)
    definition = json.dumps(activation.definition(), sort_keys=True)
    return f"{slug(activation.name)[:40]}_{hashlib.sha256(definition.encode()).hexdigest()[:6]}"


def require_writable(path: Path) -> None:
    """InputError, before any work, unless a file or folder can be made at ``path``."""
    ancestor = path
    while not ancestor.exists() and ancestor != ancestor.parent:
        ancestor = ancestor.parent
    if not ancestor.is_dir() or not os.access(ancestor, os.W_OK):
        raise InputError(f"out: cannot write to {path}, since {ancestor} is no writable folder")


def kernels_for(activation: Activation) -> ModuleType:
    """The generated kernels of an activation, derived now unless they are stored already.

    What is stored does not depend on the values of parameters: they are put in here.
    """
    values = {name: float(value) for name, value in activation.parameters}
    member = CATALOGUE.get(activation.name)
    if member is not None and member.template() == activation.template():
        module = importlib.import_module(f"derivations.{slug(activation.name)}.kernels")
        return at(module, **values)
    path = cache_folder() / f"{slug(activation.name)[:40]}_{_key(activation)}.py"
    if not path.exists():
        write_whole(path, numpy_source(activation))
    return at(module_from_file(path), **values)


def cache_folder() -> Path:
    """The user's cache folder, or the one that HEADFLOW_CACHE names."""
    return Path(os.environ.get("HEADFLOW_CACHE") or user_cache_path("headflow"))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that no reader, and no interruption, ever leaves half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    with os.fdopen(handle, "w", encoding="utf-8") as temporary:
        temporary.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)


def write_netcdf(data: xr.Dataset, path: Path) -> None:
    """Write a Dataset through a temporary file, so that an interruption leaves the old one.

    The same Dataset gives the same bytes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    data.to_netcdf(temporary, engine="h5netcdf")
    temporary.replace(path)


def _key(activation: Activation) -> str:
    """Changes with the activation's text, the generator's source and the version of SymPy."""
    digest = hashlib.sha256(json.dumps(activation.template(), sort_keys=True).encode())
    digest.update(_generator())
    return digest.hexdigest()[:20]


@cache
def _generator() -> bytes:
    """Version of SymPy and source of theory/, read once in a process."""
    sources = sorted(Path(theory.__file__).parent.rglob("*.py"))
    return b"".join([sympy.__version__.encode(), *(source.read_bytes() for source in sources)])

"""An experiment by name: its module, its settings, and its data as a file of their own."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import xarray as xr

from headflow.reproduce import NAMES
from headflow.reproduce.claim import Claim
from headflow.reproduce.work import Work
from headflow.versions import versions
from numerics.errors import InputError


@dataclass(frozen=True)
class Experiment:
    """A module with run(settings, work), claims(data) and draw(data), and its table.

    The table has title, question, caption, the settings "full", and in "quick" what is smaller.
    """

    name: str

    @classmethod
    def of(cls, name: str) -> Experiment:
        if name not in NAMES:
            raise InputError(f"reproduce: no experiment {name!r}; there are {', '.join(NAMES)}")
        return cls(name)

    @property
    def slug(self) -> str:
        return self.name.replace("-", "_")

    @cached_property
    def module(self) -> Any:
        return import_module(f"headflow.reproduce.{self.slug}")

    @cached_property
    def text(self) -> str:
        return (files("headflow.reproduce") / f"{self.slug}.toml").read_text(encoding="utf-8")

    @cached_property
    def table(self) -> Mapping[str, Any]:
        return tomllib.loads(self.text)

    @property
    def digest(self) -> str:
        """Changes with the module and the table: data of another digest are not this one's."""
        source = Path(self.module.__file__).read_text(encoding="utf-8")
        return hashlib.sha256((self.text + source).encode()).hexdigest()[:16]

    def settings(self, quick: bool) -> dict[str, Any]:
        return {**self.table["full"], **(self.table["quick"] if quick else {})}

    def run(self, quick: bool, work: Work) -> xr.Dataset:
        """The data, with all that it depends on as attributes."""
        settings = self.settings(quick)
        data: xr.Dataset = self.module.run(settings, work)
        data.attrs |= {
            "experiment": self.name,
            "title": self.table["title"],
            "digest": self.digest,
            "command": f"headflow reproduce {self.name}" + (" --quick" if quick else ""),
            "configuration": json.dumps({"settings": settings, "versions": versions()}),
        }
        return data

    def claims(self, data: xr.Dataset) -> list[Claim]:
        found: list[Claim] = self.module.claims(data)
        return found

    def draw(self, data: xr.Dataset) -> str:
        figure: str = self.module.draw(data)
        return figure

    def stored(self, folder: Path) -> xr.Dataset | None:
        """Data of this very experiment in a folder, None where there is none."""
        path = folder / f"{self.name}.nc"
        if not path.is_file():
            return None
        try:
            data = xr.load_dataset(path, engine="h5netcdf")
        except (OSError, ValueError):
            return None
        return data if data.attrs.get("digest") == self.digest else None

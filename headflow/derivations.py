"""Write what was derived: equations.md, kernels.py and checks.md in one folder an activation."""

from __future__ import annotations

from pathlib import Path

from headflow.store import slug, write_whole
from theory.activation import Activation
from theory.derived import Derived


def documents(activation: Activation) -> dict[str, str]:
    """File names and contents of the derivation of one activation."""
    derived = Derived(activation)
    return {
        "__init__.py": f'"""Derived: the activation {activation.name}."""\n',
        "equations.md": derived.markdown(),
        "kernels.py": derived.numpy_source(),
        "checks.md": derived.checks_markdown(),
    }


def write(activation: Activation, root: Path) -> Path:
    """Derive, then write root/<activation>/; nothing is written if the derivation fails."""
    folder = root / slug(activation.name)
    for name, text in documents(activation).items():
        write_whole(folder / name, text)
    return folder

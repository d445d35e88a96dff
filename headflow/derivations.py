"""Write what was derived: equations.md, kernels.py and checks.md in one folder an activation."""

from __future__ import annotations

from pathlib import Path

from headflow.store import slug, write_whole
from theory import bayes_codegen, bayes_rendering
from theory.derived import Derived


def documents(derived: Derived) -> dict[str, str]:
    """File names and contents of the derivation of one activation."""
    return {
        "__init__.py": f'"""Derived: the activation {derived.activation.name}."""\n',
        "equations.md": derived.markdown(),
        "kernels.py": derived.numpy_source(),
        "checks.md": derived.checks_markdown(),
    }


def write_bayes_risk(root: Path) -> Path:
    """Write root/bayes_risk/: the posterior, the Bayes risk and the kernels that evaluate it."""
    folder = root / "bayes_risk"
    write_whole(folder / "__init__.py", '"""Derived: the Bayes risk."""\n')
    write_whole(folder / "equations.md", bayes_rendering.equations())
    write_whole(folder / "kernels.py", bayes_codegen.numpy_source())
    return folder


def write(derived: Derived, root: Path) -> Path:
    """Write root/<activation>/; nothing is written if the derivation fails."""
    folder = root / slug(derived.activation.name)
    for name, text in documents(derived).items():
        write_whole(folder / name, text)
    return folder

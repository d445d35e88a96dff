"""Write what was derived: equations.md, kernels.py and checks.md in one folder an activation."""

from __future__ import annotations

from pathlib import Path

from headflow.store import folder_name, write_whole
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


def bayes_documents() -> dict[str, str]:
    """File names and contents of the derivation of the posterior and the Bayes risk."""
    return {
        "__init__.py": '"""Derived: the Bayes risk."""\n',
        "equations.md": bayes_rendering.equations(),
        "kernels.py": bayes_codegen.numpy_source(),
    }


def write_bayes_risk(root: Path) -> Path:
    """Write root/bayes_risk/."""
    folder = root / "bayes_risk"
    for name, text in bayes_documents().items():
        write_whole(folder / name, text)
    return folder


def write(derived: Derived, root: Path) -> Path:
    """Write root/<activation>/; nothing is written if the derivation fails."""
    folder = root / folder_name(derived.activation)
    for name, text in documents(derived).items():
        write_whole(folder / name, text)
    return folder

"""Write what was derived: equations.md, kernels.py and checks.md in one folder an activation."""

from __future__ import annotations

from pathlib import Path

from headflow.output import busy, fail
from headflow.store import folder_name, require_writable, write_whole
from theory import bayes_codegen, bayes_rendering
from theory.activation import Activation
from theory.derived import Derived
from theory.document.writers import writer


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


def require_holds(derived: Derived) -> Derived:
    """The derivation itself, or exit status 1 when a step does not hold in numbers."""
    failed = [step.rule for step, result in derived.checks if not result.passed]
    if failed:
        fail(f"derive: steps that do not hold in numbers: {', '.join(failed)}")
    return derived


def print_document(activation: Activation, form: str, out: Path | None) -> None:
    """The derivation as one document, on the terminal or in the file ``out``.

    Raises DefinitionError for an unknown format and InputError for a file that cannot be written,
    before any work.
    """
    writer(form)
    if out is not None:
        require_writable(out.parent)
    with busy("deriving, and checking each step by numbers"):
        text = require_holds(Derived(activation)).document(form)
    if out is None:
        print(text, end="")
        return
    write_whole(out, text)
    print(f"written: {out}")

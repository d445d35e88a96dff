"""Arrows of the house run one way, and no file outgrows a reader."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FORBIDDEN = {
    "theory": {"numerics", "scipy", "headflow", "derivations", "xarray", "matplotlib"},
    "numerics": {"sympy", "theory", "headflow"},
    "derivations": {"sympy", "theory", "numerics", "headflow"},
}


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_run_one_way(package):
    files = list((ROOT / package).rglob("*.py"))
    assert files
    wrong = {str(f): _imports(f) & FORBIDDEN[package] for f in files}
    assert {f: names for f, names in wrong.items() if names} == {}


@pytest.mark.parametrize("package", ["theory", "numerics", "headflow"])
def test_files_stay_readable(package):
    lengths = {f: len(f.read_text().splitlines()) for f in (ROOT / package).rglob("*.py")}
    assert {f: n for f, n in lengths.items() if n > 500} == {}

"""What the README shows is run as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.test_cli import run

TEXT = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.parametrize("example", _blocks("python"), ids=["first", "gradients", "training"])
def test_the_python_examples(example):
    assert len(example.splitlines()) <= 13
    exec(compile(example, "README.md", "exec"), {})


def test_the_first_screen():
    """One sentence, a figure, two commands and an example of twelve lines, before any section."""
    first = TEXT.split("\n## ")[0]
    assert first.index("![") < first.index("```\nmake report") < first.index("```python")
    assert len(_blocks("python")[0].splitlines()) <= 12
    assert [line.split()[1] for line in _blocks("")[0].splitlines()] == ["report", "test"]


@pytest.mark.parametrize(
    "line", [line for block in _blocks("console") for line in block.splitlines()]
)
def test_the_command_lines(line, tmp_path):
    program, *arguments = shlex.split(line)
    assert program == "headflow"
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout

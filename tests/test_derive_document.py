"""`headflow derive --format`: one document on the terminal or in a file, nothing else written."""

from __future__ import annotations

import pytest

from tests.test_cli import run


@pytest.mark.parametrize("form, start", [("latex", r"\documentclass"), ("html", "<!DOCTYPE html>")])
def test_a_document_of_a_new_activation(form, start, tmp_path):
    file = tmp_path / "derived" / "mine.txt"
    definition = ("x^2", "--scope", "none", "--gain", "sum")
    done = run("derive", *definition, "--format", form, "--out", str(file), cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == f"written: {file}\n", done.stderr
    text = file.read_text(encoding="utf-8")
    assert text.startswith(start) and "holds." in text
    assert list(file.parent.iterdir()) == [file]


def test_a_document_on_the_terminal(tmp_path):
    done = run("derive", "relu", "--format", "markdown", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Attention with relu\n") and "holds.*" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["linear", "--format", "pdf"], ["format", "latex, markdown, html", "'pdf'"]),
        (["--all", "--format", "latex"], ["--format", "--all"]),
        (["linear", "--format", "html", "--json"], ["--format", "--json"]),
        (["linear", "--format", "html", "--out", "/dev/null/d.html"], ["out", "/dev/null"]),
        (["--format", "html"], ["one activation"]),
    ],
    ids=["format", "all", "json", "out", "none"],
)
def test_what_is_no_document_is_refused_in_one_line(arguments, words, tmp_path):
    result = run("derive", *arguments, cwd=tmp_path)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.count("\n") == 1 and all(word in result.stderr for word in words)
    assert list(tmp_path.iterdir()) == []

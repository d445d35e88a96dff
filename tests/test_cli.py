"""The command line: results as text and JSON, bad input as one line and exit status 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "headflow", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
    )


def test_bayes_and_bayes_softmax_agree():
    bayes = json.loads(run("bayes", "--rtol", "1e-6", "--json").stdout)
    at_atoms = run("risk", "bayes-softmax", "--at", "atoms", "--rtol", "1e-6", "--json")
    risk = json.loads(at_atoms.stdout)
    assert abs(bayes["value"] - risk["value"]) <= bayes["error"] + risk["error"]
    assert bayes["value"] == pytest.approx(0.33386, abs=5e-6)


def test_activations_lists_the_catalogue():
    rows = json.loads(run("activations", "--json").stdout)
    assert [row["name"] for row in rows][:4] == [
        "softmax",
        "softmax-1",
        "softmax-1-norm",
        "bayes-softmax",
    ]


def test_a_new_activation_from_definition_to_validation(tmp_path):
    options = ("--scope", "tokens", "--offset", "1")
    derived = run("derive", "log(1+exp(x))", *options, cwd=tmp_path)
    assert derived.returncode == 0, derived.stderr
    assert "E = " in derived.stdout and "checked by numbers" in derived.stdout
    (folder,) = (tmp_path / "derived").iterdir()
    assert {f.name for f in folder.iterdir()} == {
        "__init__.py",
        "equations.md",
        "kernels.py",
        "checks.md",
    }
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import kernels; print(kernels.SCOPE)"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert imported.stdout.strip() == "tokens"
    validated = run("validate", "log(1+exp(x))", *options, "--heads", "2", cwd=tmp_path)
    assert validated.returncode == 0, validated.stdout + validated.stderr
    assert "passed" in validated.stdout


@pytest.mark.parametrize(
    "arguments, words",
    [
        (
            ["risk", "softmax", "--m", "[[0.9]]", "--R", "[[0.5]]", "--prior", "flipped:1"],
            ["-0.31"],
        ),
        (["risk", "softmax", "--m", "[[0.9]]", "--R", "oops"], ["R", "JSON"]),
        (["risk", "softmax"], ["--m and --R"]),
        (["risk", "sofmax", "--at", "atoms"], ["sofmax", "softmax-1-norm"]),
        (["risk", "softmax", "--at", "atoms", "--tokens", "0"], ["tokens"]),
        (["risk", "softmax", "--at", "atoms", "--tokens", "2.5"], ["tokens"]),
        (["risk", "softmax", "--at", "atoms", "--rtol", "0"], ["rtol"]),
        (["bayes", "--prior", "flipped:1,a"], ["prior"]),
        (["bayes", "--prior", "nowhere.toml"], ["prior", "nowhere.toml"]),
        (["derive", "__import__('os').system('id')"], ["character"]),
        (["derive", "exp(x", "--offset", "1"], ["character"]),
        (["derive", "log(x)"], ["x ="]),
        (["derive"], ["one activation"]),
        (["validate", "x", "--scope", "nowhere"], ["scope"]),
        (["report", "--heads", "0"], ["heads"]),
        (["report", "--heads", "many"], ["--heads", "integer"]),
        (["risk", "softmax", "--at", "atoms", "--rtol", "small"], ["--rtol", "number"]),
        (["risk"], ["activation"]),
        (["nothing"], ["nothing"]),
        (["bayes", "--unknown"], ["--unknown"]),
    ],
    ids=lambda v: " ".join(v)[:50] if len(v) > 2 else "",
)
def test_bad_input_is_one_line_and_exit_status_two(arguments, words, tmp_path):
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    message, *picture = result.stderr.splitlines()
    # A fault of an expression is followed by its text with a caret under the offending character.
    assert len(picture) == (2 if "at character" in message and "catalogue" not in message else 0)
    assert not picture or set(picture[1]) == {" ", "^"}
    assert all(word in result.stderr for word in words), result.stderr
    assert result.stdout == "" and list(tmp_path.iterdir()) == []


def test_files_hold_priors_and_results(tmp_path):
    prior = tmp_path / "prior.toml"
    prior.write_text("support = [[1.0, 0.5], [-0.5, 0.2]]\nprobabilities = [0.7, 0.3]\n")
    out = tmp_path / "bayes.json"
    result = run("bayes", "--prior", str(prior), "--rtol", "1e-6", "--json", "--out", str(out))
    assert result.returncode == 0, result.stderr
    assert json.loads(out.read_text()) == json.loads(result.stdout)
    gaussian = tmp_path / "gaussian.json"
    gaussian.write_text('{"mean": [0.3], "variance": [1.2]}')
    assert run("bayes", "--prior", str(gaussian), "--rtol", "1e-5").returncode == 0


def test_help_names_every_command():
    text = run("--help").stdout
    for command in ("derive", "activations", "risk", "bayes", "validate", "report"):
        assert command in text


def test_parameters_random_lengths_and_free_values_on_the_command_line():
    lengths = ("--tokens", "1:0.25,3:0.75", "--at", "atoms", "--json")
    hot = run("risk", "softmax-temperature", "--param", "T=2", *lengths)
    typed = run("risk", "exp(x/2)", *lengths)
    assert json.loads(hot.stdout)["value"] == pytest.approx(
        json.loads(typed.stdout)["value"], 1e-13
    )
    shifted = run(
        "risk", "exp(q*x)", "--param", "q=0.5", "--offset", "c", "--param", "c=0", *lengths
    )
    assert json.loads(shifted.stdout)["value"] == json.loads(hot.stdout)["value"]
    free = ("--bias", "free", "--beta", "[0.1, 0.2, 0.3, 0]", "--gain", "free", "--gamma", "0.3")
    spectrum = run("spectrum", "affine", *free, "--heads", "4", *lengths)
    assert spectrum.returncode == 0, spectrum.stderr
    refused = run("risk", "softmax-n", "--param", "n=-1", *lengths)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "offset" in refused.stderr

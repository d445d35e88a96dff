"""The guide for new activations runs as it stands, and its table is the catalogue."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import headflow as hf
from headflow.catalogue_table import as_markdown, definitions, train_all
from numerics.dynamics.reached import reached
from numerics.errors import InputError
from tests.test_cli import run

TEXT = (Path(__file__).parent.parent / "docs" / "new-activation.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    (block,) = re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)
    return block


def test_the_example(capsys):
    example = _block("python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 12
    exec(compile(example, "new-activation.md", "exec"), {})
    assert "passed" in capsys.readouterr().out


def test_the_command(tmp_path):
    program, *arguments = shlex.split(_block("console"))
    assert program == "headflow"
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "square.html").read_text(encoding="utf-8").count("<math") > 30


def test_the_table_is_the_catalogue():
    """Every definition as it is today; after a change run `headflow activations --reach`."""
    written = [line for line in TEXT.splitlines() if line.startswith("|")]
    assert written[0].endswith("| reaches |")
    without = [line.rpartition(" | ")[0] + " |" for line in written]
    today = as_markdown(definitions(hf.CATALOGUE.values())).splitlines()
    assert without == today
    values = [line.rpartition(" | ")[2] for line in written[2:]]
    assert all(re.match(r"\d\.\d+ ± |not trained|stopped at tau", value) for value in values)


def test_no_entry_of_the_table_goes_below_the_bayes_risk():
    bayes = float(re.search(r"Bayes risk: (\S+)", TEXT)[1])
    for value, error in re.findall(r"\| (\d\.\d+) ± ([\d.e-]+)", TEXT):
        assert float(value) + float(error) >= bayes


def test_the_command_prints_the_table():
    printed = run("activations", "--markdown").stdout
    assert printed.strip() == as_markdown(definitions(hf.CATALOGUE.values()))
    rows = json.loads(run("activations", "--json").stdout)
    assert {row["tier"] for row in rows} >= {"closed form", "one token", "lift", "joint lift"}


def test_training_ends_where_a_closed_form_says():
    """One head, one atom, f = x, gain 1: E is a parabola in the alignment."""
    act = hf.activation("linear", gain="sum")
    risk = hf.PopulationRisk(act, hf.FiniteSupport([[1.5]], [1.0]), tokens=3)
    # Along m with R = m^2: E(m) = 1 - 2 (1.5 m) + (1.5 m)^2 + m^2 + 2 m^2, least at 1.5 / 5.25.
    least = 1 - 1.5**2 / 5.25
    end = reached(risk, 1, starts=2, time=40.0)
    assert abs(end.risk.value - least) <= end.risk.error + 1e-9
    assert abs(end.falling) <= end.risk.error
    early = reached(risk, 1, starts=1, time=0.1)
    assert early.falling > 0.01 and early.risk.value > least + 0.01


def test_what_cannot_be_trained_says_so():
    kink = hf.Activation("kink", score="relu(x)", scope="heads", offset=1)
    shares: list[float] = []
    found = train_all([kink, hf.activation("linear")], 1, 1.0, shares.append)
    assert found["kink"].startswith("not trained") and shares[-1] == 1.0
    assert found["linear"].startswith("1.000") and found["linear"].endswith("tau = 1)")
    with pytest.raises(InputError, match="starts"):
        reached(hf.PopulationRisk("linear", hf.flipped_spikes([1.0]), 3), 1, starts=0)

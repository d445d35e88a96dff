"""The command prune: what it prints, writes and refuses."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pytest
import xarray as xr

from headflow.cli import main
from tests.test_dynamics_cli import run

PRIOR = ["--prior", "flipped:1.5+0.4", "--tokens", "3"]
POINT = ["--m", "[[0.9], [-0.6], [0.4]]", "--R", "[[1.2,-0.3,0.4],[-0.3,0.8,0.1],[0.4,0.1,0.7]]"]


def test_prune_trains_and_writes_what_it_prints(tmp_path):
    out, figure = tmp_path / "pruned.nc", tmp_path / "pruned.svg"
    done = run(
        *("prune", "softmax", *PRIOR, "--heads", 2, "--convention", "zeroed", "--time", 5),
        *("--starts", 2, "--rtol", "1e-4", "--json", "--out", out, "--figure", figure),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["convention"] == "zeroed" and told["count"] == [0, 1]
    assert told["bayes_risk"] < told["risk_all_heads"] == told["risk_mean"][0]
    beyond = np.array(told["R"]) - np.array(told["m"]) @ np.array(told["m"]).T
    assert np.linalg.eigvalsh(beyond)[0] > -1e-9 and 0 < np.abs(beyond).max() < 0.1
    assert told["training_starts"] == 2 and told["training_falling"] >= 0
    with xr.open_dataset(out, engine="h5netcdf") as data:
        assert data.risk_mean.values.tolist() == told["risk_mean"]
        assert data.kept.values.tolist() == told["kept"] and data.kept.dtype == bool
        assert data.attrs["exhaustive"].tolist() == [1, 1]
        assert "versions" in json.loads(data.attrs["configuration"])
    assert figure.read_text(encoding="utf-8").startswith("<svg")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["pruned.nc", "pruned.svg"]


def main_with(monkeypatch, capsys, *arguments):
    """Exit status, stdout and stderr of the command in this process."""
    monkeypatch.setattr(sys, "argv", ["headflow", "prune", "softmax", *PRIOR, *arguments])
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)  # main sets its own
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, *capsys.readouterr()


def test_prune_at_a_point_says_its_convention(monkeypatch, capsys):
    drawn = [*POINT, "--removed", "1,2", "--subsets", "2"]
    status, told, _ = main_with(monkeypatch, capsys, *drawn)
    assert status == 0
    assert "convention rescaled: removed heads are gone and the gain follows its rule" in told
    assert "2 of 3 subsets drawn without replacement where 1 are removed" in told


@pytest.mark.parametrize(
    "changes, message",
    [
        ([*POINT, "--convention", "masked"], "convention: expected 'rescaled' or 'zeroed'"),
        ([*POINT, "--removed", "3"], "removed: expected fewer than the 3 head(s) there are, got 3"),
        (["--heads", "2", "--removed", "1,2"], "removed: expected fewer than the 2 head(s)"),
        (["--removed", "a"], "removed: expected integers"),
        ([*POINT[:3], "[[1.2]]"], "R: expected shape (3, 3) to fit m (3, 1), got (1, 1)"),
        (POINT[:2], "prune: give both --m and --R, or neither"),
        (["--beta", "[0.1]"], "prune: --beta and --full-gain belong to --m and --R"),
        ([*POINT, "--figure", "a.txt"], "end its name with .svg"),
        ([*POINT, "--full-gain", "0.5"], "gain: this activation has a fixed gain"),
    ],
)
def test_prune_refuses_in_one_line(changes, message, monkeypatch, capsys):
    status, told, refused = main_with(monkeypatch, capsys, *changes)
    assert status == 2 and told == ""
    assert message in refused
    assert len(refused.strip().splitlines()) == 1

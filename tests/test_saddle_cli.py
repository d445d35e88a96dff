"""The commands spectrum, fixed-points and escape: what they print, write and refuse."""

from __future__ import annotations

import json

import pytest
import xarray as xr

from tests.test_dynamics_cli import run

ESCAPE = ["escape", "softmax", "--from", "origin", "--prior", "flipped:2.5,1.2", "--tokens", "3"]


def test_hessian_and_flow_jacobian_are_told_apart():
    """One linear head: 6 and 4 of the Hessian, -6 and -8 of the flow."""
    command = ["spectrum", "x", "--scope", "none", "--prior", "flipped:0+1", "--tokens", "2"]
    done = run(*command, "--heads", 1, "--at", "unspecialized", "--flow-jacobian", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert sorted(told["eigenvalue"]) == pytest.approx([4, 6], abs=1e-9)
    assert [row[0] for row in told["flow_jacobian"]] == pytest.approx([-6, -8], abs=1e-9)
    assert told["verdict"] == "minimum"


def test_spectrum_says_what_the_point_is():
    """theta = +-2.5 and two heads at 0, of which each has V (L-1)(L-2) / L^3 times -2/H."""
    done = run("spectrum", "softmax", "--at", "origin", "--prior", "flipped:2.5")
    assert done.returncode == 0, done.stderr
    (together,) = (line for line in done.stdout.splitlines() if "heads together" in line)
    (apart,) = (line for line in done.stdout.splitlines() if "heads against" in line)
    assert together.endswith("+0.71 | +0.71")
    assert apart.startswith("-0.600000000") and apart.endswith("+0.71 | -0.71")
    assert "fixed point: saddle of index 2" in done.stdout


def test_escape_writes_what_it_prints(tmp_path):
    out, figure = tmp_path / "escape.nc", tmp_path / "escape.svg"
    done = run(
        *(*ESCAPE, "--dimensions", "60,150", "--seeds", 30, "--learning-rate", 1, "--size", 0.05),
        *("--json", "--out", out, "--figure", figure),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["dimension"] == [60, 150] and len(told["time"][0]) == 30
    assert told["sgd_slope_low"] < told["slope"] < told["sgd_slope_high"]
    with xr.open_dataset(out, engine="h5netcdf") as data:
        assert data.flow.values.tolist() == told["flow"]
        assert "versions" in json.loads(data.attrs["configuration"])
    assert figure.read_text(encoding="utf-8").startswith("<svg")


def test_escape_without_sgd_is_a_table():
    done = run(*ESCAPE, "--dimensions", "1000,100000", "--seeds", 0)
    assert done.returncode == 0, done.stderr
    assert "1/(2 lambda) = 1.08" in done.stdout and "SGD" not in done.stdout


@pytest.mark.parametrize(
    "changes, message",
    [
        (["--dimensions", "300"], "dimensions: expected at least two"),
        (["--dimensions", "300,x"], "dimensions: expected integers such as 300,1000"),
        (["--from", "atoms"], "from: expected one of origin, unspecialized"),
        (["--prior", "flipped:2.5+1"], "origin: not a fixed point"),
        (["--threshold", "0.001"], "threshold: expected at least 3 times"),
        (["--figure", "a.txt"], "figure"),
    ],
)
def test_escape_refuses_in_one_line(changes, message):
    done = run(*ESCAPE, *changes)
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr or ".svg" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1

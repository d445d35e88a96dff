"""The commands flow and sgd: what they print and write, refusals, and a run that is killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr

import headflow as hf
from headflow.dynamics_output import end_told

HEADFLOW = [sys.executable, "-m", "headflow"]
PRIOR = "flipped:1.5+0.4"
SGD = ["sgd", "softmax", "--prior", PRIOR, "--tokens", "3", "--dimension", "400", "--time", "2"]


def run(*arguments: object) -> subprocess.CompletedProcess:
    command = [*HEADFLOW, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_flow_writes_what_it_prints(tmp_path):
    out, figure = tmp_path / "flow.nc", tmp_path / "flow.svg"
    done = run(
        *("flow", "softmax", "--prior", PRIOR, "--tokens", 3, "--time", 5, "--points", 9),
        *("--rtol", "1e-4", "--json", "--out", out, "--figure", figure),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == "complete" and told["phases"]["specialization_times"]
    with xr.open_dataset(out, engine="h5netcdf") as data:
        assert data.risk.values.tolist() == told["risk"]
        assert np.all(data.error > 0) and "versions" in json.loads(data.attrs["configuration"])
    assert figure.read_text(encoding="utf-8").startswith("<svg")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["flow.nc", "flow.svg"]


def test_a_flow_that_stops_is_status_1_and_keeps_what_it_has(tmp_path):
    out = tmp_path / "flow.nc"
    done = run(
        *("flow", "linear", "--gain", "sum", "--prior", PRIOR, "--tokens", 3, "--time", 9),
        *("--learning-rate", 100, "--points", 6, "--rtol", "1e-3", "--out", out),
    )
    assert done.returncode == 1 and "stopped at tau = " in done.stderr
    with xr.open_dataset(out, engine="h5netcdf") as data:
        assert np.isfinite(data.risk[0]) and np.isnan(data.risk[-1])


def test_sgd_beside_theory(tmp_path):
    done = run(*SGD, "--seeds", 8, "--compare", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["comparison"]["passed"] == 1 and told["comparison"]["comparisons"] > 20
    assert np.shape(told["m"])[0] == 8


@pytest.mark.parametrize(
    "changes, message",
    [
        (["--dimension", "5"], "dimension: expected at least F + H + batch * L = 6, got 5"),
        (["--learning-rate", "0"], "learning_rate: expected a number > 0"),
        (["--time", "-1"], "time: expected a number > 0"),
        (["--m", "[[2.0], [0.0]]", "--R", "[[1, 0], [0, 1]]"], "positive semidefinite"),
        (["--m", "[[0.1], [0.0]]"], "give both --m and --R"),
        (["--simulator", "fast"], "simulator: expected 'reduced' or 'vectors'"),
        (["--own-starts", "--compare"], "own-starts"),
        (["--seeds", "0"], "seeds: expected an integer >= 1"),
        (["--beta0", "[0, 0]"], "beta0: this activation has no free bias"),
    ],
)
def test_bad_input_is_one_line_and_status_2(changes, message):
    done = run(*SGD, *changes)
    assert done.returncode == 2 and message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and done.stdout == ""


def test_a_folder_is_no_file(tmp_path):
    for command in ("flow", "sgd"):
        for option in ("--out", "--figure"):
            done = run(command, "softmax", option, tmp_path)
            assert done.returncode == 2 and "is a folder" in done.stderr


def test_a_killed_run_goes_on_to_the_same_file(tmp_path):
    """SIGKILL leaves no chance to save: what counts is the last checkpoint."""
    longer = [*SGD[:-3], "2500", "--time", "2", "--seeds", "3"]
    whole, cut = tmp_path / "whole.nc", tmp_path / "cut.nc"
    assert run(*longer, "--out", whole).returncode == 0
    part = tmp_path / "cut.nc.part"
    with subprocess.Popen(
        [*HEADFLOW, *longer, "--out", str(cut)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 60
        while not part.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
    assert part.exists() and not cut.exists()
    other = run(*longer, "--seed", 1, "--out", cut)
    assert other.returncode == 2 and "belongs to another run" in other.stderr
    assert run(*longer, "--out", cut).returncode == 0
    assert cut.read_bytes() == whole.read_bytes()
    assert not part.exists()


def test_a_flow_that_rests_at_a_saddle_is_told():
    """One vector for both heads: a saddle for two of them, a minimum for one."""
    risk = hf.PopulationRisk("softmax", hf.flipped_spikes([1.8], [0.6]), 5)
    told = {}
    for heads in (1, 2):
        point = hf.unspecialized_fixed_point(risk, heads)
        end = xr.Dataset(
            {
                "m": (("time", "head", "spike"), point.m[None]),
                "R": (("time", "head", "other_head"), point.R[None]),
                "risk": ("time", [point.risk.value]),
                "risk_error": ("time", [point.risk.error]),
            }
        )
        told[heads] = end_told(risk, end)
    assert told[1] == ""
    lowest = float(hf.unspecialized_fixed_point(risk, 2).spectrum.eigenvalue.min())
    assert "no minimum" in told[2] and f"curvature {lowest:.4g}" in told[2]
    assert "heads 1, 2 are equal" in told[2]

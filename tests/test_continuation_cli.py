"""The commands continue and phase-diagram: what they print and write, refusals, and a kill."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
import xarray as xr

import headflow as hf

HEADFLOW = [sys.executable, "-m", "headflow"]
CONTINUE = ["continue", "softmax", "--prior", "flipped:1.0", "--parameter", "signal"]
CONTINUE += ["--start-from", "origin", "--heads", "1", "--points", "5"]
DIAGRAM = ["phase-diagram", "softmax", "--prior", "flipped:1.0+0.3", "--heads", "1"]


def run(*arguments: object) -> subprocess.CompletedProcess:
    command = [*HEADFLOW, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_continue_writes_what_it_prints(tmp_path):
    out, figure = tmp_path / "branch.nc", tmp_path / "branch.svg"
    done = run(
        *CONTINUE,
        *("--start", 1.4, "--stop", 1.8, "--switch", "--json"),
        *("--out", out, "--figure", figure),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == "complete" and told["event_kind"] == ["pitchfork"]
    assert abs(told["event_parameter"][0] - 2.5**0.5) <= told["event_error"][0]
    (side,) = told["side_branches"]
    assert side["message"] == "reached signal = 1.8" and side["m"][-1][0][0] != 0
    with xr.open_dataset(out, engine="h5netcdf") as data:
        (event,) = hf.branch_events(data.load())
    assert event.parameter == told["event_parameter"][0]
    assert "versions" in json.loads(data.attrs["configuration"])
    assert figure.read_text(encoding="utf-8").startswith("<svg")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["branch.nc", "branch.svg"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([*CONTINUE, "--start", 1, "--stop", 1], "range from 1 to 1 has no length"),
        ([*CONTINUE, "--parameter", "gain"], "'gain' is unknown"),
        ([*CONTINUE, "--start-from", "here"], "expected one of unspecialized, origin, atoms"),
        ([*DIAGRAM, "--first", "L=3,4"], "first: expected name=start,stop,number"),
        ([*DIAGRAM, "--first", "L=3,4,2", "--second", "L=3,4,2"], "the first parameter already"),
        ([*DIAGRAM, "--out", "diagram.txt"], "end its name with .nc"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and done.stdout == ""


def test_a_killed_diagram_goes_on_to_the_same_file(tmp_path):
    """SIGKILL leaves no chance to save: what counts is the last checkpoint."""
    axes = ["--first", "mean:1=0.3,1.0,3", "--second", "strength:1=0.8,1.5,3"]
    whole, cut = tmp_path / "whole.nc", tmp_path / "cut.nc"
    figure = tmp_path / "whole.svg"
    done = run(*DIAGRAM, *axes, "--out", whole, "--figure", figure)
    assert done.returncode == 0 and "unspecialized" in done.stdout
    assert figure.read_text(encoding="utf-8").startswith("<svg")
    part = tmp_path / "cut.nc.part"
    with subprocess.Popen(
        [*HEADFLOW, *DIAGRAM, *axes, "--out", str(cut)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        deadline = time.monotonic() + 60
        while not part.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
    assert part.exists() and not cut.exists()
    other = run(*DIAGRAM, *axes[:2], "--second", "strength:1=0.8,1.5,4", "--out", cut)
    assert other.returncode == 2 and "belongs to another run" in other.stderr
    assert run(*DIAGRAM, *axes, "--workers", 2, "--out", cut).returncode == 0
    assert cut.read_bytes() == whole.read_bytes() and not part.exists()

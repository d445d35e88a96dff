"""Field case F21: a risk crosses to another process and gives the same bits there."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import headflow as hf
from tests.points import PRIOR, random_point

CODE = (
    "import pickle, sys; risk, m, R = pickle.load(sys.stdin.buffer);"
    "sys.stdout.write(risk.gradient(m, R).R.tobytes().hex())"
)


@pytest.mark.parametrize(
    "act", ["softmax", hf.Activation("mine", score="log(1+exp(x))", offset=1)], ids=str
)
def test_a_fresh_process_gives_the_same_bits(act, tmp_path):
    risk = hf.PopulationRisk(act, PRIOR, tokens=3, rtol=1e-6)
    point = random_point(2, 2, seed=8)
    run = subprocess.run(
        [sys.executable, "-c", CODE],
        input=pickle.dumps((risk, *point)),
        capture_output=True,
        cwd=Path(__file__).parent.parent,
        # Another cache: the source travels with the risk, not the file.
        env={"HEADFLOW_CACHE": str(tmp_path), "PATH": ""},
    )
    assert run.returncode == 0, run.stderr.decode()
    assert run.stdout.decode() == risk.gradient(*point).R.tobytes().hex()


def test_a_stored_derivation_is_used_again(cache):
    act = hf.Activation("stored", score="exp(x/3)", offset=2)
    hf.PopulationRisk(act, PRIOR, tokens=3)
    (path,) = cache.glob("stored_*.py")
    before = path.stat().st_mtime_ns
    hf.PopulationRisk(act, PRIOR, tokens=3)
    assert path.stat().st_mtime_ns == before

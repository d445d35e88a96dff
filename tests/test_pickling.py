"""Field case F21: a risk crosses to another process and gives the same bits there."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
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


def results(model):
    """Everything a worker computes with a pickled model, as bits."""
    derived, risk = model
    m, R = random_point(2, 2, seed=8)
    slope = risk.gradient(m, R)
    flow = hf.gradient_flow(risk, m, R, [0.0, 0.05], rtol=1e-3)
    sgd = hf.simulate_sgd(
        derived.activation, PRIOR, 3, 2, 40, 1.0, 0.2, seeds=2, m0=m, R0=R, with_risk=False
    )
    numbers = [slope.m, slope.R, flow.m.values, flow.R.values, sgd.m.values, sgd.R.values]
    return [array.tobytes() for array in numbers], derived.numpy_source(), derived.latex()


def test_spawned_workers_give_the_same_bits():
    derived = hf.derive("softmax")
    model = derived, hf.PopulationRisk("softmax", PRIOR, tokens=3, rtol=1e-4)
    assert pickle.loads(pickle.dumps(derived)) == derived
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        workers = list(pool.map(results, [model, model]))
    assert workers == [results(model)] * 2


def test_a_stored_derivation_is_used_again(cache):
    act = hf.Activation("stored", score="exp(x/3)", offset=2)
    hf.PopulationRisk(act, PRIOR, tokens=3)
    (path,) = cache.glob("stored_*.py")
    before = path.stat().st_mtime_ns
    hf.PopulationRisk(act, PRIOR, tokens=3)
    assert path.stat().st_mtime_ns == before

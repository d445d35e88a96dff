"""Times and peak memory of fresh Python processes, where imports and caches count."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Deriving every catalogue entry in turn in one process would let SymPy's cache help the later.
DERIVE = """
import time
start = time.perf_counter()
from theory.catalogue import CATALOGUE
from theory.codegen import numpy_source
numpy_source(CATALOGUE[{name!r}])
print(time.perf_counter() - start)
"""
# A catalogue entry under another name takes the way of a user's own activation: the cache.
STORED = """
import time
from dataclasses import replace
from headflow.store import kernels_for
from theory.catalogue import CATALOGUE
entry = CATALOGUE[{name!r}]
entry = replace(entry, name=entry.name + " stored")
start = time.perf_counter()
kernels_for(entry)
print(time.perf_counter() - start)
"""
GRADIENT = """
import warnings
import headflow as hf
from benchmarks.problems import generic
warnings.simplefilter("ignore")
problem = generic({seed}, heads={heads})
prior = hf.FiniteSupport(problem.theta, problem.odds)
risk = hf.PopulationRisk({name!r}, prior, tokens=problem.tokens, rtol={rtol})
risk.gradient(problem.m, problem.R)
import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

# The largest child stands for every worker: an upper bound of what all hold at one time.
FLOW = """
import resource, sys, time
import numpy as np
import headflow as hf

if __name__ == "__main__":
    prior = hf.flipped_spikes([2.0, 1.5, 1.0], mean=[0.3, 0.2, 0.1])
    risk = hf.PopulationRisk("softmax", prior, tokens=5)
    m, R = hf.random_start(8, 3, 1000, 0.1)
    start = time.perf_counter()
    flow = hf.gradient_flow(risk, m, R, np.linspace(0, 200, 41), rtol={rtol}, workers={workers})
    took = time.perf_counter() - start
    own, child = (
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    memory = (own + {workers} * child) * (1 if sys.platform == "darwin" else 1024)
    largest = float(abs(flow.R).max())
    print(took, memory, float(flow.error.max()), largest, flow.evaluations, flow.status)
"""


@dataclass(frozen=True)
class Run:
    """What one process took: seconds of wall time, peak memory in bytes, status, last line."""

    seconds: float
    memory: float
    status: int
    last: str


def run(arguments: list[str], *, cache: str | None = None, timeout: float = 120.0) -> Run:
    """Run ``python arguments``; a process beyond ``timeout`` is ended, its memory still counts.

    A child's peak never reads below its parent's memory at the fork, so measure memory before
    this process imports anything large.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if cache is not None:
        environment["HEADFLOW_CACHE"] = cache
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    alarm = threading.Timer(timeout, process.kill)
    alarm.start()
    text = process.stdout.read() if process.stdout else ""
    _, state, usage = os.wait4(process.pid, 0)
    alarm.cancel()
    process.returncode = os.waitstatus_to_exitcode(state)
    seconds = time.perf_counter() - start
    lines = text.strip().splitlines()
    # Linux counts in units of 1024 bytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(seconds, usage.ru_maxrss * unit, process.returncode, lines[-1] if lines else "")


def derivation_seconds(name: str) -> float:
    """Definition to NumPy source in a fresh process, SymPy's import included; nan if it fails."""
    result = run(["-c", DERIVE.format(name=name)])
    return float(result.last) if result.status == 0 else float("nan")


def stored_seconds(name: str, repetitions: int = 3) -> float:
    """The same from a filled cache, after imports: median over fresh processes."""
    with tempfile.TemporaryDirectory() as cache:
        code = STORED.format(name=name)
        results = [run(["-c", code], cache=cache) for _ in range(repetitions + 1)]
    if any(result.status for result in results):
        return float("nan")
    return statistics.median(float(result.last) for result in results[1:])


def help_seconds(repetitions: int = 5) -> float:
    """`python -m headflow --help`: median, after one that warms the disk; nan if it fails."""
    results = [run(["-m", "headflow", "--help"]) for _ in range(repetitions + 1)]
    if any(result.status for result in results):
        return float("nan")
    return statistics.median(result.seconds for result in results[1:])


def gradient_run(name: str, heads: int, rtol: float, seed: int, timeout: float) -> Run:
    """A process that evaluates one gradient: its wall time and its peak memory."""
    code = GRADIENT.format(name=name, heads=heads, rtol=rtol, seed=seed)
    return run(["-c", code], timeout=timeout)


def flow_run(rtol: float, workers: int = 2, timeout: float = 120.0) -> Run:
    """A process that integrates gradient flow of eight heads with ``workers`` further ones.

    last: seconds of the flow, bytes of all processes, largest error, largest overlap, evaluations
    and status. Workers are spawned and read the script again, so it must be a file.
    """
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "flow.py"
        script.write_text(FLOW.format(rtol=rtol, workers=workers), encoding="utf-8")
        return run([str(script)], timeout=timeout)

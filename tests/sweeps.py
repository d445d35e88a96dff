"""A cheap study of 1,000 points whose function notes every evaluation, and the command on it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import headflow as hf
from headflow.built_in import seed_of
from headflow.sweeps import read_study
from numerics.errors import InputError

ROOT = Path(__file__).parent.parent
POINTS = 1000
FUNCTION = '''
import os
import time


def walk(a: int, b: float, rng, seed):
    """A random number."""
    with open(os.environ["WALK_LOG"], "a") as file:
        file.write(f"{a} {b!r} {seed}\\n")
    time.sleep(0.003)
    return a + b * rng.standard_normal(), 0.5


def rough(a: int):
    """A number that is not always there."""
    if a == 2:
        raise ValueError("two is\\n too many")
    if a == 3:
        os._exit(1)
    return a, 0.0
'''


def write_study(folder: Path) -> Path:
    """The study and, beside it, its functions."""
    (folder / "functions.py").write_text(FUNCTION)
    path = folder / "walk.toml"
    path.write_text(
        """
name = "walk"
quantity = "functions:walk"
seeds = 2
[axes]
a = { start = 1, stop = 20, num = 20 }
b = { start = 0.1, stop = 1.0, num = 25, scale = "log" }
"""
    )
    return path


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    """The command in ``folder``; workers that it starts keep their log there."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "headflow", "sweep", "walk.toml", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "WALK_LOG": str(folder / "log")},
    )


def finished(command: subprocess.Popen[str]) -> str:
    """What the command printed; it must have ended well, and said nothing else."""
    out, err = command.communicate(timeout=100)
    assert command.returncode == 0 and err == "", (command.returncode, err)
    return out


def wait_for(store: Path, points: int, command: subprocess.Popen[str]) -> None:
    """Until the store holds so many points; the command must still have others to do."""
    done = 0
    while done < points:
        assert command.poll() is None, command.communicate()
        time.sleep(0.05)
        try:
            done = int((hf.open_sweep(store).status == 1).sum())
        except InputError:
            continue
    assert done < POINTS, "the command was too quick to be disturbed"


def evaluations(log: Path) -> Counter[str]:
    """How often each point was evaluated."""
    return Counter(log.read_text().splitlines())


def stored(path: Path, store: Path) -> set[str]:
    """The points of a study that are done, as the log calls them."""
    study, _ = read_study(path)

    status = hf.open_sweep(store).status.values.ravel()
    points = [study.point(index) for index in np.flatnonzero(status == 1)]
    return {f"{p.parameters['a']} {p.parameters['b']!r} {seed_of(p.stream())}" for p in points}


def bits(store: Path) -> tuple[bytes, bytes, bytes]:
    data = hf.open_sweep(store)
    return tuple(data[name].values.tobytes() for name in ("value", "error", "status"))

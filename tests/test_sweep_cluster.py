"""Sweeps on a Dask cluster of two worker processes, which lose a worker, and their client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

import headflow as hf
from numerics.errors import InputError
from tests.sweeps import (
    POINTS,
    ROOT,
    bits,
    evaluations,
    finished,
    start,
    stored,
    wait_for,
    write_study,
)


@dataclass
class Cluster:
    address: str
    log: Path
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and two workers without nannies: what is killed stays away."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    started = []

    def dask(*arguments):
        with open(folder / f"{len(started)}.log", "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(file)],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), "WALK_LOG": str(folder / "log")},
            )
        started.append(process)
        return process

    try:
        dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        workers = [
            dask("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
            for name in ("first", "second")
        ]
        yield Cluster(_address(file, started[0]), folder / "log", started[0], workers)
    finally:
        for process in started:
            process.kill()
            process.wait()


def _address(file, scheduler):
    end = time.monotonic() + 60
    while not file.exists():
        assert scheduler.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    return json.loads(file.read_text())["address"]


@pytest.fixture(scope="module")
def local_bits(tmp_path_factory):
    """The results of the processes of this machine."""
    folder = tmp_path_factory.mktemp("local")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WALK_LOG", str(folder / "log"))
        hf.sweep(write_study(folder), folder / "walk.zarr", workers=2)
    return bits(folder / "walk.zarr")


def test_a_killed_client_goes_on_and_repeats_nothing_that_is_stored(cluster, local_bits, tmp_path):
    study, store = write_study(tmp_path), tmp_path / "walk.zarr"
    command = start(tmp_path, "--cluster", cluster.address)
    wait_for(store, 200, command)
    command.send_signal(signal.SIGKILL)
    command.communicate()
    kept = stored(study, store)
    finished(start(tmp_path, "--cluster", cluster.address))
    after = evaluations(cluster.log)
    assert 200 <= len(kept) < POINTS == len(after)
    assert all(after[point] == 1 for point in kept)
    assert bits(store) == local_bits


def test_the_loss_of_a_worker_costs_no_point(cluster, local_bits, tmp_path):
    write_study(tmp_path)
    store = tmp_path / "walk.zarr"
    command = start(tmp_path, "--cluster", cluster.address)
    wait_for(store, 200, command)
    lost = cluster.workers[0]
    assert lost.poll() is None
    lost.kill()
    lost.wait()
    finished(command)
    assert bits(store) == local_bits


def test_the_loss_of_the_scheduler_is_said_in_one_line(cluster, tmp_path):
    write_study(tmp_path)
    command = start(tmp_path, "--cluster", cluster.address)
    wait_for(tmp_path / "walk.zarr", 100, command)
    cluster.scheduler.kill()
    _, err = command.communicate(timeout=60)
    assert command.returncode == 2 and err.count("\n") == 1, err
    assert "the scheduler is gone" in err


@pytest.mark.parametrize(
    "options, words",
    [
        ({"cluster": "tcp://127.0.0.1:1"}, "no Dask scheduler answers at tcp://127.0.0.1:1"),
        ({"cluster": "nonsense://"}, "no Dask scheduler answers at nonsense"),
        ({"cluster": "tcp://127.0.0.1:1", "workers": 2}, "leave this option out"),
    ],
    ids=str,
)
def test_a_cluster_that_cannot_be_used_is_refused(tmp_path, monkeypatch, options, words):
    monkeypatch.setattr("numerics.sweep.cluster.ANSWER", 0.5)
    with pytest.raises(InputError, match=words):
        hf.sweep(write_study(tmp_path), tmp_path / "s", **options)
    assert not (tmp_path / "s").exists()


def test_without_dask_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'headflow\[cluster\]'"):
        hf.sweep(write_study(tmp_path), tmp_path / "s", cluster="local")

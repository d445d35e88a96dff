"""Sweeps on the processes of this machine: kept, resumed, repeated, with failures told."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import headflow as hf
from headflow.sweeps import read_study
from numerics.errors import InputError
from numerics.sweep.store import SweepStore
from tests.sweeps import POINTS, bits, evaluations, finished, start, stored, wait_for, write_study


def test_a_killed_command_goes_on_and_repeats_nothing_that_is_stored(tmp_path, monkeypatch):
    study, log = write_study(tmp_path), tmp_path / "log"
    monkeypatch.setenv("WALK_LOG", str(log))
    store = tmp_path / "walk.zarr"
    command = start(tmp_path, "--workers", "2")
    wait_for(store, 200, command)
    command.send_signal(signal.SIGKILL)
    command.communicate()
    kept, before = stored(study, store), evaluations(log)
    assert 200 <= len(kept) < POINTS and set(before.values()) == {1}
    finished(start(tmp_path, "--workers", "1"))
    after = evaluations(log)
    assert len(after) == POINTS and all(after[point] == 1 for point in kept)
    # The rest: what was out, or had come back and waited for the next write.
    again = [point for point, times in after.items() if times > 1]
    assert set(again) <= set(before) - kept
    # One worker or two, cut off or not: the same bits. A finished sweep computes nothing.
    whole = tmp_path / "whole.zarr"
    hf.sweep(study, whole, workers=2)
    assert bits(whole) == bits(store)
    # Control: the log notes every evaluation.
    assert sum(evaluations(log).values()) == sum(after.values()) + POINTS
    hf.sweep(study, store)
    assert sum(evaluations(log).values()) == sum(after.values()) + POINTS


def test_points_that_fail_are_told_and_the_rest_goes_on(tmp_path, monkeypatch):
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    table = {"name": "n", "quantity": "functions:rough", "axes": {"a": [1, 2, 3, 4]}}
    data = hf.sweep(table, tmp_path / "rough.zarr", workers=1)
    assert data.status.values.ravel().tolist() == [1, 2, 2, 1]
    np.testing.assert_array_equal(data.value.values.ravel(), [1, np.nan, np.nan, 4])
    np.testing.assert_array_equal(data.error.values.ravel(), [0, np.nan, np.nan, 0])
    reasons = data.reason.values.ravel().tolist()
    assert reasons == ["", "ValueError: two is too many", "lost its worker 2 times", ""]
    # A failed point is known and not computed again, unless that is asked for.
    study, quantity = read_study(table)
    for retry, pending in ((False, []), (True, [1, 2])):
        kept = SweepStore(tmp_path / "rough.zarr", study, quantity.versions, retry=retry)
        assert kept.pending().tolist() == pending
        kept.close()


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A study of two points, and an empty store of it."""
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    table = {"name": "n", "quantity": "functions:rough", "axes": {"a": [1, 4]}}
    study, quantity = read_study(table)
    SweepStore(tmp_path / "s", study, quantity.versions).close()
    return table, study, quantity


@pytest.mark.parametrize(
    "change, words",
    [
        ({"axes": {"a": [1, 4, 5]}}, ["changed: axes"]),
        ({"axes": {"a": [4, 1]}}, ["changed: axes"]),
        ({"seeds": [1]}, ["changed: seeds"]),
        ({"dims": {"x": 2}}, ["changed: dims"]),
    ],
    ids=str,
)
def test_another_study_does_not_go_to_the_same_store(small, change, words):
    with pytest.raises(InputError) as problem:
        hf.sweep({**small[0], **change}, "s")
    text = str(problem.value)
    assert "\n" not in text and all(word in text for word in ["configuration", *words]), text


def test_nor_does_another_function_other_versions_or_a_second_process(small, tmp_path):
    table, study, quantity = small
    holder = SweepStore(tmp_path / "s", study, quantity.versions)
    with pytest.raises(InputError, match="another sweep is writing"):
        hf.sweep(table, "s")
    holder.close()
    with pytest.raises(InputError, match="computed with numpy .*, this is 1.0"):
        SweepStore(tmp_path / "s", study, {**quantity.versions, "numpy": "1.0"})
    with open(tmp_path / "functions.py", "a") as file:
        file.write("\n# a change\n")
    with pytest.raises(InputError, match="changed: source"):
        hf.sweep(table, "s")
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="holds no sweep"):
        hf.sweep(table, "other")
    with pytest.raises(InputError, match="holds no sweep"):
        hf.open_sweep(tmp_path / "other")


@pytest.mark.parametrize("name", ["value", "error", "reason", "seconds", "status"])
def test_a_kill_within_a_write_leaves_points_done_or_to_do(small, tmp_path, monkeypatch, name):
    """The write ends before ``name``: what the store then calls done is complete."""
    from numerics.sweep.outcome import Outcome

    _, study, quantity = small
    store = SweepStore(tmp_path / "s", study, quantity.versions)
    one = Outcome(1, 1, np.array(4.0), np.array(0.5), "said", 0.25)
    with monkeypatch.context() as patch:
        patch.setitem(store._arrays, name, None)
        with pytest.raises(TypeError):
            store.write([one])
    store.close()
    (tmp_path / "s" / "value" / "left.partial").touch()
    again = SweepStore(tmp_path / "s", study, quantity.versions)
    assert again.pending().tolist() == [0, 1]
    assert not list((tmp_path / "s").rglob("*.partial"))
    again.write([one])
    again.close()
    data = hf.open_sweep(tmp_path / "s")
    assert data.status.values.ravel().tolist() == [0, 1]
    assert (data.value.values.ravel()[1], data.reason.values.ravel()[1]) == (4.0, "said")


def test_an_array_of_a_point_has_the_dims_of_the_study(tmp_path, monkeypatch):
    (tmp_path / "spread.py").write_text(
        "import numpy as np\n\ndef spread(a):\n    '''Powers.'''\n    return a ** np.arange(3.0)\n"
    )
    monkeypatch.chdir(tmp_path)
    table = {"name": "n", "quantity": "spread:spread", "axes": {"a": [2, 3]}}
    data = hf.sweep({**table, "dims": {"power": 3}}, workers=1)
    assert data.value.dims == ("a", "seed", "power") and data.value.attrs["long_name"] == "Powers."
    np.testing.assert_array_equal(data.value.values, [[[1, 2, 4]], [[1, 3, 9]]])
    assert np.isnan(data.error.values).all()
    assert {"units", "long_name"} <= set(data.seconds.attrs) and data.seconds.attrs["units"] == "s"
    assert os.listdir(tmp_path) == ["spread.py"]

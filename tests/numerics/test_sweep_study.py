"""What a study describes: its grid, its points and their random numbers; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.errors import InputError
from numerics.sweep.outcome import DONE, FAILED, evaluate, value_and_error
from numerics.sweep.study import Point, Study

BASE = {"name": "n", "quantity": "q"}


def study(**entries):
    return Study.of({**BASE, **entries})


def test_the_grid_is_the_product_of_axes_and_seeds():
    grid = study(
        fixed={"prior": {"strengths": [2.0, 1.5]}, "c": True},
        axes={"a": [3, 1], "prior": {"strengths": {"1": [0.5, 0.7, 0.9]}}},
        seeds=[4, 2],
        dims={"mode": 3},
    )
    assert grid.names == ("a", "prior.strengths.1", "seed") and grid.shape == (2, 3, 2)
    point = grid.point(9)
    assert point.parameters == {"a": 1, "c": True, "prior": {"strengths": [2.0, 0.7]}}
    assert point.seed == 2
    # The other points, and what is fixed, are left alone.
    assert grid.fixed["prior"] == {"strengths": [2.0, 1.5]}
    assert grid.point(0).parameters["prior"] == {"strengths": [2.0, 0.5]}


@pytest.mark.parametrize(
    "axis, values",
    [
        ({"start": 1, "stop": 1000, "num": 4, "scale": "log"}, [1, 10, 100, 1000]),
        ({"start": 2, "stop": 4, "num": 3}, [2, 3, 4]),
        ({"start": 1, "stop": 2, "num": 3}, [1.0, 1.5, 2.0]),
        ({"start": 2.0, "stop": 4, "num": 3}, [2.0, 3.0, 4.0]),
    ],
)
def test_ranges_of_whole_numbers_stay_whole(axis, values):
    (found,) = study(axes={"a": axis}).axes
    assert list(found.values) == values
    assert [type(v) for v in found.values] == [type(v) for v in values]


def test_coordinates_are_numbers_or_texts():
    numbers, texts = study(axes={"a": [1, 2.5], "b": ["x", {"name": "y"}, [1, 2]]}).axes
    assert numbers.coordinate() == [1, 2.5]
    assert texts.coordinate() == ["x", '{"name": "y"}', "[1, 2]"]


def test_a_stream_belongs_to_the_parameters_and_the_seed_alone():
    one = study(fixed={"c": 1}, axes={"a": [1, 2], "b": [0.5, 0.25]}, seeds=[0, 7])
    # More values in another order of the axes: other indices for the same points.
    other = study(fixed={"c": 1}, axes={"b": [3.0, 0.25, 0.5], "a": [9, 2, 1]}, seeds=[7, 5, 0])

    def draws(grid):
        points = [grid.point(index) for index in range(grid.size)]
        return {
            (p.parameters["a"], p.parameters["b"], p.seed): np.random.default_rng(
                p.stream()
            ).standard_normal()
            for p in points
        }

    here, there = draws(one), draws(other)
    assert len(here) == 8 and all(there[key] == value for key, value in here.items())
    # Control: different points, seeds and fixed parameters have different numbers.
    assert len(set(there.values())) == 27
    changed = draws(study(fixed={"c": 2}, axes={"a": [1, 2], "b": [0.5, 0.25]}, seeds=[0, 7]))
    assert not set(changed.values()) & set(here.values())


@pytest.mark.parametrize(
    "entries, words",
    [
        ({"axis": {}}, ["'axis'", "axes"]),
        ({"name": 3}, ["name", "text"]),
        ({"quantity": ""}, ["quantity", "text"]),
        ({"fixed": [1]}, ["fixed", "table"]),
        ({"fixed": {"a": float("nan")}}, ["fixed.a", "finite"]),
        ({"axes": {"a": []}}, ["axes.a", "at least one"]),
        ({"axes": {"a": [1, 2, 1]}}, ["axes.a", "1 appears twice"]),
        ({"axes": {"a": 3}}, ["axes.a", "list", "start"]),
        ({"axes": {"a": {}}}, ["axes.a", "list", "start"]),
        ({"axes": {"a": {"start": 1, "stop": 2}}}, ["axes.a", "num"]),
        ({"axes": {"a": {"start": 1, "stop": 2, "num": 2, "step": 1}}}, ["axes.a", "step"]),
        ({"axes": {"a": {"start": "1", "stop": 2, "num": 2}}}, ["axes.a", "numbers"]),
        ({"axes": {"a": {"start": 1, "stop": 2, "num": 2.5}}}, ["axes.a.num", "2.5"]),
        ({"axes": {"a": {"start": 0, "stop": 2, "num": 2, "scale": "log"}}}, ["log", "> 0"]),
        ({"axes": {"a": {"start": 1, "stop": 2, "num": 2, "scale": "exp"}}}, ["linear, log"]),
        ({"axes": {"a": {"start": 1, "stop": 1, "num": 2}}}, ["axes.a", "1 appears twice"]),
        ({"fixed": {"a": 1}, "axes": {"a": [1]}}, ["axes.a", "twice"]),
        ({"axes": {"a": [[1]], "a.0": [2]}}, ["axes.a.0", "a is given twice"]),
        ({"axes": {"a.b": [2]}}, ["axes.a.b", "no such part"]),
        ({"fixed": {"a": [1]}, "axes": {"a.1": [2]}}, ["axes.a.1", "no such part"]),
        ({"axes": {"seed": [2]}}, ["'seed'"]),
        ({"axes": {"a": [2]}, "dims": {"a": 2}}, ["a is given twice"]),
        ({"dims": {"value": 2}}, ["'value'"]),
        ({"dims": {"mode": 0}}, ["dims.mode", "0"]),
        ({"seeds": [1, 1]}, ["seeds", "distinct"]),
        ({"seeds": "many"}, ["seeds", "many"]),
        ({"seeds": 10**8}, ["100000000 points"]),
    ],
    ids=str,
)
def test_what_is_no_study_is_refused_in_one_line(entries, words):
    with pytest.raises(InputError) as problem:
        study(**entries)
    text = str(problem.value)
    assert "\n" not in text and all(word in text for word in words), text


class Answer:
    value, error = 0.5, 0.25


@pytest.mark.parametrize(
    "given, shape, value, error",
    [
        (2, (), 2.0, np.nan),
        ((2.5, 0.5), (), 2.5, 0.5),
        (Answer(), (), 0.5, 0.25),
        ([1, 2], (2,), [1.0, 2.0], [np.nan, np.nan]),
        (([1, 2], 0.5), (2,), [1.0, 2.0], [0.5, 0.5]),
    ],
)
def test_what_a_function_may_return(given, shape, value, error):
    found = value_and_error(given, shape)
    np.testing.assert_array_equal(found[0], value)
    np.testing.assert_array_equal(found[1], error)


@pytest.mark.parametrize("given", ["text", None, 1j, [1.0, 2.0], (1.0, "small"), float("inf")])
def test_anything_else_is_a_failed_point_with_its_reason(given):
    outcome = evaluate(lambda parameters, stream: given, (), Point(3, {}, 0))
    assert (outcome.index, outcome.status) == (3, FAILED)
    assert outcome.reason and np.isnan(outcome.value) and np.isnan(outcome.error)
    assert evaluate(lambda parameters, stream: 1.0, (), Point(3, {}, 0)).status == DONE

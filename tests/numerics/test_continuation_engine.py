"""The engine of continuation on textbook equations whose events are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.continuation.branch import first_point
from numerics.continuation.newton import Range
from numerics.continuation.run import trace
from numerics.continuation.system import Curvature, Unreachable, modes_of


class Toy:
    """F(x, p) = 0 with its derivative; mirrored: x[0] -> -x[0] is a symmetry."""

    accuracy = 1e-15

    def __init__(self, slope, matrix, size, mirrored=False, reach=np.inf):
        self.own_slope, self.own_matrix = slope, matrix
        self.mirrored, self.reach = mirrored, reach
        self.basis, self.shape = np.eye(size), (1, size)

    def slope(self, x, p):
        if p > self.reach:
            raise Unreachable(f"the grid takes too many nodes at p = {p:.8g}")
        return np.atleast_1d(self.own_slope(x, p)), 1.0

    def curvature(self, x, p):
        matrix = np.atleast_2d(self.own_matrix(x, p))
        return Curvature(matrix, modes_of(matrix, 1e-12, "all"))

    def symmetric_near(self, x, distance):
        if not self.mirrored or self.basis.shape[1] < x.size or abs(x[0]) > distance:
            return None
        more = Toy(self.own_slope, self.own_matrix, x.size)
        more.basis = np.eye(x.size)[:, 1:]
        return more


def follow(toy, x, start, stop, points=30):
    return trace(toy, Range(start, stop), np.array(x, dtype=float), points)


def kinds(found):
    return [(event.kind, event.multiplicity) for event in found.events]


def within(event, exact):
    return abs(event.parameter - exact) <= event.error


def test_two_folds_to_their_stated_error():
    cubic = Toy(lambda x, p: x**3 - x - p, lambda x, p: 3 * x**2 - 1, 1)
    found = follow(cubic, [-1.8], -(1.8**3) + 1.8, 4.0)
    assert kinds(found) == [("fold", 1), ("fold", 1)]
    exact = 2 / 3**1.5
    assert within(found.events[0], exact) and within(found.events[1], -exact)
    assert all(event.error < 1e-10 for event in found.events)
    branch = found.branch
    assert branch.complete and branch.points[-1].p == 4.0
    assert [point.curvature.unstable() for point in branch.points].count(1) > 3


def test_a_branch_that_turns_back_says_so():
    cubic = Toy(lambda x, p: x**2 + p, lambda x, p: 2 * x, 1)
    found = follow(cubic, [1.0], -1.0, 2.0)
    assert kinds(found) == [("fold", 1)] and within(found.events[0], 0.0)
    assert not found.branch.complete
    assert found.branch.message == "turned back outside the range at p = -1"
    assert found.branch.points[-1].at.x[0] == pytest.approx(-1.0)


def test_a_pitchfork_from_both_of_its_branches():
    system = Toy(lambda x, p: x**3 - p * x, lambda x, p: 3 * x**2 - p, 1, mirrored=True)
    main = follow(system, [0.0], -1.0, 2.2)
    side = follow(system, [1.3], 1.69, -1.0)
    assert kinds(main) == kinds(side) == [("pitchfork", 1)]
    assert within(main.events[0], 0.0) and within(side.events[0], 0.0)
    assert main.events[0].same_as(side.events[0])
    assert side.branch.complete and "more symmetry" in side.branch.message
    assert "side branch" in side.events[0].note


def test_a_broken_pitchfork_has_a_fold_instead():
    """Negative control: near a pitchfork, but without its symmetry."""
    system = Toy(lambda x, p: x**3 - p * x + 1e-2, lambda x, p: 3 * x**2 - p, 1, mirrored=True)
    x = float(max(np.roots([1, 0, -1.5, 1e-2]).real))
    found = follow(system, [x], 1.5, -1.0)
    assert kinds(found) == [("fold", 1)]
    assert within(found.events[0], 3 * (1e-2 / 2) ** (2 / 3))


def test_crossing_branches_without_mirror_image():
    system = Toy(lambda x, p: x**2 - p * x + x**3, lambda x, p: 2 * x - p + 3 * x**2, 1)
    found = follow(system, [0.0], -1.0, 2.2)
    assert kinds(found) == [("branch point", 1)] and within(found.events[0], 0.0)


def test_even_multiplicity_where_the_determinant_keeps_its_sign():
    def slope(x, p):
        return np.array([p * x[0] + x[0] ** 3, p * x[1] + x[1] ** 3, x[2] - p])

    def matrix(x, p):
        return np.diag([p + 3 * x[0] ** 2, p + 3 * x[1] ** 2, 1.0])

    found = follow(Toy(slope, matrix, 3), [0, 0, -1], -1.0, 1.7)
    assert kinds(found) == [("pitchfork", 2)] and within(found.events[0], 0.0)
    ends = [point.curvature.matrix for point in (found.branch.points[0], found.branch.points[-1])]
    assert all(np.linalg.det(end) > 0 for end in ends)
    null = found.events[0].null_vectors.reshape(2, 3)
    assert np.allclose(null @ null.T, np.eye(2)) and np.allclose(null[:, 2], 0, atol=1e-6)


@pytest.mark.parametrize(
    "offset, wanted",
    [(0.0, [("touch", 1)]), (1e-3, []), (-1e-3, [("pitchfork", 1), ("pitchfork", 1)])],
)
def test_eigenvalues_that_touch_zero_miss_it_or_dip_below(offset, wanted):
    """p^2 + offset between two points of the branch: a touch, nothing, or two crossings."""
    system = Toy(
        lambda x, p: np.array([((p - 0.1) ** 2 + offset) * x[0] + x[0] ** 3, x[1] - p]),
        lambda x, p: np.diag([(p - 0.1) ** 2 + offset + 3 * x[0] ** 2, 1.0]),
        2,
    )
    found = follow(system, [0.0, -1.0], -1.0, 2.0)
    assert kinds(found) == wanted
    places = {1: [0.1], 2: [0.1 - np.sqrt(1e-3), 0.1 + np.sqrt(1e-3)]}.get(len(wanted), [])
    assert all(within(event, p) for event, p in zip(found.events, places, strict=True))


def test_null_vectors_of_an_exact_symmetry_do_no_harm():
    """A circle of solutions at each p: steps along it are 0, and it is no event."""
    system = Toy(
        lambda x, p: (x @ x - p) * x,
        lambda x, p: (x @ x - p) * np.eye(2) + 2 * np.outer(x, x),
        2,
    )
    found = follow(system, [0.6, 0.8], 1.0, 3.0)
    assert found.branch.complete and not found.events
    last = found.branch.points[-1].at.x
    assert last == pytest.approx(np.sqrt(3) * np.array([0.6, 0.8]), abs=1e-9)


def test_what_cannot_be_evaluated_ends_the_branch_at_its_last_good_point():
    system = Toy(lambda x, p: x - p, lambda x, p: np.ones((1, 1)), 1, reach=1.3)
    branch = follow(system, [0.0], 0.0, 3.0).branch
    assert not branch.complete
    assert "too many nodes" in branch.message and "last good point p = 1.2" in branch.message
    assert all(point.at.residual <= 1e-7 for point in branch.points)


def test_a_start_that_is_no_solution_is_not_made_up():
    system = Toy(lambda x, p: x**2 + 1 + p**2, lambda x, p: 2 * x, 1)
    with pytest.raises(Unreachable, match="did not converge"):
        first_point(system, Range(0.0, 1.0), np.array([0.4]))

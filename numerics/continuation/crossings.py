# notation: u place on a branch, between points floor(u) and floor(u) + 1; p parameter.
"""Eigenvalues that vanish along a branch: with a change of sign, or touching 0 without one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from numerics.continuation.branch import Branch, Point, between
from numerics.continuation.system import Mode, Unreachable
from numerics.continuation.tracking import chains, matched

# Places are located to this share of a step.
LOCATED = 1e-9
# Of a parabola through three points whose vertex is nearer to 0 than this share of the nearest of
# them, the true minimum is looked for.
NEAR = 0.5


@dataclass(frozen=True)
class Zero:
    """A place where tracked eigenvalue ``mode`` vanishes.

    touches: without a change of sign. p_error bounds its parameter. resolved: whether the place
    was found, or only the step in which it lies. begin: number of the point before it.
    """

    point: Point
    mode: Mode
    p_error: float
    touches: bool
    resolved: bool
    begin: int


def zeros(branch: Branch) -> list[Zero]:
    """Every zero of every eigenvalue that is not 0 all along, in order of arclength.

    Between points the branch is solved again. What lies within one step, and does not come near 0
    at either end of it, is not seen.
    """
    if len(branch.points) < 2:
        return []
    found = []
    solved: dict[float, Point] = {}
    for begin, modes in chains([point.curvature for point in branch.points]):
        tracked = _Tracked(branch, begin, modes, solved)
        clear = [begin + i for i, mode in enumerate(modes) if mode.sign]
        for i, j in zip(clear, clear[1:], strict=False):
            if tracked.sign(i) != tracked.sign(j):
                found.append(tracked.crossing(i, j))
            elif j > i + 1:
                found += tracked.nearest(i, j)
        triples = zip(clear, clear[1:], clear[2:], strict=False)
        for i, j, k in triples:
            if k == i + 2 and tracked.dips(i, j, k):
                found += tracked.nearest(i, k)
    return sorted(found, key=lambda zero: zero.point.s)


class _Tracked:
    """One eigenvalue along a branch, as a function of u."""

    def __init__(self, branch: Branch, begin: int, modes: list[Mode], solved: dict[float, Point]):
        # Equal eigenvalues look at the same places: what was solved is shared.
        self.branch, self.begin, self.modes, self.solved = branch, begin, modes, solved
        self.seen: dict[float, tuple[Point, Mode]] = {}

    def sign(self, i: int) -> int:
        return self.modes[i - self.begin].sign

    def value(self, u: float) -> float:
        return self.at(u)[1].value

    def at(self, u: float) -> tuple[Point, Mode]:
        if u == int(u):
            return self.branch.points[int(u)], self.modes[int(u) - self.begin]
        if u not in self.seen:
            i = int(u)
            left, right = self.branch.points[i : i + 2]
            if u not in self.solved:
                limits = self.branch.limits
                self.solved[u] = between(self.branch.system, limits, left, right, u - i)
            point = self.solved[u]
            order = matched(left.curvature, point.curvature)
            if order is None:
                raise Unreachable("the symmetry changes within a step")
            number = next(
                n for n, m in enumerate(left.curvature.modes) if m is self.modes[i - self.begin]
            )
            self.seen[u] = point, point.curvature.modes[order[number]]
        return self.seen[u]

    def dips(self, i: int, j: int, k: int) -> bool:
        """Whether |eigenvalue| is least in the middle and may vanish near it."""
        a, b, c = (abs(self.value(n)) for n in (i, j, k))
        if self.sign(i) != self.sign(j) or self.sign(j) != self.sign(k) or b > min(a, c):
            return False
        s = np.array([self.branch.points[n].s for n in (i, j, k)])
        bend, tilt, level = np.polyfit(s - s[1], [a, b, c], 2)
        return bend > 0 and level - tilt**2 / (4 * bend) <= NEAR * b

    def crossing(self, i: float, j: float) -> Zero:
        try:
            u = brentq(self.value, i, j, xtol=LOCATED, rtol=1e-14)
            point, mode = self.at(u)
            return Zero(point, mode, self._error(u, i, j), False, True, int(i))
        except Unreachable:
            return self._unresolved(i, j)

    def nearest(self, i: int, j: int) -> list[Zero]:
        """Where |eigenvalue| is least: a touch, two crossings, or nothing."""
        sign = self.sign(i)
        try:
            found = minimize_scalar(
                lambda u: sign * self.value(float(u)),
                bounds=(i, j),
                method="bounded",
                options={"xatol": 1e-5},
            )
            u = float(found.x)
            point, mode = self.at(u)
            if mode.sign == -sign:
                return [self.crossing(i, u), self.crossing(u, j)]
            if mode.sign:
                return []
            return [Zero(point, mode, self._touch_error(u, i, j), True, True, int(i))]
        except Unreachable:
            return []

    def _error(self, u: float, i: float, j: float) -> float:
        """Error in p: that of the eigenvalue over its slope, and the width of the search."""
        point, mode = self.at(u)
        others = sorted(
            (one for one in (*self.seen, i, j) if abs(one - u) > 1e-3), key=lambda one: abs(one - u)
        )
        near, near_mode = self.at(others[0])
        rate = abs(near_mode.value - mode.value) / max(abs(near.s - point.s), 1e-300)
        return self._uncertain(u) / max(rate, 1e-300) * _rate(self.branch, point)

    def _touch_error(self, u: float, i: int, j: int) -> float:
        """Error in p of a place where the eigenvalue is 0 within its error to second order."""
        point, mode = self.at(u)
        bends = []
        for end in (i, j):
            one, its = self.at(end)
            bends.append(abs(its.value - mode.value) / (one.s - point.s) ** 2)
        length = np.sqrt(2 * self._uncertain(u) / min(bends))
        length += 1e-5 * (self.branch.points[j].s - self.branch.points[i].s)
        return float(length) * _rate(self.branch, point)

    def _uncertain(self, u: float) -> float:
        """How far from 0 the eigenvalue may be at u; it moves with x about as much as F does."""
        point, mode = self.at(u)
        left_over = point.at.size + self.branch.system.accuracy * point.at.scale
        return abs(mode.value) + mode.error + left_over

    def _unresolved(self, i: float, j: float) -> Zero:
        left, right = self.branch.points[int(i)], self.branch.points[int(np.ceil(j))]
        mode = self.modes[int(i) - self.begin]
        return Zero(left, mode, abs(right.p - left.p), False, False, int(i))


def _rate(branch: Branch, point: Point) -> float:
    """|dp/ds|."""
    return abs(float(point.tangent[-1]) * branch.limits.span)

# notation: x unknowns, p parameter, q = (p - start) / span its share of the range, y = (z, q) with
# x = basis z.
"""The bordered system: its matrix, its tangent, and Newton's method on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.continuation.system import RESIDUAL, Curvature, System, Unreachable

# Singular values below this share of the largest belong to exact symmetries (rotations between
# axes beyond the spikes, a continuous symmetry of the prior): steps along them are 0, those of
# least norm.
NULL = 1e-7
# Newton stops below GOAL, or below RESIDUAL where it gains no more than a factor SLOW.
GOAL, SLOW, MOST_STEPS = 1e-11, 0.5, 12
# Newton gives up where a step with the matrix of its own place makes F larger by this.
GROWN = 2.0
# Half width, in shares of the range, of the difference that gives dF/dq.
WIDTH = 1e-4


@dataclass(frozen=True)
class Range:
    """Values of the parameter between which a branch is followed, ``first`` and ``last``."""

    first: float
    last: float

    @property
    def span(self) -> float:
        return self.last - self.first

    def value(self, q: float) -> float:
        """The parameter at share ``q`` of the range; the ends exactly."""
        return self.last if q == 1 else self.first + q * self.span

    def share(self, p: float) -> float:
        return (p - self.first) / self.span


@dataclass(frozen=True)
class Solved:
    """A place y = (z, q), x (n,) and p, with F (n,) and the size of its largest term."""

    y: np.ndarray
    x: np.ndarray
    p: float
    slope: np.ndarray
    scale: float

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.slope))

    @property
    def residual(self) -> float:
        return self.size / max(self.scale, 1e-300)


def solved_at(system: System, limits: Range, y: np.ndarray) -> Solved:
    """y with what F is there."""
    x, p = system.basis @ y[:-1], limits.value(float(y[-1]))
    slope, scale = system.slope(x, p)
    return Solved(y, x, p, slope, scale)


def bordered(
    system: System, limits: Range, at: Solved, curvature: Curvature | None = None
) -> np.ndarray:
    """dF/dy (d, d + 1) at a point, dF/dq by a difference; one-sided where p cannot go on."""
    found = curvature or system.curvature(at.x, at.p)
    inner = system.basis.T @ found.matrix @ system.basis
    by_q = system.basis.T @ along_parameter(system, limits, at)
    return np.hstack([inner, by_q[:, None]])


def along_parameter(system: System, limits: Range, at: Solved) -> np.ndarray:
    """dF/dq (n,) at fixed x."""
    h = WIDTH * limits.span

    def slope(steps: int) -> np.ndarray:
        return system.slope(at.x, at.p + steps * h)[0]

    for sides in ((1, -1), (1,), (-1,)):
        try:
            if len(sides) == 2:
                return (slope(1) - slope(-1)) / (2 * WIDTH)
            (one,) = sides
            return one * (4 * slope(one) - 3 * slope(0) - slope(2 * one)) / (2 * WIDTH)
        except Unreachable as problem:
            why = problem
    raise why


def tangent(matrix: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """The unit vector of the null space of dF/dy nearest to ``previous``."""
    _, singular, rows = np.linalg.svd(matrix)
    regular = np.count_nonzero(singular > NULL * max(1e-300, singular[0])) if singular.size else 0
    null = rows[regular:]
    along = null.T @ (null @ previous)
    size = float(np.linalg.norm(along))
    if size < 1e-6:
        raise Unreachable("the branch has no direction that goes on")
    return along / size


def solve(
    system: System,
    limits: Range,
    guess: np.ndarray,
    row: np.ndarray,
    matrix: np.ndarray | None = None,
) -> Solved:
    """The solution of F(y) = 0 with row . (y - guess) = 0, by Newton with a kept ``matrix``.

    It is updated by Broyden's rule, and made anew where convergence is slow. Least squares of least
    norm, so that null vectors of exact symmetries do no harm. Raises Unreachable.
    """
    here = best = solved_at(system, limits, guess)
    fresh = matrix is None
    kept = bordered(system, limits, here) if matrix is None else matrix
    for _ in range(MOST_STEPS):
        if here.residual <= GOAL:
            return here
        target = np.append(system.basis.T @ here.slope, row @ (here.y - guess))
        step = np.linalg.lstsq(np.vstack([kept, row]), target, rcond=NULL)[0]
        after = solved_at(system, limits, here.y - step)
        best = min(best, after, key=lambda one: one.residual)
        if after.residual <= SLOW * here.residual:
            # Broyden: what the step has told of F is put into the matrix.
            change = system.basis.T @ (after.slope - here.slope) + kept @ step
            kept, fresh = kept - np.outer(change, step) / (step @ step), False
            here = after
            continue
        if best.residual <= RESIDUAL:
            return best
        if fresh and not after.residual < GROWN * here.residual:
            break
        here = after if fresh else best
        kept, fresh = bordered(system, limits, here), True
    if best.residual <= RESIDUAL:
        return best
    raise Unreachable(f"Newton did not converge at p = {best.p:.8g}")

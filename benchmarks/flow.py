# notation: tau time; m, R alignments and overlaps.
"""Gradient flow beside the same right-hand side in JAX, under one SciPy solver."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import headflow as hf
from benchmarks import jax_flow, jax_monte_carlo
from benchmarks.jax_lift import Nodes
from benchmarks.problems import Problem
from benchmarks.table import Row, seconds
from benchmarks.timing import interleaved, timings
from numerics.dynamics.integrate import METHODS
from numerics.dynamics.state import Packing, State
from numerics.dynamics.vector_field import VectorField
from numerics.threads import one_thread

THETA = np.array([[1.7, 0.4], [-0.9, 1.1], [0.3, -1.5]])
ODDS = np.array([0.5, 0.2, 0.3])
TOKENS, HEADS = 5, 2
# Heads of norm 0.03: overlaps of 1e-3, alignments of that over sqrt(1000).
START_DIMENSION, START_SIZE = 1000, 0.03
TIMES = np.linspace(16.0, 320.0, 20)
# What the whole curve must reach, and the tolerance of a step for that: leaving the plateau
# multiplies errors by about ten.
ERROR, RTOL = 1e-6, 1e-7
REFERENCE_RTOL = 1e-10
TARGET = 10.0
REPETITIONS = 3
# Share of the tolerance to which our right-hand side is evaluated, as gradient_flow does.
SHARE = 0.1
SAMPLES, SPREAD_SAMPLES = 2**14, 20_000

Rate = Callable[[float, np.ndarray], np.ndarray]


def rows() -> list[Row]:
    with one_thread():
        return _rows()


def _rows() -> list[Row]:
    setting = Setting.of()
    reference = setting.curve(setting.field(REFERENCE_RTOL), REFERENCE_RTOL)
    ours = Side.of(setting, setting.field(RTOL), reference)
    *cheap, safe = jax_flow.LADDER
    safest = Side.by_jax(setting, safe, reference)
    candidates = ((nodes, Side.by_jax(setting, nodes, reference)) for nodes in cheap)
    reached = ((nodes, side) for nodes, side in candidates if side.error <= ERROR)
    nodes, tuned = next(reached, (safe, safest))
    what = f"gradient flow, softmax, H = {HEADS}, tau = 320, curve to {ERROR:g}: JAX with"
    tuned_what = f"{what} the cheapest grid that does ({grid(nodes)})"
    return [
        compared(tuned_what, ours, tuned, REPETITIONS, "at least"),
        compared(f"{what} a safe grid ({grid(safe)})", ours, safest, 1, ""),
        whole_call(setting, reference, tuned),
        against_monte_carlo(setting, reference[len(reference) // 2]),
    ]


def grid(nodes: Nodes) -> str:
    return f"{nodes.lift} x {nodes.outer} x {nodes.inner}"


@dataclass(frozen=True)
class Setting:
    """The problem, where it starts, and how a state is one vector: of m and R - m m^T."""

    risk: hf.PopulationRisk
    packing: Packing

    @classmethod
    def of(cls) -> Setting:
        risk = hf.PopulationRisk("softmax", hf.FiniteSupport(THETA, ODDS), tokens=TOKENS)
        m, R = hf.random_start(HEADS, THETA.shape[1], START_DIMENSION, START_SIZE)
        start = State.of(risk.kernels, THETA.shape[1], m, R)
        return cls(risk, Packing.of(risk.kernels, start))

    def field(self, rtol: float) -> VectorField:
        digits = -float(np.log(SHARE * rtol))
        stream = np.random.SeedSequence(0)
        return VectorField.of(self.risk, self.packing.start, 0.0, 1, digits, stream, grid=True)

    def curve(self, rate: Rate, rtol: float = RTOL) -> np.ndarray:
        """States (T, n) at TIMES, the tolerance of entries tied to the state as in headflow."""
        y, states, before = self.packing.first(), [], 0.0
        atol = self.packing.tolerance(y, rtol)
        solver = METHODS["DOP853"](rate, 0.0, y, TIMES[-1], rtol=rtol, atol=atol)
        while solver.status == "running":
            solver.atol = self.packing.tolerance(solver.y, rtol)
            before = solver.t
            solver.step()
            inside = (before < TIMES) & (solver.t >= TIMES)
            if np.any(inside):
                states.append(solver.dense_output()(TIMES[inside]).T)
        if solver.status == "failed":
            return np.full((TIMES.size, y.size), np.nan)
        return np.concatenate(states)

    def errors(self, states: np.ndarray, reference: np.ndarray) -> np.ndarray:
        return largest_errors(self.order_parameters(states), self.order_parameters(reference))

    def order_parameters(self, states: np.ndarray) -> np.ndarray:
        """m and R of every state, one row each."""
        rows = []
        for state in states:
            m, C, _, _ = self.packing.unpack(state)
            rows.append(np.concatenate([m.ravel(), (m @ m.T + C).ravel()]))
        return np.array(rows)


def largest_errors(found: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Largest error of m and R at every time, relative to the largest of them (T,)."""
    return np.abs(found - true).max(axis=1) / np.abs(true).max(axis=1)


@dataclass(frozen=True)
class Side:
    """One right-hand side under the solver: the whole integration, its errors, its count."""

    call: Callable[[], np.ndarray]
    error: float
    last_error: float
    evaluations: int

    @classmethod
    def of(cls, setting: Setting, rate: Rate, reference: np.ndarray) -> Side:
        count = 0

        def counted(tau: float, y: np.ndarray) -> np.ndarray:
            nonlocal count
            count += 1
            return rate(tau, y)

        # The first integration compiles and is not timed.
        errors = setting.errors(setting.curve(counted), reference)
        return cls(lambda: setting.curve(rate), float(errors.max()), float(errors[-1]), count)

    @classmethod
    def by_jax(cls, setting: Setting, nodes: Nodes, reference: np.ndarray) -> Side:
        rate = jax_flow.right_hand_side(THETA, ODDS, TOKENS, nodes, HEADS)
        return cls.of(setting, rate, reference)

    def told(self, time: float) -> str:
        return (
            f"{seconds(time)} (true error {self.error:.1e}, at the end {self.last_error:.1e}; "
            f"{self.evaluations} evaluations)"
        )


def compared(what: str, ours: Side, theirs: Side, repetitions: int, kind: str) -> Row:
    taken = timings([ours.call, theirs.call], repetitions)
    our_time, their_time = map(statistics.median, taken)
    ratio = their_time / our_time
    left, right = ours.told(our_time), theirs.told(their_time)
    return Row(what, ratio, kind, TARGET, "x", ours=left, theirs=right)


def whole_call(setting: Setting, reference: np.ndarray, theirs: Side) -> Row:
    """The public function with its error, whose ladder has a second and coarser rung."""
    start, flows = setting.packing.start, []

    def call():
        flows.append(hf.gradient_flow(setting.risk, start.m, start.R, TIMES, rtol=RTOL))

    (our_time,), (their_time,) = timings([call, theirs.call], 1)
    flow = flows[0]
    order = [array.values.reshape(TIMES.size, -1) for array in (flow.m, flow.R)]
    error = largest_errors(np.hstack(order), setting.order_parameters(reference)).max()
    return Row(
        "the same: whole call of hf.gradient_flow, which states its error",
        their_time / our_time,
        unit="x",
        ours=f"{seconds(our_time)} (true error {error:.1e}, stated {float(flow.error.max()):.1e})",
        theirs=f"{seconds(their_time)} (no error)",
    )


def against_monte_carlo(setting: Setting, state: np.ndarray) -> Row:
    """One evaluation in the middle of the curve, Monte Carlo scaled to the same accuracy."""
    m, C, _, _ = setting.packing.unpack(state)
    problem = Problem(m, np.linalg.cholesky(m @ m.T + C), THETA, ODDS, TOKENS)
    field = setting.field(RTOL)

    def ours():
        return field(0.0, state)

    def theirs():
        return jax_monte_carlo.value_and_gradient(problem, "softmax", SAMPLES)

    value, (by_m, by_B) = theirs()
    ours()
    our_time, their_time = map(statistics.median, interleaved(ours, theirs))
    _, spread = jax_monte_carlo.standard_deviations(problem, "softmax", SPREAD_SAMPLES)
    scale = max(float(np.abs(part).max()) for part in (value, by_m, by_B))
    scaled = their_time / SAMPLES * (spread / (ERROR * scale)) ** 2
    what = f"one right-hand side at tau = {TIMES[len(TIMES) // 2]:g}: JAX Monte Carlo to {ERROR:g}"
    return Row(what, scaled / our_time, unit="x", ours=seconds(our_time), theirs=seconds(scaled))

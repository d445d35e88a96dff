"""`python -m benchmarks.run`: headflow beside hand-written JAX, one table, one process.

Ours and theirs take turns and each number is a median, so that a slow moment of the machine
touches both. Errors are measured against headflow at a far tighter tolerance; Monte Carlo is
timed at a size that suits the machine and scaled by 1/sqrt(N) from its standard deviation.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Processes first: heavy imports would hide in their memory. See processes.run.
from benchmarks import processes
from benchmarks.table import Row, number, seconds, table
from benchmarks.timing import interleaved, timings

SEED = 0
TOKENS, MANY_TOKENS = 5, 1_000_000
SOFTMAX_RTOL, JOINT_RTOL = 1e-6, 1e-4
# Sizes over which Monte Carlo may choose its cheapest sample.
SIZES = (2**12, 2**14, 2**16)
SPREAD_SIZE = 20_000
MEGABYTE = 2**20
FLOW_RTOL, FLOW_SECONDS = 1e-4, 120.0


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--out", type=Path, help="write the rows and the machine as JSON here")
    chosen = parser.parse_args(arguments)
    start = time.perf_counter()
    rows = [
        *cold_starts(),
        *memory(),
        *large_flow(),
        *speed(),
        *dynamics(),
        *branches(),
        *hessians(),
    ]
    took = time.perf_counter() - start
    print(table(rows))
    missed = [row.what for row in rows if row.met is False]
    targets = sum(row.met is not None for row in rows)
    print(f"\n{targets - len(missed)} of {targets} targets met, in {took:.0f} s.")
    for what in missed:
        print(f"NOT MET: {what}")
    if chosen.out is not None:
        record = {"machine": platform.platform(), "rows": [row.record() for row in rows]}
        chosen.out.write_text(json.dumps(record, indent=1), encoding="utf-8")


def cold_starts() -> list[Row]:
    derived = {name: processes.derivation_seconds(name) for name in ("softmax", "bayes-softmax")}
    slowest = max(derived, key=lambda name: (derived[name] != derived[name], derived[name]))
    stored = processes.stored_seconds("softmax")
    answer = processes.help_seconds()
    return [
        Row(f"derive {slowest} from nothing", derived[slowest], "at most", 10.0, " s"),
        Row("derive softmax from the cache", stored, "at most", 0.1, " s"),
        Row("headflow --help", answer, "at most", 0.3, " s"),
    ]


def memory() -> list[Row]:
    rows = []
    for name, rtol in (("softmax", SOFTMAX_RTOL), ("bayes-softmax", JOINT_RTOL)):
        run = processes.gradient_run(name, heads=8, rtol=rtol, seed=SEED, timeout=45.0)
        ended = "" if run.status == 0 else ", ended before it was done"
        what = f"peak memory, {name} gradient, H = 8"
        note = f"{seconds(run.seconds)}{ended}"
        rows.append(Row(what, run.memory / MEGABYTE, "at most", 1024.0, " MB", ours=note))
    return rows


def large_flow() -> list[Row]:
    """Eight heads from a small random start, by both rungs at once in two processes."""
    run = processes.flow_run(rtol=FLOW_RTOL, timeout=FLOW_SECONDS + 30)
    what = f"gradient flow, H = 8, F = 3, 8 atoms, tau = 200, rtol {FLOW_RTOL:g}, 2 workers"
    if run.status:
        return [Row(what, float("nan"), "at most", FLOW_SECONDS, " s")]
    took, memory, error, largest, evaluations, status = run.last.split(maxsplit=5)
    note = (
        f"largest error {float(error):.1e} of numbers up to {float(largest):.3g}, "
        f"{evaluations} evaluations, {status}"
    )
    return [
        Row(what, float(took), "at most", FLOW_SECONDS, " s", ours=note),
        Row("peak memory of all its processes", float(memory) / MEGABYTE, "at most", 2048.0, " MB"),
    ]


def dynamics() -> list[Row]:
    from benchmarks import flow, online

    return [*flow.rows(), *online.rows()]


def hessians() -> list[Row]:
    from benchmarks import spectrum

    return spectrum.rows()


def branches() -> list[Row]:
    from benchmarks import branches as measured

    return measured.rows()


def speed() -> list[Row]:
    from benchmarks.problems import generic

    problem = generic(SEED, tokens=TOKENS)
    softmax = Side("softmax", problem, SOFTMAX_RTOL, reference_rtol=1e-11)
    joint = Side("bayes-softmax", problem, JOINT_RTOL, reference_rtol=JOINT_RTOL / 20)
    return [
        *against_monte_carlo(softmax, 100_000),
        *against_lift(softmax, 5.0),
        against_length(softmax, generic(SEED, tokens=MANY_TOKENS), 1.2),
        *against_monte_carlo(joint, 1_000),
    ]


class Side:
    """Our side of a comparison: one gradient, its measured error and the reference."""

    def __init__(self, name: str, problem: Any, rtol: float, reference_rtol: float):
        self.name, self.problem, self.rtol = name, problem, rtol
        self.reference = flat_gradient(name, problem, reference_rtol)()
        self.call = flat_gradient(name, problem, rtol)
        self.error = self.error_of(self.call())

    def error_of(self, flat: Any) -> float:
        """Largest error of value and gradient, relative to the largest of them."""
        return float(abs(flat - self.reference).max() / abs(self.reference).max())


def flat_gradient(name: str, problem: Any, rtol: float) -> Callable[[], Any]:
    """A function without arguments: value, dE/dm and dE/dB in one array (R = B B^T)."""
    import headflow as hf

    prior = hf.FiniteSupport(problem.theta, problem.odds)
    risk = hf.PopulationRisk(name, prior, tokens=problem.tokens, rtol=rtol)
    m, R = problem.m, problem.R

    def call():
        with warnings.catch_warnings():
            # A tolerance that is not met shows in the measured error.
            warnings.simplefilter("ignore")
            gradient = risk.gradient(m, R)
        return flatten(gradient.value, (gradient.m, 2 * gradient.R @ problem.B))

    return call


def flatten(value: Any, gradient: Any) -> Any:
    import numpy as np

    return np.concatenate([np.ravel(value), *(np.ravel(part) for part in gradient)])


def against_monte_carlo(ours: Side, target: float) -> list[Row]:
    import numpy as np

    from benchmarks import jax_monte_carlo

    def sampler(size):
        return lambda: jax_monte_carlo.value_and_gradient(ours.problem, ours.name, size)

    samples = {size: sampler(size)() for size in SIZES}
    costs = {size: statistics.median(timings([sampler(size)], 5)[0]) / size for size in SIZES}
    size = min(costs, key=costs.__getitem__)
    our_time, their_time = map(statistics.median, interleaved(ours.call, sampler(size)))
    value_spread, entry_spread = jax_monte_carlo.standard_deviations(
        ours.problem, ours.name, SPREAD_SIZE
    )
    scale = float(abs(ours.reference).max())
    largest = max(SIZES)
    z = (float(samples[largest][0]) - ours.reference[0]) / (value_spread / np.sqrt(largest))
    # The larger of the wanted and our true error is the one that both must reach.
    common = max(ours.rtol, ours.error)

    def scaled(spread, error):
        return their_time / size * (spread / (error * scale)) ** 2

    what = f"{ours.name}, H = {len(ours.problem.m)}, L = {ours.problem.tokens}: JAX Monte Carlo"
    left = f"{seconds(our_time)} (true error {ours.error:.1e})"
    rows = []
    for label, spread, error in (
        (f"value to {common:.1e}", value_spread, common),
        ("gradient to the same", entry_spread, common),
        ("value to our true error", value_spread, ours.error),
    ):
        theirs = float(scaled(spread, error))
        right = f"{seconds(theirs)} (z = {z:+.1f})"
        kind = "at least" if not rows else ""
        rows.append(
            Row(f"{what}, {label}", theirs / our_time, kind, target, "x", ours=left, theirs=right)
        )
    return rows


def against_lift(ours: Side, target: float) -> list[Row]:
    from benchmarks import jax_lift

    sides = ((nodes, jax_lift.prepare(ours.problem, nodes)) for nodes in jax_lift.LADDER)
    errors = [(nodes, call, ours.error_of(flatten(*call()))) for nodes, call in sides]
    # Tuned: the cheapest grid that happens to reach the accuracy on this very problem. Safe: the
    # grid that someone takes who does not know the answer; it reaches far more.
    tuned = next(side for side in errors if side[2] <= ours.rtol)
    rows = []
    for label, (_, call, error), kind in (
        ("grid tuned to this problem", tuned, "at least"),
        ("safe grid", errors[-1], ""),
    ):
        our_time, their_time = map(statistics.median, interleaved(ours.call, call))
        what = f"{ours.name}, H = {len(ours.problem.m)}, L = {ours.problem.tokens}"
        left = f"{seconds(our_time)} (true error {ours.error:.1e})"
        right = f"{seconds(their_time)} (true error {error:.1e})"
        ratio = their_time / our_time
        rows.append(
            Row(
                f"{what}: lift by hand in JAX, {label}",
                ratio,
                kind,
                target,
                "x",
                ours=left,
                theirs=right,
            )
        )
    return rows


def against_length(short: Side, problem: Any, target: float) -> Row:
    long = flat_gradient(short.name, problem, short.rtol)
    long()
    long_time, short_time = map(statistics.median, interleaved(long, short.call))
    what = f"{short.name}: L = {number(problem.tokens)} over L = {short.problem.tokens}"
    return Row(
        what,
        long_time / short_time,
        "at most",
        target,
        "x",
        ours=seconds(long_time),
        theirs=f"{seconds(short_time)} (ours at L = {short.problem.tokens})",
    )


if __name__ == "__main__":
    main()

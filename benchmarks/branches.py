"""A branch of fixed points, and a piece of a phase diagram from which a whole one is estimated."""

from __future__ import annotations

import time

import numpy as np

import headflow as hf
from benchmarks.table import Row, seconds

PRIOR = hf.flipped_spikes([1.5, 1.2], [0.4, 0.3])
POINTS, MINUTE = 50, 60.0
# A piece of PIECE x PIECE places stands for the diagram of WHOLE x WHOLE.
PIECE, WHOLE, WORKERS, DIAGRAM_SECONDS = 5, 20, 2, 600.0
MEANS, STRENGTHS = np.linspace(0.1, 1.3, PIECE), np.linspace(0.6, 2.2, PIECE)


def rows() -> list[Row]:
    return [branch(), diagram()]


def branch() -> Row:
    start = time.perf_counter()
    data = hf.continue_fixed_point("softmax", PRIOR, 5, 2, "strength:1", 0.6, 2.5, points=POINTS)
    took = time.perf_counter() - start
    note = (
        f"{data.sizes['point']} points, {data.sizes.get('event', 0)} events, {data.attrs['status']}"
    )
    what = f"continuation, softmax, H = 2, F = 2, {POINTS} points"
    return Row(what, took, "at most", MINUTE, " s", ours=note)


def diagram() -> Row:
    start = time.perf_counter()
    data = hf.phase_diagram(
        *("softmax", PRIOR, 5, 2, ("mean:1", MEANS), ("strength:1", STRENGTHS)), workers=WORKERS
    )
    took = time.perf_counter() - start
    ratio = (WHOLE / PIECE) ** 2
    note = f"{PIECE} x {PIECE} places in {seconds(took)}, times {ratio:.0f}; {data.attrs['status']}"
    what = f"phase diagram, softmax, H = 2, F = 2, {WHOLE} x {WHOLE}, {WORKERS} workers"
    return Row(what, ratio * took, "at most", DIAGRAM_SECONDS, " s", ours=note)

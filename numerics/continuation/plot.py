# notation: m_h alignments of head h.
"""The bifurcation diagram: branches of fixed points against the parameter, with their events."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from numerics.continuation.dataset import branch_events
from numerics.continuation.event import BRANCH_POINT, FOLD, PITCHFORK, TOUCH, Event
from numerics.plots import COLOURS, STYLE, svg_text

MARKERS = {FOLD: "s", PITCHFORK: "o", BRANCH_POINT: "D", TOUCH: "^"}
STABLE: Any = "-"
UNSTABLE: Any = (0, (4, 2.2))
# Spikes that get a panel of alignments.
SPIKE_PANELS = 3
# The axis of the risk spans so many of its errors at least, and this share of what it shows.
LEAST_SPAN, LEAST_SHARE = 20.0, 1e-3


def bifurcation_figure(branches: list[xr.Dataset]) -> str:
    """Branches from ``continue_fixed_point`` and ``switch`` in one parameter, as SVG text.

    First panel: the population risk above the Bayes risk; then the alignments of all heads with
    each spike, three at most. Solid: no unstable mode, of noise directions neither; dashed: some.
    Markers: events.
    """
    with matplotlib.rc_context(STYLE):
        return svg_text(draw(branches))


def draw(branches: list[xr.Dataset]) -> Figure:
    spikes = min(SPIKE_PANELS, branches[0].sizes["spike"])
    columns = 2 if spikes > 1 else 1 + spikes
    rows = math.ceil((1 + spikes) / columns)
    figure = Figure(figsize=(5.0 * columns, 0.9 + 3.7 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for panel in panels[1 + spikes :]:
        panel.set_visible(False)
    name = branches[0].attrs["parameter"]
    for number, data in enumerate(branches):
        look = {"color": COLOURS[number % len(COLOURS)], "linewidth": 2.0}
        _lines(panels[0], data, data.above_bayes.values[:, None], look)
        for f in range(spikes):
            _lines(panels[1 + f], data, data.m.values[:, :, f], look)
    seen: list[Event] = []
    for number, data in enumerate(branches):
        for event in branch_events(data):
            if any(event.same_as(other) for other in seen):
                continue
            seen.append(event)
            _mark(panels, data, event, spikes, COLOURS[number % len(COLOURS)])
    panels[0].set_ylabel("population risk above the Bayes risk")
    _no_closer_than_the_error(panels[0], branches)
    for f in range(spikes):
        panels[1 + f].set_ylabel(f"alignments of the heads with spike {f + 1}")
    for panel in panels[: 1 + spikes][-columns:]:
        panel.set_xlabel(f"parameter {name}")
        panel.tick_params(labelbottom=True)
    handles = _legend(branches, {event.kind for event in seen})
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 3 * columns))
    return figure


def _no_closer_than_the_error(panel: Any, branches: list[xr.Dataset]) -> None:
    """What the errors of the risk do not resolve is a flat line."""
    error = max(float(data.above_bayes_error.max()) for data in branches)
    low, high = panel.get_ylim()
    least = max(LEAST_SPAN * error, LEAST_SHARE * max(abs(low), abs(high)))
    if high - low < least:
        panel.set_ylim((low + high - least) / 2, (low + high + least) / 2)


def _lines(panel: Any, data: xr.Dataset, values: np.ndarray, look: dict[str, Any]) -> None:
    """A curve for each column, its style by the index at both ends of each piece."""
    p = data.parameter.values
    unstable = (data["index"].values > 0) | (data.noise_index.values > 0)
    # A piece is solid where neither of its ends is unstable.
    pieces = unstable[:-1] | unstable[1:]
    edges = np.flatnonzero(np.diff(pieces)) + 1
    for start, end in zip([0, *edges], [*edges, len(pieces)], strict=True):
        style = UNSTABLE if pieces[start] else STABLE
        panel.plot(p[start : end + 1], values[start : end + 1], linestyle=style, **look)


def _mark(panels: Any, data: xr.Dataset, event: Any, spikes: int, colour: str) -> None:
    """The event on every panel; its risk is between those of the points about it."""
    k = event.x
    look = {
        "marker": MARKERS[event.kind],
        "markersize": 7,
        "markerfacecolor": "white",
        "markeredgecolor": colour,
        "markeredgewidth": 1.6,
        "linestyle": "none",
        "zorder": 4,
    }
    apart = np.abs(data.m.values - k[:, : data.sizes["spike"]]).max(axis=(1, 2))
    apart = apart + np.abs(data.parameter.values - event.parameter) / np.ptp(data.parameter.values)
    near = np.argsort(apart)[:2]
    weights = 1 / np.maximum(apart[near], 1e-12)
    risk = float(data.above_bayes.values[near] @ weights / weights.sum())
    panels[0].plot([event.parameter], [risk], **look)
    for f in range(spikes):
        values = np.unique(np.round(k[:, f], 9))
        panels[1 + f].plot(np.full(values.size, event.parameter), values, **look)


def _legend(branches: list[xr.Dataset], kinds: set[str]) -> list[Line2D]:
    entries = [
        Line2D([], [], color="0.3", linewidth=2, linestyle=STABLE, label="stable"),
        Line2D([], [], color="0.3", linewidth=2, linestyle=UNSTABLE, label="unstable"),
    ]
    for number in range(len(branches)) if len(branches) > 1 else []:
        label = "main branch" if number == 0 else f"side branch {number}"
        colour = COLOURS[number % len(COLOURS)]
        entries.append(Line2D([], [], color=colour, linewidth=2, label=label))
    for kind in sorted(kinds):
        entries.append(
            Line2D(
                [],
                [],
                linestyle="none",
                marker=MARKERS[kind],
                markersize=7,
                label=kind,
                markerfacecolor="white",
                markeredgecolor="0.3",
                markeredgewidth=1.6,
            )
        )
    return entries

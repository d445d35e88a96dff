# notation: tau flow time = number of SGD steps * learning_rate / D; m_h alignments of head h.
"""The figure of learning: risk and alignments against flow time, theory and simulation."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from numerics.directions import SAME
from numerics.dynamics.averages import along
from numerics.dynamics.phases import Phases, alignments
from numerics.dynamics.plateaus import times
from numerics.errors import InputError
from numerics.plots import COLOURS, STYLE, STYLES, band, svg_text
from numerics.priors import Prior

MARKERS = ("o", "s", "^", "D", "v", "P")
AXIS_PANELS = 3
# Means over runs are drawn at some of the times, so that error bars can be told apart.
POINTS = 12
RISK = "#444444"
DECADE = 10.0
# A risk that varies by more than this factor is drawn on a logarithmic axis.
FAR = 20.0
SHADE = "0.9"


def dynamics_figure(
    flow: xr.Dataset, comparison: xr.Dataset | None, prior: Prior, bayes: float, phases: Phases
) -> str:
    """Risk and alignments along a gradient flow, with SGD where it was compared, as SVG text.

    First panel: the population risk with its error band, and the Bayes risk. Then the alignment
    of each head along the mean direction (if there is one) and along the singular directions,
    three panels at most. flow: m, risk, risk_error over time, head, spike. comparison: from
    ``averages.compare``; its means over runs are drawn at some twelve times, with one standard
    error, times of different heads shifted. Shaded: plateaus; dashed upright: the feature time;
    hatched: excursions. Time is tau, on a logarithmic axis, so that tau = 0 is not shown.

    Raises InputError when flow, comparison and prior do not fit together.
    """
    with matplotlib.rc_context(STYLE):
        return svg_text(_draw(flow, comparison, prior, bayes, phases))


def _draw(
    flow: xr.Dataset, comparison: xr.Dataset | None, prior: Prior, bayes: float, phases: Phases
) -> Figure:
    tau = times(flow["time"].values)
    m = alignments(flow["m"].transpose("time", "head", "spike").values, tau, prior.spikes)
    if comparison is not None and comparison["m_mean"].shape[1:] != m.shape[1:]:
        raise InputError(
            f"comparison: expected heads and spikes {m.shape[1:]}, got "
            f"{comparison['m_mean'].shape[1:]}"
        )
    if len(phases.feature_times) != prior.spikes:
        raise InputError(f"phases: expected those of a prior with {prior.spikes} spikes")
    axes = _axes(phases)
    rows = 1 if len(axes) < AXIS_PANELS else 2
    columns = math.ceil((1 + len(axes)) / rows)
    width = 4.6 if columns < 3 else 4.0
    figure = Figure(figsize=(width * columns, 0.9 + 3.7 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    shown = tau > 0
    for panel in panels:
        # A logarithmic axis of less than a decade would have hardly a label.
        scale = "log" if tau[-1] > DECADE * tau[shown][0] else "linear"
        panel.set(xscale=scale, xlim=(tau[shown][0], tau[-1]))
        if scale == "log":
            panel.xaxis.set_minor_formatter(NullFormatter())
        for one in phases.plateaus:
            panel.axvspan(*_span(one.start, one.end, one.at), color=SHADE, linewidth=0, zorder=0)
    for panel in panels[-columns:]:
        panel.set_xlabel(r"flow time $\tau$ = steps × learning rate / D")
    risk_panel(panels[0], flow, comparison, bayes, phases)
    for panel, (label, axis, direction) in zip(panels[1:], axes, strict=True):
        _axis_panel(panel, tau[shown], m[shown] @ axis, comparison, axis)
        panel.set_ylabel(label)
        if direction is not None:
            _mark_specialization(panel, direction, phases)
    handles = _legend(m.shape[1], comparison)
    # Two entries a row fit on a narrow screen as well.
    figure.legend(handles=handles, loc="outside upper center", ncols=2, fontsize=10)
    return figure


def _axes(phases: Phases) -> list[tuple[str, np.ndarray, int | None]]:
    """Label, unit vector and number of the singular direction of each panel.

    A singular direction along the mean is one panel for both.
    """
    found: list[tuple[str, np.ndarray, int | None]] = []
    basis = phases.directions
    for f, (axis, variance) in enumerate(zip(basis.singular, basis.variances, strict=True)):
        both = basis.mean is not None and abs(basis.mean @ axis) > 1 - SAME
        name = f"direction {f + 1}, the mean's" if both else f"direction {f + 1}"
        shared = ", shared" if basis.degenerate[f] else ""
        found.append((f"alignment along {name}\n(variance {variance:.3g}{shared})", axis, f))
    if basis.mean is not None and np.max(np.abs(basis.singular @ basis.mean)) <= 1 - SAME:
        found.insert(0, ("alignment along the mean", basis.mean, None))
    return found[:AXIS_PANELS]


def risk_panel(
    panel: Any, flow: xr.Dataset, comparison: xr.Dataset | None, bayes: float, phases: Phases
) -> None:
    """Population risk against flow time, simulation beside it, and the Bayes risk."""
    data = flow.isel(time=flow["time"].values > 0)
    tau, risk = data["time"].values, data["risk"].values
    panel.plot(tau, risk, color=RISK, linewidth=2.2)
    if risk.max() > FAR * max(bayes, risk.min()):
        panel.set_yscale("log")
    band(panel, tau, risk, data["risk_error"].values, RISK)
    if comparison is not None:
        mean, error = comparison["risk_mean"].values, comparison["risk_standard_error"].values
        at = drawn_at(comparison)
        simulated(panel, comparison["time"].values[at], mean[at], error[at], color=RISK, marker="o")
    panel.axhline(bayes, color="black", linewidth=1)
    # Risks lie above the Bayes risk and begin high: the lower left corner is free.
    panel.annotate(
        f"Bayes risk {bayes:.3f}",
        (0.02, bayes),
        (0, 3),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        fontsize=9,
    )
    panel.set_ylabel("population risk E")
    for one in phases.plateaus:
        start, end = _span(one.start, one.end, one.at)
        _above(panel, math.sqrt(start * end), "plateau")


def _axis_panel(
    panel: Any,
    tau: np.ndarray,
    aligned: np.ndarray,
    comparison: xr.Dataset | None,
    axis: np.ndarray,
) -> None:
    heads = aligned.shape[1]
    for h in range(heads):
        look = look_of(h)
        panel.plot(
            tau, aligned[:, h], color=look["color"], linestyle=look["linestyle"], linewidth=2
        )
        if comparison is not None:
            mean, error = (part[:, h] for part in along(comparison, axis))
            at = drawn_at(comparison, h / heads)
            tau_at, marked = (
                comparison["time"].values[at],
                {k: look[k] for k in ("color", "marker")},
            )
            simulated(panel, tau_at, mean[at], error[at], **marked)


def drawn_at(comparison: xr.Dataset, shift: float = 0.0) -> np.ndarray:
    """Indices of the recorded times next to a logarithmic grid, moved by a share of its step."""
    tau = comparison["time"].values
    first = int(np.argmax(tau > 0))
    logs = np.log(tau[first:])
    grid = np.linspace(logs[0], logs[-1], POINTS + 1)
    step = grid[1] - grid[0]
    near = np.abs(logs[:, None] - grid[:-1] - (0.2 + 0.6 * shift) * step).argmin(0)
    return first + np.unique(near)


def simulated(panel: Any, x: Any, y: Any, y_error: Any, x_error: Any = None, **look: Any) -> None:
    """Means over runs as open marks with error bars."""
    panel.errorbar(
        x,
        y,
        y_error,
        x_error,
        linestyle="none",
        markersize=4.5,
        markerfacecolor="white",
        capsize=2,
        linewidth=1.2,
        zorder=3,
        **look,
    )


def _mark_specialization(panel: Any, direction: int, phases: Phases) -> None:
    when = phases.feature_times[direction]
    if math.isfinite(when):
        panel.axvline(when, color="0.35", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        _above(panel, when, "half spread")
    here = [one for one in phases.excursions if one.direction == direction]
    for row, one in enumerate(here, start=1):
        panel.axvspan(
            one.left_at, one.joined_at, facecolor="none", edgecolor="0.65", hatch="///", zorder=0
        )
        middle = math.sqrt(one.left_at * one.joined_at)
        _above(panel, middle, f"head {one.head + 1} moves over", row)


def _span(start: float, end: float, at: float) -> tuple[float, float]:
    """Start and end of a plateau, its slowest time standing for one that is not known."""
    return (start if start > 0 else at, end if math.isfinite(end) else at)


def _above(panel: Any, x: float, text: str, row: int = 0) -> None:
    """A small label above the frame, where no data are; none for a time that is not shown."""
    first, last = panel.get_xlim()
    if not first <= x <= last:
        return
    panel.annotate(
        text,
        (x, 1),
        (0, 2 + 11 * row),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="center",
        fontsize=8.5,
        color="0.25",
    )


def look_of(head: int) -> dict[str, Any]:
    """Colour, line and marker of a head; the line shifts when the colours come round again."""
    turn = head // len(COLOURS)
    return {
        "color": COLOURS[head % len(COLOURS)],
        "linestyle": STYLES[(head + turn) % len(STYLES)],
        "marker": MARKERS[(head + 2 * turn) % len(MARKERS)],
    }


def _legend(heads: int, comparison: xr.Dataset | None) -> list[Line2D]:
    marker: dict[str, Any] = (
        {} if comparison is None else {"markersize": 4.5, "markerfacecolor": "white"}
    )
    entries = []
    for h in range(heads):
        look = look_of(h)
        if comparison is None:
            del look["marker"]
        entries.append(Line2D([], [], label=f"head {h + 1}", linewidth=2, **look, **marker))
    entries.append(Line2D([], [], color=RISK, linewidth=2.2, label="theory"))
    if comparison is not None:
        runs = int(comparison["runs"].max())
        label = f"SGD: mean of {runs} runs, standard error" if runs > 1 else "SGD: one run"
        entries.append(
            Line2D([], [], color=RISK, marker="o", linestyle="none", label=label, **marker)
        )
    return entries

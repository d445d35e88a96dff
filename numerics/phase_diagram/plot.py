"""The figure of a phase diagram: the kind of the stable state, and the risk above Bayes."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from numerics.phase_diagram.states import NAMES, NOT_FOUND
from numerics.plots import STYLE, svg_text

# Colours that everybody can tell apart, and their lightness falls from one to the next, so that
# grey print tells them apart, too; what was not found is white and crossed out.
COLOURS = ("#FFFFFF", "#F0E442", "#56B4E9", "#0A4D8C")
INK = ("black", "black", "black", "white")
# Grids with more cells a side carry no numbers.
NUMBERED = 14


def phase_figure(data: xr.Dataset) -> str:
    """State (left) and risk above the Bayes risk (right) over both parameters, as SVG text.

    The number in a cell on the left is the index of the unspecialized point, on grids of up to 14
    cells a side.
    """
    with matplotlib.rc_context(STYLE):
        return svg_text(draw(data))


def draw(data: xr.Dataset) -> Figure:
    figure = Figure(figsize=(11.0, 5.0), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    x, y = (data[dim].values for dim in ("first", "second"))
    edges = _edges(x), _edges(y)
    states = data.state.values.T
    left.pcolormesh(
        *edges,
        states,
        cmap=ListedColormap(COLOURS),
        norm=BoundaryNorm(np.arange(len(COLOURS) + 1) - 0.5, len(COLOURS)),
        edgecolors="0.75",
        linewidth=0.4,
    )
    above = data.above_bayes.values.T
    shown = right.pcolormesh(*edges, np.ma.masked_invalid(above), cmap="cividis_r", vmin=0.0)
    figure.colorbar(shown, ax=right, label="population risk above the Bayes risk")
    for panel in (left, right):
        _cross_out(panel, edges, states)
        panel.set_xlabel(data["first"].attrs["long_name"])
        panel.grid(visible=False)
    left.set_ylabel(data["second"].attrs["long_name"])
    if max(x.size, y.size) <= NUMBERED:
        _numbers(left, x, y, states, data.unspecialized_index.values.T)
        left.set_title("best stable state (number: index of the\nunspecialized point)", fontsize=11)
    else:
        left.set_title("best stable state", fontsize=11)
    right.set_title("risk of that state", fontsize=11)
    there = [code for code in range(len(NAMES)) if np.any(states == code)]
    handles = [
        Patch(
            facecolor=COLOURS[code],
            edgecolor="0.4",
            label=NAMES[code],
            hatch="xxx" if code == NOT_FOUND else None,
        )
        for code in there
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _edges(values: np.ndarray) -> np.ndarray:
    """Borders of the cells about increasing values."""
    if values.size == 1:
        return values[0] + np.array([-0.5, 0.5])
    middle = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])


def _cross_out(panel: Any, edges: tuple[np.ndarray, np.ndarray], states: np.ndarray) -> None:
    (xs, ys) = edges
    for j, i in np.argwhere(states == NOT_FOUND):
        panel.fill_between(
            xs[i : i + 2],
            ys[j],
            ys[j + 1],
            facecolor="white",
            edgecolor="0.5",
            hatch="xxx",
            linewidth=0,
        )


def _numbers(panel: Any, x: np.ndarray, y: np.ndarray, states: Any, index: Any) -> None:
    for j, i in np.ndindex(*states.shape):
        if index[j, i] >= 0:
            panel.text(
                x[i],
                y[j],
                str(index[j, i]),
                ha="center",
                va="center",
                fontsize=9,
                color=INK[states[j, i]],
            )

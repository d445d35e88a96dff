"""Figures, as SVG text: one look for all of them."""

from __future__ import annotations

import io
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

# Okabe and Ito's colours can be told apart by everybody; line styles tell them apart in print.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7")
STYLES = ("-", "--", "-.", (0, (2, 1)), (0, (5, 1, 1, 1, 1, 1)), "-")
POINTS_PER_INCH = 72.0
# Room around a part of a figure, in points.
MARGIN = 3.0
STYLE: dict[Any, Any] = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.fonttype": "path",
    # The same picture gives the same text, whatever the run.
    "svg.hashsalt": "headflow",
}


def _figure(width: float, height: float, columns: int = 1) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, columns)


def svg_text(figure: Figure, description: str = "") -> str:
    """The figure as SVG; a description, if there is one, stands in its metadata.

    data-parts of the svg element are the boxes "x y width height" of the legend and of each column
    of panels, so that a page can show them under one another where there is no room.
    """
    text = io.StringIO()
    metadata = {"Date": None, **({"Description": description} if description else {})}
    figure.savefig(text, format="svg", metadata=metadata)
    svg = text.getvalue()
    parts = ";".join(" ".join(f"{one:.1f}" for one in box) for box in _parts(figure))
    return svg[svg.index("<svg") :].replace("<svg", f'<svg data-parts="{parts}"', 1)


def _parts(figure: Figure) -> list[tuple[float, float, float, float]]:
    """Legends, then columns of panels: left, top, width and height in points."""
    columns: dict[int, list[Bbox]] = {}
    for axes in figure.axes:
        place, box = axes.get_subplotspec(), axes.get_tightbbox()
        if place is not None and box is not None:
            columns.setdefault(place.colspan.start, []).append(box)
    boxes = [legend.get_window_extent() for legend in figure.legends]
    boxes += [Bbox.union(columns[one]) for one in sorted(columns)]
    scale, height = POINTS_PER_INCH / figure.dpi, figure.bbox.height
    return [
        (
            scale * box.x0 - MARGIN,
            scale * (height - box.y1) - MARGIN,
            scale * box.width + 2 * MARGIN,
            scale * box.height + 2 * MARGIN,
        )
        for box in boxes
    ]


def risk_figure(data: xr.Dataset) -> str:
    """Risk along the ray to the atoms, and at the atoms against the sequence length."""
    with matplotlib.rc_context(STYLE):
        figure, (left, right) = _figure(10.5, 4.4, columns=2)
        bayes = float(data.bayes_risk)
        for i, name in enumerate(data.activation.values):
            one = data.sel(activation=name)
            look = {"color": COLOURS[i], "linestyle": STYLES[i], "linewidth": 2.2}
            left.plot(data.scale, one.risk_on_ray, label=str(name), **look)
            right.plot(data.length, one.risk_by_length, marker="o", markersize=4, **look)
            band(left, data.scale, one.risk_on_ray, one.error_on_ray, COLOURS[i])
            band(right, data.length, one.risk_by_length, one.error_by_length, COLOURS[i])
        left.axhline(bayes, color="black", linewidth=1, zorder=1, label="Bayes risk")
        right.plot(data.length, data.bayes_by_length, color="black", linewidth=1, zorder=1)
        left.set(xlabel="scale of the heads (1: the atoms)", ylabel="population risk E")
        right.set(
            xlabel="sequence length L, heads at the atoms", ylabel="population risk E", xscale="log"
        )
        right.set_xticks(data.length.values, [str(n) for n in data.length.values])
        right.minorticks_off()
        top = float(max(data.risk_on_ray.max(), 1.0))
        left.set_ylim(0, 1.05 * top)
        right.set_ylim(bottom=0)
        figure.legend(
            *left.get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=10
        )
        return svg_text(figure)


def band(axes: Any, x: Any, y: Any, error: Any, colour: str) -> None:
    """The stated error, where it is wide enough to be seen."""
    axes.fill_between(x, y - error, y + error, color=colour, alpha=0.3, linewidth=0)


def z_score_figure(z: dict[str, np.ndarray], bound: float) -> str:
    """All z-scores of theory against simulation, one row an activation, with their bound."""
    with matplotlib.rc_context(STYLE):
        figure, axes = _figure(6.4, 0.55 * len(z) + 1.2)
        for row, (_, values) in enumerate(z.items()):
            spread = np.linspace(-0.22, 0.22, max(2, values.size))[: values.size]
            axes.plot(
                values,
                row + spread,
                "o",
                color=COLOURS[row % len(COLOURS)],
                markersize=4.5,
                alpha=0.85,
            )
        limit = 1.15 * max(bound, *(float(np.max(np.abs(values))) for values in z.values()))
        for end in (-bound, bound):
            axes.axvline(end, color="black", linewidth=1, linestyle="--")
        axes.axvline(0, color="black", linewidth=0.6)
        axes.set_yticks(range(len(z)), list(z))
        axes.set(xlim=(-limit, limit), ylim=(len(z) - 0.5, -0.5))
        axes.set_xlabel("z-score of theory against simulation (dashed: bound)")
        axes.grid(axis="y", visible=False)
        return svg_text(figure)

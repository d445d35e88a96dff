"""Figures, as SVG text: one look for all of them."""

from __future__ import annotations

import io
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

# Okabe and Ito's colours can be told apart by everybody; line styles tell them apart in print.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7")
STYLES = ("-", "--", "-.", (0, (2, 1)), (0, (5, 1, 1, 1, 1, 1)), "-")
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


def svg_text(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


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
            *left.get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=10
        )
        return svg_text(figure)


def band(axes: Any, x: Any, y: Any, error: Any, colour: str) -> None:
    """The stated error, where it is wide enough to be seen."""
    axes.fill_between(x, y - error, y + error, color=colour, alpha=0.3, linewidth=0)


def z_score_figure(z: dict[str, np.ndarray], bound: float) -> str:
    """All z-scores of theory against simulation, one row an activation, with their bound."""
    with matplotlib.rc_context(STYLE):
        figure, axes = _figure(10.5, 0.55 * len(z) + 1.2)
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

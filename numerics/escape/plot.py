# notation: tau = steps * learning rate / D; lambda rate of the fastest unstable modes.
"""The figure of the escape law: escape times against the dimension, three ways."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from numerics.plots import COLOURS, STYLE, svg_text

# Part of a decade by which single runs are spread about their dimension.
SPREAD = 0.06


def escape_figure(data: xr.Dataset) -> str:
    """Escape times from ``escape_times`` against ln D as SVG text.

    Line: the linear law of the spectrum; squares: gradient flow from the median start; circles
    with 95% intervals: medians of SGD runs; small dots: single runs, crosses where censored.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.2, 5.0), layout="constrained")
        axes = figure.subplots()
        D = data.dimension.values.astype(float)
        axes.set(
            xscale="log",
            xlabel="token dimension D",
            ylabel=r"escape time $\tau$ = steps × learning rate / D",
        )
        if "sgd" in data:
            _runs(axes, D, data)
        law = rf"linear law, slope $1/(2\lambda)$ = {data.attrs['slope']:.3g}"
        axes.plot(D, data.predicted, color="black", linewidth=1.6, label=law)
        axes.errorbar(
            D,
            data.flow,
            data.flow_error,
            color=COLOURS[1],
            marker="s",
            markersize=9,
            markerfacecolor="white",
            linestyle="none",
            label=f"gradient flow, slope {data.attrs['flow_slope']:.3g}",
        )
        axes.set_xticks(D, _labels(D))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlim(D[0] / 1.5, D[-1] * 1.5)
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside upper center", ncols=1, fontsize=10)
        return svg_text(figure)


def _runs(axes: Any, D: np.ndarray, data: xr.Dataset) -> None:
    shift = 10 ** (SPREAD * np.linspace(-1, 1, data.sizes["seed"]))
    x = D[:, None] * shift
    escaped = ~data.censored.values
    times = data.time.values
    look = {"linestyle": "none", "color": "0.55", "alpha": 0.45, "zorder": 1}
    axes.plot(x[escaped], times[escaped], marker=".", markersize=3.5, label="one run", **look)
    if not escaped.all():
        axes.plot(x[~escaped], times[~escaped], marker="x", markersize=5, label="censored", **look)
    low, median, high = (data[name].values for name in ("sgd_low", "sgd", "sgd_high"))
    interval = [data.attrs[f"sgd_slope{end}"] for end in ("", "_low", "_high")]
    axes.errorbar(
        D,
        median,
        np.where(np.isfinite([low, high]), np.abs([median - low, high - median]), 0.0),
        color=COLOURS[0],
        marker="o",
        markersize=6,
        capsize=4,
        linestyle="none",
        linewidth=1.6,
        zorder=4,
        label="SGD median, slope {:.3g} (95%: {:.3g} to {:.3g})".format(*interval),
    )


def _labels(D: np.ndarray) -> list[str]:
    """Powers of ten as such where there is nothing else."""
    exponents = np.log10(D)
    if np.all(np.abs(exponents - exponents.round()) < 1e-9):
        return [f"$10^{{{exponent:.0f}}}$" for exponent in exponents]
    return [f"{one:,.0f}".replace(",", " ") for one in D]

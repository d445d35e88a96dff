"""The figure of pruning: the population risk against the number of heads removed."""

from __future__ import annotations

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from numerics.plots import COLOURS, STYLE, svg_text

# Share of the distance of two counts by which the risks of single subsets are spread about theirs.
SPREAD = 0.12


def pruning_figure(data: xr.Dataset) -> str:
    """Risk against the number of heads removed as SVG text.

    Line: mean over subsets, with its standard error where subsets were drawn; band: one standard
    deviation over subsets about it; dots: single subsets. Horizontal: all heads, and the Bayes
    risk, which ``data``, of ``prune``, has as the attribute "bayes_risk".
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.4, 4.8), layout="constrained")
        axes = figure.subplots()
        removed, mean = data["count"].values, data.risk_mean.values
        spread, error = data.spread.values, data.standard_error.values
        width = np.linspace(-SPREAD, SPREAD, max(2, data.sizes["subset"]))
        for i, n in enumerate(removed):
            risks = data.risk.values[i]
            risks = risks[np.isfinite(risks)]
            offset = width[: risks.size] - width[: risks.size].mean()
            axes.plot(
                n + offset,
                risks,
                marker=".",
                markersize=4,
                linestyle="none",
                color="0.45",
                alpha=0.6,
                label="one subset" if i == 0 else None,
            )
        axes.fill_between(
            removed,
            mean - spread,
            mean + spread,
            color=COLOURS[0],
            alpha=0.2,
            linewidth=0,
            label="± standard deviation over subsets",
        )
        axes.errorbar(
            removed,
            mean,
            error if np.any(error > 0) else None,
            color=COLOURS[0],
            marker="o",
            markersize=6,
            capsize=4,
            linewidth=1.8,
            label=f"mean over subsets, {data.attrs['convention']}",
        )
        whole = data.attrs["risk_all_heads"]
        axes.axhline(whole, color=COLOURS[3], linestyle="--", linewidth=1.2, label="all heads")
        axes.axhline(data.attrs["bayes_risk"], color="black", linewidth=1, label="Bayes risk")
        axes.set(xlabel="number of heads removed", ylabel="population risk E")
        axes.set_xticks(removed)
        axes.set_xlim(removed[0] - 0.4, removed[-1] + 0.4)
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside upper center", ncols=3, fontsize=10)
        return svg_text(figure)

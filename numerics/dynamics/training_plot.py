# notation: tau = steps * learning rate / D; m_h alignments of head h; theta_s atoms.
"""Training at a glance: the risk in time, and the heads in the plane of two spikes."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from numerics.dynamics.phases import Phases
from numerics.dynamics.plot import RISK, drawn_at, look_of, risk_panel, simulated
from numerics.errors import InputError
from numerics.plots import STYLE, svg_text
from numerics.priors import FiniteSupport


def training_figure(
    theory: xr.Dataset,
    comparison: xr.Dataset,
    prior: FiniteSupport,
    bayes: float,
    phases: Phases,
    description: str = "",
) -> str:
    """Risk against flow time beside the paths of the heads among the atoms, as SVG text.

    theory: m, risk, risk_error over time, head and spike, with two spikes. comparison: from
    ``averages.compare``; its means over runs are drawn with one standard error in both panels, at
    the same times. Crosses: the atoms of the prior, their area in proportion to the odds; plus:
    their mean. Head h ends at its number. description goes into the SVG file.

    Raises InputError unless there are two spikes.
    """
    if prior.spikes != 2:
        raise InputError(f"prior: a plane of spikes needs 2 of them, got {prior.spikes}")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 4.7), layout="constrained")
        left, right = figure.subplots(1, 2)
        tau = theory.time.values
        left.set(xscale="log", xlim=(tau[tau > 0][0], tau[-1]))
        left.set_xlabel(r"flow time $\tau$ = steps × learning rate / D")
        risk_panel(left, theory, comparison, bayes, phases)
        # The label of the Bayes risk needs room below the curve.
        left.set_ylim(bottom=bayes - 0.15 * (float(theory.risk.max()) - bayes))
        for one in phases.plateaus:
            left.axvspan(one.start, one.end, color="0.9", linewidth=0, zorder=0)
        left.set_title("risk: a descent, a plateau, a descent", fontsize=11, pad=14)
        right.set_title("heads: first to the mean, then apart", fontsize=11, pad=14)
        _plane(right, theory, comparison, prior)
        figure.legend(
            handles=_legend(theory, comparison), loc="outside upper center", ncols=3, fontsize=10.5
        )
        return svg_text(figure, description)


def _plane(panel: Any, theory: xr.Dataset, comparison: xr.Dataset, prior: FiniteSupport) -> None:
    """Paths of the heads, and where the atoms are."""
    at = drawn_at(comparison)
    m = theory.m.transpose("time", "head", "spike").values
    for h in range(m.shape[1]):
        look = look_of(h)
        marker = look.pop("marker")
        panel.plot(*m[:, h].T, linewidth=2.2, **look)
        mean, error = (comparison[name].values[at, h] for name in ("m_mean", "m_standard_error"))
        simulated(
            panel,
            mean[:, 0],
            mean[:, 1],
            error[:, 1],
            error[:, 0],
            color=look["color"],
            marker=marker,
        )
        end = m[-1, h]
        panel.annotate(
            f"head {h + 1}",
            end,
            9 * np.sign(end),
            textcoords="offset points",
            ha="left" if end[0] > 0 else "right",
            va="center",
        )
    for s, (atom, odds) in enumerate(zip(prior.support, prior.probabilities, strict=True)):
        panel.scatter(*atom, s=500 * odds, marker="x", color="black", linewidth=2.2, zorder=4)
        panel.annotate(
            rf"$\theta_{s + 1}$, odds {odds:g}",
            atom,
            (0, 12),
            textcoords="offset points",
            ha="center",
        )
    panel.plot(*prior.mean, marker="P", markersize=9, color="black", zorder=4)
    panel.annotate("mean", prior.mean, (10, -4), textcoords="offset points", ha="left", va="top")
    panel.set(
        xlabel="alignment with spike 1",
        ylabel="alignment with spike 2",
        aspect="equal",
    )
    panel.margins(0.22)


def _legend(theory: xr.Dataset, comparison: xr.Dataset) -> list[Line2D]:
    runs = int(comparison.runs.max())
    points: dict[str, Any] = {"markersize": 5, "markerfacecolor": "white", "linestyle": "none"}
    return [
        Line2D([], [], color=RISK, linewidth=2.2, label="theory, D → ∞"),
        Line2D([], [], color=RISK, marker="o", label=f"SGD, mean of {runs} runs", **points),
        Line2D(
            [],
            [],
            color="black",
            marker="x",
            markersize=8,
            markeredgewidth=2.2,
            linestyle="none",
            label="values of the signal θ",
        ),
    ]

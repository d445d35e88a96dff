# notation: tau flow time.
"""The figure of the excursions: what became of each start, and one start in which a head moves."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from numerics.plots import COLOURS, STYLE, STYLES, svg_text
from numerics.statistics import share_interval

BAYES = "bayes-softmax"
# By whether every value of theta has a head at the end, and whether a head has moved.
OUTCOMES = {
    (True, True): "every value has a head, after an excursion",
    (True, False): "every value has a head, no excursion",
    (False, True): "a value has no head, after an excursion",
    (False, False): "a value has no head, no excursion",
}


def moved(one: xr.Dataset) -> np.ndarray:
    """Whether a head made an excursion, for each start."""
    return np.isfinite(one.joined_at.values)


def complete(one: xr.Dataset) -> np.ndarray:
    """Whether every value has a head at the end, for each start."""
    return np.asarray(one.taken_last.values == one.sizes["atom"])


def draw(data: xr.Dataset) -> str:
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 5.4), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.3])
        _outcomes(left, data)
        _example(right, data.sel(activation=BAYES))
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=2)
        return svg_text(figure)


def _outcomes(panel: Any, data: xr.Dataset) -> None:
    """A bar for each activation, excursions below, with the interval of their share."""
    names = [str(name) for name in data.activation.values]
    below: np.ndarray = np.zeros(len(names))
    looks = zip(COLOURS, ("//", "", "xx", ".."), strict=False)
    order = sorted(OUTCOMES, key=lambda outcome: not outcome[1])
    for outcome, (colour, hatch) in zip(order, looks, strict=True):
        share = np.array(
            [
                np.mean((complete(one) == outcome[0]) & (moved(one) == outcome[1]))
                for one in (data.sel(activation=name) for name in names)
            ]
        )
        if not share.any():
            continue
        panel.bar(
            names,
            share,
            0.55,
            bottom=below,
            color=colour,
            alpha=0.75,
            hatch=hatch,
            edgecolor="black",
            label=OUTCOMES[outcome],
        )
        below = below + share
    for i, name in enumerate(names):
        each = moved(data.sel(activation=name))
        middle, low, high = share_interval(int(each.sum()), each.size)
        panel.errorbar(i, middle, [[middle - low], [high - middle]], color="black", capsize=6)
    panel.set(ylabel="share of starts", ylim=(0, 1), xlim=(-0.6, len(names) - 0.4))
    panel.grid(axis="x", visible=False)


def _example(panel: Any, bayes: xr.Dataset) -> None:
    """The first start in which a head moves to a value that had none."""
    panel.set(xlabel=r"flow time $\tau$ = steps × learning rate / D", xscale="log")
    found = np.flatnonzero(moved(bayes) & (bayes.taken_last > bayes.taken_first).values)
    if found.size == 0:
        return
    one = bayes.isel(start=int(found[0]))
    mode, mover = int(one.direction), int(one.mover)
    along = (one.m @ one.singular.isel(mode=mode)).transpose("head", "time").values
    tau = one.time.values
    for h, line in enumerate(along):
        # The start, at 0, has no place on a logarithmic axis.
        panel.plot(
            tau[1:],
            line[1:],
            color=COLOURS[h],
            linestyle=STYLES[h],
            linewidth=3.5 if h == mover else 1.6,
            label=f"head {h + 1}",
        )
    marks = {"leaves its group": (one.left_at, "o"), "joins the other": (one.joined_at, "s")}
    for label, (at, marker) in marks.items():
        height = float(np.interp(float(at), tau, along[mover]))
        panel.plot(at, height, marker, color="black", markersize=9, fillstyle="none", label=label)
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize=10)
    panel.set(
        ylabel=f"alignment of each head along direction {mode + 1}",
        title=f"{BAYES}, start {int(one.start)}: head {mover + 1} moves",
    )

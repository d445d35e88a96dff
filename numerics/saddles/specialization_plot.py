# notation: tau = steps * learning rate / D; lambda rate of a mode of heads against each other.
"""The figure of specialization: predicted rates beside measured ones, and modes along the flow."""

from __future__ import annotations

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from numerics.plots import COLOURS, STYLE, STYLES, svg_text


def specialization_figure(data: xr.Dataset) -> str:
    """Rates against the variance along each mode, and modes against flow time, as SVG text.

    data: from ``specialization``. Left: lines are minus the eigenvalues of the Hessian, circles
    growth rates along the flow with their errors. Right: the flow (lines) beside exp(lambda tau)
    (thin), on a logarithmic axis.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        tau, start = data.time.values, np.abs(data.part.values[0])
        width = 0.06 * max(1e-12, float(np.ptp(data.variance.values)))
        top = 3 * float(np.abs(data.part.values).max())
        for i in range(data.sizes["mode"]):
            one = data.isel(mode=i)
            colour = COLOURS[i % len(COLOURS)]
            variance, rate = float(one.variance), float(one.predicted)
            error = float(one.predicted_error)
            told = f"{rate:.3g}" if abs(rate) > error else f"0 ± {error:.1g}"
            label = f"mode {i + 1}, λ = {told}, along ({', '.join(_entries(one))})"
            left.hlines(rate, variance - width, variance + width, color=colour, linewidth=3)
            left.errorbar(
                variance,
                float(one.measured),
                float(one.measured_error),
                color=colour,
                marker="o",
                markersize=8,
                markerfacecolor="none",
                capsize=4,
            )
            right.plot(
                tau,
                np.abs(one.part),
                color=colour,
                linestyle=STYLES[i % len(STYLES)],
                linewidth=2.2,
                label=label,
            )
            growth = start[i] * np.exp(rate * tau)
            right.plot(tau[growth < top], growth[growth < top], color=colour, linewidth=0.9)
        left.axhline(0, color="black", linewidth=0.8)
        left.set(
            xlabel="variance of θ along the mode",
            ylabel="rate at which heads part\n(line: predicted, circle: along the flow)",
        )
        right.set(
            yscale="log",
            ylim=(0.3 * start.min(), top),
            xlim=(0, tau[-1]),
            xlabel=r"flow time $\tau$ = steps × learning rate / D",
            ylabel="distance along the mode\n(thin: exp(λτ))",
        )
        figure.legend(loc="outside upper center", ncols=1, fontsize=10)
        return svg_text(figure)


def _entries(one: xr.Dataset) -> list[str]:
    # Rounding keeps a sign, which 0 has not.
    return [f"{value:.2f}" for value in np.round(one.direction.values, 2) + 0.0]

# notation: tau = steps * eta / D, eta the learning rate; lambda rate of an unstable mode.
"""Saddles in the report: the order of specialization and the escape law, beside what is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from headflow import page
from headflow.datasets import escape_times, specialization
from headflow.risk import PopulationRisk
from numerics.escape.plot import escape_figure
from numerics.priors import FiniteSupport, flipped_spikes
from numerics.saddles.fixed_points import origin_fixed_point
from numerics.saddles.specialization_plot import specialization_figure

TOKENS, HEADS = 5, 2
# Three flipped spikes, and a fourth of fixed weight along which the mean lies by itself.
STRENGTHS, MEAN = (2.4, 1.9, 1.4), 1.0
# Few tokens and a strong spike: an escape that SGD can be watched at within seconds.
ESCAPE_PRIOR, ESCAPE_TOKENS = flipped_spikes([2.5, 1.2]), 3
DIMENSIONS, RATE, RUNS = (100, 200, 400, 800), 1.0, 60


@dataclass(frozen=True)
class Saddles:
    """What was computed: ``specialization`` and ``escape_times``."""

    order: xr.Dataset
    escape: xr.Dataset


def with_a_mean() -> FiniteSupport:
    """Flipped spikes and one more of fixed weight."""
    flipped = flipped_spikes(STRENGTHS)
    fixed = np.full((len(flipped.support), 1), MEAN)
    return FiniteSupport(np.hstack([flipped.support, fixed]), flipped.probabilities)


def order() -> xr.Dataset:
    return specialization(PopulationRisk("softmax", with_a_mean(), TOKENS), HEADS)


def escape(seed: int) -> xr.Dataset:
    risk = PopulationRisk("softmax", ESCAPE_PRIOR, ESCAPE_TOKENS)
    point = origin_fixed_point(risk, HEADS)
    return escape_times(risk, point, DIMENSIONS, learning_rate=RATE, seeds=RUNS, seed=seed)


def section(done: Saddles) -> str:
    """Both figures under one heading."""
    return page.section(
        "Saddles",
        page.words(
            "A plateau is a visit to a saddle of the risk. At the unspecialized point all heads "
            "are one vector, so that the layer works like a single head. There the Hessian of the "
            "risk in weight space splits into two blocks, heads moving together and heads moving "
            r"against each other. Each negative eigenvalue $-\lambda$ of the second block is a way "
            r"in which heads part: their distance grows like $\exp(\lambda \tau)$."
        ),
        page.subheading("Predicted order of specialization beside the order seen"),
        page.figure(specialization_figure(done.order), _order_told(done.order)),
        page.subheading("Escape from the origin takes a time of order ln D"),
        page.figure(escape_figure(done.escape), _escape_told(done.escape)),
    )


def _order_told(data: xr.Dataset) -> str:
    pairs = zip(data.predicted.values, data.measured.values, strict=True)
    unstable = [(rate, seen) for rate, seen in pairs if rate > 1e-6]
    rates = "; ".join(f"{rate:.5f} and {seen:.5f}" for rate, seen in unstable)
    return (
        f"softmax, L = {TOKENS}, two heads, spikes of strength "
        f"{', '.join(f'{s:g}' for s in STRENGTHS)} with random signs and a fourth of fixed weight "
        f"{MEAN:g}, which is the mean. Larger variance parts faster. Predicted rates and those "
        f"along the flow: {rates}. The last mode, along the mean, has no variance and no rate. "
        "When the first mode saturates it changes what the others see."
    )


def _escape_told(data: xr.Dataset) -> str:
    about = data.attrs
    low, high = about["sgd_slope_low"], about["sgd_slope_high"]
    inside = "contains" if low <= about["slope"] <= high else "does NOT contain"
    return (
        f"softmax, L = {ESCAPE_TOKENS}, two heads, spikes 2.5 and 1.2 with random signs, λ = "
        f"{about['rate']:.5f}. Heads start at 0.1 N(0, I/D) and have escaped at a distance of 0.1 "
        f"along the unstable mode; {RUNS} runs of SGD at learning rate {RATE:g} for each D, "
        f"{int(data.censored.sum())} censored. The slope of their Kaplan-Meier medians in ln D is "
        f"{about['sgd_slope']:.3g}; its 95% interval, {low:.3g} to {high:.3g}, {inside} 1/(2λ) = "
        f"{about['slope']:.3g}. The flow's start is the median one, so that the three agree in "
        "the constant as well, up to terms of order (L + |θ|²)/D and the learning rate."
    )

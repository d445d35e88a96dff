# notation: m alignments of the heads; tau flow time; lambda rate at which heads part.
"""Two phases of learning: when heads find the mean direction, and when they part."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from headflow.reproduce.claim import Claim
from headflow.reproduce.work import Work
from numerics.plots import COLOURS, STYLE, STYLES, svg_text

LAWS = ("mean", "no mean")
NUMBERS = ("risk", "common", "apart")
# Heads have found the mean, or parted, when that length is at this share of its largest.
SHARE = 0.1


def followed(
    prior: Any,
    size: float,
    tokens: int,
    heads: int,
    time: float,
    records: int,
    rtol: float,
    start: int,
) -> tuple[np.ndarray, np.ndarray]:
    """NUMBERS along gradient flow of softmax from one start, (3, records + 1), and their errors.

    prior as in a study (docs/sweeps.md), of two spikes. The heads are ``size`` times normal numbers
    of the generator ``start``; records at equal steps from tau = 0 to ``time``.
    """
    from headflow.datasets import gradient_flow
    from headflow.parameters import read
    from headflow.risk import PopulationRisk

    m0 = size * np.random.default_rng(start).standard_normal((heads, 2))
    risk = PopulationRisk("softmax", read("prior", prior), tokens)
    times = np.linspace(0.0, time, records + 1)
    flow = gradient_flow(risk, m0, m0 @ m0.T, times, rtol=rtol)
    m = flow.m.transpose("time", "head", "spike").values
    common, apart = m.mean(axis=1), m[:, 0] - m[:, 1]
    off = np.sqrt(2) * flow.m_error.max(("head", "spike")).values
    values = [flow.risk.values, np.linalg.norm(common, axis=-1), np.linalg.norm(apart, axis=-1)]
    return np.stack(values), np.stack([flow.risk_error.values, off, 2 * off])


def run(settings: dict[str, Any], work: Work) -> xr.Dataset:
    priors = [{"strengths": settings["strengths"], "mean": mean} for mean in settings["means"]]
    shared = ("tokens", "heads", "time", "records", "rtol", "start")
    found = work.sweep(
        {
            "name": "phases",
            "quantity": "headflow.reproduce.phases:followed",
            "fixed": {name: settings[name] for name in shared},
            "axes": {"prior": priors, "size": settings["sizes"]},
            "dims": {"number": len(NUMBERS), "time": settings["records"] + 1},
        },
        last=0.9,
    ).isel(seed=0)
    times = np.linspace(0.0, settings["time"], settings["records"] + 1)
    data = xr.Dataset(coords={"law": list(LAWS), "size": settings["sizes"], "time": times})
    for i, name in enumerate(NUMBERS):
        for array, end in ((found.value.values, ""), (found.error.values, "_error")):
            data[f"{name}{end}"] = (("law", "size", "time"), array[:, :, i])
    rates = np.array([_rate(prior, settings) for prior in priors])
    data["rate"], data["rate_error"] = ("law", rates[:, 0]), ("law", rates[:, 1])
    data.time.attrs["units"] = "steps * learning rate / D"
    work.progress(1.0)
    return data


def _rate(prior: dict[str, Any], settings: dict[str, Any]) -> tuple[float, float]:
    """Rate of the fastest mode where heads wait, and its error."""
    from headflow.parameters import read
    from headflow.risk import PopulationRisk
    from numerics.saddles.fixed_points import origin_fixed_point, unspecialized_fixed_point

    risk = PopulationRisk("softmax", read("prior", prior), settings["tokens"])
    # Without a mean small heads are next to the origin, the saddle that they then leave.
    saddle = unspecialized_fixed_point if any(prior["mean"]) else origin_fixed_point
    spectrum = saddle(risk, settings["heads"]).spectrum
    fastest = spectrum.isel(mode=int(spectrum.eigenvalue.argmin("mode")))
    return -float(fastest.eigenvalue), float(fastest.error)


def claims(data: xr.Dataset) -> list[Claim]:
    with_mean, without = (data.sel(law=law) for law in LAWS)
    found = [_fast(with_mean)]
    return [*found, *(_slow(one, str(one.law.item())) for one in (with_mean, without))]


def _fast(one: xr.Dataset) -> Claim:
    """The mean is found long before the heads part, at a time that the start hardly moves."""
    last = one.isel(size=-1)
    common, apart = (_crossing(last, name) for name in ("common", "apart"))
    first = _crossing(one.isel(size=0), "common")
    return Claim.of(
        "the mean comes first",
        f"With a mean, heads have found its direction at τ = {common[0]:.3g} from the smallest "
        f"start and at {first[0]:.3g} from the largest; from the smallest they part at "
        f"τ = {apart[0]:.3g}.",
        common,
        "<",
        apart,
        "time of parting, smallest start",
    )


def _slow(one: xr.Dataset, law: str) -> Claim:
    """A start that is smaller by a factor e parts later by 1 / lambda."""
    early, late = (_crossing(one.isel(size=i), "apart") for i in (-2, -1))
    words = "a mean" if law == "mean" else law
    logs = float(np.log(one["size"][-2] / one["size"][-1]))
    slope, error = (late[0] - early[0]) / logs, (late[1] + early[1]) / logs
    return Claim.of(
        f"time of parting, {words}",
        f"With {words} a start smaller by a factor e parts later by {slope:.3f}; the unstable rate "
        f"λ = {float(one.rate):.4f} predicts 1/λ = {1 / float(one.rate):.3f}. So from overlaps of "
        "size 1/√D heads part after ln D / (2λ) and a constant.",
        (slope, error),
        "=",
        (1 / one.rate, one.rate_error / one.rate**2),
        "1/λ of the Hessian where heads wait",
    )


def _crossing(one: xr.Dataset, name: str) -> tuple[float, float]:
    """tau at which a length first is at SHARE of its largest, between records; and its error.

    The error is that of the length over the slope, and the curvature between two records.
    """
    tau, length = one.time.values, one[name].values
    level = SHARE * np.nanmax(length)
    after = int(np.argmax(length >= level))
    step = tau[after] - tau[after - 1]
    slope = (length[after] - length[after - 1]) / step
    share = (level - length[after - 1]) / slope
    bend = abs(length[after + 1] - 2 * length[after] + length[after - 1]) / 8
    error = (bend + float(one[f"{name}_error"][after])) / slope
    return float(tau[after - 1] + share), float(error)


def draw(data: xr.Dataset) -> str:
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 6.4), layout="constrained")
        panels = figure.subplots(2, len(LAWS), sharex=True, sharey="row")
        for column, law in enumerate(LAWS):
            upper, lower = panels[:, column]
            for i, size in enumerate(data["size"].values):
                one = data.sel(law=law, size=size)
                look = {"color": COLOURS[i], "linestyle": STYLES[i]}
                upper.plot(one.time, one.risk, label=f"start of size {size:g}", **look)
                lower.plot(one.time, one.common, linewidth=4, alpha=0.45, **look)
                lower.plot(one.time, one.apart, **look)
            # Each column can stand alone on a narrow screen.
            for panel in (upper, lower):
                panel.tick_params(labelleft=True)
            upper.set(title="θ with a mean" if law == "mean" else f"θ with {law}")
            lower.set(xlabel=r"flow time $\tau$ = steps × learning rate / D")
        panels[0, 0].set(ylabel="population risk E")
        panels[1, 0].set(ylabel="broad: mean over heads\nnarrow: difference of heads")
        figure.legend(
            *panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2
        )
        return svg_text(figure)

# notation: m alignments of heads in the span of the spikes; tau flow time.
"""What training ends at, for activations on a grid: one flow for each start, and the Bayes risk."""

from __future__ import annotations

import json
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from headflow.reproduce.claim import Claim, worst
from headflow.reproduce.work import Work
from numerics.plots import COLOURS, STYLE, STYLES, svg_text

# Accuracy of the risk inside a flow, whose own steps are coarser.
RTOL = 1e-4
MARKERS = ("o", "s", "^", "D", "v", "P")


def trained(
    activation: Any,
    prior: Any,
    tokens: int,
    heads: int,
    time: float,
    rtol: float,
    most: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Risk where gradient flow ends, then m (H, F) row by row, for ``most`` heads with nan.

    activation and prior as in a study (docs/sweeps.md). The start is random in the span of the
    spikes, the flow goes to tau = ``time`` with steps accurate to rtol. The error of the risk is
    that of the flow plus the change over the last half of the time; a plateau longer than that half
    passes for rest.
    """
    from headflow.parameters import read
    from headflow.risk import PopulationRisk
    from numerics.dynamics.reached import reached

    law = read("prior", prior)
    risk = PopulationRisk(read("activation", activation), law, tokens, rtol=RTOL)
    end = reached(risk, heads, starts=1, time=time, seed=seed, rtol=rtol)
    numbers = np.full(1 + most * law.spikes, np.nan)
    numbers[0], numbers[1 : 1 + end.m.size] = end.risk.value, end.m.ravel()
    errors = np.full_like(numbers, end.m_error)
    errors[0] = end.risk.error + abs(end.falling)
    return numbers, errors


def final_risks(
    settings: dict[str, Any], axis: str, values: list[Any], labels: list[Any], work: Work
) -> xr.Dataset:
    """Final risks of all starts over activation and one axis, "prior" or "heads".

    settings: ``fixed`` (parameters of ``trained`` that all share) and ``groups``, each with
    activations (label and definition), time, rtol and starts. labels: coordinates for ``values``.
    """
    groups, parts = settings["groups"], []
    fixed = settings["fixed"]
    spikes = settings["spikes"]
    for i, group in enumerate(groups):
        one = work.sweep(
            {
                "name": "training",
                "quantity": "headflow.reproduce.training:trained",
                "fixed": {**fixed, "time": group["time"], "rtol": group["rtol"]},
                "axes": {"activation": list(group["activations"].values()), axis: values},
                "seeds": group["starts"],
                "dims": {"number": 1 + fixed["most"] * spikes},
            },
            0.95 * i / len(groups),
            0.95 * (i + 1) / len(groups),
        )
        shape = (*one.value.shape[:3], fixed["most"], spikes)
        dims = ("activation", axis, "start")
        parts.append(
            xr.Dataset(
                {
                    "risk": (dims, one.value.values[..., 0]),
                    "risk_error": (dims, one.error.values[..., 0]),
                    "m_error": (dims, one.error.values[..., 1]),
                    "m": ((*dims, "head", "spike"), one.value.values[..., 1:].reshape(shape)),
                },
                {"activation": list(group["activations"]), axis: labels, "start": one.seed.values},
            )
        )
    data = xr.concat(parts, "activation", join="outer")
    priors = values if axis == "prior" else [fixed["prior"]]
    bayes = work.sweep(
        {
            "name": "Bayes risk",
            "quantity": "bayes_risk",
            "fixed": {"tokens": fixed["tokens"], "rtol": settings["bayes_rtol"]},
            "axes": {"prior": priors},
        },
        0.95,
        1.0,
    ).isel(seed=0)
    shared = np.zeros(len(values), int) if axis == "heads" else np.arange(len(values))
    data["bayes"] = (axis, bayes.value.values[shared])
    data["bayes_error"] = (axis, bayes.error.values[shared])
    data.m.attrs["fixed"] = json.dumps(fixed)
    return data


def best(data: xr.Dataset) -> xr.Dataset:
    """Of each point the start with the lowest bound of its risk; nan where none came to an end."""
    lowest = (data.risk + data.risk_error).fillna(np.inf).argmin("start")
    return data.isel(start=lowest)


def excess(one: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Risk minus Bayes risk, and its error."""
    return one.risk - one.bayes, one.risk_error + one.bayes_error


def reaches(one: xr.Dataset, axis: str, name: str, where: str) -> Claim:
    """The risk is the Bayes risk at all points of the axis: shown at the worst of them."""
    distance, error = excess(one)
    at = one.isel({axis: worst(distance, error)})
    return Claim.of(
        f"{name} reaches the Bayes risk, {where}",
        f"{name} ends within {float(np.abs(distance.values).max()):.1g} of the Bayes risk, "
        f"{where}.",
        (at.risk, at.risk_error),
        "=",
        (at.bayes, at.bayes_error),
        f"Bayes risk, at {axis} {at[axis].item()}, the worst for its error",
    )


def stays_above(one: xr.Dataset, axis: str, name: str, where: str) -> Claim:
    """The risk is above the Bayes risk at all points: shown at the closest of them."""
    distance, error = excess(one)
    closest = np.where(np.isnan(distance), -np.inf, distance - error)
    at = one.isel({axis: int(np.argmin(closest))})
    return Claim.of(
        f"{name} stays above the Bayes risk, {where}",
        f"{name} ends {float(distance.min(skipna=False)):.3g} to "
        f"{float(distance.max(skipna=False)):.3g} above the Bayes risk, {where}.",
        (at.risk, at.risk_error),
        ">",
        (at.bayes, at.bayes_error),
        f"Bayes risk, at {axis} {at[axis].item()}, where it is closest",
    )


def others_stay_above(data: xr.Dataset, axis: str, best_one: str, where: str) -> list[Claim]:
    """All activations but one stay above the Bayes risk."""
    return [
        stays_above(data.sel(activation=name), axis, str(name), where)
        for name in data.activation.values
        if name != best_one
    ]


def none_below(data: xr.Dataset) -> Claim:
    """No start of any activation ends below the Bayes risk by more than the errors."""
    distance, error = excess(data)
    flat = (distance + error).stack(point=("activation", distance.dims[1], "start"))
    at = int(flat.fillna(np.inf).argmin("point"))
    one = data.stack(point=flat.indexes["point"].names).isel(point=at)
    return Claim.of(
        "nothing is below the Bayes risk",
        f"None of {int(data.risk.notnull().sum())} runs ends below the Bayes risk.",
        (one.risk, one.risk_error),
        ">=",
        (one.bayes, one.bayes_error),
        "Bayes risk, the lowest run for its error",
    )


def final_risk_figure(data: xr.Dataset, axis: str, label: str) -> str:
    """Final risk against the axis: a line through the best start, a faint mark for every start."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 5.0), layout="constrained")
        panel = figure.subplots()
        names = [str(value) for value in data[axis].values]
        numeric = data[axis].dtype.kind in "if"
        x = data[axis].values if numeric else np.arange(len(names), dtype=float)
        grey: dict[str, Any] = {"color": "black", "alpha": 0.25, "label": "Bayes risk"}
        if numeric:
            panel.plot(x, data.bayes, linewidth=6, **grey)
        else:
            panel.hlines(data.bayes, x - 0.3, x + 0.3, linewidth=6, **grey)
        lowest = best(data)
        # Names on an axis have no line between them: their marks stand side by side.
        step = 0.0 if numeric else 0.12
        for i, name in enumerate(data.activation.values):
            at = x + step * (i - (data.activation.size - 1) / 2)
            look: dict[str, Any] = {"color": COLOURS[i], "marker": MARKERS[i]}
            all_starts = data.risk.sel(activation=name)
            for start in data.start.values:
                panel.plot(
                    at,
                    all_starts.sel(start=start),
                    linestyle="none",
                    markersize=5,
                    alpha=0.4,
                    **look,
                )
            panel.plot(
                at,
                lowest.risk.sel(activation=name),
                linestyle=STYLES[i] if numeric else "none",
                linewidth=2,
                markersize=7,
                label=str(name),
                **look,
            )
        if not numeric:
            panel.set_xticks(x, names)
        elif data[axis].dtype.kind == "i":
            panel.set_xticks(x)
        panel.set(xlabel=label, ylabel="population risk E at the end")
        panel.set_ylim(bottom=0)
        figure.legend(
            *panel.get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=10
        )
        return svg_text(figure)

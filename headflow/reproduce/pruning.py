# notation: H heads, F spikes, L tokens; n heads are removed.
"""Heads removed after training: how many can go, and what the others are worth."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from headflow.reproduce.claim import Claim
from headflow.reproduce.training import MARKERS, best
from headflow.reproduce.work import Work
from numerics.plots import COLOURS, STYLE, STYLES, svg_text

RTOL = 1e-4
SUMMARIES = ("mean", "low", "high", "spread")
# Heads can go where the best subset loses less than this share of what training has won.
NEARLY = 0.1
# Its training is slow: from one start not every value has got a head of its own, so that it is said
# what is enough but not that less is too little.
SLOW = "softmax-1-norm"


def pruned(
    activation: str, prior: Any, tokens: int, heads: int, time: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """SUMMARIES of the risk without n heads of a trained state (convention, n, summary), flat.

    Training as in ``training.trained``, from one start. Risks are those of the state reached, so
    that their error is that of the quadrature; before them stands how much the risk still fell in
    the last half of the time, with the error of the flow.
    """
    from headflow.parameters import read
    from headflow.pruning import prune
    from headflow.risk import PopulationRisk
    from numerics.dynamics.reached import reached
    from numerics.pruning.removal import CONVENTIONS, depends_on_heads

    risk = PopulationRisk(activation, read("prior", prior), tokens, rtol=RTOL)
    end = reached(risk, heads, starts=1, time=time, seed=seed)
    numbers, errors = [np.array([end.falling])], [np.array([end.risk.error])]
    for convention in CONVENTIONS:
        if len(numbers) == 1 or depends_on_heads(risk):
            data = prune(risk, None, None, end.m, end.R, convention=convention)
        columns = [data[name].values for name in ("risk_mean", "risk_low", "risk_high", "spread")]
        numbers.append(np.stack(columns, -1).ravel())
        # A spread is off by no more than the risks that it is of.
        errors.append(np.repeat(data.evaluation_error.values, len(SUMMARIES)))
    return np.concatenate(numbers), np.concatenate(errors)


def run(settings: dict[str, Any], work: Work) -> xr.Dataset:
    from numerics.pruning.removal import CONVENTIONS

    heads, groups = settings["heads"], settings["groups"]
    counts = (len(CONVENTIONS), heads, len(SUMMARIES))
    parts = []
    for i, group in enumerate(groups):
        found = work.sweep(
            {
                "name": "pruning",
                "quantity": "headflow.reproduce.pruning:pruned",
                "fixed": {"tokens": settings["tokens"], "heads": heads, "time": group["time"]},
                "axes": {"activation": group["activations"], "prior": settings["priors"]},
                "seeds": group["starts"],
                "dims": {"number": 1 + int(np.prod(counts))},
            },
            i / len(groups),
            (i + 1) / len(groups),
        )
        dims = ("activation", "law", "start")
        coords = {
            "activation": group["activations"],
            "law": settings["laws"],
            "start": found.seed.values,
            "convention": list(CONVENTIONS),
            "count": np.arange(heads),
        }
        one = xr.Dataset(coords=coords)
        for array, end in ((found.value.values, ""), (found.error.values, "_error")):
            one[f"falling{end}"] = (dims, array[..., 0])
            block = array[..., 1:].reshape(*array.shape[:3], *counts)
            for k, name in enumerate(SUMMARIES):
                one[f"{name}{end}"] = ((*dims, "convention", "count"), block[..., k])
        parts.append(one)
    data = xr.concat(parts, "activation", join="outer")
    data["spikes"] = ("law", settings["spikes"])
    data["needs"] = (
        ("activation", "law"),
        [settings["needs"][name] for name in data.activation.values],
    )
    data["unknowing"] = 1 - 1 / settings["tokens"]
    return data


def _best(data: xr.Dataset) -> xr.Dataset:
    """Of each activation and law the start that ends lowest, its error counted."""
    whole = data[["mean", "mean_error"]].isel(convention=0, count=0)
    return best(data.assign(risk=whole["mean"], risk_error=whole["mean_error"]))


def claims(data: xr.Dataset) -> list[Claim]:
    lowest, found = _best(data), []
    for law in data.law.values:
        one = lowest.sel(law=law)
        for name in data.activation.values:
            found += _enough(one.sel(activation=name), str(name), str(law))
        softmax = one.sel(activation="softmax")
        found.append(_zeroed(softmax, str(law)))
        found += [
            _dear(one.sel(activation=name), softmax, str(name), str(law))
            for name in data.activation.values
            if name != "softmax"
        ]
    return found


def _bar(one: xr.Dataset) -> tuple[float, float]:
    """The risk up to which a loss is small, and its error."""
    whole, error = (one[name].isel(convention=0, count=0) for name in ("mean", "mean_error"))
    return float(whole + NEARLY * (one.unknowing - whole)), float(error)


def _at(one: xr.Dataset, summary: str, count: int) -> tuple[float, float]:
    at = one.sel(count=count)
    return float(at[summary]), float(at[f"{summary}_error"])


def _enough(one: xr.Dataset, name: str, law: str) -> list[Claim]:
    """As many heads can go as are not needed, and not one more."""
    rescaled = one.sel(convention="rescaled")
    heads, spikes, needs = one["count"].size, int(one.spikes), int(one.needs)
    spare = heads - needs
    low, whole = (_at(rescaled, "low", n) for n in (spare, 0))
    lost = (low[0] - whole[0]) / (float(one.unknowing) - whole[0])
    told = "which is H - F" if needs == spikes else f"where H - F = {heads - spikes}"
    against = f"all heads and {NEARLY:.0%} of what training won, best subset"
    found = [
        Claim.of(
            f"{name} can lose {spare} heads, {law}",
            f"{law}: {name} ends at {whole[0]:.4f} with all heads and at {low[0]:.4f} with the "
            f"best {needs} ({lost:+.1%} of what training won), so that {spare} of {heads} can go, "
            f"{told}.",
            low,
            "<",
            _bar(one),
            against,
        )
    ]
    if needs > 1 and name != SLOW:
        next_low = _at(rescaled, "low", spare + 1)
        found.append(
            Claim.of(
                f"{name} cannot lose {spare + 1} heads, {law}",
                f"{law}: with the best {needs - 1} {name} is at {next_low[0]:.4f}.",
                next_low,
                ">",
                _bar(one),
                against,
            )
        )
    return found


def _zeroed(softmax: xr.Dataset, law: str) -> Claim:
    """With the sum of the heads still divided by H, what is spare otherwise is not."""
    spare = softmax["count"].size - int(softmax.needs)
    low = _at(softmax.sel(convention="zeroed"), "low", spare)
    return Claim.of(
        f"zeroed, {law}",
        f"{law}: if the sum stays divided by H the best {int(softmax.needs)} softmax heads are at "
        f"{low[0]:.4f}: the attention that is missing is lost.",
        low,
        ">",
        _bar(softmax),
        f"all heads and {NEARLY:.0%} of what training won",
    )


def _dear(one: xr.Dataset, softmax: xr.Dataset, name: str, law: str) -> Claim:
    """Which heads go matters more than under softmax."""
    half = one["count"].size // 2
    own, other = (_at(each.sel(convention="rescaled"), "spread", half) for each in (one, softmax))
    worst = _at(one.sel(convention="rescaled"), "high", half)
    return Claim.of(
        f"{name}: which heads go matters more than under softmax, {law}",
        f"{law}: without {half} heads {name} has a standard deviation of {own[0]:.3f} over subsets "
        f"(worst {worst[0]:.3f}), softmax {other[0]:.3f}.",
        own,
        ">",
        other,
        f"standard deviation of softmax over subsets, {half} heads removed",
    )


def draw(data: xr.Dataset) -> str:
    lowest = _best(data)
    series = [(str(name), "rescaled") for name in data.activation.values]
    series.insert(1, ("softmax", "zeroed"))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 4.8), layout="constrained")
        panels = figure.subplots(1, data.law.size, sharey=True, squeeze=False)[0]
        for law, panel in zip(data.law.values, panels, strict=True):
            for i, (name, convention) in enumerate(series):
                one = lowest.sel(law=law, activation=name, convention=convention)
                label = f"{name}, {convention}" if name == "softmax" else name
                # Bars of one count stand side by side.
                panel.errorbar(
                    one["count"] + 0.14 * (i - (len(series) - 1) / 2),
                    one["mean"],
                    [one["mean"] - one.low, one.high - one["mean"]],
                    color=COLOURS[i],
                    linestyle=STYLES[i],
                    marker=MARKERS[i],
                    markersize=6,
                    linewidth=1.6,
                    elinewidth=1.2,
                    capsize=3,
                    label=label,
                )
            panel.axhline(float(data.unknowing), color="black", linestyle=":", linewidth=1)
            panel.set(title=f"{law}, F = {int(one.spikes)}", xlabel="number of heads removed")
            panel.set_xticks(one["count"])
        panels[0].set(ylabel="population risk E")
        panels[0].set_ylim(bottom=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return svg_text(figure)

# notation: nu = theta^2 strength of the signal; m alignment of the head, whose overlap is R >= m^2.
"""One head with a free gain: the lowest risk of four activations beside the Bayes risk."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from headflow.reproduce.claim import Claim, worst
from headflow.reproduce.work import Work
from numerics.plots import COLOURS, STYLE, STYLES, svg_text

ACTIVATIONS: dict[str, dict[str, Any]] = {
    "1 + x": {"score": "1+x", "scope": "none"},
    "1 + erf(x + c)": {"score": "1+erf(x)", "scope": "none", "bias": "free"},
    "softplus / sum": {"score": "log(1+exp(x))", "scope": "tokens"},
    "softmax": {"score": "exp(x)", "scope": "tokens"},
}
NUMBERS = ("risk", "m", "bias", "slope")
# Starts of the descent, as shares of the head that softmax needs, m = sqrt(nu).
STARTS = (0.1, 0.4, 1.0)
# Where the descent may go: norms that the quadrature resolves, and biases. Softplus at a random
# length is lowest at the largest norm, where it changes by 1e-5 only.
NORM, BIAS = (0.0, 11.0), (-15.0, 5.0)


def least_risk(name: str, nu: float, tokens: Any, rtol: float) -> tuple[np.ndarray, np.ndarray]:
    """Lowest risk over m in NORM with R = m^2, the bias and the gain; where it is; dE/dR there.

    name: of an entry of ACTIVATIONS. Where dE/dR > 0 a part of the head beyond the spike would
    only raise the risk. The error of the risk is that of its quadrature and what the slope that is
    left can still give.
    """
    from scipy.optimize import minimize

    from headflow.parameters import read
    from headflow.risk import PopulationRisk
    from numerics.priors import FiniteSupport
    from theory.activation import Activation

    act = Activation(name, gain="free", **ACTIVATIONS[name])
    prior = FiniteSupport([[np.sqrt(nu)]], [1.0])
    risk = PopulationRisk(act, prior, read("tokens", tokens), rtol=rtol)
    free = act.bias == "free"

    def at(x: np.ndarray) -> Any:
        beta: dict[str, Any] = {"beta": x[1:]} if free else {}
        return risk.gradient([[x[0]]], [[x[0] ** 2]], **beta)

    def value_and_slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        g = at(x)
        along = g.m[0, 0] + 2 * x[0] * g.R[0, 0]
        return g.value, np.array([along, g.beta[0]][: x.size])

    ends = [
        minimize(
            value_and_slope,
            np.array([share * np.sqrt(nu), 0.0][: 1 + free]),
            jac=True,
            method="L-BFGS-B",
            bounds=[NORM, BIAS][: 1 + free],
            options={"gtol": 1e-8, "ftol": 0.0},
        )
        for share in STARTS
    ]
    best = min(ends, key=lambda end: end.fun)
    beta: dict[str, Any] = {"beta": best.x[1:]} if free else {}
    value, slopes = risk([[best.x[0]]], [[best.x[0] ** 2]], **beta), at(best.x)
    # A quadratic minimum lies below a slope s by s H^-1 s / 2, H^-1 as the descent has found it.
    inside = NORM[0] < best.x[0] < NORM[1]
    left = float(best.jac @ np.asarray(best.hess_inv @ best.jac)) if inside else 0.0
    bias = best.x[1] if free else 0.0
    numbers = np.array([value.value, best.x[0], bias, slopes.R[0, 0]])
    return numbers, np.array([value.error + abs(left), np.nan, np.nan, slopes.error])


def run(settings: dict[str, Any], work: Work) -> xr.Dataset:
    axes = {"tokens": settings["tokens"], "nu": settings["strengths"]}
    found = work.sweep(
        {
            "name": "one head",
            "quantity": "headflow.reproduce.one_head:least_risk",
            "fixed": {"rtol": settings["rtol"]},
            "axes": {"name": list(ACTIVATIONS), **axes},
            "dims": {"number": len(NUMBERS)},
        },
        0.0,
        0.9,
    ).isel(seed=0)
    supports = [{"support": [[float(np.sqrt(nu))]], "probabilities": [1.0]} for nu in axes["nu"]]
    bayes = work.sweep(
        {
            "name": "Bayes risk",
            "quantity": "bayes_risk",
            "fixed": {"rtol": settings["rtol"]},
            "axes": {"tokens": axes["tokens"], "prior": supports},
        },
        0.9,
        1.0,
    ).isel(seed=0)
    data = xr.Dataset(coords={"activation": list(ACTIVATIONS), "nu": axes["nu"]})
    for i, name in enumerate(NUMBERS):
        data[name] = (("activation", "law", "nu"), found.value.values[..., i])
    for i, name in ((0, "risk"), (3, "slope")):
        data[f"{name}_error"] = (("activation", "law", "nu"), found.error.values[..., i])
    data["bayes"] = (("law", "nu"), bayes.value.values)
    data["bayes_error"] = (("law", "nu"), bayes.error.values)
    data["mean_length"] = ("law", settings["mean_length"])
    return data


def affine_minimum(nu: np.ndarray, length: float) -> np.ndarray:
    """The published minimum of the affine score (arXiv:2509.21936), which the data are held to.

    The affine risk is linear in L, so that lengths drawn at random enter by their mean.
    """
    return 1 / (1 + 1 / (length - 1) + nu / length)


def claims(data: xr.Dataset) -> list[Claim]:
    found = []
    for law, words in enumerate(("fixed length", "random length")):
        one = data.isel(law=law)
        found += [_affine(one, words), _softmax(one, words), *_between(one, words)]
    affine = data.sel(activation="1 + x").stack(point=("law", "nu"))
    at = affine.isel(point=int(affine.slope.fillna(-np.inf).argmin("point")))
    found.append(
        Claim.of(
            "affine: nothing beyond the spike",
            "A part of the affine head beyond the spike would raise the risk: its slope in R is "
            f"at least {float(at.slope):.3g}.",
            (at.slope, at.slope_error),
            ">",
            (0, 0),
            "0",
        )
    )
    return found


def _affine(one: xr.Dataset, words: str) -> Claim:
    affine = one.sel(activation="1 + x")
    expected = affine_minimum(one.nu.values, float(one.mean_length))
    # The point that is worst against its own error, so that the claim is about all of them.
    at = worst(affine.risk.values - expected, affine.risk_error)
    distance = float(np.abs(affine.risk.values - expected).max())
    return Claim.of(
        f"affine minimum, {words}",
        f"At {words} the affine score reaches 1 / (1 + 1/(L-1) + ν/L), L the mean length, to "
        f"{distance:.1g} at all {one.nu.size} strengths.",
        (affine.risk[at], affine.risk_error[at]),
        "=",
        (expected[at], 0),
        f"closed form at ν = {float(one.nu[at]):g}",
    )


def _softmax(one: xr.Dataset, words: str) -> Claim:
    softmax = one.sel(activation="softmax")
    at = worst(softmax.risk - one.bayes, softmax.risk_error + one.bayes_error)
    return Claim.of(
        f"softmax is Bayes, {words}",
        f"Softmax reaches the Bayes risk at {words}: largest difference "
        f"{float(np.abs(softmax.risk - one.bayes).max()):.1g}.",
        (softmax.risk[at], softmax.risk_error[at]),
        "=",
        (one.bayes[at], one.bayes_error[at]),
        f"Bayes risk at ν = {float(one.nu[at]):g}",
    )


def _between(one: xr.Dataset, words: str) -> list[Claim]:
    last = one.isel(nu=-1)
    found = []
    for name in ("1 + x", "1 + erf(x + c)", "softplus / sum"):
        risk = last.sel(activation=name)
        held = float(risk.m) == NORM[1]
        found.append(
            Claim.of(
                f"{name} above Bayes, {words}",
                f"At ν = {float(last.nu):g}, {words}, {name} stays at {float(risk.risk):.3g}, "
                f"{float(risk.risk / last.bayes):.0f} times the Bayes risk"
                + (
                    f", with the head at the norm of {NORM[1]:g} it was held within."
                    if held
                    else "."
                ),
                (risk.risk, risk.risk_error),
                ">",
                (last.bayes, last.bayes_error),
                f"Bayes risk at ν = {float(last.nu):g}",
            )
        )
    return found


def draw(data: xr.Dataset) -> str:
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10.5, 4.6), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for law, panel in enumerate(panels):
            one = data.isel(law=law)
            panel.plot(
                one.nu, one.bayes, color="black", linewidth=5, alpha=0.25, label="Bayes risk"
            )
            for i, name in enumerate(data.activation.values):
                panel.plot(
                    one.nu,
                    one.risk.sel(activation=name),
                    color=COLOURS[i],
                    linestyle=STYLES[i],
                    marker="os^D"[i],
                    markersize=5,
                    linewidth=2,
                    label=str(name),
                )
            # Each panel can stand alone on a narrow screen.
            panel.tick_params(labelleft=True)
            panel.set(yscale="log", xlabel=r"signal strength $\nu = |\theta|^2$")
        panels[0].set(title="fixed length, L = 5", ylabel="lowest population risk E")
        panels[1].set(title="random length, L = 1, 2 or 3")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return svg_text(figure)

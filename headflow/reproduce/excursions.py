# notation: m alignments of the heads; tau flow time; H heads, S values of theta.
"""How often heads rearrange after they have parted: excursions over many random starts."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
import xarray as xr

from headflow.reproduce.claim import Claim
from headflow.reproduce.excursions_figure import BAYES, complete, draw, moved
from headflow.reproduce.work import Work
from numerics.statistics import share_interval

__all__ = ["claims", "draw", "run"]

# Accuracy of the risk inside a flow, and of the flow's own steps. With steps ten times as exact the
# first 17 starts that were compared have the same excursions, and heads are off by less than 0.1.
RTOL, STEP_RTOL = 1e-4, 1e-3
# First record after the start, in tau: groups that form and go sooner are not looked at.
FIRST = 0.5
# What is kept of a run beside the flow itself. Of several excursions the first one.
NUMBERS = ("risk", "taken_first", "taken_last", "mover", "direction", "left_at", "joined_at")


def record_times(time: float, records: int) -> np.ndarray:
    return np.concatenate([[0.0], np.geomspace(FIRST, time, records - 1)])


def followed(
    activation: str,
    prior: Any,
    tokens: int,
    heads: int,
    size: float,
    time: float,
    records: int,
    start: int,
) -> tuple[np.ndarray, np.ndarray]:
    """NUMBERS of gradient flow from one random start, then the excursions along each direction,
    then m (record, H, F), flat.

    taken_first, taken_last: how many values of theta have a head closest to them when the first
    excursion begins (at the end where there is none) and at the end. nan: no excursion.
    """
    from headflow.datasets import gradient_flow
    from headflow.parameters import read
    from headflow.risk import PopulationRisk
    from numerics.dynamics.phases import phases
    from numerics.errors import InputError

    law = read("prior", prior)
    risk = PopulationRisk(activation, law, tokens, rtol=RTOL)
    m0 = size * np.random.default_rng(start).standard_normal((heads, law.spikes))
    times = record_times(time, records)
    flow = gradient_flow(risk, m0, m0 @ m0.T, times, rtol=STEP_RTOL, method="RK45")
    if flow.attrs["status"] != "complete":
        raise InputError(f"excursions: {flow.attrs['status']}")
    found = phases(flow, law)
    m = flow.m.transpose("time", "head", "spike").values
    places = taken(m, law.support)
    first = found.excursions[0] if found.excursions else None
    begin = -1 if first is None else int(np.searchsorted(times, first.left_at, "right")) - 1
    own = [np.nan] * 4 if first is None else list(vars(first).values())
    along = [sum(one.direction == f for one in found.excursions) for f in range(law.spikes)]
    numbers = [float(flow.risk[-1]), places[begin], places[-1], *own, *along]
    error = np.zeros(len(numbers) + m.size)
    error[0], error[len(numbers) :] = float(flow.risk_error[-1]), flow.m_error.values.max()
    return np.concatenate([numbers, m.ravel()]), error


def taken(m: np.ndarray, support: np.ndarray) -> np.ndarray:
    """How many of the values (S, F) have a head of m (T, H, F) closest to them: (T,)."""
    distance = np.linalg.norm(m[:, :, None] - support, axis=-1)
    return np.array([np.unique(one).size for one in distance.argmin(-1)])


def run(settings: dict[str, Any], work: Work) -> xr.Dataset:
    from headflow.parameters import read
    from numerics.directions import directions

    fixed, names = settings["fixed"], settings["activations"]
    law, heads, records = read("prior", fixed["prior"]), fixed["heads"], fixed["records"]
    own = len(NUMBERS) + law.spikes
    found = work.sweep(
        {
            "name": "excursions",
            "quantity": "headflow.reproduce.excursions:followed",
            "fixed": fixed,
            # An axis, unlike seeds, gives all activations the same starts.
            "axes": {"activation": names, "start": list(range(settings["starts"]))},
            "dims": {"number": own + records * heads * law.spikes},
        },
    ).isel(seed=0)
    runs = ("activation", "start")
    value, error = found.value.values, found.error.values
    coords = {
        "activation": names,
        "start": found.start.values,
        "time": ("time", record_times(fixed["time"], records), {"units": "steps * rate / D"}),
    }
    data = xr.Dataset(coords=coords)
    for i, name in enumerate(NUMBERS):
        data[name] = (runs, value[..., i])
    data["risk_error"] = (runs, error[..., 0])
    data["along"] = ((*runs, "mode"), value[..., len(NUMBERS) : own])
    shape = (*value.shape[:2], records, heads, law.spikes)
    data["m"] = ((*runs, "time", "head", "spike"), value[..., own:].reshape(shape))
    data["m_error"] = (runs, error[..., -1])
    data["support"] = (("atom", "spike"), law.support)
    data["singular"] = (("mode", "spike"), directions(law).singular)
    return data


def claims(data: xr.Dataset) -> list[Claim]:
    bayes = data.sel(activation=BAYES)
    found = [_every_value(bayes), _vacant(bayes)]
    if "softmax" in data.activation:
        found.append(_more_often(bayes, data.sel(activation="softmax")))
    return found


def _every_value(bayes: xr.Dataset) -> Claim:
    heads, values = bayes.sizes["head"], bayes.sizes["atom"]
    filled = complete(bayes)
    share, low, high = share_interval(int(filled.sum()), filled.size)
    # Values of equal norm: the closest one is that of the same signs, all being equally likely.
    chance = factorial(heads) / values**heads
    return Claim.of(
        "every value gets a head",
        f"With bayes-softmax every value has a head of its own at the end in {filled.sum()} of "
        f"{filled.size} starts (95% interval {low:.0%} to {high:.0%}), though random heads have "
        f"that in {chance:.1%} of starts only.",
        (share, share - low),
        ">",
        (chance, 0),
        "chance of random heads, H! / S^H; the error is the interval's lower end",
    )


def _vacant(bayes: xr.Dataset) -> Claim:
    """Heads that move end where no head was."""
    from scipy.stats import t

    one = bayes.isel(start=moved(bayes))
    gained = (one.taken_last - one.taken_first).values
    number = gained.size
    mean = error = first = last = np.nan
    if number > 1:
        mean = gained.mean()
        error = t.ppf(0.975, number - 1) * gained.std(ddof=1) / np.sqrt(number)
        first, last = one.joined_at.min(), one.joined_at.max()
    along = " and ".join(
        f"{int(n)} along direction {f + 1}" for f, n in enumerate(bayes.along.sum("start").values)
    )
    return Claim.of(
        "the head that moves finds a free value",
        f"Excursions ({along}) are over at τ = {float(first):.3g} to {float(last):.3g}; in the "
        f"{number} starts that have one the number of values with a head grows by {mean:.2f} on "
        "average from where the first begins to the end.",
        (mean, error),
        ">",
        (0, 0),
        "0; the error is half of a 95% t-interval",
    )


def _more_often(bayes: xr.Dataset, softmax: xr.Dataset) -> Claim:
    """Where each head is needed elsewhere heads move; softmax heads stay where they are."""
    own, other = (
        share_interval(int(moved(one).sum()), one.sizes["start"]) for one in (bayes, softmax)
    )
    told = [f"{share:.0%} ({low:.0%} to {high:.0%})" for share, low, high in (own, other)]
    return Claim.of(
        "excursions are more frequent with bayes-softmax",
        f"Heads make an excursion in {told[0]} of {bayes.sizes['start']} starts with "
        f"bayes-softmax, in {told[1]} with softmax, of whose starts "
        f"{int((~complete(softmax)).sum())} end with a value that has no head.",
        (own[0], own[0] - own[1]),
        ">",
        (other[0], other[2] - other[0]),
        "share with softmax; errors are the ends of 95% intervals",
    )

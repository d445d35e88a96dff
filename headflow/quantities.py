# notation: m, R alignments and overlaps; tau flow time.
"""The quantities of a study: functions of its parameters and of the seed of a point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headflow.parameters import PARAMETERS
from numerics.errors import InputError

ACTIVATION = ("activation", "prior", "tokens")
MODEL = (*ACTIVATION, "rtol")
PLACE = ("heads", "at", "m", "R", "dimension", "size", "start_seed")
FREE = ("beta", "gain")
TRAINING = (*FREE, "learning_rate", "batch", "time")


@dataclass(frozen=True)
class Definition:
    """compute: from the parameters ``takes``, read and complete, and a seed. defaults: where they
    differ from those of the parameters."""

    compute: Callable[[Mapping[str, Any], int], Any]
    takes: tuple[str, ...]
    long_name: str
    units: str = "1"
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def default(self, name: str) -> Any:
        return self.defaults.get(name, PARAMETERS[name].default)


def _model(p: Mapping[str, Any], seed: int) -> Any:
    from headflow.risk import PopulationRisk

    rtol = p.get("rtol", PARAMETERS["rtol"].default)
    return PopulationRisk(p["activation"], p["prior"], p["tokens"], rtol=rtol, seed=seed)


def _point(p: Mapping[str, Any], seed: int) -> tuple[Any, Any]:
    """The point (m, R) that the parameters name."""
    from numerics.dynamics.starts import random_start
    from numerics.saddles.places import heads_at

    if p["m"] is not None:
        return p["m"], p["R"]
    if p["at"] == "random":
        own = p["start_seed"] if p["start_seed"] is not None else seed
        return random_start(p["heads"], p["prior"].spikes, p["dimension"], p["size"], own)
    m = heads_at(p["at"], _model(p, seed), p["heads"])
    return m, m @ m.T


def _free(p: Mapping[str, Any], *, start: bool) -> dict[str, Any]:
    """Free biases and gain, which a flow calls by where they start."""
    gain = None if p["gain"] is None else float(p["gain"])
    return {"beta0": p["beta"], "gain0": gain} if start else {"beta": p["beta"], "gain": gain}


def _risk(p: Mapping[str, Any], seed: int) -> Any:
    return _model(p, seed)(*_point(p, seed), **_free(p, start=False))


def _bayes_risk(p: Mapping[str, Any], seed: int) -> Any:
    from numerics.bayes import bayes_risk

    return bayes_risk(p["prior"], p["tokens"], rtol=p["rtol"], seed=seed)


def _excess_risk(p: Mapping[str, Any], seed: int) -> Any:
    whole, least = _risk(p, seed), _bayes_risk(p, seed)
    return whole.value - least.value, whole.error + least.error


def _flow_options(p: Mapping[str, Any]) -> dict[str, Any]:
    names = ("learning_rate", "batch", "time", "rtol")
    return {**{name: p[name] for name in names}, **_free(p, start=True)}


def _final_risk(p: Mapping[str, Any], seed: int) -> Any:
    from numerics.dynamics.whole_flow import final_risk

    return final_risk(_model(p, seed), *_point(p, seed), **_flow_options(p))


def _specialization_time(p: Mapping[str, Any], seed: int) -> Any:
    from numerics.dynamics.whole_flow import specialization_time

    return specialization_time(_model(p, seed), *_point(p, seed), **_flow_options(p))


def _escape_time(p: Mapping[str, Any], seed: int) -> Any:
    from numerics.escape.predicted import predicted_escape_time
    from numerics.saddles.fixed_points import unspecialized_fixed_point

    model = _model(p, seed)
    point = unspecialized_fixed_point(model, p["heads"])
    return predicted_escape_time(model, point, *(p[n] for n in ("dimension", "size", "threshold")))


def _fixed_point_risk(p: Mapping[str, Any], seed: int) -> Any:
    from numerics.saddles.fixed_points import unspecialized_fixed_point

    return unspecialized_fixed_point(_model(p, seed), p["heads"]).risk


def _spectrum_lowest(p: Mapping[str, Any], seed: int) -> Any:
    from headflow.datasets import weight_spectrum

    found = weight_spectrum(_model(p, seed), *_point(p, seed), **_free(p, start=False))
    lowest = found.isel(mode=int(found.eigenvalue.argmin("mode")))
    return float(lowest.eigenvalue), float(found.error.max())


def _sgd_final_risk(p: Mapping[str, Any], seed: int) -> Any:
    from headflow.sgd import simulate_sgd

    options = {name: p[name] for name in ("dimension", "learning_rate", "time", "batch")}
    data = simulate_sgd(
        p["activation"],
        p["prior"],
        p["tokens"],
        seeds=1,
        seed=seed,
        times=[p["time"]],
        simulator=p["simulator"],
        **dict(zip(("m0", "R0"), _point(p, seed), strict=True)),
        **options,
        **_free(p, start=True),
    )
    if data.attrs["status"] != "complete":
        raise InputError(f"sgd: {data.attrs['status']}")
    return float(data.risk[0, -1]), float(data.error[0, -1])


AT_RANDOM = {"at": "random"}
SGD = {"at": "random", "learning_rate": 0.5, "time": 20.0}
QUANTITIES = {
    "risk": Definition(
        _risk, (*MODEL, *PLACE, *FREE), "population risk", defaults={"at": "atoms", "rtol": 1e-8}
    ),
    "bayes_risk": Definition(
        _bayes_risk, ("prior", "tokens", "rtol"), "Bayes risk", defaults={"rtol": 1e-8}
    ),
    "excess_risk": Definition(
        _excess_risk,
        (*MODEL, *PLACE, *FREE),
        "population risk minus Bayes risk",
        defaults={"at": "atoms", "rtol": 1e-8},
    ),
    "final_risk": Definition(
        _final_risk, (*MODEL, *PLACE, *TRAINING), "risk where gradient flow rests", "1", AT_RANDOM
    ),
    "specialization_time": Definition(
        _specialization_time,
        (*MODEL, *PLACE, *TRAINING),
        "flow time at which the first head specializes",
        PARAMETERS["time"].units,
        {"at": "random", "rtol": 1e-5},
    ),
    "escape_time": Definition(
        _escape_time,
        (*MODEL, "heads", "dimension", "size", "threshold"),
        "median time of escape from the unspecialized fixed point",
        PARAMETERS["time"].units,
        {"size": 0.1, "rtol": 1e-8},
    ),
    "fixed_point_risk": Definition(
        _fixed_point_risk,
        (*MODEL, "heads"),
        "risk of the unspecialized fixed point",
        defaults={"rtol": 1e-8},
    ),
    "spectrum_lowest": Definition(
        _spectrum_lowest,
        (*MODEL, *PLACE, *FREE),
        "lowest eigenvalue of the risk's Hessian in weight space",
        defaults={"at": "unspecialized", "rtol": 1e-8},
    ),
    "sgd_final_risk": Definition(
        _sgd_final_risk,
        (*ACTIVATION, *PLACE, *TRAINING, "simulator"),
        "risk at the end of a run of online SGD",
        defaults=SGD,
    ),
}

"""The parameters of a study: what each means, how it is read, what it is when left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from numerics.checks import count, positive, real_array
from numerics.errors import InputError

# What a parameter without a default stands for where it is left out.
REQUIRED = object()


@dataclass(frozen=True)
class Parameter:
    """read: from what a TOML file holds to what is computed with; InputError for other things."""

    read: Callable[[Any], Any]
    long_name: str
    units: str = "1"
    default: Any = REQUIRED


def read(name: str, given: Any) -> Any:
    """The value of a parameter from its TOML; equal ones are read once."""
    return _read(name, json.dumps(given))


@cache
def _read(name: str, text: str) -> Any:
    return PARAMETERS[name].read(json.loads(text))


def _activation(given: Any) -> Any:
    """A name or score, or a table: entries of a definition, or of a change to a built-in one."""
    from headflow.inputs import read_activation
    from theory.activation import Activation
    from theory.catalogue import activation as by_name

    if isinstance(given, str):
        return read_activation(given)
    entries = set(Activation.__dataclass_fields__)
    if not isinstance(given, dict) or not {"name", "score"} & set(given) or set(given) - entries:
        raise InputError(
            "activation: expected a text or a table with name or score, and of "
            f"{', '.join(sorted(entries))}; got {given!r}"
        )
    if "score" not in given:
        return by_name(**given)
    return Activation(**{"name": str(given["score"]), **given})


def _prior(given: Any) -> Any:
    """A text as on the command line, or a table of what defines one of the priors."""
    from headflow.inputs import PRIOR_FORMS, prior_of, read_prior

    if isinstance(given, str):
        return read_prior(given)
    if isinstance(given, dict):
        return prior_of(given, "the table")
    raise InputError(f"prior: expected a table or a text, {PRIOR_FORMS}; got {given!r}")


def _tokens(given: Any) -> Any:
    from headflow.inputs import read_tokens
    from numerics.lengths import SequenceLength

    if isinstance(given, dict):
        given = ",".join(f"{length}:{odds}" for length, odds in given.items())
    tokens = read_tokens(given) if isinstance(given, str) else given
    SequenceLength.of(tokens)
    return tokens


def _place(given: Any) -> str:
    from numerics.saddles.places import PLACES

    if given not in (*PLACES, "random"):
        raise InputError(f"at: expected one of {', '.join(PLACES)}, random, got {given!r}")
    return str(given)


def _rate(given: Any) -> float:
    return 0.0 if given == 0 and not isinstance(given, bool) else positive("learning_rate", given)


def _simulator(given: Any) -> str:
    if given not in ("reduced", "vectors"):
        raise InputError(f"simulator: expected reduced or vectors, got {given!r}")
    return str(given)


def _maybe(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda given: None if given is None else read(given)


def _array(name: str, dimensions: int) -> Callable[[Any], Any]:
    return _maybe(lambda given: real_array(name, given, dimensions))


def _count(name: str, least: int = 1) -> Callable[[Any], Any]:
    return lambda given: count(name, given, least=least)


PARAMETERS = {
    "activation": Parameter(_activation, "activation"),
    "prior": Parameter(_prior, "law of the latent weights"),
    "tokens": Parameter(_tokens, "sequence length L"),
    "heads": Parameter(_count("heads"), "number of heads H", default=2),
    "at": Parameter(_place, "point (m, R)"),
    "m": Parameter(_array("m", 2), "alignments (H, F)", default=None),
    "R": Parameter(_array("R", 2), "overlaps (H, H)", default=None),
    "dimension": Parameter(_count("dimension"), "token dimension D", default=1000),
    "size": Parameter(
        lambda given: positive("size", given), "norm of the heads of a random start", default=1.0
    ),
    "threshold": Parameter(
        lambda given: positive("threshold", given), "distance from a saddle", default=0.1
    ),
    "start_seed": Parameter(
        _maybe(_count("start_seed", 0)), "seed of a start that points share", default=None
    ),
    "beta": Parameter(_array("beta", 1), "free biases (H,)", default=None),
    "gain": Parameter(_array("gain", 0), "free gain", default=None),
    "learning_rate": Parameter(_rate, "learning rate eta", default=0.0),
    "batch": Parameter(_count("batch"), "mini-batch size", default=1),
    "time": Parameter(
        lambda given: positive("time", given),
        "last flow time tau",
        "steps * learning rate / D",
        default=1000.0,
    ),
    "rtol": Parameter(lambda given: positive("rtol", given), "relative accuracy", default=1e-6),
    "simulator": Parameter(_simulator, "simulator", default="reduced"),
}

"""What users type: priors, matrices and activations as text or files."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from numerics.checks import count, order_parameters, positive
from numerics.dynamics.starts import random_start
from numerics.errors import InputError
from numerics.priors import FiniteSupport, GaussianPrior, Prior, flipped_spikes
from theory.activation import Activation
from theory.catalogue import CATALOGUE
from theory.catalogue import activation as by_name
from theory.errors import DefinitionError, ExpressionError

PRIOR_TABLES = (
    "'support' and 'probabilities', 'mean' and 'variance', or 'strengths' (of flipped spikes) and "
    "perhaps 'mean'"
)
PRIOR_FORMS = (
    "flipped:2.0,1.5 (spikes), flipped:2.0,1.5+1,0 (with a mean), or a TOML or JSON file with "
    f"{PRIOR_TABLES}"
)


def read_prior(text: str) -> Prior:
    """A prior from ``flipped:s1,s2[+mean1,mean2]`` or from a TOML or JSON file.

    Raises InputError when the text is neither, or the file does not hold a prior.
    """
    if text.startswith("flipped:"):
        strengths, _, mean = text.removeprefix("flipped:").partition("+")
        return flipped_spikes(
            _numbers("prior", strengths, text), _numbers("prior", mean, text) if mean else None
        )
    return prior_of(read_file("prior", text), text)


def prior_of(table: dict[str, Any], where: str) -> Prior:
    """A prior from what defines one; InputError, naming ``where``, for another table."""
    keys = set(table)
    if keys == {"support", "probabilities"}:
        return FiniteSupport(**table)
    if keys == {"mean", "variance"}:
        return GaussianPrior(**table)
    if keys in ({"strengths"}, {"strengths", "mean"}):
        return flipped_spikes(**table)
    raise InputError(f"prior: {where} holds {sorted(keys)}; expected {PRIOR_TABLES}")


def read_file(what: str, name: str) -> dict[str, Any]:
    """The content of a TOML or JSON file as a dictionary."""
    path = Path(name)
    try:
        if not path.is_file():
            forms = f"; expected {PRIOR_FORMS}" if what == "prior" else ""
            raise FileNotFoundError(f"no file {name!r:.200}{forms}")
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except FileNotFoundError as problem:
        raise InputError(f"{what}: {problem}") from None
    except (OSError, ValueError, RecursionError) as problem:
        # ValueError: text that is not JSON, TOML or UTF-8, or an integer of thousands of digits.
        why = str(getattr(problem, "strerror", None) or problem).splitlines()[0]
        raise InputError(f"{what}: {name!r:.200} is not readable: {why}") from None
    if not isinstance(content, dict):
        raise InputError(f"{what}: {name} must hold a table of names and values")
    return content


def read_matrix(what: str, text: str) -> Any:
    """A matrix or vector from JSON text such as ``[[1, 0.2], [0.2, 2]]``."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # not JSON, an integer of thousands of digits, too deep
        example = "[0.1, -0.2]" if what.startswith("beta") else "[[1, 0.2], [0.2, 2]]"
        raise InputError(f"{what}: expected JSON such as {example}, got {text!r:.60}") from None


def read_point(prior: Prior, at: str | None, m: str | None, R: str | None) -> tuple[Any, Any]:
    """The point (m, R): given as two matrices, or "atoms" for one head at each atom."""
    if at is not None:
        if at != "atoms" or m is not None or R is not None:
            raise InputError("risk: give --at atoms, or --m and --R")
        if not isinstance(prior, FiniteSupport):
            raise InputError("risk: --at atoms needs a prior with finitely many atoms")
        return prior.support, prior.support @ prior.support.T
    if m is None or R is None:
        raise InputError("risk: give both --m and --R, or --at atoms")
    return order_parameters(read_matrix("m", m), read_matrix("R", R), prior.spikes)


def read_start(
    prior: Prior, heads: int, m: str | None, R: str | None, dimension: int, size: float, seed: int
) -> tuple[Any, Any]:
    """Where training starts: given as two matrices, or heads drawn at random in R^D."""
    if m is None and R is None:
        return random_start(heads, prior.spikes, dimension, size, seed)
    if m is None or R is None:
        raise InputError("start: give both --m and --R, or neither for a random start")
    return order_parameters(read_matrix("m", m), read_matrix("R", R), prior.spikes)


def read_times(time: float, points: int) -> np.ndarray:
    """tau = 0, then ``points`` log-spaced times over four decades, the last one ``time``."""
    last, number = positive("time", time), count("points", points, least=2)
    return np.concatenate([[0.0], np.geomspace(1e-4 * last, last, number)])


def read_counts(what: str, text: str) -> list[int]:
    """Integers separated by commas, such as ``300,1000``."""
    try:
        return [int(entry) for entry in text.split(",")]
    except ValueError:
        raise InputError(f"{what}: expected integers such as 300,1000, got {text!r}") from None


def read_axis(what: str, text: str) -> tuple[str, np.ndarray]:
    """Name and evenly spaced values of a parameter from ``name=start,stop,number``."""
    name, equals, values = text.partition("=")
    parts = values.split(",")
    if not equals or len(parts) != 3:
        raise InputError(f"{what}: expected name=start,stop,number such as L=3,10,8, got {text!r}")
    start, stop, number = _numbers(what, values, text)
    return name.strip(), np.linspace(start, stop, count(f"{what}: number", number))


def read_tokens(text: str) -> Any:
    """A sequence length ``5``, or a law of lengths ``2:0.5,5:0.5``."""
    try:
        if ":" not in text:
            return int(text)
        pairs = (entry.split(":") for entry in text.split(","))
        law = [(int(length), float(odds)) for length, odds in pairs]
    except ValueError:
        raise InputError(
            f"tokens: expected an integer >= 1 or pairs such as 2:0.5,5:0.5, got {text!r}"
        ) from None
    if len({length for length, _ in law}) < len(law):
        raise InputError(f"tokens: a length appears twice in {text!r}; give its whole probability")
    return dict(law)


def read_activation(text: str, parameters: list[str] | None = None, **changes: Any) -> Activation:
    """A catalogue name, or an expression in x that becomes the score of a new activation.

    ``changes`` that are None are left at their default; parameters are ``name=value`` texts.
    """
    given = {key: value for key, value in changes.items() if value is not None}
    if parameters:
        pairs = [_parameter(entry) for entry in parameters]
        given["parameters"] = dict(pairs)
        if len(given["parameters"]) < len(pairs):
            raise InputError("parameter: a name is given twice")
    if text in CATALOGUE:
        return by_name(text, **given)
    try:
        return Activation(text, score=text, **given)
    except ExpressionError as problem:
        if problem.text != text or not re.fullmatch(r"[A-Za-z][\w.-]*", text):
            raise
        raise DefinitionError(f"{problem}; catalogue names: {', '.join(CATALOGUE)}") from None


def _parameter(entry: str) -> tuple[str, str]:
    name, equals, value = entry.partition("=")
    if not equals or not name.strip():
        raise InputError(f"parameter: expected name=value, got {entry!r}")
    return name.strip(), value.strip()


def _numbers(what: str, text: str, whole: str) -> list[float]:
    try:
        return [float(entry) for entry in text.split(",")]
    except ValueError:
        raise InputError(f"{what}: {text!r} in {whole!r} is not a list of numbers") from None

"""The catalogue as a table: definitions, how each is evaluated, and what training reaches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial

from headflow.page import number
from headflow.risk import PopulationRisk
from numerics.bayes import bayes_risk
from numerics.dynamics.reached import NotReached, reached
from numerics.errors import InputError
from numerics.priors import flipped_spikes
from numerics.sweep.executor import LocalExecutor, Lost
from theory.activation import Activation
from theory.document import markdown
from theory.document.parts import plain, table
from theory.tier import tier

# The one case that all are compared in: atoms (+-2, +-1.5), equal odds.
STRENGTHS, TOKENS, HEADS = (2.0, 1.5), 5, 4
RTOL = 1e-6
STARTS, TIME = 3, 400.0
# Of each step of a flow: coarser ones do not follow heads that grow without end.
FLOW_RTOL = 1e-4


def train(activation: Activation, starts: int, time: float) -> str:
    """The risk that gradient flow reaches from the best of several starts, with its error."""
    risk = PopulationRisk(activation, flipped_spikes(STRENGTHS), TOKENS, rtol=RTOL)
    try:
        end = reached(risk, HEADS, starts=starts, time=time, rtol=FLOW_RTOL)
    except NotReached as problem:
        return re.split("[:,]", problem.args[0])[0]
    except InputError as problem:
        return f"not trained ({str(problem).partition(':')[0]})"
    still = ", still falling" if end.falling > 2 * end.risk.error else ""
    shorter = "" if (starts, time) == (STARTS, TIME) else f" ({starts} start(s), tau = {time:g})"
    return number(end.risk.value, end.risk.error) + still + shorter


def train_all(
    acts: Sequence[Activation],
    starts: int = STARTS,
    time: float = TIME,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, str]:
    """``train`` of each by name, on all processors. progress: told the share done."""
    found: dict[str, str] = {}
    with closing(LocalExecutor()) as executor:
        for results in executor.map_unordered(partial(_named, starts, time), acts):
            for one in results:
                if isinstance(one, Lost):
                    one = one.task.name, f"not trained ({one.reason})"
                found |= [one]
            progress(len(found) / len(acts))
    return found


def _named(starts: int, time: float, act: Activation) -> tuple[str, str]:
    return act.name, train(act, starts, time)


def bayes() -> str:
    """The Bayes risk of the same case."""
    value = bayes_risk(flipped_spikes(STRENGTHS), TOKENS, rtol=RTOL)
    return number(value.value, value.error)


def definitions(
    acts: Iterable[Activation], trained: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """One row an activation; ``trained`` adds what each of them reaches."""
    rows = []
    for act in acts:
        none = act.scope == "none"
        row = {
            "name": act.name,
            "score": str(act.score),
            "normalizer": "" if none else str(act.normalizer),
            "scope": act.scope,
            "offset": "" if none else str(act.offset),
            "power": "" if none else str(act.power),
            "bias": act.bias,
            "gain": str(act.gain),
            "parameters": ", ".join(f"{name}={value}" for name, value in act.parameters),
            "tier": tier(act),
        }
        if trained is not None:
            row["reaches"] = trained[act.name]
        rows.append(row)
    return rows


def as_markdown(rows: list[dict[str, str]]) -> str:
    """The rows as a Markdown table; an empty cell is a dash."""
    cells = [tuple(plain(cell) or "-" for cell in row.values()) for row in rows]
    return markdown.block(table(tuple(rows[0]), cells))

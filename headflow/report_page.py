# notation: m, R alignments and overlaps; theta latent weights; L tokens, H heads.
"""The page of the report: what was asked, what was found, and what each number is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from headflow import about, page, report_dynamics, report_saddles
from headflow.report_dynamics import Study
from headflow.report_saddles import Saddles
from numerics import plots
from numerics.estimate import Estimate
from theory.activation import Activation
from theory.document import html
from theory.rendering_model import notation

# Values of the signal that the page lists.
SHOWN = 8
_SCOPES = {"tokens": "the tokens of each head", "heads": "tokens and heads together"}
_BIASES = {"none": "0", "norm": "−R_hh / 2", "norm+free": "ln(odds of the atom) − R_hh / 2"}


def whole_page(
    acts: Sequence[Activation],
    done: Mapping[tuple[str, str], Any],
    data: xr.Dataset,
    bayes: Estimate,
    complete: bool,
    config: Mapping[str, Any],
    dynamics: list[Study],
    saddles: Saddles,
) -> str:
    """One self-contained HTML document.

    done: what was derived, evaluated and validated, by name of the activation and what it is.
    complete: whether each atom has a head.
    """
    return page.page(
        "Attention heads against the Bayes risk",
        [
            _question(config),
            about.model(),
            _activations(acts),
            _result(acts, done, bayes, complete),
            page.section("Risk", page.figure(plots.risk_figure(data), _risk_caption(config))),
            report_dynamics.section(dynamics),
            report_saddles.section(saddles),
            page.section(
                "Equations",
                page.words(
                    "The population risk of each activation as derived from the model by named "
                    "rules; every step is checked by numbers. A sum over tokens in a denominator "
                    "is replaced by one integral for each head (the Gamma lift). Then tokens "
                    "factorize, and the length $L$ is an exponent only."
                ),
                html.block(notation()),
                *(page.derivation(done[one.name, "derive"]) for one in acts),
            ),
            _validation(acts, done),
            page.section("Run it again", about.again([config["command"]], config)),
            about.citation(),
        ],
    )


def _question(config: Mapping[str, Any]) -> str:
    support, odds = (config["prior"][key] for key in ("support", "probabilities"))
    atoms = [
        f"({', '.join(f'{part:g}' for part in atom)}) with odds {p:.3g}"
        for atom, p in zip(support, odds, strict=True)
    ]
    shown = ", ".join(atoms[:SHOWN]) + (" and more" if len(atoms) > SHOWN else "")
    return page.paragraph(
        "An attention layer has to find the one token of a sequence that carries a signal. How "
        "well can it do that with softmax, with three relatives of softmax, and at best? How do "
        "heads learn their parts? This page derives the expected error of each activation, "
        "evaluates it with error bounds, checks it by simulation and trains the layer. Here: "
        f"sequences of {_length(config)} tokens, H = {config['heads']} heads, and a signal θ "
        f"that takes {len(atoms)} values: {shown}."
    )


def _length(config: Mapping[str, Any]) -> str:
    """The number of tokens, or its law."""
    tokens = config["tokens"]
    if isinstance(tokens, int):
        return f"L = {tokens}"
    return "L = " + " or ".join(f"{length} (odds {odds:.3g})" for length, odds in tokens.items())


def _activations(acts: Sequence[Activation]) -> str:
    """The entries of the activations in the definition of the family."""
    rows = [
        [
            act.name,
            act.score,
            _SCOPES[act.scope],
            act.offset,
            _BIASES[act.bias],
            "1/H" if act.gain == "mean" else "1",
        ]
        for act in acts
    ]
    return page.section(
        "The four activations",
        page.table(["activation", "score f", "Z sums over", "offset c", "bias b", "gain γ"], rows),
        page.words(
            "The offset lets a head attend to nothing. The bias $-R_{hh}/2$ makes a head weigh its "
            "value of the signal as a likelihood would, and normalizing over heads as well "
            "makes the whole layer a posterior."
        ),
    )


def _result(acts: Sequence[Activation], done: Any, bayes: Estimate, complete: bool) -> str:
    rows, found = [], []
    for act in acts:
        atoms, checked = done[act.name, "evaluate"].atoms, done[act.name, "validate"]
        above, error = atoms.value - bayes.value, atoms.error + bayes.error
        largest = max(abs(row.z) for row in checked.rows)
        rows.append(
            [
                act.name,
                page.number(atoms.value, atoms.error),
                page.number(above, error),
                f"{largest:.2f} of {len(checked.rows)}, bound {float(checked.bound):.2f}",
                "holds" if checked.passed else "FAILS",
            ]
        )
        place = "at the Bayes risk" if abs(above) <= error else f"{above:.3g} above the Bayes risk"
        found.append(f"{act.name} is {place}")
    rows.append(["Bayes risk", page.number(bayes.value, bayes.error), "", "", ""])
    where = "each atom has one" if complete else "only the most probable atoms have one"
    header = ["activation", "risk E", "above Bayes", "largest |z| of checks", "verdict"]
    return page.section(
        "Result",
        page.words(
            r"Heads stand at the atoms: head $h$ looks for one value of $\theta$, "
            rf"$k_h = \sum_f \theta_f s_f$; {where}. {'; '.join(found)}."
        ),
        page.table(header, rows),
        page.paragraph(
            "Risks are held against Monte Carlo simulation, with token vectors and without, at "
            "points (m, R) of no symmetry; a verdict holds if every z-score is within its bound. "
            "The Bayes risk is an integral of its own, which shares no step with the risks."
        ),
    )


def _risk_caption(config: Mapping[str, Any]) -> str:
    return (
        f"Population risk of fixed heads. Left, {_length(config)}: heads at c times the "
        "atoms, from no attention to the signal (c = 0) through the atoms (c = 1). Right: heads at "
        "the atoms, for sequences of L tokens; thin black line: the Bayes risk. No activation goes "
        "below it. Errors are bounds from two resolutions, thinner than the lines. These heads are "
        "not trained: softmax does better with other ones, see below."
    )


def _validation(acts: Sequence[Activation], done: Any) -> str:
    first = done[acts[0].name, "validate"]
    scores = {
        act.name: np.array([row.z for row in done[act.name, "validate"].rows]) for act in acts
    }
    checks = [
        [
            act.name,
            row.quantity,
            page.number(row.theory, row.theory_error),
            page.number(row.simulation, row.standard_error),
            f"{row.z:+.2f}",
        ]
        for act in acts
        for row in done[act.name, "validate"].rows
    ]
    table = page.table(["activation", "quantity", "theory", "simulation", "z"], checks)
    return page.section(
        "Validation",
        page.figure(
            plots.z_score_figure(scores, float(first.bound)),
            "Derived values against Monte Carlo at random points (m, R), one mark a comparison. "
            f"The bound holds for all scores of one activation with false-alarm rate "
            f"{first.alpha:g}. The activations share one seed, so their scores are correlated.",
        ),
        f"<details><summary>All {len(checks)} comparisons</summary>{table}</details>",
    )

# notation: theta latent weights, epsilon place of the relevant token; tau flow time.
"""The page of reproduced results: question, figure, claims, and the command to run each again."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import xarray as xr

from headflow import about, page
from headflow.reproduce.claim import Claim
from headflow.reproduce.experiment import Experiment


@dataclass(frozen=True)
class Result:
    """An experiment with its data, the claims on them and the figure (SVG)."""

    experiment: Experiment
    data: xr.Dataset
    claims: list[Claim]
    figure: str


def whole_page(results: list[Result]) -> str:
    """One self-contained HTML document."""
    return page.page(
        "Results of the single-location model, reproduced",
        [_question(), about.model(), *map(_one, results), about.citation()],
    )


def _question() -> str:
    return page.paragraph(
        "What an attention layer learns when it has to find the one token of a sequence that "
        "carries a signal: results about this model, each computed here and held against theory. "
        "Every section says what was asked, shows the figure, lists the claims with their errors "
        "and what they were checked against, and tells how to run it again. A claim with = holds "
        "within the errors of both sides, one with < or > by more than them."
    )


def _one(result: Result) -> str:
    table, claims = result.experiment.table, result.claims
    rows = [
        [
            claim.name,
            _number(claim.value, claim.error),
            f"{claim.relation} {_number(claim.expected, claim.expected_error)}",
            claim.against,
            "holds" if claim.holds else "FAILS",
        ]
        for claim in claims
    ]
    attrs = result.data.attrs
    return page.section(
        table["title"],
        page.paragraph(f"Question: {table['question']}"),
        page.figure(result.figure, table["caption"]),
        page.paragraph("Found:"),
        page.bullets([claim.text for claim in claims]),
        page.table(["claim", "value", "expected", "checked against", "verdict"], rows),
        about.again([attrs["command"]], json.loads(attrs["configuration"])),
    )


def _number(value: float, error: float) -> str:
    """Exact ones as they are, small ones by leading digits, others as the error lets stand."""
    if error == 0:
        return f"{value:.10g}"
    if not math.isfinite(value + error):
        return f"{value:g} ± {error:g}"
    if value != 0 and abs(value) < 1e-3:
        return f"{value:.4g} ± {error:.1g}"
    return page.number(value, error)

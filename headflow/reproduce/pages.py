# notation: theta latent weights, epsilon place of the relevant token; tau flow time.
"""The page of reproduced results: question, figure, claims, and the command to run each again."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import xarray as xr

from headflow import page
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
        "Results of the single-location model, reproduced", [_model(), *map(_one, results)]
    )


def _model() -> str:
    """The model in few words, for readers who know transformers."""
    return page.section(
        "The model",
        page.paragraph(
            "A sequence has L tokens of dimension D: Gaussian noise, but one token at a random "
            "place ε also carries a signal, a sum of F fixed hidden directions (spikes) with "
            "random weights θ. An attention layer of H heads must return that token. Head h is one "
            "vector k_h (query and key merged); its logit on a token is their inner product. An "
            "activation, softmax or another, makes attention weights of the logits, and the "
            "output is the sum of tokens weighted by A_l, the attention of all heads on token l. "
            "There is no value matrix and no residual path. For D → ∞ the expected error per "
            "dimension is the population risk"
        ),
        page.math(
            r"E = \mathbb{E} \sum_l (\delta_{l\varepsilon} - A_l)^2 ,\qquad "
            r"m_{hf} = k_h \cdot k^*_f ,\qquad R_{hh'} = k_h \cdot k_{h'}"
        ),
        page.paragraph(
            "and it depends on the heads through the alignments m with the spikes and the overlaps "
            "R only. The Bayes risk is what the posterior of the place reaches: no activation goes "
            "below it. Training is gradient flow in m and R, in the time τ = steps of SGD × "
            "learning rate / D. Numbers carry error bounds; a claim with = holds within the errors "
            "of both sides, one with < or > by more than them."
        ),
    )


def _one(result: Result) -> str:
    table, claims = result.experiment.table, result.claims
    rows = [
        [
            claim.name,
            _number(claim.value, claim.error),
            claim.relation,
            _number(claim.expected, claim.expected_error),
            claim.against,
            "holds" if claim.holds else "FAILS",
        ]
        for claim in claims
    ]
    configuration = json.loads(result.data.attrs["configuration"])
    return page.section(
        table["title"],
        page.paragraph(f"Question: {table['question']}"),
        page.figure(result.figure, table["caption"]),
        page.paragraph("Found: " + " ".join(claim.text for claim in claims)),
        page.table(["claim", "value", "", "expected", "checked against", "verdict"], rows),
        f"<p>To run it again: <code>{page.escape(result.data.attrs['command'])}</code></p>",
        "<details><summary>Configuration</summary>"
        f'<pre class="scroll">{page.escape(json.dumps(configuration, indent=2))}</pre></details>',
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

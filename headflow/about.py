# notation: m, R alignments and overlaps; tau flow time; gamma gain; theta latent weights.
"""What every page says around its results: model, how to read numbers, run again, cite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from headflow import page
from headflow.citation import bibtex
from theory.document import html
from theory.rendering_model import setting


def model() -> str:
    """The model, the yardstick and training, for readers who know transformers."""
    return page.section(
        "The model",
        *map(html.block, setting()),
        page.math(r"E = \mathbb{E} \sum_{l=1}^{L} (\mathbf{1}[l = \epsilon] - A_l)^{2}"),
        page.words(
            "So a perfect layer puts weight 1 on the token with the signal and 0 on the others. "
            "No attention at all has $E = 1$, equal attention to all tokens $E = 1 - 1/L$. "
            "An **activation** is what a transformer has in the place of softmax:"
        ),
        page.math(r"a_{lh} = \frac{f(x_{lh})}{(c + Z)^{p}}, \quad x_{lh} = k_h \cdot X_l + b_h"),
        page.words(
            r"Softmax is $f = \exp$, $c = 0$, $p = 1$ with $Z$ the sum of $f$ over the tokens of "
            r"one head, no bias, and the mean over heads ($\gamma = 1/H$)."
        ),
        page.words(
            r"The **Bayes risk** is that of the best predictor there is. It knows the spikes and "
            r"the law of $\theta$, and weighs each token by the posterior probability that it is "
            "the one with the signal. No activation can go below it. An **atom** is one of the "
            r"values that $\theta$ takes, when it takes finitely many."
        ),
        page.words(
            r"**Training** is online SGD on the vectors $k_h$ with a fresh sequence each step. For "
            r"$D \to \infty$ it becomes a deterministic flow of $m$ and $R$ in the flow time "
            r"$\tau$ = steps × learning rate / $D$. Heads **specialize** when they stop being "
            "copies of each other and each turns to values of the signal of its own."
        ),
        page.words(
            "**Numbers** read value ± error. The error is a bound for what is computed by "
            "quadrature or by integrating a flow, and one standard error for what is averaged "
            "over samples or runs. A z-score is the difference of two numbers in units of their "
            "joint standard error."
        ),
    )


def again(commands: Sequence[str], configuration: Mapping[str, Any]) -> str:
    """The commands that make results again, and all that they depend on behind a fold."""
    lines = page.escape("\n".join(commands))
    settings = page.escape(json.dumps(configuration, indent=2))
    return (
        f"<p>To run it again:</p><pre>{lines}</pre>"
        "<details><summary>Configuration: all settings, seed and versions</summary>"
        f"<pre>{settings}</pre></details>"
    )


def citation() -> str:
    """What to cite, as BibTeX."""
    return page.section(
        "How to cite",
        page.words(
            "Cite the paper that introduced the model, and the version of headflow that made this "
            "page. Give the command and the configuration above: with them anyone gets the same "
            "numbers."
        ),
        f"<pre>{page.escape(bibtex())}</pre>",
    )

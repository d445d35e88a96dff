"""The derivation of the Bayes risk as a document."""

from __future__ import annotations

import sympy as sp

from theory import bayes, posterior
from theory import symbols as sym
from theory.catalogue import activation
from theory.derivation import Derivation
from theory.document import markdown
from theory.document.parts import Block, Document, Equation, Section, Text, paragraph
from theory.printing import latex
from theory.rendering_steps import Entry


def equations() -> str:
    """The derivation as Markdown."""
    return markdown.write(document())


def document() -> Document:
    """Posterior, the Bayes-softmax theorem, the Bayes risk and the evidence, every step."""
    free_bias = activation("bayes-softmax", bias="norm+free")
    attention = posterior.attention_at_atoms(free_bias, sp.log(posterior.ODDS))
    weight = posterior.posterior_weight()
    rest = posterior.difference(free_bias)
    return Document(
        Text.of("Bayes risk"),
        (
            paragraph(
                "Derived by `headflow derive`; `kernels.py` evaluates the last formulas of the "
                "last two sections."
            ),
        ),
        (
            Section(
                "Likelihood ratio",
                (
                    paragraph(
                        "An index that is on neither side alone is summed, until the last step: "
                        "dimensions $d$, spikes $f$, $g$, tokens $j$. Atom $h$ of the prior is "
                        r"$\theta_h$."
                    ),
                    *_steps(posterior.likelihood_ratio()),
                ),
            ),
            Section(
                "Bayes-softmax is the posterior",
                (
                    paragraph(
                        "Posterior weight of token $l$, the sum over atoms $h$ being "
                        r"$\Lambda(u_l)$:"
                    ),
                    Equation(f"w_l = {latex(weight)}"),
                    paragraph(
                        r"Bayes-softmax with one head for each atom, $k_h = \sum_f \theta_{hf} "
                        r"k^*_f$, $b_h = \ln p_h - |k_h|^2 / 2$:"
                    ),
                    Equation(f"{latex(sym.A[sym.l])} = {latex(attention)}"),
                    paragraph("Their difference, simplified:"),
                    Equation(f"{latex(sym.A[sym.l])} - w_l = {latex(rest)}"),
                ),
            ),
            Section(
                "Risk",
                (
                    paragraph("The projections $u$ of one token are written $x_h$ like logits."),
                    *_steps(bayes.derive_bayes_risk()),
                ),
            ),
            Section(
                "Evidence of one Gaussian weight",
                (
                    paragraph(
                        "Independent weights multiply their evidence; variance $v = 0$ is an atom."
                    ),
                    *_steps(bayes.derive_spike_evidence()),
                ),
            ),
        ),
    )


def _steps(record: Derivation) -> list[Block]:
    return [
        block
        for number, step in enumerate(record.steps)
        for block in Entry(number, step, None).blocks(latex(step.after))
    ]

"""The derivation of the Bayes risk as a document: Markdown with LaTeX formulas."""

from __future__ import annotations

import sympy as sp

from theory import bayes, posterior
from theory import symbols as sym
from theory.catalogue import activation
from theory.derivation import Derivation
from theory.rendering import latex


def equations() -> str:
    """Posterior, the Bayes-softmax theorem, the Bayes risk and the evidence, every step."""
    free_bias = activation("bayes-softmax", bias="norm+free")
    attention = posterior.attention_at_atoms(free_bias, sp.log(posterior.ODDS))
    weight = posterior.posterior_weight()
    rest = posterior.difference(free_bias)
    return (
        "\n\n".join(
            [
                "# Bayes risk",
                "Derived by `headflow derive`; do not edit. `kernels.py` evaluates the last "
                "formulas of the last two sections.",
                "## Likelihood ratio",
                "An index that is on neither side alone is summed, until the last step: dimensions "
                "$d$, spikes $f$, $g$, tokens $j$. Atom $h$ of the prior is $\\theta_h$.",
                *_steps(posterior.likelihood_ratio()),
                "## Bayes-softmax is the posterior",
                "Posterior weight of token $l$, the sum over atoms $h$ being $\\Lambda(u_l)$:",
                _display(latex(weight)),
                "Bayes-softmax with one head for each atom, $k_h = \\sum_f \\theta_{hf} k^*_f$, "
                "$b_h = \\ln p_h - |k_h|^2/2$:",
                _display(latex(attention)),
                "Their difference, simplified:",
                _display(f"{latex(sym.A[sym.l])} - w_l = {latex(rest)}"),
                "## Risk",
                "The projections $u$ of one token are written $x_h$ like logits.",
                *_steps(bayes.derive_bayes_risk()),
                "## Evidence of one Gaussian weight",
                "Independent weights multiply their evidence; variance $v = 0$ is an atom.",
                *_steps(bayes.derive_spike_evidence()),
            ]
        )
        + "\n"
    )


def _steps(record: Derivation) -> list[str]:
    return [
        f"**{number}. {step.rule}.** {step.reason}\n\n{_display(latex(step.after))}"
        for number, step in enumerate(record.steps)
    ]


def _display(formula: str) -> str:
    return f"$$\n{formula}\n$$"

"""What is studied, in a few sentences: the model, and the activation."""

from __future__ import annotations

import sympy as sp

from theory import order_parameters as op
from theory.activation import Activation
from theory.document.parts import Block, Equation, Paragraph, Section, paragraph, table
from theory.printing import latex
from theory.tier import meaning, tier

# Why the bias and the gain are what they are.
_SCOPES = {
    "none": "No normalizer: a head weighs each token by itself.",
    "tokens": r"Each head normalizes over the tokens by itself, $Z = \sum_{j=1}^{L} g(x_{jh})$.",
    "heads": r"One normalizer for tokens and heads, $Z = \sum_{j=1}^{L} \sum_{n=1}^{H} g(x_{jn})$.",
}


def model() -> Section:
    """The data, the attention layer, the risk, and how equations write averages."""
    return Section("Model", (*setting(), notation()))


def setting() -> tuple[Block, ...]:
    """The data, the attention layer, the risk and its order parameters."""
    return (
        paragraph(
            r"A sequence holds $L$ tokens $X_1, \ldots, X_L$ in $\mathbb{R}^D$. All are noise, "
            r"$Z_l \sim N(0, I_D)$, independent of each other; one of them, at a hidden place "
            r"$\epsilon$ that is uniform on the $L$ places, carries a signal as well: a random "
            r"combination of $F$ fixed orthonormal directions, the spikes $s_1, \ldots, s_F$, "
            r"with latent weights $\theta$ drawn from a prior."
        ),
        Equation(r"X_l = Z_l + \mathbf{1}[l = \epsilon] \sum_{f=1}^{F} \theta_f s_f"),
        paragraph(
            r"One layer of attention with $H$ heads has to recover the token with the signal, "
            r"$y = X_{\epsilon}$. A head is one trained vector $k_h$, the query of every "
            r"sequence; keys and values are the tokens themselves, with no projection and no "
            r"residual connection. Its logit on token $l$ is $\chi_{lh} = k_h \cdot X_l$, an "
            r"activation turns logits into weights $a_{lh}$, and heads are added with one "
            r"common gain $\gamma$."
        ),
        Equation(
            r"\hat y = \sum_{l=1}^{L} A_l X_l, \quad A_l = \gamma \sum_{h=1}^{H} a_{lh}, "
            r"\quad \ell = \frac{1}{D} |y - \hat y|^{2}"
        ),
        paragraph(
            r"For $D \to \infty$ tokens are orthogonal with squared norm $D$, so that the loss "
            r"becomes $\ell = \sum_l (\mathbf{1}[l = \epsilon] - A_l)^2$. Its average is the "
            r"population risk $E$. It depends on the heads through two small matrices only, "
            r"the order parameters: alignments $m_{hf} = k_h \cdot s_f$ and overlaps "
            r"$R_{hn} = k_h \cdot k_n$. Given $\theta$, the logits of the token with the "
            r"signal are Gaussian with mean $m \theta$ and covariance $R$, those of a noise "
            r"token have mean 0 and covariance $R$, and tokens are independent."
        ),
    )


def notation() -> Paragraph:
    """What the averages in the equations are over."""
    return paragraph(
        r"Notation: $\mathbb{E}$ averages over everything; $\mathbb{E}_\star$ over the "
        r"logits (biases included) of the relevant token, $\theta$ included; "
        r"$\mathbb{E}_0$ over those of one noise token, which carries the index 0. "
        r"For a sequence of random length, $(L - 1) \phi^{L - 2}$ and its like stand for "
        r"derivatives of the average of $\phi^{L - 1}$ over the length."
    )


def definition(activation: Activation) -> Section:
    """The activation's entries in the one definition of the family."""
    rows = [
        ("score $f(x)$", f"${latex(activation.score)}$"),
        ("normalizer $g(x)$", f"${latex(activation.normalizer)}$"),
        ("scope of $Z$", activation.scope),
        ("offset $c$", f"${latex(activation.offset)}$"),
        ("power $p$", f"${latex(activation.power)}$"),
        ("bias $b_h$", f"${latex(sp.sympify(op.bias(activation)))}$"),
        (r"gain $\gamma$", f"${latex(sp.sympify(op.gain(activation)))}$"),
    ]
    rows += [(f"parameter ${latex(z)}$", f"{v} in checks") for z, v in activation.values.items()]
    fraction = r" = \frac{f(x_{lh})}{(c + Z)^{p}}"
    if activation.scope == "none":
        fraction = " = f(x_{lh})"
        rows = [row for row in rows if row[0].split()[0] not in ("normalizer", "offset", "power")]
    way = tier(activation)
    return Section(
        "Activation",
        (
            Equation(rf"a_{{lh}}{fraction}, \quad x_{{lh}} = \chi_{{lh}} + b_h"),
            table(("entry", "value"), rows),
            paragraph(f"{_SCOPES[activation.scope]} How it is evaluated: {way} ({meaning(way)})."),
        ),
    )

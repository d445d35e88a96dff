"""The derivation of one activation as a document, and its checks as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from theory import rendering_derivatives as derivatives
from theory import rendering_dynamics as dynamics
from theory import rendering_model, rendering_saddle, rendering_second, second_order
from theory.activation import Activation
from theory.checking import Check
from theory.derivation import Step
from theory.document.parts import Document, Section, Text, paragraph, plain, table
from theory.printing import collected_latex
from theory.rendering_steps import Entry, differentiated_by, rendered

if TYPE_CHECKING:
    from theory.derived import Derived

HOW_CHECKED = (
    "The check of a step is both of its sides as numbers. Equalities: on a toy law of the logits "
    "with all tokens written out ($L = 3$, $H = 2$, unequal odds). Derivatives and closed forms: "
    "on Gaussian logits at an asymmetric point, derivatives against central differences. "
    "Dynamics: on random vectors, contracted with one array of unequal numbers."
)


def document(derived: Derived, *, checked: bool) -> Document:
    """Every rule with its reason and result; ``checked`` puts the numbers of its check beside."""
    checks = [check for _, check in derived.checks] if checked else [None] * len(derived.steps)
    entries = [
        Entry(number, step, check)
        for number, (step, check) in enumerate(zip(derived.steps, checks, strict=True))
    ]

    def take(steps: Sequence[Step]) -> list[Entry]:
        taken, entries[:] = entries[: len(steps)], entries[len(steps) :]
        return taken

    where = (
        HOW_CHECKED
        if checked
        else "`checks.md` has each step as numbers, and `kernels.py` evaluates the result."
    )
    spectrum = derived.saddle
    return Document(
        Text.of(f"Attention with {plain(derived.activation.name)}"),
        (
            paragraph(
                "Population risk, gradient, training dynamics and saddle, derived step by step by "
                f"`headflow derive`. {where}"
            ),
        ),
        (
            rendering_model.model(),
            rendering_model.definition(derived.activation),
            _risk(take(derived.derivation.steps)),
            *derivatives.closed_forms(take(derived.closed_forms)),
            derivatives.gradient(derived.activation, take(derived.gradient)),
            dynamics.gradient_flow(take(derived.flow.steps)),
            dynamics.online_sgd(
                take((*derived.backward.steps, *derived.sample.steps)), derived.backward
            ),
            rendering_second.second(take(derived.second), take(second_order.steps())),
            rendering_saddle.saddle(take(spectrum.steps if spectrum else ()), spectrum),
        ),
    )


def _risk(entries: Sequence[Entry]) -> Section:
    equations = [f"E = {collected_latex(entry.step.after)}" for entry in entries]
    last = paragraph(
        "This is the population risk. It depends on the heads through the means and covariances of "
        "the logits of one token, which $m$ and $R$ give, and on the number of tokens through "
        "$L$ alone."
    )
    return Section("Population risk", (*rendered(entries, equations), last))


def _decimals(value: float) -> str:
    """Six of them; no sign that is rounding's, which differs between machines."""
    return f"{round(value, 6) + 0.0:.6f}"


def checks(activation: Activation, checked: tuple[tuple[Step, Check], ...]) -> Document:
    """The numeric check of every step, as a table."""
    rows = [
        (
            f"{number}. {step.rule}{differentiated_by(step)}",
            # The difference itself is rounding, and differs between machines.
            _decimals(result.left),
            _decimals(result.right),
            f"{result.tolerance:.0e}",
            "yes" if result.passed else "NO",
        )
        for number, (step, result) in enumerate(checked)
    ]
    lead = paragraph(HOW_CHECKED), table(("step", "left", "right", "tolerance", "holds"), rows)
    return Document(Text.of(f"Checks of {plain(activation.name)}"), lead, ())

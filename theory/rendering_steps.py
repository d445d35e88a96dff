"""Steps of a derivation as blocks of a document: rule, reason, equation, numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theory import symbols as sym
from theory.checking import Check
from theory.derivation import Step
from theory.document.parts import Block, Equation, Verdict, paragraph


@dataclass(frozen=True)
class Entry:
    """A step, its number in the whole derivation, and its check where numbers are wanted."""

    number: int
    step: Step
    check: Check | None

    def blocks(self, equation: str, told: str = "") -> list[Block]:
        """The step's own blocks; its reason is left out when it is ``told`` already."""
        reason = "" if self.step.reason == told else f" {self.step.reason}"
        of = differentiated_by(self.step)
        heading = f"**{self.number}. {self.step.rule}{of}.**{reason}"
        blocks: list[Block] = [paragraph(heading), Equation(equation)]
        if self.check is not None:
            found = self.check
            blocks.append(Verdict(found.left, found.right, found.allowance, found.passed))
        return blocks


def rendered(entries: Sequence[Entry], equations: Sequence[str]) -> Iterator[Block]:
    """Steps one after the other, a reason that several share said once."""
    told = ""
    for entry, equation in zip(entries, equations, strict=True):
        yield from entry.blocks(equation, told)
        told = entry.step.reason


def differentiated_by(step: Step) -> str:
    """What a derivative step differentiates by, in plain text."""
    if step.relation not in ("mean", "covariance", "origin"):
        return ""
    what = "logit" if step.relation == "origin" else step.relation
    place = "relevant" if step.density == sym.RELEVANT else "noise"
    return f" ({what} {letters(step)}, {place})"


def letters(step: Step) -> str:
    """The heads of a step, as the letters that formulas call them.

    Where h is summed over, as in a joint normalizer, any one head is called k.
    """
    summed = sym.h not in step.before.free_symbols and sym.k in step.after.free_symbols
    return "".join("k" if summed else "hk"[head - 1] for head in step.heads)


def token(step: Step) -> str:
    """The mark of the token that a step is about."""
    return r"\star" if step.density == sym.RELEVANT else "0"

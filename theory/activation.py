"""The one definition of an attention activation: a = f(x) / (c + Z)^p, x = logit + bias."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from theory import symbols as sym
from theory.admission import as_expression, require_known
from theory.audit import Refused, limited_work
from theory.domain import require_average, require_nonnegative, require_real
from theory.errors import DefinitionError
from theory.functions import KINKED, canonical
from theory.parsing import parse_expression, parse_number

SCOPES = ("none", "tokens", "heads")
BIASES = ("none", "norm", "free", "norm+free")
GAINS = ("mean", "sum", "free")
MAX_WORK = 12_000_000  # calls of all checks: some ten seconds, three times what long text needs
MAX_NAME = 1000


@dataclass(frozen=True)
class Activation:
    """One member of the family a_l^h = f(x_l^h) / (c + Z)^p of docs/model.md section 3.

    score, normalizer: text in ``x`` or a SymPy expression in one symbol; the normalizer is
    the score unless given, and must be nonnegative. scope: over what Z sums the normalizer,
    "tokens" (each head by itself), "heads" (tokens and heads jointly) or "none" (no
    denominator). offset c >= 0, power p > 0. bias of the logits: "none", "norm" (-R_hh/2),
    "free" (a vector beta given with each call) or "norm+free". gain of the sum over heads:
    "mean" (1/H), "sum" (1), "free" (given with each call) or a number. parameters: values of
    further names in the text, e.g. ``{"beta": 2}``.

    Raises DefinitionError, one line, when an entry is unusable: complex or undefined on part
    of the real line, a negative normalizer, an unknown name, text that is not an expression.

    >>> Activation("softplus-1", score="log(1+exp(x))", offset=1).score
    Softplus(x)
    """

    name: str
    score: Any
    normalizer: Any = None
    scope: str = "tokens"
    offset: Any = 0
    power: Any = 1
    bias: str = "none"
    gain: Any = "mean"
    parameters: Any = ()

    def __post_init__(self):
        if isinstance(self.score, str) and self.name == self.score:
            # Text that names itself: what is wrong with it is better said by the parser.
            object.__setattr__(self, "name", " ".join(self.name.split()))
        else:
            _require_name(self.name)
        try:
            with limited_work(MAX_WORK):
                self._settle()
        except Refused as refused:
            why = f"the definition {refused.why}; {refused.advice}"
            raise DefinitionError(self._of(why)) from None

    def _of(self, what: str) -> str:
        return f"activation {self.name if len(self.name) <= 60 else self.name[:57] + '...'}: {what}"

    def _settle(self):
        put = object.__setattr__
        put(self, "parameters", _parameters(self.parameters))
        put(self, "score", self._expression("score", self.score))
        same = self.normalizer is None
        put(
            self,
            "normalizer",
            self.score if same else self._expression("normalizer", self.normalizer),
        )
        put(self, "offset", _number("offset", self.offset, lambda c: c >= 0, "a number >= 0"))
        put(self, "power", _number("power", self.power, lambda p: p > 0, "a number > 0"))
        _one_of("scope", self.scope, SCOPES)
        _one_of("bias", self.bias, BIASES)
        if self.gain not in GAINS:
            put(
                self,
                "gain",
                _number("gain", self.gain, lambda g: True, "mean, sum, free or a number"),
            )
        if self.scope == "none" and (self.offset != 0 or self.power != 1):
            raise DefinitionError(
                self._of(
                    "scope 'none' has no denominator, so offset and power mean nothing; leave "
                    "them out or choose scope 'tokens' or 'heads'"
                )
            )
        require_real(self._of("score"), self.score)
        if self.scope == "none":
            require_average(self._of("score"), self.score)
            return
        where = self._of("normalizer")
        require_real(where, self.normalizer)
        require_nonnegative(where, self.normalizer, strict=self.offset == 0)
        # No other token makes an attention weight larger than its own normalizer leaves it.
        require_average(self._of("score"), self.score / (1 + self.normalizer) ** self.power)

    def _expression(self, what: str, given: Any) -> sp.Expr:
        values, where = dict(self.parameters), self._of(what)
        if isinstance(given, str):
            expression = parse_expression(given, variable=sym.logit, parameters=values)
        else:
            expression = as_expression(where, given, sym.logit)
        require_known(where, expression)
        return canonical(_in_logit(where, expression, values))

    @property
    def smooth(self) -> bool:
        """Whether no kink or step appears, so that plain quadrature converges fast."""
        expressions = [self.score] if self.scope == "none" else [self.score, self.normalizer]
        return not any(e.has(*KINKED) for e in expressions)

    @property
    def continuous(self) -> bool:
        """Whether neither function jumps, so that the gradient of a sample has the risk's mean."""
        expressions = [self.score] if self.scope == "none" else [self.score, self.normalizer]
        return not any(e.diff(sym.logit).has(sp.DiracDelta) for e in expressions)

    @property
    def has_free_bias(self) -> bool:
        return "free" in self.bias

    def with_changes(self, **changes: Any) -> Activation:
        """The same activation with some entries replaced, checked anew."""
        return replace(self, **changes)

    def definition(self) -> dict[str, Any]:
        """All entries as plain text and numbers: what identifies the activation."""
        return {
            "name": self.name,
            "score": sp.srepr(self.score),
            "normalizer": None if self.scope == "none" else sp.srepr(self.normalizer),
            "scope": self.scope,
            "offset": str(self.offset),
            "power": str(self.power),
            "bias": self.bias,
            "gain": str(self.gain),
        }


def _require_name(name: Any) -> None:
    """A name is written into generated code and documents: one line, with nothing to quote."""
    if not isinstance(name, str) or not name.strip():
        raise DefinitionError(f"activation name: expected some text, got {name!r:.60}")
    if len(name) > MAX_NAME or not name.isprintable() or set(name) & set("\"'\\`"):
        raise DefinitionError(
            f"activation name: expected one line of at most {MAX_NAME} characters without quotes "
            f"and backslashes, got {name!r:.60}"
        )


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise DefinitionError(f"{what}: expected one of {', '.join(allowed)}, got {value!r}")


def _number(what: str, value: Any, holds: Any, expected: str) -> sp.Expr:
    """An exact number: 0.8 and 4/5 give one definition, whichever way they were written."""
    number = parse_number(str(value))
    if number is None or not holds(number):
        raise DefinitionError(f"{what}: expected {expected}, got {value!r:.60}")
    return number


def _parameters(given: Any) -> tuple[tuple[str, sp.Expr], ...]:
    pairs = given.items() if hasattr(given, "items") else given
    values = {
        str(name): _number(f"parameter {name}", value, lambda v: True, "a finite number")
        for name, value in pairs
    }
    if sym.logit.name in values:
        raise DefinitionError(f"parameter {sym.logit.name}: that name is the logit's")
    return tuple(sorted(values.items()))


def _in_logit(what: str, given: sp.Expr, values: dict[str, sp.Expr]) -> sp.Expr:
    """Replace the user's own symbols, whatever their assumptions, by the model's logit."""
    free = sorted(given.free_symbols, key=lambda z: z.name)
    known = {z: values[z.name] for z in free if z.name in values}
    logits = [z for z in free if z not in known]
    if len(logits) > 1 or (logits and known and logits[0].name != sym.logit.name):
        names = ", ".join(z.name for z in logits)
        raise DefinitionError(
            f"{what}: one free symbol is the logit, found {names}; give the others as parameters"
        )
    # Floats become exact, so that 0.8 and 4/5 are one activation.
    exact = sp.nsimplify(given.subs(known), rational=True)
    result = exact.xreplace({z: sym.logit for z in logits})
    return result

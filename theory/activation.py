"""The one definition of an attention activation: a = f(x) / (c + Z)^p, x = logit + bias."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from theory import symbols as sym
from theory.domain import require_nonnegative, require_real
from theory.errors import DefinitionError
from theory.functions import KINKED, canonical
from theory.parsing import parse_expression

SCOPES = ("none", "tokens", "heads")
BIASES = ("none", "norm", "free", "norm+free")
GAINS = ("mean", "sum", "free")


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
        put = object.__setattr__
        if not isinstance(self.name, str) or not self.name.strip():
            raise DefinitionError(f"activation name: expected some text, got {self.name!r}")
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
        if isinstance(self.gain, str):
            _one_of("gain", self.gain, (*GAINS, "a number"))
        else:
            put(self, "gain", _number("gain", self.gain, lambda g: True, "a finite number"))
        if self.scope == "none" and (self.offset != 0 or self.power != 1):
            raise DefinitionError(
                f"activation {self.name}: scope 'none' has no denominator, so offset and power "
                "mean nothing; leave them out or choose scope 'tokens' or 'heads'"
            )
        require_real(f"activation {self.name}: score", self.score)
        if self.scope != "none":
            require_real(f"activation {self.name}: normalizer", self.normalizer)
            require_nonnegative(
                f"activation {self.name}: normalizer", self.normalizer, strict=self.offset == 0
            )

    def _expression(self, what: str, given: Any) -> sp.Expr:
        values = dict(self.parameters)
        if isinstance(given, str):
            return canonical(parse_expression(given, variable=sym.logit, parameters=values))
        if not isinstance(given, sp.Expr):
            raise DefinitionError(
                f"activation {self.name}: {what} must be text in x or a SymPy expression, "
                f"got {type(given).__name__}"
            )
        return canonical(_in_logit(f"activation {self.name}: {what}", given, values))

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


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise DefinitionError(f"{what}: expected one of {', '.join(allowed)}, got {value!r}")


def _number(what: str, value: Any, holds: Any, expected: str) -> sp.Expr:
    """An exact number: 0.8 and 4/5 give one definition, whichever way they were written."""
    try:
        number = sp.Rational(str(value))
    except (TypeError, ValueError):
        raise DefinitionError(f"{what}: expected {expected}, got {value!r}") from None
    if not number.is_finite or not holds(number):
        raise DefinitionError(f"{what}: expected {expected}, got {value!r}")
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
    if result.atoms(sp.core.function.AppliedUndef):
        name = sorted(str(e.func) for e in result.atoms(sp.core.function.AppliedUndef))[0]
        raise DefinitionError(
            f"{what}: function {name} has no formula, so it has no derivative; "
            "write the expression itself"
        )
    return result

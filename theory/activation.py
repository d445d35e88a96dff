"""The one definition of an attention activation: a = f(x) / (c + Z)^p, x = logit + bias."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from theory import parameters as par
from theory import symbols as sym
from theory.admission import as_expression, require_known
from theory.audit import SYMPY_FAULTS, Refused, limited_work
from theory.domain import require_average, require_nonnegative, require_real
from theory.errors import DefinitionError
from theory.functions import KINKED, canonical
from theory.parsing import parse_expression
from theory.piecewise import in_ramps, kinks
from theory.removable import regularized

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
    "mean" (1/H), "sum" (1), "free" (given with each call) or a number.

    parameters: values of further names in score, normalizer and offset, e.g. ``{"q": 2}``; they
    stay symbols in the derivation, and ``at(q=3)`` is the same derivation at another value.
    positive: the names of those that must be > 0.

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
    positive: Any = ()

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
        except DefinitionError:
            raise
        except SYMPY_FAULTS as fault:
            why = "SymPy cannot work with the definition, which may be undefined somewhere"
            raise DefinitionError(self._of(f"{why}; write it in another way")) from fault

    def _of(self, what: str) -> str:
        return f"activation {self.name if len(self.name) <= 60 else self.name[:57] + '...'}: {what}"

    def _settle(self):
        put = object.__setattr__
        put(self, "parameters", par.read(self.parameters))
        put(self, "positive", self._positive())
        put(self, "score", self._expression("score", self.score))
        same = self.normalizer is None
        put(
            self,
            "normalizer",
            self.score if same else self._expression("normalizer", self.normalizer),
        )
        put(self, "offset", self._offset())
        power = par.number("power", self.power, "a number > 0")
        if power <= 0:
            raise DefinitionError(f"power: expected a number > 0, got {self.power!r}")
        put(self, "power", power)
        _one_of("scope", self.scope, SCOPES)
        _one_of("bias", self.bias, BIASES)
        if self.gain not in GAINS:
            put(
                self,
                "gain",
                par.number("gain", self.gain, "mean, sum, free or a number"),
            )
        if self.scope == "none" and (self.offset != 0 or self.power != 1):
            raise DefinitionError(
                self._of(
                    "scope 'none' has no denominator, so offset and power mean nothing; leave "
                    "them out or choose scope 'tokens' or 'heads'"
                )
            )
        used = set().union(*(e.free_symbols for e in (self.score, self.normalizer, self.offset)))
        for name, symbol in self.symbols.items():
            if symbol not in used:
                raise DefinitionError(
                    f"parameter {name}: it is in neither score, normalizer nor offset of "
                    f"activation {self.name}; leave it out"
                )
        self._require_usable()

    def _require_usable(self) -> None:
        """The checks that depend on the parameters' values."""
        values = dict(self.parameters)
        for name in self.positive:
            if values[name] <= 0:
                raise DefinitionError(
                    f"parameter {name}: expected a number > 0, got {values[name]}"
                )
        offset = self.typed(self.offset)
        if offset < 0:
            raise DefinitionError(f"offset: expected a number >= 0, got {offset}")
        score, where = self.typed(self.score), self._of("score")
        require_real(where, score)
        if self.scope == "none":
            require_average(where, score)
            return
        normalizer = self.typed(self.normalizer)
        if normalizer != score:
            require_real(self._of("normalizer"), normalizer)
        require_nonnegative(self._of("normalizer"), normalizer, strict=offset == 0)
        # No other token makes an attention weight larger than its own normalizer leaves it.
        require_average(where, score / (1 + normalizer) ** self.power)

    @property
    def symbols(self) -> dict[str, sp.Symbol]:
        """The symbol of each parameter, by the name that it was given."""
        return {name: par.symbol(name, name in self.positive) for name, _ in self.parameters}

    @property
    def values(self) -> dict[sp.Symbol, sp.Rational]:
        """The value of each parameter, by its symbol."""
        symbols = self.symbols
        return {symbols[name]: value for name, value in self.parameters}

    def typed(self, expression: sp.Expr) -> sp.Expr:
        """The expression with the parameters' values typed in."""
        return expression.subs(self.values) if self.parameters else expression

    def at(self, **values: Any) -> Activation:
        """The same activation, hence the same derivation, at other values of its parameters.

        Raises DefinitionError for an unknown name, and where the activation is unusable there.

        >>> act = Activation("mine", score="exp(q*x)", parameters={"q": 2})
        >>> act.at(q=3).values
        {q: 3}
        """
        known = dict(self.parameters)
        for name in values:
            if name not in known:
                names = ", ".join(known) or "none"
                raise DefinitionError(
                    f"parameter {name}: activation {self.name} has no such one; it has {names}"
                )
        moved = copy(self)
        object.__setattr__(moved, "parameters", par.read({**known, **values}))
        moved._require_usable()
        return moved

    def _positive(self) -> tuple[str, ...]:
        names = (self.positive,) if isinstance(self.positive, str) else self.positive
        for name in names:
            if name not in dict(self.parameters):
                raise DefinitionError(f"positive: {name} is no parameter of {self.name}")
        return tuple(sorted(names))

    def _offset(self) -> sp.Expr:
        """A number, or an expression in the parameters."""
        given = self.offset
        names = self.symbols
        if isinstance(given, str) and not re.fullmatch(r"[-+0-9.eE/\s]*", given):
            try:
                given = parse_expression(given, variable=sym.logit, parameters=names)
            except DefinitionError as problem:
                raise DefinitionError(f"offset: {problem}") from None
        if isinstance(given, sp.Expr) and given.free_symbols:
            known = {z: names[z.name] for z in given.free_symbols if z.name in names}
            given = given.xreplace(known)
            if given.free_symbols <= set(names.values()):
                return sp.nsimplify(given, rational=True)
            unknown = ", ".join(sorted(z.name for z in given.free_symbols - set(names.values())))
            raise DefinitionError(
                f"offset: a number or an expression in parameters, found {unknown}"
            )
        return par.number("offset", given, "a number >= 0 or an expression in parameters")

    def _expression(self, what: str, given: Any) -> sp.Expr:
        names, where = self.symbols, self._of(what)
        if isinstance(given, str):
            expression = parse_expression(given, variable=sym.logit, parameters=names)
        else:
            expression = as_expression(where, given, sym.logit)
        require_known(where, expression)
        expression = _in_logit(where, expression, names)
        try:
            return canonical(regularized(in_ramps(expression)))
        except DefinitionError as problem:
            raise DefinitionError(f"{where}: {problem}") from None

    @property
    def smooth(self) -> bool:
        """Whether no kink or step appears, so that plain quadrature converges fast."""
        return not any(e.has(*KINKED) for e in self._functions)

    @property
    def continuous(self) -> bool:
        """Whether neither function jumps, so that the gradient of a sample has the risk's mean."""
        return not any(e.diff(sym.logit).has(sp.DiracDelta) for e in self._functions)

    @property
    def kinks(self) -> list[sp.Expr] | None:
        """Logits at which a function bends or jumps; None where they are not known."""
        found = [kinks(e) for e in self._functions]
        if None in found:
            return None
        return list(dict.fromkeys(point for points in found for point in points or ()))

    @property
    def _functions(self) -> list[sp.Expr]:
        return [self.score] if self.scope == "none" else [self.score, self.normalizer]

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
            "positive": list(self.positive),
            "parameters": {name: str(value) for name, value in self.parameters},
        }

    def template(self) -> dict[str, Any]:
        """The definition without the values of its parameters: what a derivation depends on."""
        return {**self.definition(), "parameters": [name for name, _ in self.parameters]}


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


def _in_logit(what: str, given: sp.Expr, names: dict[str, sp.Symbol]) -> sp.Expr:
    """Replace the user's own symbols, whatever their assumptions, by the model's logit."""
    free = sorted(given.free_symbols, key=lambda z: z.name)
    own = set(names.values())
    known = {z: z if z in own else names[z.name] for z in free if z in own or z.name in names}
    logits = [z for z in free if z not in known]
    if len(logits) > 1 or (logits and known and logits[0].name != sym.logit.name):
        found = ", ".join(z.name for z in logits)
        raise DefinitionError(
            f"{what}: one free symbol is the logit, found {found}; give the others as parameters"
        )
    # Floats become exact, so that 0.8 and 4/5 are one activation.
    exact = sp.nsimplify(given, rational=True)
    result = exact.xreplace({**known, **{z: sym.logit for z in logits}})
    return result

# notation: f, g score and normalizer, c, p offset and power, gamma gain; V, mu variance and mean
# of theta along a direction; L tokens, H heads. The Hessian is the risk's in weight space.
"""The risk's Hessian in weight space where all heads are zero, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from theory import order_parameters as op
from theory import parameters as par
from theory import symbols as sym
from theory.activation import Activation
from theory.catalogue import resolved
from theory.derivation import Step
from theory.errors import DefinitionError

V = sp.Symbol("V", nonnegative=True)
mu = sp.Symbol("mu", real=True)
# The logits of one token in two heads, all others being 0.
_s, _t = sp.symbols("s t", real=True)

RULE = "loss at the origin"
REASON = (
    "Derivatives of the per-sample loss by the logits $x_h$, $x_k$ of one token where all logits "
    "are 0; tokens that are alike are counted."
)


@dataclass(frozen=True)
class OriginSpectrum:
    """Eigenvalues of the risk's weight-space Hessian at k = 0, for unit perturbations.

    Along a direction in which theta has variance V and mean mu (V = mu = 0: a noise direction):
    splitting (heads against each other, sum_h dk_h = 0, multiplicity H - 1) and common (heads
    together, multiplicity 1), SymPy expressions in L, H, V, mu. gradient: of the risk along the
    normalized common mode; it vanishes for mu = 0 only, elsewhere the origin is no fixed point.
    steps: the derivatives of the loss that they are made of. parameters: the values at which
    ``evaluate`` takes the activation's named parameters.
    """

    splitting: sp.Expr
    common: sp.Expr
    gradient: sp.Expr
    steps: tuple[Step, ...]
    parameters: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()

    def evaluate(
        self, L: float, H: int, V: float, mu: float = 0.0, **parameters: Any
    ) -> tuple[float, float]:
        """splitting and common as numbers.

        parameters: values of the activation's named parameters, where they are not its own. Raises
        DefinitionError for numbers that cannot be: L >= 1, H >= 1 whole, V >= 0, mu finite.

        >>> splitting, common = origin_spectrum("softmax").evaluate(L=5, H=2, V=4.0)
        >>> round(splitting, 6), round(common, 6)
        (-0.384, -0.096)
        """
        exact = {
            name: par.number(name, value)
            for name, value in zip(("L", "H", "V", "mu"), (L, H, V, mu), strict=True)
        }
        if exact["L"] < 1 or exact["H"] < 1 or not exact["H"].is_integer or exact["V"] < 0:
            raise DefinitionError(
                f"evaluate: expected L >= 1, H >= 1 whole and V >= 0, got L = {L}, H = {H}, V = {V}"
            )
        values = dict(zip((sym.L, sym.H, _VARIANCE, _MEAN), exact.values(), strict=True))
        values |= self._parameters(parameters)
        return float(self.splitting.subs(values)), float(self.common.subs(values))

    def _parameters(self, given: dict[str, Any]) -> dict[sp.Symbol, sp.Expr]:
        """Values of all named parameters, by symbol."""
        own = {symbol.name.removeprefix(par.PREFIX): symbol for symbol, _ in self.parameters}
        for name in given:
            if name not in own:
                known = ", ".join(own) or "none"
                raise DefinitionError(f"parameter {name}: there is no such one here, only {known}")
        read = {own[name]: par.number(f"parameter {name}", value) for name, value in given.items()}
        return {**dict(self.parameters), **read}

    @property
    def thresholds(self) -> tuple[sp.Expr | None, sp.Expr | None]:
        """Variances at which splitting and common change sign (mu = 0), None where they cannot."""
        splitting, common = (_root(e.subs(mu, 0)) for e in (self.splitting, self.common))
        return splitting, common


_VARIANCE, _MEAN = V, mu


def origin_spectrum(act: Activation | str) -> OriginSpectrum:
    """The Hessian at the origin for an activation or a catalogue name (docs/model.md section 8).

    To second order in the heads the risk needs the first two derivatives of the loss in the logits
    of one token at 0, the first two moments of the logits, and how a bias moves with R. Raises
    DefinitionError for an unknown name and for a kink at 0.

    >>> spectrum = origin_spectrum("softmax")
    >>> spectrum.splitting
    -2*(L - 2)*(L - 1)*(V + mu**2)/(H*L**3)
    >>> spectrum.thresholds[1]
    L/(L - 3)
    """
    activation = resolved(act)
    if not smooth_at_zero(activation):
        raise DefinitionError(
            f"activation {activation.name}: its score or normalizer has a kink at 0, so the risk "
            "has no second derivative at the origin"
        )
    first: dict[sp.Symbol, sp.Expr] = {}
    same: dict[sp.Symbol, sp.Expr] = {}
    mixed: dict[sp.Symbol, sp.Expr] = {}
    steps: list[Step] = []
    for density in (sym.RELEVANT, sym.NOISE):
        loss = _loss(activation, density)
        for found, variables in ((first, (_s,)), (same, (_s, _s)), (mixed, (_s, _t))):
            value = sp.factor(sp.simplify(loss.diff(*variables).subs({_s: 0, _t: 0})))
            found[density] = value
            heads = tuple(1 if z == _s else 2 for z in variables)
            before = sp.Symbol(f"loss_{'h' * heads.count(1)}{'k' * heads.count(2)}")
            steps.append(Step(RULE, REASON, before, value, "origin", density, heads))

    def block(by_token: dict) -> sp.Expr:
        # Logits of different tokens are independent, so that no term mixes them.
        return (1 + V + mu**2) * by_token[sym.RELEVANT] + (sym.L - 1) * by_token[sym.NOISE]

    # b_h moves with R_hh, on every token.
    pull = 2 * sp.sympify(op.bias(activation)).diff(op.R[op.h, op.h])
    own = block(same) + pull * (first[sym.RELEVANT] + (sym.L - 1) * first[sym.NOISE])
    other = block(mixed)
    return OriginSpectrum(
        sp.factor(sp.simplify(own - other)),
        sp.factor(sp.simplify(own + (sym.H - 1) * other)),
        sp.factor(sp.simplify(mu * first[sym.RELEVANT] * sp.sqrt(sym.H))),
        tuple(steps),
        tuple(activation.values.items()),
    )


def smooth_at_zero(activation: Activation) -> bool:
    """Whether both functions have a second derivative where all logits are 0."""
    functions = [activation.score, activation.normalizer]
    used = functions[:1] if activation.scope == "none" else functions
    at_zero = (f.diff(sym.logit, 2).subs(sym.logit, 0) for f in used)
    return not any(e.has(sp.DiracDelta) for e in at_zero)


def _loss(activation: Activation, density: sp.Symbol) -> sp.Expr:
    """The loss when one token of the ``density`` has logits s, t in two heads, all others 0."""
    L, H, c, p = sym.L, sym.H, activation.offset, activation.power
    f = [activation.score.subs(sym.logit, z) for z in (_s, _t, sp.S.Zero)]
    g = [activation.normalizer.subs(sym.logit, z) for z in (_s, _t, sp.S.Zero)]
    if activation.scope == "none":
        totals = [sp.S.One] * 3
    elif activation.scope == "tokens":
        totals = [c + (L - 1) * g[2] + one for one in g]
    else:
        totals = [c + (H * L - 2) * g[2] + g[0] + g[1]] * 3

    def attention(scores: list[sp.Expr]) -> sp.Expr:
        first, second, others = (
            score / total**p for score, total in zip(scores, totals, strict=True)
        )
        return op.gain(activation) * (first + second + (H - 2) * others)

    moved, still = attention(f), attention([f[2]] * 3)
    if density == sym.RELEVANT:
        return (1 - moved) ** 2 + (L - 1) * still**2
    return (1 - still) ** 2 + moved**2 + (L - 2) * still**2


def _root(expression: sp.Expr) -> sp.Expr | None:
    """The V >= 0 at which an expression affine in V changes its sign."""
    slope = sp.diff(expression, V)
    if slope == 0:
        return None
    root = sp.factor(sp.simplify(-expression.subs(V, 0) / slope))
    return None if root.is_nonpositive else root

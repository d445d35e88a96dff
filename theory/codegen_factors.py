"""Generated functions of one token's logits: attention weights, factors of one head."""

from __future__ import annotations

import sympy as sp

from theory import factors as fac
from theory import symbols as sym
from theory.activation import Activation
from theory.numpy_printer import function, lines, source
from theory.scaling import KAPPA, Scaled, scaled


def attention(activation: Activation) -> str:
    """``attention(x)``: the weights of all tokens and heads, for simulation."""
    c, p = activation.offset, activation.power
    f, g = activation.score, activation.normalizer
    if activation.scope == "none":
        doc = f"a = {f}; x of shape (..., L, H), bias included."
        return function(
            "attention(x)",
            doc,
            [*lines([("score", f)]), "return np.broadcast_to(score, np.shape(x)).copy()"],
        )
    form = scaled(activation, derivatives=0, shared=True)
    rows = [("score", form.f[0]), ("normalizer", form.g[0])]
    body, total = denominator(activation, form, rows)
    over = "tokens" if activation.scope == "tokens" else "tokens and heads"
    doc = (
        f"a = f / (c + Z)^p, f = {f}, g = {g}, c = {c}, p = {p}, Z = sum of g over {over}.\n\n"
        "x of shape (..., L, H), bias included."
    )
    return function("attention(x)", doc, [*body, f"return score / {total}"])


def denominator(
    activation: Activation, form: Scaled, rows: list[tuple[str, sp.Expr]]
) -> tuple[list[str], str]:
    """Lines that compute ``rows``, ``normalizer`` among them, and ``total`` = c + Z; its power."""
    c, p = activation.offset, activation.power
    axis = "-2" if activation.scope == "tokens" else "(-2, -1)"
    offset, body = source(c), []
    if form.kappa != 0:
        # The unit of all exponents is the largest that the normalizer meets, offset included.
        largest = f"np.max({source(form.kappa)}, axis={axis}, keepdims=True)"
        body.append(f"kappa = np.maximum(0.0, {largest})" if c else f"kappa = {largest}")
        offset = f"{source(c)} * np.exp(-kappa)"
        if c.free_symbols:
            # A parameter may be 0, where the unit must not be bounded below.
            body = [
                f"kappa, offset = {largest}, {source(c)}",
                "if offset:",
                "    kappa = np.maximum(0.0, kappa)",
                "    offset = offset * np.exp(-kappa)",
            ]
            offset = "offset"
    total = f"np.sum(np.broadcast_to(normalizer, x.shape), axis={axis}, keepdims=True)"
    # Constant scores and slopes take the shape of the logits.
    constant = [name for name, e in rows if name != "normalizer" and not e.has(sym.logit)]
    body += [
        *lines(rows),
        *(f"{name} = np.full_like(x, {name})" for name in constant),
        f"total = {offset} + {total}" if c else f"total = {total}",
    ]
    return body, "total" + (f" ** {source(p)}" if p != 1 else "")


def single_factors(activation: Activation) -> list[str]:
    """X_n and its derivatives in x, two or (``jets``) four of them; the normalizer's logarithm."""
    form = scaled(activation, derivatives=4)
    # A pair of heads needs no squares.
    parts = [
        _factors(activation, form, "factors", 3, 2),
        _factors(activation, form, "pair_factors", 2, 2),
    ]
    if activation.kinks is not None:
        parts += [
            _factors(activation, form, "jets", 3, 4),
            _factors(activation, form, "pair_jets", 2, 4),
        ]
    if activation.scope != "none":
        log = f"return {source(form.kappa)} + np.log({source(form.g[0])} + 0.0 * x)"
        unit = [f"kappa = {source(form.kappa)}"] if form.kappa.has(sp.Max) else []
        parts.append(function("log_normalizer(x)", "ln g(x).", [*unit, log]))
    return parts


def _factors(activation: Activation, form: Scaled, name: str, orders: int, highest: int) -> str:
    values = values_of(form)
    # Constants are put in; what depends on the logit alone is computed once for all s.
    constants = {symbol: value for symbol, value in values.items() if value.is_number}
    targets, equations = [], []
    for order, local in enumerate(locals_of(activation)[:orders]):
        for degree, expression in enumerate(fac.logit_derivatives(local, highest)):
            targets.append((f"out[{order}, {degree}]", expression.subs(constants)))
        equations.append(f"X_{order} = {local}")
    head = ["s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)"]
    if activation.scope != "none":
        if form.kappa.has(sp.Max):
            head.append(f"kappa = {source(form.kappa)}")
            values = {symbol: e.subs(form.kappa, KAPPA) for symbol, e in values.items()}
            head.append("t = _exp(s + kappa)")
        else:
            head.append(f"t = _exp({source(sym.s + form.kappa)})")
    used = sp.Tuple(*(e for _, e in targets)).free_symbols
    functions = [(symbol.name, e) for symbol, e in values.items() if symbol in used]
    body = [
        *head,
        *lines(functions),
        f"out = np.empty(({orders}, {highest + 1}, *np.broadcast_shapes(s.shape, x.shape)))",
        *lines(targets),
        "return out",
    ]
    scale = "" if activation.scope == "none" else f", in units e^kappa of g, kappa = {form.kappa}"
    doc = (
        f"out[n, d], n < {orders}: d-th derivative in x of X_n" + scale + ".\n\n"
        f"{'; '.join(equations)}; f0 = {activation.score}"
        + ("." if activation.scope == "none" else f", g0 = {activation.normalizer}, t = e^s.")
    )
    return function(f"{name}(s, x)", doc, body)


def locals_of(activation: Activation) -> list[sp.Expr]:
    """The factors X_n in t, f0 and g0."""
    if activation.scope == "none":
        return [fac.f[0] ** order for order in range(3)]
    return [
        fac.t ** (order * activation.power) * fac.f[0] ** order * sp.exp(-fac.t * fac.g[0])
        for order in range(3)
    ]


def values_of(form: Scaled) -> dict[sp.Symbol, sp.Expr]:
    """What f0, f1, ... and g0, g1, ... are for an activation."""
    pairs = zip(fac.f, form.f, strict=False), zip(fac.g, form.g, strict=False)
    return dict((*pairs[0], *pairs[1]))

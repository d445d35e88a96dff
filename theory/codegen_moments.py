"""Generated integrands of the risk in the lift variables, and their first two variations."""

from __future__ import annotations

from functools import reduce

import sympy as sp

from theory import factors as fac
from theory import symbols as sym
from theory.expectation import LengthPower
from theory.numpy_printer import function, lines
from theory.rules.collection import Term

# The averages of X_n by their place in an array: density 0 relevant, 1 noise; then n.
_AVERAGES = {
    f"{density}, {order}": sp.Symbol(f"{factor}_{name}", real=True)
    for density, name in enumerate(("relevant", "noise"))
    for order, factor in enumerate(fac.NAMES)
}
_SHAPE = "np.broadcast_shapes(np.shape(noise)[1:], np.shape(relevant)[1:])"


def moments(kind: str, terms: list[Term]) -> list[str]:
    """The integrands in the lift variables, and their first variation in each average."""
    heads = (sym.h, sym.k) if kind == "pair" else (sym.h,)
    nodes = {node: fac.factorize(node, heads)[0] for term in terms for node in fac.averages(term)}
    names = {
        node: sp.Symbol(f"{factor.name}_{_density(node)}", real=True)
        for node, factor in nodes.items()
    }
    integrands = [_named(term.integrand, names) for term in terms]
    arguments = "s, v, relevant, noise, powers" if kind == "pair" else "s, relevant, noise, powers"
    doc = "; ".join(f"{label(t)} = {sp.sstr(t.integrand)}" for t in terms)
    values = function(
        f"{kind}_moments({arguments})",
        f"Integrands in the logarithmic lift variables.\n\n{doc}.",
        [
            *_unpack(integrands),
            *lines([(label(t), _powers(e)) for t, e in zip(terms, integrands, strict=True)]),
            f"return {', '.join(label(t) for t in terms)}",
        ],
    )
    risk = sp.Add(*(t.coefficient * e for t, e in zip(terms, integrands, strict=True)))
    variations = [(f"out[{place}]", risk.diff(symbol)) for place, symbol in _AVERAGES.items()]
    variation = function(
        f"{kind}_variation({arguments}, gamma)",
        "out[density, n] = d(risk integrand) / d(average of X_n), density 0 relevant, 1 noise.",
        [
            *_unpack([e for _, e in variations]),
            f"out = np.empty((2, 3, *{_SHAPE}))",
            *lines([(name, _powers(e)) for name, e in variations]),
            "return out",
        ],
    )
    return [values, variation, _second(kind, arguments, risk)]


def _second(kind: str, arguments: str, risk: sp.Expr) -> str:
    """The second variation: the first one differentiated by each average once more."""
    entries = [
        (f"out[{one}, {other}]", second)
        for one, symbol in _AVERAGES.items()
        for other, another in _AVERAGES.items()
        for second in [risk.diff(symbol).diff(another)]
        if second != 0
    ]
    return function(
        f"{kind}_second_variation({arguments}, gamma)",
        "out[density, n, other density, n'] = second derivative of the risk integrand in the "
        "averages of X_n and X_n'; ``powers`` up to the third derivative.",
        [
            *_unpack([e for _, e in entries], derivatives=4),
            f"out = np.zeros((2, 3, 2, 3, *{_SHAPE}))",
            *lines([(name, _powers(e)) for name, e in entries]),
            "return out",
        ],
    )


def _density(node) -> str:
    return "relevant" if node.density == sym.RELEVANT else "noise"


def label(term: Term) -> str:
    """linear or square in the gain and of one head, or of a pair."""
    if len(term.heads) == 2:
        return "pair"
    return "linear" if sp.degree(term.coefficient, sym.gain) == 1 else "square"


def _named(expression: sp.Expr, names: dict) -> sp.Expr:
    """Averages become symbols, so that the integrand can be differentiated by them."""
    ordered = sorted(names, key=sp.default_sort_key)
    return reduce(lambda e, node: e.xreplace({node: names[node]}), ordered, expression)


def _powers(expression: sp.Expr) -> sp.Expr:
    return expression.replace(LengthPower, lambda phi, n: sp.Symbol(f"power_{n}", real=True))


def _unpack(expressions: list[sp.Expr], derivatives: int = 3) -> list[str]:
    """Names for the rows of the stacked arguments, as far as they are used."""
    used = {z.name for e in expressions for z in _powers(e).free_symbols}

    def row(names, array):
        kept = [name if name in used else "_" for name in names]
        return [f"{', '.join(kept)} = {array}"] if set(kept) != {"_"} else []

    return [
        *row([f"{name}_relevant" for name in fac.NAMES], "relevant"),
        *row([f"{name}_noise" for name in fac.NAMES], "noise"),
        *row([f"power_{n}" for n in range(derivatives)], "powers"),
    ]

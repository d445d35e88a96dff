"""Generated functions of all heads at once, for a normalizer that the heads share."""

from __future__ import annotations

import sympy as sp

from theory import factors as fac
from theory.activation import Activation
from theory.codegen_factors import locals_of
from theory.index_notation import einsum
from theory.numpy_printer import function, lines, source
from theory.scaling import KAPPA, Scaled, scaled

TENSORS = ("slope", "curvature", "third", "fourth")
SUMS = "f0, g0 = np.sum(f[0], axis=-1), np.sum(g[0], axis=-1)"


def joint_factors(activation: Activation) -> list[str]:
    """Units of a node, its lifted powers, and derivatives of M through the sums over heads."""
    form = scaled(activation, derivatives=4, shared=True)
    log = "kappa + np.log(np.sum(g[0], axis=-1))"
    doc = "ln of the normalizer of one token, summed over heads, x of shape (..., H)."
    return [
        _units(activation, form, "units", 2),
        _units(activation, form, "jet_units", 4),
        function("log_normalizer(x)", doc, ["kappa, _, g = units(x)", f"return {log}"]),
        *_reduced(locals_of(activation)),
        *_chain_rules(),
    ]


def _units(activation: Activation, form: Scaled, name: str, highest: int) -> str:
    kappa = "np.zeros(x.shape[:-1])"
    if form.kappa != 0:
        kappa = f"np.max({source(form.kappa)}, axis=-1)"
    pairs = [
        (f"{kind}[{d}]", e)
        for kind, functions in (("f", form.f), ("g", form.g))
        for d, e in enumerate(functions[: highest + 1])
    ]
    # Inside the expressions kappa belongs to the node, so it broadcasts over heads.
    rows = [(target, e.subs(KAPPA, sp.Symbol("unit", real=True))) for target, e in pairs]
    shape = f"np.empty(({highest + 1}, *x.shape))"
    body = [
        f"kappa = {kappa}",
        "unit = kappa[..., None]",
        f"f, g = {shape}, {shape}",
        *lines(rows),
        "return kappa, f, g",
    ]
    doc = (
        f"kappa, f and g of x (..., H), derivative first: f = {activation.score} in units of "
        f"e^(p kappa), g = {activation.normalizer} in units of e^kappa."
    )
    return function(f"{name}(x)", doc, body)


def _reduced(local: list[sp.Expr]) -> list[str]:
    """Joint factors by one variable: with y = s + ln g0, X_n = (ratio of f0, g0) t^d exp(-t).

    Each average and each partial derivative is a sum of lifted powers t^d exp(-t), t = e^y,
    whose coefficients depend on the node only.
    """
    ratios = [
        (f"out[{order}]", constant / fac.g[0] ** degree)
        for order, factor in enumerate(local)
        for constant, degree in _by_degree(factor)
    ]
    average_degrees = [d for factor in local for _, d in _by_degree(factor)]
    first, jets = _Moments(local, 2), _Moments(local, 4)
    degrees = _sorted({d for _, d in first.ordered} | set(average_degrees))
    all_degrees = degrees + _sorted({d for _, d in jets.ordered} - set(degrees))
    constants = "\n".join(
        [
            "# Lifted powers t^d exp(-t) by index: of the averages n = 0, 1, 2, and of the moments",
            "# (n, index) that ``joint_partials`` and ``jet_partials`` take; the degrees d are",
            f"# {all_degrees}.",
            f"AVERAGE_POWERS = {tuple(degrees.index(d) for d in average_degrees)}",
            f"MOMENT_POWERS = {first.powers(all_degrees)}",
            f"JET_POWERS = {jets.powers(all_degrees)}",
            "",
        ]
    )
    return [
        constants,
        _lifted_powers("lifted_powers", degrees),
        _lifted_powers("jet_lifted_powers", all_degrees),
        function(
            "ratios(f, g)",
            f"What multiplies the lifted power in X_n = {local}; f0, g0 sums over heads.",
            [SUMS, "out = np.empty((3, f0.size))", *lines(ratios), "return out"],
        ),
        first.partials("joint_partials", "MOMENT_POWERS"),
        jets.partials("jet_partials", "JET_POWERS"),
        first.coefficients(),
    ]


class _Moments:
    """The lifted powers in all partial derivatives of the factors in f0 and g0, up to an order."""

    def __init__(self, local: list[sp.Expr], highest: int):
        self.names = fac.partial_names(highest)
        # (n, degree) to the coefficient of that lifted power in each partial derivative of X_n
        self.table: dict[tuple[int, sp.Expr], dict[str, sp.Expr]] = {}
        for order, factor in enumerate(local):
            for name, partial in fac.partials(factor, highest).items():
                for constant, degree in _by_degree(partial):
                    row = self.table.setdefault((order, degree), {})
                    row[name] = row.get(name, sp.S.Zero) + constant / fac.g[0] ** degree
        self.ordered = sorted(self.table, key=lambda key: (key[0], sp.default_sort_key(key[1])))

    def powers(self, degrees: list[sp.Expr]) -> tuple[tuple[int, int], ...]:
        return tuple((n, degrees.index(d)) for n, d in self.ordered)

    def partials(self, name: str, constant: str) -> str:
        moments = {key: _moment(*key) for key in self.ordered}
        targets = [
            (f"out[{i}]", sp.Add(*(self.table[key].get(one, 0) * moments[key] for key in moments)))
            for i, one in enumerate(self.names)
        ]
        doc = (
            f"Partial derivatives {', '.join(self.names)} in the sums f0, g0 of M = sum_n,s "
            "variation[n, s] X_n(s), at each node; moments[i] = sum_s variation[n, s] of the lifted"
            f" power at the node, in the order of {constant}."
        )
        body = [
            SUMS,
            f"{', '.join(moment.name for moment in moments.values())} = moments",
            f"out = np.empty(({len(self.names)}, f0.size))",
            *lines(targets),
            "return out",
        ]
        return function(f"{name}(moments, f, g)", doc, body)

    def coefficients(self) -> str:
        targets = [
            (f"out[{i}, {self.names.index(name)}]", coefficient)
            for i, key in enumerate(self.ordered)
            for name, coefficient in self.table[key].items()
        ]
        doc = (
            f"What multiplies lifted power i of MOMENT_POWERS in the partial derivatives "
            f"{', '.join(self.names)} of its X_n, at each node."
        )
        shape = f"({len(self.ordered)}, {len(self.names)}, f0.size)"
        body = [SUMS, f"out = np.zeros({shape})", *lines(targets), "return out"]
        return function("coefficients(f, g)", doc, body)


def _lifted_powers(name: str, degrees: list[sp.Expr]) -> str:
    y = sp.Symbol("y", real=True)
    rows = [(f"out[{i}]", sp.exp(d * y - sp.exp(y))) for i, d in enumerate(degrees)]
    body = [f"out = np.empty(({len(degrees)}, *np.shape(y)))", *lines(rows), "return out"]
    return function(f"{name}(y)", "t^d exp(-t) with t = e^y.", body)


def _sorted(degrees: set[sp.Expr]) -> list[sp.Expr]:
    return sorted(degrees, key=sp.default_sort_key)


def _by_degree(factor: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """A factor without its exp(-t g0), as (coefficient, power of t) for each of its terms."""
    split = []
    for term in sp.Add.make_args(sp.expand(factor * sp.exp(fac.t * fac.g[0]))):
        constant, time = term.as_independent(fac.t, as_Add=False)
        if constant != 0:
            split.append((constant, time.as_base_exp()[1] if time != 1 else sp.S.Zero))
    return split


def _moment(order: int, degree: sp.Expr) -> sp.Symbol:
    return sp.Symbol(f"moment_{order}_{str(degree).replace('/', '_')}", real=True)


def _chain_rules() -> list[str]:
    """Bonnet's and Price's derivatives of M by the chain rule through the sums over heads."""
    averaged = "weighted sums over the nodes n"
    return [
        _chain_rule("joint_slopes", 2, summed=True, doc=averaged),
        _chain_rule("joint_jets", 4, summed=True, doc=averaged),
        _chain_rule("joint_amounts", 2, summed=False, doc="at each node n, which comes last"),
    ]


def _chain_rule(name: str, highest: int, *, summed: bool, doc: str) -> str:
    letters = "hklo"
    body, returned = [], []
    for order, derivative in enumerate(fac.sum_derivatives(highest), start=1):
        body.append(f"d{order} = partials[{_rows(order)}]")
        body.append(f"x{order} = np.stack([f[{order}], g[{order}]])")
        free = (*fac.heads[:order], *(() if summed else (fac.node,)))
        code = einsum(fac.weight[fac.node] * derivative, free, large=True)
        returned.append(TENSORS[order - 1])
        body.append(f"{returned[-1]} = {code}")
    equations = (
        f"{tensor}_{letters[:n]} = E[{' '.join(f'd_{h}' for h in letters[:n])} M]"
        for n, tensor in enumerate(returned, start=1)
    )
    return function(
        f"{name}(weight, partials, f, g)",
        f"{', '.join(equations)}: {doc}.",
        [*body, f"return {', '.join(returned)}"],
    )


def _rows(order: int) -> str:
    """Which row of the partial derivatives is d[A, B, ...]: how many of the sums are S_g counts."""
    first = len(fac.partial_names(order - 1))

    def nested(depth: int, by_g: int) -> str:
        if depth == order:
            return str(first + by_g)
        return f"[{nested(depth + 1, by_g)}, {nested(depth + 1, by_g + 1)}]"

    return nested(0, 0)

"""Generated functions of one token's logits: attention weights, factors, joint factors."""

from __future__ import annotations

import sympy as sp

from theory import factors as fac
from theory import symbols as sym
from theory.activation import Activation
from theory.index_notation import einsum
from theory.numpy_printer import function, lines, source
from theory.scaling import KAPPA, Scaled, scaled

# The two sums over heads inside a joint factor, their first variation, and one node index n.
_n, _h, _k = sp.symbols("n h k", integer=True)
_PARTIALS = ("f", "g", "ff", "fg", "gg")


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
    """``factors``, ``pair_factors``: X_n and its derivatives in x; the normalizer's logarithm."""
    form = scaled(activation)
    # A pair of heads needs no squares.
    parts = [
        _factors(activation, form, "factors", 3),
        _factors(activation, form, "pair_factors", 2),
    ]
    if activation.scope != "none":
        log = f"return {source(form.kappa)} + np.log({source(form.g[0])} + 0.0 * x)"
        unit = [f"kappa = {source(form.kappa)}"] if form.kappa.has(sp.Max) else []
        parts.append(function("log_normalizer(x)", "ln g(x).", [*unit, log]))
    return parts


def _factors(activation: Activation, form: Scaled, name: str, orders: int) -> str:
    values = _values(form)
    targets, equations = [], []
    for order, local in enumerate(_locals(activation)[:orders]):
        for degree, expression in enumerate(fac.logit_derivatives(local)):
            targets.append((f"out[{order}, {degree}]", expression.subs(values)))
        equations.append(f"X_{order} = {local}")
    head = ["s, x = np.asarray(s, dtype=float), np.asarray(x, dtype=float)"]
    if activation.scope != "none":
        if form.kappa.has(sp.Max):
            head.append(f"kappa = {source(form.kappa)}")
            targets = [(name, e.subs(form.kappa, KAPPA)) for name, e in targets]
            head.append("t = _exp(s + kappa)")
        else:
            head.append(f"t = _exp({source(sym.s + form.kappa)})")
    body = [
        *head,
        f"out = np.empty(({orders}, 3, *np.broadcast_shapes(s.shape, x.shape)))",
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


def _locals(activation: Activation) -> list[sp.Expr]:
    if activation.scope == "none":
        return [fac.f[0] ** order for order in range(3)]
    return [
        fac.t ** (order * activation.power) * fac.f[0] ** order * sp.exp(-fac.t * fac.g[0])
        for order in range(3)
    ]


def _values(form: Scaled) -> dict[sp.Symbol, sp.Expr]:
    return dict(zip((*fac.f, *fac.g), (*form.f, *form.g), strict=True))


def joint_factors(activation: Activation) -> list[str]:
    """Functions of all heads at once, for a normalizer that the heads share."""
    form = scaled(activation, shared=True)
    kappa = "np.zeros(x.shape[:-1])"
    if form.kappa != 0:
        kappa = f"np.max({source(form.kappa)}, axis=-1)"
    unpacked = [f"kappa = {kappa}"]
    pairs = [
        (f"{kind}[{d}]", e)
        for kind, functions in (("f", form.f), ("g", form.g))
        for d, e in enumerate(functions)
    ]
    # Inside the expressions kappa belongs to the node, so it broadcasts over heads.
    rows = [(name, e.subs(KAPPA, sp.Symbol("unit", real=True))) for name, e in pairs]
    body = [
        *unpacked,
        "unit = kappa[..., None]",
        "f, g = np.empty((3, *x.shape)), np.empty((3, *x.shape))",
        *lines(rows),
        "return kappa, f, g",
    ]
    doc = (
        f"kappa, f and g of x (..., H), derivative first: f = {activation.score} in units of "
        f"e^(p kappa), g = {activation.normalizer} in units of e^kappa."
    )
    parts = [function("units(x)", doc, body)]
    log = "kappa + np.log(np.sum(g[0], axis=-1))"
    doc = "ln of the normalizer of one token, summed over heads, x of shape (..., H)."
    parts.append(function("log_normalizer(x)", doc, ["kappa, _, g = units(x)", f"return {log}"]))
    return [*parts, *_reduced(_locals(activation)), _slopes()]


def _reduced(local: list[sp.Expr]) -> list[str]:
    """Joint factors by one variable: with y = s + ln g0, X_n = (ratio of f0, g0) t^d exp(-t).

    Each average and each partial derivative is a sum of lifted powers t^d exp(-t), t = e^y,
    whose coefficients depend on the node only.
    """
    decay = sp.exp(-fac.t * fac.g[0])
    moments: dict[tuple[int, sp.Expr], sp.Symbol] = {}
    targets = dict.fromkeys(_PARTIALS, sp.S.Zero)
    for order, factor in enumerate(local):
        for name, partial in fac.partials(factor).items():
            for constant, degree in _by_degree(partial / decay):
                moment = moments.setdefault((order, degree), _moment(order, degree))
                targets[name] += constant * moment / fac.g[0] ** degree
    ratios = [
        (f"out[{order}]", constant / fac.g[0] ** degree)
        for order, factor in enumerate(local)
        for constant, degree in _by_degree(factor / decay)
    ]
    average_degrees = [d for factor in local for _, d in _by_degree(factor / decay)]
    degrees = sorted({d for _, d in moments} | set(average_degrees), key=sp.default_sort_key)
    ordered = sorted(moments, key=lambda key: (key[0], sp.default_sort_key(key[1])))
    sums = "f0, g0 = np.sum(f[0], axis=-1), np.sum(g[0], axis=-1)"
    constants = "\n".join(
        [
            "# Lifted powers t^d exp(-t) by index: of the averages n = 0, 1, 2, and of the moments",
            f"# (n, index) that ``joint_partials`` takes; the degrees d are {degrees}.",
            f"AVERAGE_POWERS = {tuple(degrees.index(d) for d in average_degrees)}",
            f"MOMENT_POWERS = {tuple((n, degrees.index(d)) for n, d in ordered)}",
            "",
        ]
    )
    y = sp.Symbol("y", real=True)
    rows = [(f"out[{i}]", sp.exp(d * y - sp.exp(y))) for i, d in enumerate(degrees)]
    return [
        constants,
        function(
            "lifted_powers(y)",
            "t^d exp(-t) with t = e^y.",
            [f"out = np.empty(({len(degrees)}, *np.shape(y)))", *lines(rows), "return out"],
        ),
        function(
            "ratios(f, g)",
            f"What multiplies the lifted power in X_n = {local}; f0, g0 sums over heads.",
            [sums, "out = np.empty((3, f0.size))", *lines(ratios), "return out"],
        ),
        function(
            "joint_partials(moments, f, g)",
            "Partial derivatives f, g, ff, fg, gg in the sums f0, g0 of M = sum_n,s variation[n, s]"
            " X_n(s), at each node; moments[i] = sum_s variation[n, s] of the lifted power at the "
            "node, in the order of MOMENT_POWERS.",
            [
                sums,
                f"{', '.join(moments[key].name for key in ordered)} = moments",
                f"out = np.empty(({len(_PARTIALS)}, f0.size))",
                *lines([(f"out[{i}]", targets[name]) for i, name in enumerate(_PARTIALS)]),
                "return out",
            ],
        ),
    ]


def _by_degree(expression: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """The expression as (coefficient, power of t) for each of its terms."""
    split = []
    for term in sp.Add.make_args(sp.expand(expression)):
        constant, time = term.as_independent(fac.t, as_Add=False)
        if constant != 0:
            split.append((constant, time.as_base_exp()[1] if time != 1 else sp.S.Zero))
    return split


def _moment(order: int, degree: sp.Expr) -> sp.Symbol:
    return sp.Symbol(f"moment_{order}_{str(degree).replace('/', '_')}", real=True)


def _slopes() -> str:
    """``joint_slopes``: Bonnet's and Price's derivatives of M by the chain rule through sums."""
    w = sp.IndexedBase("weight")
    d = {name: sp.IndexedBase(f"d_{name}") for name in _PARTIALS}
    f1, f2, g1, g2 = (sp.IndexedBase(name) for name in ("f1", "f2", "g1", "g2"))

    def along(f_part, g_part, head):
        return f_part[_n] * f1[_n, head] + g_part[_n] * g1[_n, head]

    first = along(d["f"], d["g"], _h)
    mixed = f1[_n, _h] * along(d["ff"], d["fg"], _k) + g1[_n, _h] * along(d["fg"], d["gg"], _k)
    same = d["f"][_n] * f2[_n, _h] + d["g"][_n] * g2[_n, _h]
    body = [
        f"{', '.join(f'd_{name}' for name in _PARTIALS)} = partials",
        "(_, f1, f2), (_, g1, g2) = f, g",
        f"slope = {einsum(w[_n] * first, (_h,), large=True)}",
        f"curvature = {einsum(w[_n] * mixed, (_h, _k), large=True)}",
        f"curvature += np.diag({einsum(w[_n] * same, (_h,), large=True)})",
        "return slope, curvature",
    ]
    doc = "slope_h = E[d_h M], curvature_hk = E[d_h d_k M]: weighted sums over the nodes n."
    return function("joint_slopes(weight, partials, f, g)", doc, body)

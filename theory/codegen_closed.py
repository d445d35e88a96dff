"""Generated closed forms: averages of f, f^2 and f f' and their derivatives, no integral left."""

from __future__ import annotations

import sympy as sp

from theory.activation import Activation
from theory.closed_steps import closed_averages
from theory.numpy_printer import function, lines
from theory.rules import closed_forms as rules

_ORTHANT = '''\
def _bivariate_normal_cdf(h, k, rho):
    """P(X < h, Y < k) for standard normals with correlation rho, by Owen's T function."""
    # Owen's formula divides by h, k and sqrt(1 - rho^2); its limits at 0 are reached from
    # a distance that no float64 result can tell from 0.
    tiny = 1e-300
    h, k = np.where(h == 0, tiny, h), np.where(k == 0, tiny, k)
    rest = np.maximum(np.sqrt((1 - rho) * (1 + rho)), tiny)
    with np.errstate(over="ignore"):
        tails = special.owens_t(h, (k - rho * h) / rest / h)
        tails = tails + special.owens_t(k, (h - rho * k) / rest / k)
    return (special.ndtr(h) + special.ndtr(k)) / 2 - tails - np.where(h * k < 0, 0.5, 0.0)
'''


def closed_forms(activation: Activation) -> tuple[bool, list[str]]:
    """Whether all averages of a scope "none" score are known, and the functions that give them."""
    known = closed_averages(activation)
    if known is None:
        return False, []
    *averages, pair = known
    parts = [
        _single("closed_single", activation.score, averages, 2),
        _pair("closed_pair", pair, 2),
        _single("closed_single_jets", activation.score, averages, 4),
        _pair("closed_pair_jets", pair, 4),
    ]
    uses_orthant = any(e.has(rules.BivariateNormalCdf) for e in (*averages, pair))
    return True, [_ORTHANT, *parts] if uses_orthant else parts


def _single(name: str, f: sp.Expr, averages: list[sp.Expr], highest: int) -> str:
    # The average of 1 and its derivatives.
    rows = [(f"out[0, {degree}]", sp.Integer(degree == 0)) for degree in range(highest + 1)]
    for order, average in enumerate(averages, start=1):
        for degree in range(highest + 1):
            rows.append((f"out[{order}, {degree}]", _derivative(average, degree, 0)))
    shape = f"(3, {highest + 1}, *np.broadcast_shapes(np.shape(mu), np.shape(r)))"
    return function(
        f"{name}(mu, r)",
        f"out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = {f}.\n\n"
        f"E[f] = {averages[0]}; E[f^2] = {averages[1]}.",
        [f"out = np.empty({shape})", *lines(rows), "return out"],
    )


def _pair(name: str, pair: sp.Expr, highest: int) -> str:
    rows = [
        (f"out[{i}, {total - i}]", _derivative(pair, i, total - i))
        for total in range(highest + 1)
        for i in range(total + 1)
    ]
    size = highest + 1
    return function(
        f"{name}(mu, nu, r, v, c)",
        "out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), "
        f"i + j < {size};\nx, y normal with means mu, nu, variances r, v, covariance c.\n\n"
        f"E[f(x) f(y)] = {pair}.",
        [
            "shapes = (np.shape(z) for z in (mu, nu, r, v, c))",
            f"out = np.zeros(({size}, {size}, *np.broadcast_shapes(*shapes)))",
            *lines(rows),
            "return out",
        ],
    )


def _derivative(average: sp.Expr, by_x: int, by_y: int) -> sp.Expr:
    """The average of the derivative: one in x is one in its mean, two are twice that in the
    variance, and one in x and y each are that in the covariance (Bonnet, Price)."""
    (twice_x, one_x), (twice_y, one_y) = divmod(by_x, 2), divmod(by_y, 2)
    both = one_x * one_y
    variables = (
        *[rules.mu] * (one_x - both),
        *[rules.nu] * (one_y - both),
        *[rules.c] * both,
        *[rules.r] * twice_x,
        *[rules.v] * twice_y,
    )
    found = average
    for variable in variables:
        found = found.diff(variable)
    return 2 ** (twice_x + twice_y) * found

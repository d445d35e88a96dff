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
    f, (*averages, pair) = activation.score, known
    m, n, r, q, c = rules.mu, rules.nu, rules.r, rules.q, rules.c
    # Price: a second derivative in one logit is twice the derivative in its variance.
    rows = [("out[0, 0]", sp.S.One), ("out[0, 1]", sp.S.Zero), ("out[0, 2]", sp.S.Zero)]
    for order, average in enumerate(averages, start=1):
        for degree, value in enumerate((average, average.diff(m), 2 * average.diff(r))):
            rows.append((f"out[{order}, {degree}]", value))
    twice = [
        ("out[0, 0]", pair),
        ("out[1, 0]", pair.diff(m)),
        ("out[0, 1]", pair.diff(n)),
        ("out[2, 0]", 2 * pair.diff(r)),
        ("out[0, 2]", 2 * pair.diff(q)),
        ("out[1, 1]", pair.diff(c)),
    ]
    parts = [
        function(
            "closed_single(mu, r)",
            f"out[n, d]: average of the d-th derivative of f^n over N(mu, r); f = {f}.\n\n"
            f"E[f] = {averages[0]}; E[f^2] = {averages[1]}.",
            [
                "out = np.empty((3, 3, *np.broadcast_shapes(np.shape(mu), np.shape(r))))",
                *lines(rows),
                "return out",
            ],
        ),
        function(
            "closed_pair(mu, nu, r, q, c)",
            "out[i, j]: average of the i-th derivative of f(x) times the j-th of f(y), i + j < 3;\n"
            "x, y normal with means mu, nu, variances r, q, covariance c.\n\n"
            f"E[f(x) f(y)] = {pair}.",
            [
                "shapes = (np.shape(z) for z in (mu, nu, r, q, c))",
                "out = np.zeros((3, 3, *np.broadcast_shapes(*shapes)))",
                *lines(twice),
                "return out",
            ],
        ),
    ]
    uses_orthant = any(e.has(rules.BivariateNormalCdf) for e in (*averages, pair))
    return True, [_ORTHANT, *parts] if uses_orthant else parts

# notation: mu, nu means, r, q variances and c covariance of two jointly Gaussian logits x, y.
"""Gaussian averages known in closed form, found by rule and never by a general integrator.

Each rule is a line of the table below: moments (Stein's recursion), exponential tilting,
cosines, and the normal family step, ramp, Phi, erf with its orthant probabilities. What no
rule covers has no closed form here, and quadrature takes over.
"""

from __future__ import annotations

import sympy as sp
from sympy.simplify.fu import TR8

from theory import symbols as sym
from theory.functions import BivariateNormalCdf, NormalCdf, Ramp, Step

NAME = "closed forms"
REASON = (
    "Moments by Stein's recursion, exponentials by tilting the mean, $\\Phi$ and erf by one more "
    "Gaussian variable, step and ramp by truncated moments."
)

x, y = sym.logit, sp.Symbol("y", real=True)
mu, nu, c = sp.symbols("mu nu c", real=True)
r, q = sp.symbols("r q", positive=True)


class NoClosedForm(Exception):
    """No rule of the table covers this average."""


def single_average(expression: sp.Expr) -> sp.Expr:
    """E[expression(x)] for x normal with mean mu and variance r; NoClosedForm if not known."""
    total = sp.S.Zero
    for factor, special in _terms(expression, x):
        if special is None:
            total += _tilted(factor, {x: (mu, r)}, {})
        else:
            constant = _constant(factor)
            total += constant * _special_average(special, mu, r)
    return total


def pair_average(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """E[first(x) second(y)] for jointly normal x, y; NoClosedForm if not known."""
    total = sp.S.Zero
    for left, special in _terms(first, x):
        for right, other in _terms(second, y):
            if special is None and other is None:
                laws = {x: (mu, r), y: (nu, q)}
                total += _tilted(left * right, laws, {(x, y): c})
            elif special is None:
                total += _constant(left) * _constant(right) * _special_average(other, nu, q)
            elif other is None:
                total += _constant(left) * _constant(right) * _special_average(special, mu, r)
            else:
                total += _constant(left) * _constant(right) * _special_pair(special, other)
    return total


def _terms(expression: sp.Expr, variable: sp.Symbol):
    """Summands as (polynomial times exponential, one special function or None)."""
    phi = expression.replace(sp.erf, lambda z: 2 * NormalCdf(sp.sqrt(2) * z) - 1)
    for term in sp.Add.make_args(sp.expand(phi)):
        special, factor = None, sp.S.One
        for part in sp.Mul.make_args(term):
            base, exponent = part.as_base_exp()
            if not isinstance(base, (NormalCdf, Step, Ramp)):
                factor *= part
                continue
            if isinstance(base, Step):
                exponent = sp.S.One  # a step is its own square
            if special is not None or exponent not in (1, 2):
                raise NoClosedForm(term)
            special = base if exponent == 1 else base**2
        yield factor, special


def _constant(factor: sp.Expr) -> sp.Expr:
    if factor.has(x, y):
        raise NoClosedForm(factor)
    return factor


# --- polynomials times exponentials of linear functions ---------------------------------------


def _tilted(factor: sp.Expr, laws: dict, covariances: dict) -> sp.Expr:
    """E[poly exp(linear)] = E[exp(linear)] times the moment under the shifted means."""
    trig = [e for e in factor.atoms(sp.cos, sp.sin) if e.has(*laws)]
    if trig:
        return _cosines(factor, laws, covariances)
    exponent, polynomial = sp.S.Zero, sp.S.One
    for part in sp.Mul.make_args(factor):
        if isinstance(part, sp.exp):
            exponent += part.args[0]
        else:
            polynomial *= part
    variables = tuple(laws)
    if not polynomial.is_polynomial(*variables):
        raise NoClosedForm(factor)
    slopes = {z: sp.expand(exponent).coeff(z) for z in variables}
    constant = sp.expand(exponent - sum(slopes[z] * z for z in variables))
    if constant.has(*variables) or any(slope.has(*variables) for slope in slopes.values()):
        raise NoClosedForm(factor)

    def covariance(z, w):
        return laws[z][1] if z == w else covariances.get((z, w), covariances.get((w, z), 0))

    means = {
        z: laws[z][0] + sum(covariance(z, w) * slopes[w] for w in variables) for z in variables
    }
    weight = constant + sum(slopes[z] * laws[z][0] for z in variables)
    weight += (
        sum(slopes[z] * slopes[w] * covariance(z, w) for z in variables for w in variables) / 2
    )
    moment = _moment(sp.Poly(polynomial, *variables), means, covariance)
    return sp.exp(sp.expand(weight)) * moment


def _moment(polynomial: sp.Poly, means: dict, covariance) -> sp.Expr:
    """Stein's recursion: E[z F] = mean E[F] + sum_w cov(z, w) E[dF/dw]."""
    variables = polynomial.gens

    def of(powers: tuple[int, ...]) -> sp.Expr:
        lead = next((i for i, n in enumerate(powers) if n), None)
        if lead is None:
            return sp.S.One
        rest = tuple(n - (i == lead) for i, n in enumerate(powers))
        total = means[variables[lead]] * of(rest)
        for i, n in enumerate(rest):
            if n:
                lowered = tuple(m - (j == i) for j, m in enumerate(rest))
                total += n * covariance(variables[lead], variables[i]) * of(lowered)
        return sp.expand(total)

    return sp.expand(sum(value * of(powers) for powers, value in polynomial.terms()))


def _cosines(factor: sp.Expr, laws: dict, covariances: dict) -> sp.Expr:
    """E[cos z] = exp(-var(z) / 2) cos(E z) for linear z; products become sums first."""
    total = sp.S.Zero
    for term in sp.Add.make_args(sp.expand(TR8(factor))):
        constant, wave = term.as_independent(*laws, as_Add=False)
        if wave == 1:
            total += constant
            continue
        if not isinstance(wave, (sp.cos, sp.sin)):
            raise NoClosedForm(factor)
        argument = sp.expand(wave.args[0])
        slopes = {z: argument.coeff(z) for z in laws}
        if sp.expand(argument - sum(slope * z for z, slope in slopes.items())).has(*laws):
            raise NoClosedForm(factor)
        variance = sum(slopes[z] ** 2 * laws[z][1] for z in laws)
        variance += sum(2 * slopes[z] * slopes[w] * both for (z, w), both in covariances.items())
        means = {z: law[0] for z, law in laws.items()}
        total += constant * sp.exp(-variance / 2) * wave.subs(means, simultaneous=True)
    return total


# --- the normal family ------------------------------------------------------------------------


def _density(z: sp.Expr) -> sp.Expr:
    return sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)


def _line(special: sp.Expr, variable: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """Slope and constant of a special function's argument, which must be linear."""
    argument = sp.expand(special.args[0])
    slope = argument.coeff(variable)
    constant = sp.expand(argument - slope * variable)
    if slope == 0 or slope.has(x, y) or constant.has(x, y):
        raise NoClosedForm(special)
    return slope, constant


def _special_average(special: sp.Expr, mean: sp.Expr, variance: sp.Expr) -> sp.Expr:
    base, exponent = special.as_base_exp()
    variable = x if base.has(x) else y
    slope, constant = _line(base, variable)
    centre, spread = slope * mean + constant, slope**2 * variance
    if isinstance(base, NormalCdf):
        level = centre / sp.sqrt(1 + spread)
        if exponent == 1:
            return NormalCdf(level)
        return BivariateNormalCdf(level, level, spread / (1 + spread))
    deviation = sp.sqrt(spread)
    level = centre / deviation
    if isinstance(base, Step):
        return NormalCdf(level)
    if exponent == 1:
        return centre * NormalCdf(level) + deviation * _density(level)
    return (centre**2 + spread) * NormalCdf(level) + centre * deviation * _density(level)


def _special_pair(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    if first.func is not second.func or first.is_Pow:
        raise NoClosedForm(first * second)
    (a, a0), (b, b0) = _line(first, x), _line(second, y)
    means = a * mu + a0, b * nu + b0
    extra = 1 if isinstance(first, NormalCdf) else 0
    spreads = extra + a**2 * r, extra + b**2 * q
    deviations = tuple(sp.sqrt(spread) for spread in spreads)
    levels = tuple(mean / deviation for mean, deviation in zip(means, deviations, strict=True))
    rho = a * b * c / (deviations[0] * deviations[1])
    orthant = BivariateNormalCdf(*levels, rho)
    if not isinstance(first, Ramp):
        return orthant
    h, k = levels
    rest = sp.sqrt(1 - rho**2)
    joint = _density(h) * _density((k - rho * h) / rest) / rest
    return (
        (means[0] * means[1] + a * b * c) * orthant
        + means[0] * deviations[1] * _density(k) * NormalCdf((h - rho * k) / rest)
        + means[1] * deviations[0] * _density(h) * NormalCdf((k - rho * h) / rest)
        + deviations[0] * deviations[1] * rest**2 * joint
    )

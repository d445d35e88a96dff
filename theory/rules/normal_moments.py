"""E[polynomial * exp(quadratic) * 1[event] 1[event]] for jointly normal variables, by three rules.

Tilting takes the exponential out: a linear exponent moves the means, a square makes the variable
narrower. Stein's recursion E[z F] = E[z] E[F] + sum_w cov(z, w) E[dF/dw] takes the polynomial
out; where it differentiates an event, 1[u > 0] leaves the density of u at 0 and the law given
u = 0, and Phi(u) leaves another exponential. What is left is a probability of at most two events.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory.functions import BivariateNormalCdf, NormalCdf


class NoClosedForm(Exception):
    """No rule of the table covers this average."""


@dataclass(frozen=True)
class Law:
    """Jointly normal variables: their means, and covariances for each pair of numbers."""

    variables: tuple[sp.Symbol, ...]
    means: tuple[sp.Expr, ...]
    covariance: tuple[tuple[sp.Expr, ...], ...]

    def tilted(self, slopes: list[sp.Expr]) -> tuple[Law, sp.Expr]:
        """The law under the weight exp(slopes . z), and the logarithm of that weight's mean."""
        n = range(len(self.variables))
        moved = [sum(self.covariance[i][j] * slopes[j] for j in n) for i in n]
        log = sum(slopes[i] * (self.means[i] + moved[i] / 2) for i in n)
        means = tuple(sp.expand(m + d) for m, d in zip(self.means, moved, strict=True))
        return Law(self.variables, means, self.covariance), log

    def narrowed(self, i: int, k: sp.Expr) -> tuple[Law, sp.Expr, sp.Expr]:
        """The law under the weight exp(-k z_i^2), and that weight's mean as (factor, logarithm)."""
        n = range(len(self.variables))
        own = self.covariance[i]
        share = 2 * k / (1 + 2 * k * own[i])
        means = tuple(self.means[j] - share * own[j] * self.means[i] for j in n)
        covariance = tuple(
            tuple(self.covariance[j][m] - share * own[j] * own[m] for m in n) for j in n
        )
        factor = 1 / sp.sqrt(1 + 2 * k * own[i])
        return Law(self.variables, means, covariance), factor, -share * self.means[i] ** 2 / 2

    def given(self, i: int, value: sp.Expr) -> Law:
        """The law of the other variables where z_i has this value."""
        n = [j for j in range(len(self.variables)) if j != i]
        own = self.covariance[i]
        return Law(
            tuple(self.variables[j] for j in n),
            tuple(self.means[j] + own[j] / own[i] * (value - self.means[i]) for j in n),
            tuple(tuple(self.covariance[j][m] - own[j] * own[m] / own[i] for m in n) for j in n),
        )


@dataclass(frozen=True)
class Event:
    """1[slope z + constant > 0], or Phi(slope z + constant) when ``smooth``: one more normal."""

    variable: sp.Symbol
    slope: sp.Expr
    constant: sp.Expr
    smooth: bool

    def level(self, law: Law) -> tuple[int, sp.Expr, sp.Expr]:
        """The variable's number, and mean and deviation of what must be > 0."""
        i = law.variables.index(self.variable)
        spread = sp.sqrt(self.slope**2 * law.covariance[i][i] + int(self.smooth))
        return i, self.slope * law.means[i] + self.constant, spread


def average(polynomial: sp.Expr, exponent: sp.Expr, events: tuple[Event, ...], law: Law) -> sp.Expr:
    """E[polynomial exp(exponent) events] under the law; NoClosedForm beyond the rules' reach."""
    polynomial, exponent = sp.expand(polynomial), sp.expand(exponent)
    variables = law.variables
    if not (polynomial.is_polynomial(*variables) and exponent.is_polynomial(*variables)):
        raise NoClosedForm(polynomial * sp.exp(exponent))
    if not exponent.has(*variables):
        return sp.exp(exponent) * _stein(polynomial, events, law)
    powers = sp.Poly(exponent, *variables)
    squares = [powers.coeff_monomial(z**2) for z in variables]
    slopes = [powers.coeff_monomial(z) for z in variables]
    constant = powers.coeff_monomial(1)
    parts = zip((*squares, *slopes), [*(z**2 for z in variables), *variables], strict=True)
    if sp.expand(exponent - constant - sum(a * z for a, z in parts)) != 0:
        raise NoClosedForm(sp.exp(exponent))
    law, log = law.tilted(slopes)
    factor = sp.S.One
    for i, square in enumerate(squares):
        if square == 0:
            continue
        if not square.is_negative:
            # Of no use for a wide logit: the average does not exist.
            raise NoClosedForm(sp.exp(exponent))
        law, share, more = law.narrowed(i, -square)
        factor, log = factor * share, log + more
    return factor * sp.exp(sp.expand(constant + log)) * _stein(polynomial, events, law)


def _stein(polynomial: sp.Expr, events: tuple[Event, ...], law: Law) -> sp.Expr:
    terms = sp.Poly(polynomial, *law.variables).terms() if law.variables else [((), polynomial)]
    known: dict[tuple[int, ...], sp.Expr] = {}
    return sum((a * _monomial(powers, events, law, known) for powers, a in terms), sp.S.Zero)


def _monomial(powers, events, law, known) -> sp.Expr:
    if powers not in known:
        lead = next((i for i, n in enumerate(powers) if n), None)
        if lead is None:
            known[powers] = _probability(events, law)
        else:
            known[powers] = _lowered(lead, powers, events, law, known)
    return known[powers]


def _lowered(lead, powers, events, law, known) -> sp.Expr:
    rest = tuple(n - (i == lead) for i, n in enumerate(powers))
    total = law.means[lead] * _monomial(rest, events, law, known)
    for i, n in enumerate(rest):
        if n:
            lower = tuple(m - (j == i) for j, m in enumerate(rest))
            total += n * law.covariance[lead][i] * _monomial(lower, events, law, known)
    monomial = sp.Mul(*(z**n for z, n in zip(law.variables, rest, strict=True)))
    for number, event in enumerate(events):
        i = law.variables.index(event.variable)
        others = events[:number] + events[number + 1 :]
        weight = law.covariance[lead][i] * event.slope
        total += weight * _at_the_edge(monomial, event, others, law)
    return total if events else sp.expand(total)


def _at_the_edge(monomial, event: Event, others: tuple[Event, ...], law: Law) -> sp.Expr:
    """E[monomial * derivative of the event by its argument * other events]."""
    argument = event.slope * event.variable + event.constant
    if event.smooth:
        return average(monomial, -(argument**2) / 2, others, law) / sp.sqrt(2 * sp.pi)
    i, mean, spread = event.level(law)
    density = sp.exp(-(mean**2) / spread**2 / 2) / (sp.sqrt(2 * sp.pi) * spread)
    edge = -event.constant / event.slope
    fixed = sp.S.One
    for other in others:
        if other.variable == event.variable:
            if not other.smooth:
                raise NoClosedForm("two steps of one variable")
            fixed *= NormalCdf(other.slope * edge + other.constant)
    free = tuple(one for one in others if one.variable != event.variable)
    return density * fixed * _stein(monomial.subs(event.variable, edge), free, law.given(i, edge))


def _probability(events: tuple[Event, ...], law: Law) -> sp.Expr:
    if not events:
        return sp.S.One
    if len(events) > 2:
        raise NoClosedForm("more than two events")
    (i, mean, spread), *second = (event.level(law) for event in events)
    if not second:
        return NormalCdf(mean / spread)
    ((j, other, width),) = second
    shared = events[0].slope * events[1].slope * law.covariance[i][j]
    return BivariateNormalCdf(mean / spread, other / width, shared / (spread * width))

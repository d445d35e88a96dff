"""Special functions whose derivatives stay accurate for every finite argument.

SymPy would spell them with bare exponentials, whose derivatives overflow or cancel:
``exp(-x)/(1+exp(-x))**2`` is nan at -800, ``1 - sigmoid(30)`` loses all its digits. Each
class here knows its derivative in terms of itself, so no simplification can undo it.
"""

from __future__ import annotations

import mpmath
import sympy as sp


class _Real(sp.Function):
    """A real function of one real variable, evaluated numerically by mpmath."""

    nargs = 1
    is_extended_real = True
    latex_name = ""
    at_zero: sp.Expr

    @classmethod
    def eval(cls, z):
        return cls.at_zero if z == 0 else None

    @staticmethod
    def _mpmath(z):  # pragma: no cover - every member overrides it
        raise TypeError("a special function needs a numeric definition")

    def _latex(self, printer, exp=None):
        power = f"^{{{exp}}}" if exp else ""
        return rf"{self.latex_name}{power}\left({printer._print(self.args[0])}\right)"

    def _eval_evalf(self, prec):
        # evalf takes decimal digits; bits would make each level of nesting 3.3 times finer.
        argument = self.args[0].evalf(mpmath.libmp.prec_to_dps(prec))
        if not (argument.is_number and argument.is_finite):
            return None
        with mpmath.workprec(prec):
            return sp.Float._new(self._mpmath(argument._to_mpmath(prec))._mpf_, prec)


class Sigmoid(_Real):
    """The logistic function 1 / (1 + exp(-x))."""

    is_positive = True
    latex_name = r"\operatorname{S}"
    at_zero = sp.Rational(1, 2)

    @staticmethod
    def _mpmath(z):
        return 1 / (1 + mpmath.exp(-z))

    def fdiff(self, argindex=1):
        z = self.args[0]
        return Sigmoid(z) * Sigmoid(-z)


class Softplus(_Real):
    """log(1 + exp(x)), the primitive of the logistic function."""

    is_positive = True
    latex_name = r"\operatorname{softplus}"
    at_zero = sp.log(2)

    @staticmethod
    def _mpmath(z):
        return mpmath.log1p(mpmath.exp(z))

    def fdiff(self, argindex=1):
        return Sigmoid(self.args[0])


class NormalCdf(_Real):
    """The standard normal distribution function Phi."""

    is_positive = True
    latex_name = r"\Phi"
    at_zero = sp.Rational(1, 2)

    @staticmethod
    def _mpmath(z):
        return mpmath.ncdf(z)

    def fdiff(self, argindex=1):
        z = self.args[0]
        return sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)


class Step(_Real):
    """The unit step: 0 below 0, 1 above, 1/2 at 0. Its derivative is a Dirac delta."""

    is_nonnegative = True
    at_zero = sp.Rational(1, 2)

    @staticmethod
    def _mpmath(z):
        return (1 + mpmath.sign(z)) / 2

    def fdiff(self, argindex=1):
        return sp.DiracDelta(self.args[0])

    def _latex(self, printer, exp=None):
        power = f"^{{{exp}}}" if exp else ""
        return rf"\mathbf{{1}}{power}\left[{printer._print(self.args[0])} > 0\right]"


class Ramp(_Real):
    """max(0, x), the primitive of the unit step."""

    is_nonnegative = True
    at_zero = sp.S.Zero

    @staticmethod
    def _mpmath(z):
        return max(mpmath.mpf(0), z)

    def fdiff(self, argindex=1):
        return Step(self.args[0])

    def _latex(self, printer, exp=None):
        power = f"^{{{exp}}}" if exp else ""
        return rf"\left[{printer._print(self.args[0])}\right]_+{power}"


class BivariateNormalCdf(sp.Function):
    """P(X < h, Y < k) for standard normals X, Y with correlation rho: arguments h, k, rho."""

    nargs = 3
    is_extended_real = True

    def _eval_evalf(self, prec):
        digits = mpmath.libmp.prec_to_dps(prec)
        values = [argument.evalf(digits) for argument in self.args]
        if not all(value.is_number for value in values):
            return None
        with mpmath.workprec(prec):
            h, k, rho = (value._to_mpmath(prec) for value in values)
            rest = mpmath.sqrt(1 - rho * rho)

            def slice_of(z):
                return mpmath.npdf(z) * mpmath.ncdf((k - rho * z) / rest)

            value = mpmath.quad(slice_of, [-mpmath.inf, min(h, 0), h])
            return sp.Float._new(value._mpf_, prec)

    def fdiff(self, argindex=1):
        h, k, rho = self.args
        rest = sp.sqrt(1 - rho**2)
        if argindex == 3:
            quadratic = (h**2 - 2 * rho * h * k + k**2) / (2 * rest**2)
            return sp.exp(-quadratic) / (2 * sp.pi * rest)
        own, other = (h, k) if argindex == 1 else (k, h)
        density = sp.exp(-(own**2) / 2) / sp.sqrt(2 * sp.pi)
        return density * NormalCdf((other - rho * own) / rest)

    def _latex(self, printer, exp=None):
        power = f"^{{{exp}}}" if exp else ""
        arguments = ", ".join(printer._print(argument) for argument in self.args)
        return rf"\Phi_2{power}\left({arguments}\right)"


# The functions with a kink or a jump; theory/piecewise.py spells all others with these.
KINKED = (Step, Ramp)


def canonical(expression: sp.Expr) -> sp.Expr:
    """The same function, spelled with the stable members above wherever a pattern allows it."""
    bare = sp.Wild("u")

    def fraction(base, exponent):
        # 1/(1 + e^u) = S(-u), the only safe way to write a logistic function
        match = base.match(1 + sp.exp(bare))
        if match and exponent.is_Integer and exponent < 0:
            return Sigmoid(-match[bare]) ** (-exponent)
        return base**exponent

    def logarithm(argument):
        match = argument.match(1 + sp.exp(bare))
        return Softplus(match[bare]) if match else sp.log(argument)

    expression = expression.replace(sp.Pow, fraction).replace(sp.log, logarithm)
    return expression.replace(
        lambda e: e.is_Mul and any(isinstance(a, sp.exp) for a in e.args), _fold_exponential
    )


def _fold_exponential(product: sp.Mul) -> sp.Expr:
    """e^u S(-u) = S(u): the exponential would overflow where the product is harmless."""
    for factor in product.args:
        if isinstance(factor, sp.exp):
            partner = Sigmoid(-factor.args[0])
            if any(other.as_base_exp()[0] == partner for other in product.args):
                return product / factor / partner * Sigmoid(factor.args[0])
    return product

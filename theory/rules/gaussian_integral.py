"""The integral of the exponential of a quadratic polynomial, by completing the square."""

from __future__ import annotations

import sympy as sp

NAME = "completing the square"
REASON = r"$\int e^{-a (x - b)^2 / 2 + c}\, dx = \sqrt{2 \pi / a}\, e^c$ for $a > 0$."


def complete_square(exponent: sp.Expr, variable: sp.Symbol) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """a, b, c of exponent = -a (x - b)^2 / 2 + c; ValueError unless it is quadratic in x."""
    polynomial = sp.Poly(exponent, variable)
    if polynomial.degree() != 2:
        raise ValueError(f"{exponent} is not quadratic in {variable}")
    quadratic, slope, constant = polynomial.all_coeffs()
    curvature = sp.cancel(-2 * quadratic)
    centre = sp.cancel(slope / curvature)
    return curvature, centre, sp.cancel(constant + curvature * centre**2 / 2)


def log_gaussian_integral(exponent: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """ln of the integral over the real line of exp(exponent), where it converges."""
    curvature, _, constant = complete_square(exponent, variable)
    return sp.log(2 * sp.pi / curvature) / 2 + constant

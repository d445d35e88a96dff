"""Tensor formulas with implied sums: differentiate them, print them, turn them into einsum.

An expression is a sum of products of indexed objects; an index of a term that is not among
the free ones is summed. It is the notation of the page, and it never expands a sum.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp


def derivative(expression: sp.Expr, entry: sp.Indexed) -> sp.Expr:
    """d expression / d entry, with the indices of ``entry`` free.

    The indices of ``entry`` must not occur in ``expression``: a clash would turn a sum into
    something else, silently.
    """
    clash = set(entry.indices) & expression.free_symbols
    if clash:
        raise ValueError(f"indices {clash} of {entry} already occur in {expression}")
    total = sp.S.Zero
    for term in terms(expression):
        factors = factors_of(term)
        for position, factor in enumerate(factors):
            if isinstance(factor, sp.Indexed) and factor.base == entry.base:
                rest = sp.Mul(*factors[:position], *factors[position + 1 :])
                total += _contract(rest, factor.indices, entry.indices)
    return total


def variation(
    expression: sp.Expr, changes: Mapping[sp.IndexedBase, sp.IndexedBase], direction: sp.Symbol
) -> sp.Expr:
    """The change of an expression to first order along a direction, by the product rule.

    Each base of ``changes`` moves by another one, whose first index is the direction.
    """
    total = sp.S.Zero
    for term in terms(expression):
        factors = factors_of(term)
        for position, factor in enumerate(factors):
            if isinstance(factor, sp.Indexed) and factor.base in changes:
                moved = changes[factor.base][(direction, *factor.indices)]
                total += sp.Mul(*factors[:position], moved, *factors[position + 1 :])
    return total


def _contract(rest: sp.Expr, summed: tuple, free: tuple) -> sp.Expr:
    """The sum over ``summed`` of rest times one Kronecker delta per index."""
    renamed: dict[sp.Expr, sp.Expr] = {}
    deltas = sp.S.One
    for old, new in zip(summed, free, strict=True):
        if old in renamed:
            deltas *= sp.KroneckerDelta(renamed[old], new)
        else:
            renamed[old] = new
    return rest.xreplace(renamed) * deltas


def terms(expression: sp.Expr) -> tuple[sp.Expr, ...]:
    """The summands, multiplied out."""
    return sp.Add.make_args(sp.expand(expression))


def factors_of(term: sp.Expr) -> list[sp.Expr]:
    """The factors of one summand, in a stable order, a power written as repeated factors."""
    result = []
    for factor in sp.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        repeated = isinstance(base, sp.Indexed) and exponent.is_Integer and exponent > 0
        result += [base] * int(exponent) if repeated else [factor]
    return sorted(result, key=sp.default_sort_key)


def einsum(expression: sp.Expr, free: tuple[sp.Symbol, ...], *, large: bool = False) -> str:
    """NumPy source of the expression as a sum of einsum calls over its indexed objects.

    A Kronecker delta of two free indices becomes an identity matrix, whose size is taken from
    an operand that carries one of them. ``large`` operands are contracted pair by pair.
    """
    calls = [_einsum_term(term, free, large) for term in terms(expression)]
    if len(calls) == 1:
        return calls[0]
    signed = calls[:1] + [c if c.startswith("- ") else f"+ {c}" for c in calls[1:]]
    return "(\n    " + "\n    ".join(signed) + "\n)"


def _einsum_term(term: sp.Expr, free: tuple[sp.Symbol, ...], large: bool) -> str:
    number, rest = term.as_coeff_Mul()
    operands: list[tuple[str | None, tuple]] = []
    scalars: list[str] = []
    for factor in factors_of(rest):
        if isinstance(factor, sp.Indexed):
            operands.append((str(factor.base), factor.indices))
        elif isinstance(factor, sp.KroneckerDelta):
            operands.append((None, factor.args))
        elif factor != 1:
            scalars.append(str(factor))
    sizes = {
        index: f"{name}.shape[{axis}]"
        for name, indices in operands
        if name
        for axis, index in enumerate(indices)
    }
    names = []
    for name, indices in operands:
        size = next((sizes[i] for i in indices if i in sizes), None)
        names.append(name or f"np.eye({size})")
    pattern = ",".join("".join(i.name for i in indices) for _, indices in operands)
    output = "".join(i.name for i in free)
    call = (
        f'np.einsum("{pattern}->{output}", {", ".join(names)}{", optimize=True" if large else ""})'
    )
    prefix = [] if abs(number) == 1 else [repr(float(abs(number)))]
    product = " * ".join([*prefix, *scalars, call])
    return f"- {product}" if number < 0 else product


def latex(expression: sp.Expr, free: tuple[sp.Symbol, ...]) -> str:
    """LaTeX with the implied sums written out."""
    printed = []
    for term in terms(expression):
        number, rest = term.as_coeff_Mul()
        summed = sorted(
            {i for e in rest.atoms(sp.Indexed) for i in e.indices} - set(free),
            key=lambda i: i.name,
        )
        sums = rf"\sum_{{{' '.join(i.name for i in summed)}}} " if summed else ""
        sign = "-" if number < 0 else "+"
        size = "" if abs(number) == 1 else sp.latex(abs(number)) + " "
        printed.append(f"{sign} {size}{sums}{sp.latex(rest)}")
    text = " ".join(printed)
    return text[2:] if text.startswith("+ ") else text

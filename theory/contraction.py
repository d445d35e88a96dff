"""Products of vectors become order parameters; tensor formulas get one spelling."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product

import sympy as sp

from theory.index_notation import factors_of, terms

Bases = Mapping[tuple[sp.IndexedBase, sp.IndexedBase], sp.IndexedBase]


def contract(expression: sp.Expr, index: sp.Symbol, products: Bases) -> sp.Expr:
    """The sum over ``index``, the last one of two vectors, done: v[a, index] w[b, index] is
    products[v, w][a, b].

    Every term must hold two vectors with that index; KeyError for a pair that has no name.
    """
    total = sp.S.Zero
    for term in terms(expression):
        number, rest = term.as_coeff_Mul()
        factors = factors_of(rest)
        first, second = (f for f in factors if isinstance(f, sp.Indexed) and index in f.indices)
        if (first.base, second.base) not in products:
            first, second = second, first
        name = products[first.base, second.base]
        others = list(factors)
        others.remove(first)
        others.remove(second)
        total += number * sp.Mul(*others) * name[(*first.indices[:-1], *second.indices[:-1])]
    return total


def with_identity(
    expression: sp.Expr, base: sp.IndexedBase, free: tuple[sp.Symbol, ...] = ()
) -> sp.Expr:
    """The matrix ``base`` is the identity: each of its entries renames a summed index.

    Two free indices would need a Kronecker delta; no formula here has them.
    """
    total = sp.S.Zero
    for term in terms(expression):
        for entry in sorted(term.atoms(sp.Indexed), key=sp.default_sort_key):
            if entry.base == base:
                kept, dropped = sorted(entry.indices, key=lambda index: index not in free)
                term = (term / entry).xreplace({dropped: kept})
        total += term
    return total


def canonical(
    expression: sp.Expr,
    free: tuple[sp.Symbol, ...],
    kinds: Mapping[sp.IndexedBase, str],
    pools: Mapping[str, tuple[sp.Symbol, ...]],
    symmetric: tuple[sp.IndexedBase, ...] = (),
) -> sp.Expr:
    """Summed indices renamed so that equal terms look equal, entries of symmetric matrices sorted.

    kinds: one letter for each axis of a tensor. pools: the names of summed indices of a kind.
    """
    total = sp.S.Zero
    for term in terms(expression):
        number, rest = term.as_coeff_Mul()
        kind_of = {
            index: kind
            for entry in rest.atoms(sp.Indexed)
            for index, kind in zip(entry.indices, kinds[entry.base], strict=True)
            if index not in free
        }
        spellings = []
        for renamed in _renamings(kind_of, pools):
            spelt = rest.xreplace(renamed)
            spellings.append(spelt.replace(sp.Indexed, lambda *e: _sorted_entry(e, symmetric)))
        total += number * min(spellings, key=sp.default_sort_key)
    return total


def _renamings(kind_of, pools):
    groups: dict[str, list[sp.Symbol]] = {}
    for index in sorted(kind_of, key=sp.default_sort_key):
        groups.setdefault(kind_of[index], []).append(index)
    choices = (
        [dict(zip(group, names, strict=True)) for names in permutations(pools[kind][: len(group)])]
        for kind, group in groups.items()
    )
    for combination in product(*choices):
        yield {old: new for one in combination for old, new in one.items()}


def _sorted_entry(arguments, symmetric):
    base, *indices = arguments
    if base in symmetric:
        indices = sorted(indices, key=sp.default_sort_key)
    return base[tuple(indices)]

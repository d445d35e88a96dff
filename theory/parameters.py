"""Named parameters of an activation: symbols in a derivation, constants in a generated module.

A parameter keeps its own name where that name is free. Where the model or the generated code
owns it (``m``, ``R``, ``L``, ``total``, ``np``, ...) the symbol and the constant are called
``param_m`` and so on, so that a user's m never meets the model's: decided by name, since two
symbols of one name and different assumptions print alike.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from theory import symbols as sym
from theory.errors import DefinitionError
from theory.parsing import parse_number

PREFIX = "param_"

# What formulas of this package call their quantities, and generated code its variables. A test
# compares this list with every symbol of theory/ and every name of the generated modules.
_MODEL = """
    A B C D E F G H I L M O P Q R S V W X Z Gamma Lambda Sigma a b c d e f g h i j k l m n o p r s
    t u v w x y z epsilon eps theta beta gamma delta mu nu eta tau kappa unit rho alpha sigma
    loss star noise
    weight slope curvature noise_slope noise_curvature relevant powers f0 f1 f2 g0 g1 g2
    d_f d_g d_ff d_fg d_gg E_m total score normalizer survival square linear pair moments
    partials local shared carried weights out shapes body same level prior rest tails tiny
    offset decay variance average derivative second third fourth value values miss logits bias
    gain mean covariance
"""
# Families of names: temporaries, letters with a number, differentials, constants in capitals, and
# functions named by what they give.
_FAMILIES = re.compile(
    r"(w|moment|power|survival|score|square|d|param)_.*|_.*|[A-Za-z][0-9]+|d[A-Za-z](_m)?|[A-Z_]{2,}"
    r"|(.*_)?(jets|along|form|variation|powers|partials|units|amounts|slopes|coefficients)"
)
_CODE = """
    np special attention factors pair_factors log_normalizer units ratios lifted_powers
    joint_partials joint_slopes single_moments single_variation pair_moments pair_variation risk
    gain_slope best_gain gradient_m gradient_R gradient_beta linearized pullback errors drift_m
    drift_R drift_C dissipation loss_slope weight_gradient along_spikes along_rest
    beyond closed_single closed_pair
"""
OWNED = frozenset([*_MODEL.split(), *_CODE.split(), *keyword.kwlist, *dir(builtins)])


def symbol(name: str, positive: bool = False) -> sp.Symbol:
    """The symbol of a parameter, under a name that nothing else has."""
    taken = name in OWNED or _FAMILIES.fullmatch(name) is not None
    return sp.Symbol(PREFIX + name if taken else name, real=True, positive=positive or None)


def read(given: Any) -> tuple[tuple[str, sp.Rational], ...]:
    """Names and exact values, in order of the names; DefinitionError for what is neither."""
    pairs = given.items() if isinstance(given, Mapping) else given
    values = {}
    for name, value in pairs:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", str(name)):
            raise DefinitionError(f"parameter {name!r}: expected letters, digits and _")
        if name == sym.logit.name:
            raise DefinitionError(f"parameter {name}: that name is the logit's")
        values[str(name)] = number(f"parameter {name}", value)
    return tuple(sorted(values.items()))


def number(what: str, value: Any, expected: str = "a finite number") -> sp.Rational:
    """An exact number: 0.8 and 4/5 give one definition, whichever way they were written."""
    exact = parse_number(str(value))
    if exact is None:
        raise DefinitionError(f"{what}: expected {expected}, got {value!r:.60}")
    return exact


def bound_names(text: str) -> list[str]:
    """Every name that generated code binds: arguments, functions, imports, variables."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.arg):
            found.append(node.arg)
        elif isinstance(node, ast.FunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.alias):
            found.append(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node.id)
    return found


def require_own_names(text: str, names: Iterable[str]) -> None:
    """DefinitionError if generated code binds a parameter's name again: no constant is shadowed."""
    bound = bound_names(text)
    for name in names:
        if bound.count(name) != 1:
            raise DefinitionError(
                f"parameter {name}: generated code uses that name itself; rename the parameter"
            )

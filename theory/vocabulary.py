"""The words of typed expressions, and what to say where a word is none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import sympy as sp

from theory.functions import NormalCdf, Ramp, Sigmoid, Softplus, Step

# Name -> (callable, number of arguments), where None stands for two or more.
FUNCTIONS: Mapping[str, tuple[Callable[..., sp.Expr], int | None]] = MappingProxyType(
    {
        "exp": (sp.exp, 1),
        "log": (sp.log, 1),
        "ln": (sp.log, 1),
        "sqrt": (sp.sqrt, 1),
        "sin": (sp.sin, 1),
        "cos": (sp.cos, 1),
        "tan": (sp.tan, 1),
        "tanh": (sp.tanh, 1),
        "sinh": (sp.sinh, 1),
        "cosh": (sp.cosh, 1),
        "atan": (sp.atan, 1),
        "arctan": (sp.atan, 1),
        "erf": (sp.erf, 1),
        "erfc": (sp.erfc, 1),
        "Phi": (NormalCdf, 1),
        "sigmoid": (Sigmoid, 1),
        "softplus": (Softplus, 1),
        "relu": (Ramp, 1),
        "step": (Step, 1),
        "Heaviside": (Step, 1),
        "abs": (sp.Abs, 1),
        "Abs": (sp.Abs, 1),
        "sign": (sp.sign, 1),
        "max": (sp.Max, None),
        "Max": (sp.Max, None),
        "min": (sp.Min, None),
        "Min": (sp.Min, None),
    }
)

# What would be right in place of a character, a symbol or a name that is not.
CHARACTER_HINTS = {
    "'\"`": "an expression holds no quoted text",
    "[]{}": "group with round brackets ( )",
    "<>=!": "an expression has one value, it neither compares nor assigns",
    ":;": "write a single expression",
    ".": "a dot belongs inside a number, as in 0.5",
    "_": "a name starts with a letter",
    "|": "write abs(x)",
    "\u2212\u2013\u2014": "write the sign -",
    "\u00d7\u00b7\u22c5": "write the sign *",
    "\u00b2\u00b3": "write x^2",
}
DEFAULT_HINT = "use numbers, names, + - * / ^ ( ) and commas"
SYMBOL_HINTS = {")": "it closes no bracket", ",": "commas separate the arguments of a function"}
NAME_HINTS = {
    **{name: f"write exp(1) or give a parameter {name}" for name in "eE"},
    **dict.fromkeys("Iij", "complex values are not allowed"),
}
# What the model calls by a name; in an expression only the logit is known, and parameters.
MODEL_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "m": "the alignments",
        "R": "the overlaps",
        "L": "the number of tokens",
        "H": "the number of heads",
        "F": "the number of spikes",
        "D": "the token dimension",
        "theta": "the latent weights",
        "epsilon": "the relevant token",
        "chi": "the logit",
        "mu": "the mean of theta",
        "beta": "the free biases",
        "gamma": "the gain",
        "tau": "the time",
        "eta": "the learning rate",
    }
)

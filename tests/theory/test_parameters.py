"""Named parameters stay symbols, apart from every name of the model, and become constants."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest
import sympy as sp

import headflow as hf
import theory
from headflow.store import DERIVATIONS, kernels_for, slug
from theory import parameters as par
from theory.codegen import numpy_source
from theory.errors import DefinitionError

x = sp.Symbol("x", real=True)


def _symbols_of_the_model():
    """Every symbol and tensor that a module of theory/ holds, by name."""
    for found in pkgutil.walk_packages(theory.__path__, "theory."):
        for value in vars(import_module(found.name)).values():
            group = value if isinstance(value, tuple) else (value,)
            for one in group:
                if isinstance(one, (sp.Symbol, sp.IndexedBase)) and not isinstance(one, sp.Dummy):
                    yield str(one)


def test_every_name_of_the_model_is_kept_apart():
    names = {name for name in _symbols_of_the_model() if name.isidentifier()}
    assert {"m", "R", "theta", "L", "H", "x"} <= names
    # q, an axis of the frame beyond the spikes, is in no formula with a score and in no module.
    free = sorted(n for n in names - {"x", "q"} if par.symbol(n).name == n)
    assert not free, f"add to theory/parameters.py: {free}"


@pytest.mark.parametrize("name", hf.CATALOGUE)
def test_every_name_of_a_generated_module_is_kept_apart(name):
    act = hf.CATALOGUE[name]
    constants = {symbol.name for symbol in act.symbols.values()}
    text = (DERIVATIONS / slug(name) / "kernels.py").read_text(encoding="utf-8")
    names = {n for n in par.bound_names(text) if n not in constants}
    free = sorted(n for n in names if par.symbol(n).name == n)
    assert not free, f"add to theory/parameters.py: {free}"


def test_the_text_holds_each_parameter_once_and_does_not_depend_on_its_value():
    act = hf.Activation("mine", score="exp(q*x)", parameters={"q": 2.0})
    text = numpy_source(act)
    assert "\nq = 2.0\n" in text
    assert numpy_source(act.at(q=3)) == text.replace("\nq = 2.0\n", "\nq = 3.0\n")
    assert kernels_for(act).__name__ == kernels_for(act.at(q=3)).__name__
    assert kernels_for(act.at(q=3)).DEFINITION["parameters"] == {"q": 3.0}


def test_a_model_name_is_kept_apart_in_text_and_in_sympy():
    """Field cases F08 and F35: a slope called m, one called x0, a SymPy symbol called R."""
    for name in ("m", "R", "L", "theta", "x0", "lambda", "np", "w_0"):
        act = hf.Activation("a", score=f"sigmoid({name}*x)", scope="none", parameters={name: 2})
        given = sp.Symbol(name) * x
        same = hf.Activation(
            "a", score=1 / (1 + sp.exp(-given)), scope="none", parameters={name: 2}
        )
        assert same == act
        text = numpy_source(act)
        (constant,) = (symbol.name for symbol in act.symbols.values())
        assert f"\n{constant} = 2.0\n" in text
        assert par.bound_names(text).count(constant) == 1


def test_a_name_that_generated_code_binds_is_refused():
    """Negative control of the last check before a module is written."""
    with pytest.raises(DefinitionError, match="rename"):
        par.require_own_names("q = 2.0\ndef f(q):\n    return q\n", ["q"])
    par.require_own_names("q = 2.0\ndef f(y):\n    return q * y\n", ["q"])


@pytest.mark.parametrize(
    "entries, words",
    [
        ({"score": "exp(x)", "parameters": {"q": 2}}, ["q", "leave it out"]),
        ({"score": "exp(x/T)", "parameters": {"T": -1}, "positive": "T"}, ["T", "> 0"]),
        ({"score": "exp(x)", "positive": "T"}, ["positive", "T"]),
        ({"score": "exp(q*x)", "offset": "c", "parameters": {"q": 1}}, ["'c'", "unknown"]),
        ({"score": "exp(x)", "offset": "c", "parameters": {"c": -1}}, ["offset", ">= 0"]),
        ({"score": "exp(x)", "offset": "c*x", "parameters": {"c": 1}}, ["offset", "x"]),
        ({"score": "exp(q*x)", "parameters": {"q": float("nan")}}, ["q", "finite"]),
        ({"score": "exp(q*x)", "parameters": {"q+1": 2}}, ["q+1", "letters"]),
        ({"score": "q*x+1", "parameters": {"q": 1}}, ["normalizer", "nonnegative"]),
    ],
)
def test_a_bad_parameter_is_one_line(entries, words):
    with pytest.raises(DefinitionError) as refused:
        hf.Activation("mine", **entries)
    message = str(refused.value)
    assert "\n" not in message and all(word in message for word in words), message


def test_values_are_checked_wherever_they_change():
    act = hf.activation("softmax-temperature")
    assert act.at(T=2) == hf.activation("softmax-temperature", parameters={"T": 2})
    for change in ({"T": 0}, {"T": -1}, {"T": float("inf")}, {"q": 1}):
        with pytest.raises(DefinitionError, match=f"parameter {next(iter(change))}"):
            act.at(**change)
    ranged = hf.Activation("r", score="x^2 + q", parameters={"q": 1})
    with pytest.raises(DefinitionError, match="nonnegative"):
        ranged.at(q=-1)


def test_the_saddle_is_a_formula_in_the_parameters():
    spectrum = hf.origin_spectrum("softmax-temperature")
    (T,) = hf.activation("softmax-temperature").symbols.values()
    softmax = hf.origin_spectrum("softmax")
    assert sp.simplify(spectrum.splitting - softmax.splitting / T**2) == 0
    none = hf.origin_spectrum(hf.activation("softmax-n").at(n=0)).evaluate(5, 3, 2.5, 0.4)
    assert none == pytest.approx(softmax.evaluate(5, 3, 2.5, 0.4), rel=1e-13)

"""One definition, whatever its spelling; a bad one is one line."""

from __future__ import annotations

import pickle

import pytest
import sympy as sp

import headflow as hf
from theory import symbols as sym
from theory.errors import DefinitionError
from theory.functions import Sigmoid, Softplus, canonical

x = sp.Symbol("x", real=True)


@pytest.mark.parametrize(
    "symbol",
    [
        sp.Symbol("x"),
        sp.Symbol("x", real=True),
        sp.Symbol("x", positive=True),
        sp.Symbol("y"),
        sp.Dummy("x"),
    ],
    ids=["plain", "real", "positive", "other name", "dummy"],
)
def test_assumptions_of_the_users_symbol_do_not_matter(symbol):
    """Field case F01: the same activation, and the same non-zero derivative."""
    given = hf.Activation("s", score=1 / (1 + sp.exp(-symbol)), scope="none")
    assert given == hf.Activation("s", score="1/(1+exp(-x))", scope="none")
    assert given.score.diff(sym.logit) != 0


def test_floats_and_fractions_are_one_activation():
    spellings = ["0.8*x", "4/5*x", "8e-1*x"]
    acts = {hf.Activation("a", score=text, scope="none") for text in spellings}
    acts.add(hf.Activation("a", score=0.8 * x, scope="none"))
    assert len(acts) == 1
    assert hf.Activation("a", score="exp(x)", offset=0.5) == hf.Activation(
        "a", score="exp(x)", offset="1/2"
    )


def test_parameters_shadow_every_name():
    """Field case F08: beta = 2 equals the written 2, and the model's names are the user's too."""
    for name in ("beta", "gamma", "N", "S", "E", "I", "m", "R", "L", "lambda"):
        act = hf.Activation("a", score=f"1/(1+exp(-{name}*x))", scope="none", parameters={name: 2})
        (symbol,) = act.symbols.values()
        assert act.score == Sigmoid(symbol * sym.logit)
        assert act.typed(act.score) == Sigmoid(2 * sym.logit)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"score": "log(x)"}, ["score", "x ="]),
        ({"score": "sqrt(x)"}, ["complex"]),
        ({"score": "1/(x-0.3)"}, ["undefined", "0.3"]),
        ({"score": "1/x"}, ["undefined"]),
        ({"score": "tan(x)"}, ["poles"]),
        ({"score": "exp(y)"}, ["y", "unknown"]),
        ({"score": "foo(x)"}, ["foo", "unknown"]),
        ({"score": "exp(x)", "normalizer": "x"}, ["normalizer", "nonnegative"]),
        ({"score": "exp(x)", "normalizer": "relu(x)"}, ["vanishes", "offset"]),
        ({"score": "exp(x)", "offset": -1}, ["offset", ">= 0"]),
        ({"score": "exp(x)", "offset": float("nan")}, ["offset"]),
        ({"score": "exp(x)", "power": 0}, ["power", "> 0"]),
        ({"score": "exp(x)", "scope": "token"}, ["scope", "tokens"]),
        ({"score": "exp(x)", "bias": "some"}, ["bias", "norm"]),
        ({"score": "exp(x)", "gain": "max"}, ["gain", "mean"]),
        ({"score": "exp(x)", "gain": float("inf")}, ["gain"]),
        ({"score": "x", "scope": "none", "offset": 1}, ["scope", "denominator"]),
        ({"score": "__import__('os').system('id')"}, ["character"]),
        ({"score": "x.__class__"}, ["character"]),
        ({"score": "lambda: x"}, ["character"]),
        ({"score": sp.Function("g")(x)}, ["g", "no formula"]),
        ({"score": 3.0}, ["score"]),
        ({"score": sp.I * x}, ["complex"]),
    ],
    ids=lambda v: str(v)[:40] if isinstance(v, dict) else "",
)
def test_a_bad_definition_is_one_line(changes, words):
    with pytest.raises(DefinitionError) as refused:
        hf.Activation("mine", **changes)
    message = str(refused.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_unknown_catalogue_name_lists_the_known_ones():
    with pytest.raises(DefinitionError, match="softmax-1-norm"):
        hf.activation("sofmax")


@pytest.mark.parametrize("z", [-800, -30, 0, 30, 800])
def test_stable_functions_keep_their_derivatives(z):
    """Field case F02: no overflow, no cancellation, whatever SymPy did to the spelling."""
    spellings = [
        1 / (1 + sp.exp(-x)),
        sp.simplify(1 / (1 + sp.exp(-x))),
        sp.exp(x) / (1 + sp.exp(x)),
    ]
    for spelling in spellings:
        assert canonical(spelling) == Sigmoid(x)
    second = Sigmoid(x).diff(x, 2).subs(x, z).evalf(20)
    expected = {30: -9.357622968837e-14, -30: 9.357622968837e-14}.get(z, 0.0)
    assert float(second) == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert canonical(sp.log(1 + sp.exp(x))) == Softplus(x)


def test_activations_can_be_pickled_and_compared():
    act = hf.activation("softmax-1", bias="norm", gain="sum")
    assert pickle.loads(pickle.dumps(act)) == act
    assert (
        act.definition()
        == hf.activation("softmax-1-norm").with_changes(name="softmax-1").definition()
    )

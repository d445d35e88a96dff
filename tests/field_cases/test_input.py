"""Field cases of input: names with a meaning, undefined ranges, priors, what has no formula."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sympy as sp

import headflow as hf
from headflow.inputs import read_activation, read_prior
from theory import symbols as sym
from theory.admission import MAX_DEPTH
from theory.errors import ExpressionError
from theory.functions import Ramp, Sigmoid
from theory.vocabulary import MODEL_NAMES

ONE = hf.FiniteSupport([[1.0]], [1.0])
x = sp.Symbol("x")


def refusal(**definition):
    with pytest.raises(hf.DefinitionError) as refused:
        hf.Activation("mine", **{"scope": "none", **definition})
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("name", ["beta", "gamma", "N", "S", "lambda", "E", "I", *MODEL_NAMES])
def test_f08_a_parameter_may_have_any_name_and_is_no_quantity_of_the_model(name):
    texts = (f"1/(1+exp(-{name}*x))", "1/(1+exp(-2*x))", "1/(1+exp(-q*x))")
    parameters = ({name: 2}, {}, {"q": 2})
    acts = [
        hf.Activation("a", score=text, scope="none", parameters=given)
        for text, given in zip(texts, parameters, strict=True)
    ]
    scores = [act.typed(act.score) for act in acts]
    assert scores[0] == scores[1] == scores[2]
    assert scores[0].func is Sigmoid


@pytest.mark.parametrize(
    "text, words",
    [
        ("E*x", ["E is not a known name", "exp(1)", "parameter E"]),
        ("I*x", ["I is not a known name", "complex"]),
        ("gelu(x)", ["unknown function 'gelu'", "tanh"]),
        ("gamma*x", ["gamma is a name of the model (the gain)", "parameters"]),
        ("N*x", ["unknown name 'N'"]),
        ("1/(1+exp(-R*x))", ["R is a name of the model (the overlaps)"]),
    ],
)
def test_f08_an_undeclared_name_is_refused_by_name(text, words):
    message = refusal(score=text)
    assert all(word in message for word in words), message


def test_f08_known_spellings():
    same = [("relu(x)", "max(0,x)"), ("x^2", "x**2")]
    for one, other in same:
        acts = [hf.Activation("a", score=text, scope="none") for text in (one, other)]
        assert acts[0] == acts[1]


def test_f08_a_slope_named_m_or_R_leaves_the_derivatives_alone():
    def slope(name):
        act = hf.Activation("slope", score=f"{name}*x", scope="none", parameters={name: 1.5})
        return hf.PopulationRisk(act, ONE, tokens=2).gradient([[0.5]], [[1.0]])

    reference = slope("q")
    for name in ("m", "R"):
        assert slope(name).m == pytest.approx(reference.m, abs=1e-15)
        assert slope(name).R == pytest.approx(reference.R, abs=1e-15)


def test_f14_a_start_outside_the_physical_region_is_refused_with_its_eigenvalue():
    risk = hf.PopulationRisk("linear", ONE, tokens=2)
    with pytest.raises(hf.InputError, match="-0.31"):
        hf.gradient_flow(risk, [[0.9]], [[0.5]], [0.0, 1.0])


@pytest.mark.parametrize("text", ["log(x)", "sqrt(x)", "max(0, log(x))", "x^0.3"])
def test_f23_an_undefined_range_is_named_before_anything_is_integrated(text):
    message = refusal(score=text)
    assert message.startswith("activation mine: score: ")
    assert "is complex from x = -215.443 to x = -0.0001" in message


def test_f25_priors_that_are_none():
    with pytest.raises(hf.InputError, match="sum to 1, they sum to 2"):
        hf.FiniteSupport([[-1.0], [1.0]], [1.0, 1.0])


def test_f25_a_prior_with_only_a_mean(tmp_path):
    path = tmp_path / "prior.json"
    path.write_text(json.dumps({"mean": [0.3]}))
    with pytest.raises(hf.InputError, match="'mean' and 'variance'"):
        read_prior(str(path))


class Named(sp.Function):
    """A function with numbers only."""

    nargs = 1

    def _eval_evalf(self, prec):
        return sp.tanh(self.args[0])._eval_evalf(prec)


@pytest.mark.parametrize(
    "score, words",
    [
        (sp.Function("g")(x), ["function g has no formula", "write the expression itself"]),
        (Named(x), ["function Named has no formula"]),
        (sp.LambertW(sp.exp(x)), ["LambertW is complex"]),
        (sp.gamma(x**2 + 1), ["unknown function gamma", "known functions"]),
        (sp.Integral(sp.exp(-(x**2)), x), ["unknown function Integral"]),
        (sp.DiracDelta(x), ["unknown function DiracDelta"]),
        (sp.Piecewise((x, x > 0)), ["none of its conditions", "(value, True)"]),
        (sp.Piecewise((x, x > 1), (0, x < 0)), ["none of its conditions"]),
        (sp.I * x, ["complex"]),
        (sp.zoo * x, ["not a finite expression"]),
        (np.tanh, ["no expression of a symbol", "SymPy"]),
        (lambda z: np.exp(z), ["no expression of a symbol"]),
        (3.0, ["text in x, a SymPy expression"]),
        ("exp(exp(exp(exp(x))))", ["nest fewer exponentials"]),
        ("exp(x^3)", ["grows faster than exp(x^2)"]),
        ("sin(exp(exp(x)))", ["undefined from x = 10"]),
    ],
)
def test_what_is_not_known_in_full_is_refused_by_name(score, words):
    message = refusal(score=score)
    assert all(word in message for word in words), message


def test_a_piecewise_with_its_last_branch_is_admitted():
    score = sp.Piecewise((x, x > 0), (0, True))
    assert hf.Activation("a", score=score, scope="none").score == Ramp(sym.logit)


def composed(levels):
    expression = x
    for _ in range(levels - 1):
        expression = sp.sin(expression, evaluate=False)
    return expression


def test_deep_compositions_are_refused_and_shallow_ones_admitted():
    assert hf.Activation("deep", score=composed(MAX_DEPTH), scope="none").score.has(sp.sin)
    for levels in (MAX_DEPTH + 1, 250, 400):
        assert f"{MAX_DEPTH} levels" in refusal(score=composed(levels))
    nested = "x+1"
    for _ in range(90):
        nested = f"2+x*({nested})"
    assert f"{MAX_DEPTH} levels" in refusal(score=nested)
    wide = sp.Add(*(sp.sin(k * x) for k in range(1, 1200)))
    assert "too large" in refusal(score=wide)


def test_small_types_are_float64_at_the_door():
    narrow = hf.FiniteSupport(np.array([[1], [2]], dtype=np.int8), np.float32([0.5, 0.5]))
    assert narrow.support.dtype == narrow.probabilities.dtype == np.float64
    risk = hf.PopulationRisk("linear", ONE, tokens=2)
    m = np.array([[1e-4]], dtype=np.float32)
    wide = risk(m.astype(float), np.float64([[1.0]])).value
    assert risk(m, np.float32([[1]])).value == risk(m, np.int64([[1]])).value == wide


@pytest.mark.parametrize("number", ["1e99999999", "9**9**9", "1/0", "nan", "0.5j", "__import__"])
def test_numbers_are_read_in_bounded_time(number):
    assert "offset" in refusal(score="exp(x)", scope="tokens", offset=number)
    with pytest.raises(hf.DefinitionError, match="parameter q"):
        read_activation("q*x", [f"q={number}"], scope="none")


@pytest.mark.parametrize("name", ["a\nb", 'a"""b', "a\\", "", "x" * 1001, "a\x00"])
def test_names_that_would_break_generated_text_are_refused(name):
    with pytest.raises(hf.DefinitionError, match="activation name"):
        hf.Activation(name, score="x", scope="none")


def test_a_fault_has_its_place_in_the_text():
    with pytest.raises(ExpressionError) as refused:
        read_activation("tanh(x) + y*x")
    assert refused.value.caret() == "tanh(x) + y*x\n          ^"

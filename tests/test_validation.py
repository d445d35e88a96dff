"""The whole validation: right theory passes, theory with one wrong factor does not."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import headflow as hf
from numerics.errors import InputError
from numerics.risk import PopulationRisk
from numerics.statistics import family_bound
from numerics.validation import validate
from tests.points import KINDS

PRIOR = hf.FiniteSupport([[1.7, 0.4], [-0.9, 1.1], [0.3, -1.5]], [0.5, 0.2, 0.3])
GAUSSIAN = hf.GaussianPrior([0.7, -0.3], [1.4, 0.2])
LENGTHS = {2: 0.3, 5: 0.7}
SMALL = {"samples": 32_000, "dimension": 20}


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADFLOW_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_built_in_activation_passes(name):
    result = hf.validate(name, PRIOR, tokens=3, heads=3, seed=1, **SMALL)
    assert result.passed, result.table()
    assert len(result.rows) >= 24, result.table()


@pytest.mark.parametrize(
    ("act", "prior", "tokens", "heads"),
    [
        (hf.activation("softmax-1", bias="norm+free", gain="free"), PRIOR, LENGTHS, 2),
        (hf.activation("bayes-softmax", bias="free", gain=0.7), GAUSSIAN, 4, 2),
        (hf.Activation("softplus-1", score="log(1+exp(x))", offset=1), GAUSSIAN, LENGTHS, 1),
    ],
    ids=["free-bias-and-gain", "gaussian-prior", "softplus"],
)
def test_other_readings_priors_and_lengths_pass(act, prior, tokens, heads):
    result = hf.validate(act, prior, tokens, heads, seed=2, **SMALL)
    assert result.passed, result.table()


class Wrong(PopulationRisk):
    """Theory with one mistake; the simulated model stays as it is."""

    def __init__(self, mistake, name="softmax-1-norm"):
        right = hf.PopulationRisk(name, PRIOR, 4, rtol=1e-5)
        super().__init__(right.kernels, right.prior, right.length, right.rtol)
        self.mistake = mistake

    def __call__(self, m, R, **free):
        value = self.theory().__call__(m, R, **free)
        return self.mistake.get("value", lambda e: e)(value)

    def gradient(self, m, R, **free):
        gradient = self.theory().gradient(m, R, **free)
        return self.mistake.get("gradient", lambda g: g)(gradient)

    def theory(self):
        kernels = SimpleNamespace(**{**vars(self.kernels), **self.mistake.get("kernels", {})})
        prior = self.mistake.get("prior", self.prior)
        return PopulationRisk(kernels, prior, self.mistake.get("length", self.length), self.rtol)


def pairs_once(linear, square, pair, gamma):
    """The risk without the 2 of the pairs' sum over h < k."""
    return 1 - 2 * gamma * linear + gamma**2 * (square + pair)


def halved_diagonal(R):
    return (R + np.diag(np.diag(R))) / 2


MISTAKES = {
    "gain doubled": {"kernels": {"gain": lambda heads: 2.0}},
    "pairs counted once": {"kernels": {"risk": pairs_once}},
    "no norm bias": {"kernels": {"bias": lambda R, beta: 0 * np.diagonal(R)}},
    "one token too many": {"length": 5},
    "odds made equal": {"prior": hf.FiniteSupport(PRIOR.support, [1 / 3, 1 / 3, 1 / 3])},
    "risk off by 3%": {"value": lambda e: replace(e, value=1.03 * e.value)},
    "R half as steep": {"gradient": lambda g: replace(g, R=g.R / 2)},
    "R off the diagonal half": {"gradient": lambda g: replace(g, R=halved_diagonal(2 * g.R))},
    "m with the other sign": {"gradient": lambda g: replace(g, m=-g.m)},
    "biases twice as steep": {"gradient": lambda g: replace(g, beta=2 * g.beta)},
    "gain half as steep": {"gradient": lambda g: replace(g, gain=g.gain / 2)},
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=list(MISTAKES))
def test_one_mistake_fails(mistake):
    result = validate(Wrong(mistake), 2, seed=3, **SMALL)
    assert not result.passed, result.table()
    assert "FAILED" in result.table() and "beyond the bound" in result.table()


def test_no_mistake_passes():
    result = validate(Wrong({}), 2, seed=3, **SMALL)
    assert result.passed, result.table()


def refuse(gradient):
    raise InputError("gradient: the score has a step")


def test_a_refused_gradient_is_left_out_and_said_so():
    result = validate(Wrong({"gradient": refuse}, "relu"), 2, seed=3, **SMALL)
    assert result.passed
    assert {row.quantity.split(": ")[1] for row in result.rows} <= {"risk, logits", "risk, vectors"}
    assert sum("no gradient to compare" in note for note in result.notes) == 3
    with pytest.raises(InputError, match="the score has a step"):
        validate(Wrong({"gradient": refuse}), 2, seed=3, **SMALL)


def test_heavy_tails_are_left_out_and_said_so():
    prior = hf.FiniteSupport([[1.5], [-0.5]], [0.4, 0.6])
    steep = hf.Activation("steep", score="exp(x)", scope="none")
    result = hf.validate(steep, prior, 3, 2, **SMALL)
    left_out = [note for note in result.notes if "left out, one sample holds" in note]
    assert result.passed and len(left_out) == 27 - len(result.rows) > 0
    steeper = hf.Activation("steeper", score="exp(3*x)", scope="none")
    with pytest.raises(InputError, match=r"^samples: one sample outweighs[^\n]*$"):
        hf.validate(steeper, prior, 3, 2, **SMALL)


def test_theory_with_a_large_error_is_marked():
    blurred = {"value": lambda e: replace(e, error=0.5)}
    result = validate(Wrong(blurred), 2, seed=3, **SMALL)
    (note,) = result.notes
    assert "theory's error is larger than the simulation's in 6 of 27 rows" in note
    assert len(re.findall(r"\d\*$", result.table(), flags=re.MULTILINE)) == 6


def test_one_token_is_compared_exactly():
    result = hf.validate("softmax", PRIOR, 1, 1, samples=1600, dimension=5)
    assert result.passed
    risks = [row for row in result.rows if "risk" in row.quantity]
    assert all(row.simulation == row.standard_error == 0 for row in risks)


def test_no_gain_leaves_no_moments_and_says_so():
    result = hf.validate(hf.activation("erf", gain=0), PRIOR, 3, 2, **SMALL)
    assert result.passed
    assert not any("E[" in row.quantity for row in result.rows)
    assert sum("the gain is 0" in note for note in result.notes) == 3


def test_the_bound_is_the_family_s():
    result = hf.validate("erf", PRIOR, 3, 2, alpha=0.02, **SMALL)
    assert result.bound == family_bound(len(result.rows), 0.02, 4000)
    undefined = replace(result, rows=(replace(result.rows[0], z=float("nan")), *result.rows[1:]))
    assert result.passed and not undefined.passed


def test_a_seed_fixes_the_table():
    first, again, other = (hf.validate("erf", PRIOR, 3, 2, seed, **SMALL) for seed in (4, 4, 5))
    assert first == again
    assert first.rows != other.rows


def test_dataset_carries_rows_and_configuration():
    act = hf.activation("softmax-1", bias="free", gain="free")
    result = hf.validate(act, PRIOR, LENGTHS, 2, seed=4, **SMALL)
    data = result.to_dataset()
    assert data.sizes == {"row": len(result.rows)}
    assert data.z.values == pytest.approx([row.z for row in result.rows], abs=0)
    assert list(data.quantity.values) == [row.quantity for row in result.rows]
    configuration = json.loads(data.attrs["configuration"])
    assert configuration["tokens"] == {"2": 0.3, "5": 0.7}
    assert (configuration["seed"], configuration["dimension"]) == (4, 20)
    assert configuration["versions"]["headflow"] == hf.__version__
    for point in configuration["points"]:
        m, R = np.array(point["m"]), np.array(point["R"])
        assert np.linalg.eigvalsh(R - m @ m.T)[0] > 0
        assert len(point["beta"]) == 2 and 0.5 <= point["gain"] <= 1.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": 0}, "heads: expected an integer >= 1"),
        ({"seed": -1}, "seed: expected an integer >= 0"),
        ({"samples": 3}, "samples: expected an integer >= 16"),
        ({"dimension": 3}, "dimension: expected an integer >= 4"),
        ({"alpha": 1.0}, "alpha: expected a rate between 0 and 1"),
    ],
)
def test_bad_input_is_refused_in_one_line(change, message):
    with pytest.raises(InputError, match=rf"^{message}[^\n]*$"):
        hf.validate("erf", PRIOR, **{"tokens": 3, "heads": 2, **change})

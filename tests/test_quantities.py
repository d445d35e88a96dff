"""Quantities of a study: what they compute, what they take, and the command that runs them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import headflow as hf
from headflow.built_in import BuiltIn, seed_of
from headflow.quantities import QUANTITIES
from headflow.sweeps import read_study
from headflow.versions import versions
from numerics.dynamics.whole_flow import final_risk, specialization_time
from numerics.errors import InputError
from numerics.sweep.study import Study
from tests.test_cli import run
from theory.errors import DefinitionError

PRIOR = {"support": [[1.7, 0.4], [-0.9, 1.1], [0.3, -1.5]], "probabilities": [0.5, 0.2, 0.3]}
MODEL = {"activation": "softmax", "prior": PRIOR, "tokens": 3}
STUDIES = Path(__file__).parent.parent / "docs" / "studies"


def at(quantity, seed=0, **parameters):
    """The quantity at one point, and the seed that its stream stands for."""
    table = {"name": "n", "quantity": quantity, "fixed": parameters, "seeds": [seed]}
    study, function = read_study(table)
    point = study.point(0)
    return function(point.parameters, point.stream()), seed_of(point.stream())


def law():
    return hf.FiniteSupport(**PRIOR)


def test_excess_risk_is_the_risk_above_the_bayes_risk():
    act = {"name": "softmax-1", "gain": "sum"}
    value, error = at("excess_risk", **{**MODEL, "activation": act}, heads=2, rtol=1e-5)[0]
    # Heads at the two most probable atoms.
    m = np.array([[1.7, 0.4], [0.3, -1.5]])
    risk = hf.PopulationRisk(hf.activation("softmax-1", gain="sum"), law(), 3)(m, m @ m.T)
    bayes = hf.bayes_risk(law(), 3)
    assert abs(value - (risk.value - bayes.value)) <= error + risk.error + bayes.error
    assert 0 < error < 1e-3
    alone = at("risk", **{**MODEL, "activation": act}, m=m.tolist(), R=(m @ m.T).tolist())[0]
    assert abs(alone.value - risk.value) <= alone.error + risk.error
    # Control: another reading of the same activation has another risk.
    assert abs(at("risk", **{**MODEL, "activation": "softmax-1"})[0].value - risk.value) > 0.01


def test_the_lowest_eigenvalue_is_that_of_the_closed_form_at_the_origin():
    closed = hf.origin_spectrum("softmax").evaluate(L=3, H=2, V=1.3)
    prior = {"mean": [0.0, 0.0], "variance": [0.7, 1.3]}
    value, error = at("spectrum_lowest", activation="softmax", prior=prior, tokens=3, at="origin")[
        0
    ]
    lowest = min(map(float, closed))
    assert lowest < 0 and abs(value - lowest) <= error < 1e-3


def test_a_flow_at_rest_is_at_the_fixed_point():
    """Integration, and least squares on the gradient."""
    risk = hf.PopulationRisk("softmax", hf.flipped_spikes([1.5], [0.4]), 3, rtol=1e-6)
    found = final_risk(risk, [[0.3]], [[0.2]], 100.0)
    fixed = at("fixed_point_risk", activation="softmax", prior="flipped:1.5+0.4", tokens=3, heads=1)
    assert abs(found.value - fixed[0].value) <= found.error + fixed[0].error
    assert found.error < 1e-4
    with pytest.raises(InputError, match="not at rest at tau = 2"):
        final_risk(risk, [[0.3]], [[0.2]], 2.0)


def test_the_first_head_specializes_where_the_difference_of_two_heads_is_half_its_last():
    """Another stepper, evenly spaced records, and a crossing found by hand."""
    risk = hf.PopulationRisk("erf", law(), 3, rtol=1e-6)
    m = np.array([[0.1, 0.05], [0.02, -0.1]])
    start = (m, m @ m.T + np.array([[0.05, 0.01], [0.01, 0.04]]))
    found = specialization_time(risk, *start, 30.0, rtol=1e-5)
    tau = np.linspace(0, 30, 301)
    flow = hf.gradient_flow(risk, *start, tau, rtol=1e-5, method="RK45")
    apart = flow.m.values[:, 0] - flow.m.values[:, 1]
    way = apart @ apart[-1] / (apart[-1] @ apart[-1])
    i = np.flatnonzero((way[:-1] < 0.5) & (way[1:] >= 0.5))[-1]
    crossing = np.interp(0.5, way[i : i + 2], tau[i : i + 2])
    # Linear between records: the curve's second difference bounds what that costs.
    bend = abs(np.diff(way, 2)[i - 1 : i + 1]).max() / (way[i + 1] - way[i]) * 0.1
    assert abs(found.value - crossing) <= found.error + bend
    assert found.error < 0.01 * found.value and bend < 0.01 * found.value
    together = np.array([[0.1, 0.05]] * 2)
    with pytest.raises(InputError, match="no head specializes"):
        specialization_time(risk, together, together @ together.T, 4.0, rtol=1e-5)
    with pytest.raises(InputError, match="at most 6.25e-05"):
        specialization_time(risk, *start, 4.0, rtol=1e-4)


def test_the_escape_time_follows_from_the_closed_form_of_the_rate():
    """theta of mean 0 and 3 tokens: the heads wait at the origin, and one mode parts them."""
    model = {"activation": "softmax", "prior": "flipped:2.5", "tokens": 3, "heads": 2}
    given = {"dimension": 10**6, "size": 0.2, "threshold": 0.05}
    found = at("escape_time", **model, **given)[0]
    rate = -min(map(float, hf.origin_spectrum("softmax").evaluate(L=3, H=2, V=2.5**2)))
    # A start is |z| size / sqrt(D), z normal; the median of |z| is the third quartile of z.
    start = stats.norm.ppf(0.75) * 0.2 / 1e3
    assert abs(found.value - np.log(0.05 / start) / rate) <= found.error < 1e-3 * found.value
    with pytest.raises(InputError, match="threshold"):
        at("escape_time", **model, **{**given, "dimension": 10})
    with pytest.raises(InputError, match="at least F . H = 3"):
        at("escape_time", **model, **{**given, "dimension": 2})


def test_a_run_of_sgd_is_the_one_of_the_points_seed():
    options = {"dimension": 60, "learning_rate": 0.8, "time": 0.5}
    (value, error), seed = at("sgd_final_risk", **MODEL, **options, start_seed=4)
    m0, R0 = hf.random_start(2, 2, 60, 1.0, 4)
    sgd = hf.simulate_sgd("softmax", law(), 3, seeds=1, seed=seed, m0=m0, R0=R0, **options)
    assert (value, error) == (float(sgd.risk[0, -1]), float(sgd.error[0, -1]))
    other = at("sgd_final_risk", seed=1, **MODEL, **options, start_seed=4)[0]
    assert other[0] != value


def test_every_quantity_says_what_its_value_and_its_parameters_are():
    for name, definition in QUANTITIES.items():
        about = BuiltIn(name, versions()).about()
        assert set(about) == {"value", *definition.takes}
        assert all(entry["long_name"] and entry["units"] for entry in about.values())


def test_a_process_with_other_versions_is_refused():
    ready = BuiltIn("risk", versions())
    ready.require_ready()
    with pytest.raises(InputError, match="a worker has numpy"):
        replace(ready, versions={**versions(), "numpy": "1.0"}).require_ready()


@pytest.mark.parametrize(
    "entries, words",
    [
        ({"quantity": "rsk"}, ["unknown 'rsk'", "excess_risk", "module:function"]),
        ({"quantity": "nowhere:f"}, ["no module 'nowhere'"]),
        ({"quantity": "functions:f"}, ["no function 'f'"]),
        ({"quantity": "broken:f"}, ["broken.py", "SyntaxError"]),
        ({"fixed": {**MODEL, "headss": 2}}, ["risk has no parameter 'headss'", "heads"]),
        ({"fixed": {"prior": PRIOR, "tokens": 3}}, ["risk needs the parameter 'activation'"]),
        ({"fixed": {**MODEL, "heads": 0}}, ["heads", "0"]),
        ({"fixed": {**MODEL, "activation": {"scope": "tokens"}}}, ["activation", "name or score"]),
        ({"fixed": {**MODEL, "prior": {"strength": [1]}}}, ["prior", "strengths"]),
        ({"fixed": {**MODEL, "m": [[1.0, 0.2]]}}, ["m and R"]),
        ({"fixed": MODEL, "axes": {"at": ["atoms", "nowhere"]}}, ["at", "nowhere"]),
        ({"quantity": "bayes_risk", "fixed": {"prior": PRIOR, "tokens": 0.5}}, ["tokens", "0.5"]),
        ({"fixed": MODEL, "axes": {"rtol": [1e-4, "small"]}}, ["rtol", "small"]),
        ({"fixed": MODEL, "axes": {"prior.support.3.0": [1.0]}}, ["prior", "no such part"]),
        ({"fixed": MODEL, "dims": {"a": 2}}, ["dims", "risk is a number"]),
        ({"quantity": "functions:walk", "fixed": {"a": 1.5, "b": 1}}, ["a must be of type int"]),
        ({"quantity": "functions:walk", "fixed": {"a": 1}}, ["walk needs the parameter 'b'"]),
        ({"quantity": "functions:walk", "fixed": {"a": 1, "rng": 1}}, ["no parameter 'rng'"]),
        ({"quantity": "functions:rough", "fixed": {"a": 1}, "seeds": 3}, ["neither seed nor rng"]),
    ],
    ids=str,
)
def test_a_study_that_cannot_be_computed_is_refused(entries, words, tmp_path, monkeypatch):
    from tests.sweeps import FUNCTION

    (tmp_path / "functions.py").write_text(FUNCTION)
    (tmp_path / "broken.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as problem:
        read_study({"name": "n", "quantity": "risk", **entries})
    text = str(problem.value)
    assert "\n" not in text and all(word in text for word in words), text


def test_an_activation_that_is_none_is_refused():
    table = {"name": "n", "quantity": "risk", "fixed": {"prior": PRIOR, "tokens": 3}}
    with pytest.raises(DefinitionError, match="offset"):
        read_study({**table, "axes": {"activation": ["softmax", {"name": "erf", "offset": 1}]}})


def test_the_command_refuses_and_computes(tmp_path):
    study = tmp_path / "bayes.toml"
    study.write_text('name = "b"\nquantity = "bayes_risk"\nfixd = 1\n')
    refused = run("sweep", str(study), cwd=tmp_path)
    assert refused.returncode == 2 and "'fixd'" in refused.stderr
    assert refused.stderr.count("\n") == 1 and not (tmp_path / "bayes.zarr").exists()
    study.write_text(
        'name = "b"\nquantity = "bayes_risk"\n'
        "[fixed]\nprior = { strengths = [1.5] }\n"
        '[axes]\ntokens = [3, { "2" = 0.5, "4" = 0.5 }]\n'
    )
    done = run("sweep", str(study), "--workers", "1", "--json", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    result = json.loads(done.stdout)
    assert (result["points"], result["done"], result["failed"]) == (2, 2, 0)
    data = hf.open_sweep(tmp_path / "bayes.zarr")
    assert data.value.attrs == {"long_name": "Bayes risk", "units": "1"}
    assert data.tokens.attrs["long_name"] == "sequence length L"
    assert json.loads(data.attrs["versions"]) == versions()
    for tokens, value, error in zip(
        (3, {2: 0.5, 4: 0.5}), data.value.values[:, 0], data.error.values[:, 0], strict=True
    ):
        bayes = hf.bayes_risk(hf.flipped_spikes([1.5]), tokens)
        assert abs(value - bayes.value) <= error + bayes.error


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_are_studies(path):
    study, quantity = read_study(path)
    assert isinstance(study, Study) and 10 <= study.size <= 100
    point = study.point(study.size - 1)
    value, error = quantity(point.parameters, point.stream())
    assert np.isfinite(value) and 0 < error < 1e-3

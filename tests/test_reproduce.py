"""Reproduced results: claims are true of the data, and fail where the data say otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest
import xarray as xr

from headflow import page
from headflow.citation import bibtex
from headflow.reproduce import NAMES
from headflow.reproduce.claim import Claim
from headflow.reproduce.experiment import Experiment
from headflow.reproduce.one_head import least_risk
from headflow.reproduce.run import reproduce
from headflow.reproduce.training import best, none_below, reaches, stays_above
from numerics.errors import InputError
from tests.browser import BROWSER, probed
from tests.test_cli import run


class _Bar:
    def __init__(self, name: str):
        self.name = name

    def __enter__(self):
        return lambda share: None

    def __exit__(self, *problem):
        return None


@pytest.mark.parametrize(
    "relation, value, holds",
    [
        ("=", 1.29, True),
        ("=", 1.31, False),
        ("<", 0.69, True),
        ("<", 0.71, False),
        (">", 1.31, True),
        (">", 1.29, False),
        (">=", 0.71, True),
        (">=", 0.69, False),
        *((relation, math.nan, False) for relation in ("=", "<", ">", ">=")),
    ],
)
def test_a_claim_counts_both_errors(relation, value, holds):
    claim = Claim.of("n", "t", (value, 0.1), relation, (1.0, 0.2), "a number")
    assert claim.holds is holds


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_is_complete(name):
    one = Experiment.of(name)
    assert all(callable(getattr(one.module, part)) for part in ("run", "claims", "draw"))
    assert {"title", "question", "caption", "full", "quick"} == set(one.table)
    # Quick settings change what is there; a misspelt key would change nothing.
    assert set(one.table["quick"]) <= set(one.table["full"])


def test_hierarchy_end_to_end(tmp_path):
    found = reproduce(["hierarchy"], True, tmp_path, _Bar)
    assert [claim for claim in found["hierarchy"] if not claim.holds] == []
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"hierarchy.nc", "hierarchy.svg", "index.html"}
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert html.count("<figure>") == 1 and "<math" in html and "<script" not in html
    assert "headflow reproduce hierarchy --quick" in html and "FAILS" not in html
    assert page.escape(bibtex()) in html
    if BROWSER is not None:
        (tmp_path / "browser").mkdir()
        wide, narrow = probed(html, tmp_path / "browser", keep="reproduced")
        assert wide["faults"] == [] and narrow["faults"] == []
        assert wide["formulas"] == html.count("<math") and wide["figures"] == 1
    one = Experiment.of("hierarchy")
    data = one.stored(tmp_path)
    # The claims are about the file: with a rate changed in it they fail.
    assert all(claim.holds for claim in one.claims(data))
    data["measured"] = data.measured * 1.2
    assert not all(claim.holds for claim in one.claims(data))
    assert Experiment.of("phases").stored(tmp_path) is None


def test_an_unknown_experiment_is_refused(tmp_path):
    with pytest.raises(InputError, match="no experiment 'one_head'"):
        reproduce(["one_head"], True, tmp_path, _Bar)
    refused = run("reproduce", "heads", "nothing", cwd=tmp_path)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "reproduced").exists()


def test_lowest_risk_of_the_affine_score_by_hand():
    # A = gain (1 + x): with a = m sqrt(nu) the best gain leaves 1 - (1 + a)^2 / E[sum A^2], whose
    # lowest value over a grid of m needs none of the product's code.
    nu, lengths = 2.7, {"2": 0.3, "7": 0.7}
    L = sum(int(length) * odds for length, odds in lengths.items())
    m = np.linspace(0.0, 3.0, 3001)
    a = m * np.sqrt(nu)
    by_hand = 1 - (1 + a) ** 2 / ((1 + a) ** 2 + m**2 + (L - 1) * (1 + m**2))
    numbers, errors = least_risk("1 + x", nu, lengths, 1e-6)
    assert 0 <= by_hand.min() - numbers[0] < 1e-6
    assert numbers[1] == pytest.approx(m[by_hand.argmin()], abs=2e-3)
    assert numbers[3] > errors[3]


@pytest.fixture
def runs():
    """Two activations, two places, two starts; one run came to no end."""
    risk = np.array([[[0.5, 0.3001], [0.4001, np.nan]], [[0.6, 0.7], [0.65, 0.62]]])
    return xr.Dataset(
        {
            "risk": (("activation", "strength", "start"), risk),
            "risk_error": (("activation", "strength", "start"), np.full((2, 2, 2), 1e-3)),
            "bayes": ("strength", [0.3, 0.4]),
            "bayes_error": ("strength", [1e-6, 1e-6]),
        },
        {"activation": ["good", "bad"], "strength": [1.0, 2.0]},
    )


def test_final_risks_against_the_bayes_risk(runs):
    good, bad = (best(runs).sel(activation=name) for name in ("good", "bad"))
    assert reaches(good, "strength", "good", "here").holds
    assert not reaches(bad, "strength", "bad", "here").holds
    assert stays_above(bad, "strength", "bad", "here").holds
    assert not stays_above(good, "strength", "good", "here").holds
    assert none_below(runs).holds
    runs["risk"][1, 0, 1] = 0.29
    assert not none_below(runs).holds
    # What never came to an end reaches nothing.
    runs["risk"][0, 1] = np.nan
    lost = best(runs).sel(activation="good")
    assert not reaches(lost, "strength", "good", "here").holds


@pytest.mark.slow
@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
@pytest.mark.parametrize("name", NAMES)
def test_every_claim_holds(name, quick, tmp_path):
    found = reproduce([name], quick, tmp_path, _Bar)
    assert [claim for claim in found[name] if not claim.holds] == []

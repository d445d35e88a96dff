"""The main job on a small problem: the page stands alone, the data hold what it shows."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

import headflow as hf
from headflow import page, report_dynamics, report_saddles
from headflow.citation import bibtex
from headflow.report import Assignment, write_report
from numerics.errors import InputError
from tests.browser import BROWSER, probed

# One process makes the report for all tests.
pytestmark = pytest.mark.xdist_group("report")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    prior = hf.FiniteSupport([[1.4], [-0.6]], [0.6, 0.4])
    with pytest.MonkeyPatch.context() as patch:
        # The same studies, small: the numbers of the real ones are tested elsewhere.
        patch.setattr(report_dynamics, "DIMENSION", 100)
        patch.setattr(report_dynamics, "RUNS", 4)
        patch.setattr(report_dynamics, "SGD_TIMES", np.array([0.0, 0.5, 2.0]))
        patch.setattr(report_dynamics, "THEORY_TIMES", np.array([1.0, 3.0]))
        patch.setattr(report_dynamics, "RTOL", 1e-3)
        patch.setattr(report_saddles, "STRENGTHS", (2.4, 1.4))
        patch.setattr(report_saddles, "DIMENSIONS", (60, 150))
        patch.setattr(report_saddles, "RUNS", 12)
        summary = write_report(
            prior, "two atoms", 3, 2, seed=1, folder=folder, progress=lambda items, what: items
        )
    return folder, summary


def test_page_is_self_contained(report):
    folder, _ = report
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert html.count("<figure>") == 7 and "<math" in html
    assert "http-equiv" not in html and "<script" not in html and 'src="' not in html
    dynamics = {f"dynamics_{name}.nc" for name in ("1", "2", "2_sgd", "3")}
    saddles = {"specialization.nc", "escape.nc"}
    assert {f.name for f in folder.iterdir()} == {"index.html", "data.nc"} | dynamics | saddles


@pytest.mark.skipif(BROWSER is None, reason="no browser (chromium) is installed")
def test_page_in_a_browser(report, tmp_path):
    folder, _ = report
    html = (folder / "index.html").read_text(encoding="utf-8")
    wide, narrow = probed(html, tmp_path, keep="report")
    assert wide["faults"] == [] and narrow["faults"] == []
    assert wide["formulas"] == narrow["formulas"] == html.count("<math") > 0
    # On a narrow screen each figure comes in parts.
    assert wide["figures"] == 7 < narrow["figures"]


def test_page_says_how_to_rerun_and_to_cite(report):
    folder, _ = report
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert "headflow report --prior &#x27;two atoms&#x27; --tokens 3 --heads 2 --seed 1" in html
    assert "(1.4) with odds 0.6, (-0.6) with odds 0.4" in html
    for line in bibtex().splitlines():
        assert page.escape(line) in html


def test_dynamics_hold_errors_and_phases(report):
    folder, summary = report
    with xr.open_dataset(folder / "dynamics_1.nc", engine="h5netcdf") as flow:
        assert flow.attrs["status"] == "complete"
        assert np.all(flow.risk_error > 0) and float(flow.risk[-1]) < 0.69 < float(flow.risk[0])
    with xr.open_dataset(folder / "dynamics_2_sgd.nc", engine="h5netcdf") as sgd:
        assert np.all(sgd.runs == 4) and sgd.attrs["comparisons"] > 0
    assert "a plateau at E = 0.69" in (folder / "index.html").read_text(encoding="utf-8")
    assert list(summary["sgd"]) == ["Online SGD beside its equation"]


def test_data_hold_errors_and_configuration(report):
    folder, summary = report
    with xr.open_dataset(folder / "data.nc", engine="h5netcdf") as data:
        config = json.loads(data.attrs["configuration"])
        assert config["tokens"] == 3 and config["seed"] == 1 and "numpy" in config["versions"]
        assert np.all(data.error_at_atoms > 0) and np.all(data.error_on_ray > 0)
        bayes = data.sel(activation="bayes-softmax")
        assert abs(bayes.risk_at_atoms - data.bayes_risk) <= bayes.error_at_atoms + data.bayes_error
        assert np.all(data.risk_by_length >= data.bayes_by_length - 1e-5)
    assert summary["passed"]


def test_heads_share_atoms_and_their_odds():
    prior = hf.FiniteSupport([[1.0], [-1.0]], [0.7, 0.3])
    at = Assignment.of(prior, 3)
    weights = np.exp(at.beta) / np.exp(at.beta).sum()
    assert weights == pytest.approx([0.35, 0.3, 0.35])
    assert not Assignment.of(prior, 1).complete


def test_a_prior_without_atoms_is_refused(tmp_path):
    with pytest.raises(InputError, match="finite support"):
        write_report(
            hf.GaussianPrior([0.0], [1.0]),
            "",
            3,
            2,
            seed=0,
            folder=tmp_path / "r",
            progress=lambda items, what: items,
        )
    assert not (tmp_path / "r").exists()

"""The main job on a small problem: the page stands alone, the data hold what it shows."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

import headflow as hf
from headflow.report import Assignment, write_report
from numerics.errors import InputError


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    prior = hf.FiniteSupport([[1.4], [-0.6]], [0.6, 0.4])
    summary = write_report(
        prior, "two atoms", 3, 2, seed=1, folder=folder, progress=lambda items, what: items
    )
    return folder, summary


def test_page_is_self_contained(report):
    folder, _ = report
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert html.count("<svg") == 2 and "<math" in html
    assert "http-equiv" not in html and "<script" not in html and 'src="' not in html
    assert {f.name for f in folder.iterdir()} == {"index.html", "data.nc"}


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

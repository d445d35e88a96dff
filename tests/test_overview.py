"""The figure of the README: there, described in words, and what the code of today would show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from headflow import overview, report_dynamics
from numerics.errors import InputError

ROOT = Path(__file__).parent.parent
SHOWN = re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", (ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def told() -> dict:
    (_, path), *_ = SHOWN
    return overview.description((ROOT / path).read_text(encoding="utf-8"))


def test_the_readme_shows_it_with_words_for_who_cannot_see_it():
    ((words, path),) = SHOWN
    assert path == "docs/figures/training.svg" and len(words) > 60
    svg = (ROOT / path).read_text(encoding="utf-8")
    width = float(re.search(r'viewBox="0 0 (\S+) ', svg)[1])
    # Code hosts show it some 830 pixels wide: a letter of 10 points is then above 10 pixels.
    assert svg.startswith("<svg") and width < 830


def test_it_was_made_with_the_settings_of_today(told):
    assert told["settings"] == json.loads(json.dumps(overview.settings()))
    assert told["checked"]["passed"] == 1


def test_it_shows_what_theory_says_today(told, monkeypatch):
    """Theory does not depend on the number of runs: few runs at early times are enough."""
    recorded = told["points"]["time"][:5]
    monkeypatch.setattr(report_dynamics, "SGD_TIMES", np.array(recorded))
    monkeypatch.setattr(report_dynamics, "THEORY_TIMES", np.array([1.0]))
    monkeypatch.setattr(report_dynamics, "RUNS", 4)
    again = overview.description(overview.draw(report_dynamics.online_sgd(overview.SEED)))
    points, now = (
        {key: np.array(values[:5]) for key, values in one["points"].items()}
        for one in (told, again)
    )
    assert np.allclose(now["time"], points["time"], rtol=1e-12, atol=0)
    allowed = points["risk_error"] + now["risk_error"]
    assert np.all(np.abs(now["risk"] - points["risk"]) <= allowed)
    # Negative control: what it is held against is sharp enough to tell the next time from this.
    assert np.all(np.abs(np.diff(points["risk"])) > allowed[1:])
    # With other settings the figure would be stale.
    assert again["settings"] != told["settings"]


def test_a_picture_without_a_description_is_refused():
    with pytest.raises(InputError, match="holds no description"):
        overview.description("<svg></svg>")

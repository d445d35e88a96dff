"""The figure at the top of the README: `make figure` makes it again.

It shows the report's own study of online SGD beside its equation, and carries in its metadata
(dc:description, JSON) the settings it was made with and some of the numbers that it shows.
"""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any

import xarray as xr

from headflow import report_dynamics
from headflow.report_dynamics import Study
from headflow.store import require_writable, write_whole
from numerics.dynamics.training_plot import training_figure
from numerics.errors import InputError

SEED = 0


def settings() -> dict[str, Any]:
    """All that the study depends on, as JSON can hold it."""
    of = report_dynamics
    return {
        "activation": "softmax",
        "prior": of.EXAMPLE.describe(),
        "tokens": of.TOKENS,
        "dimension": of.DIMENSION,
        "learning_rate": of.RATE,
        "runs": of.RUNS,
        "rtol": of.RTOL,
        "seed": SEED,
        "m0": of.M0.tolist(),
        "R0": of.R0.tolist(),
        "recorded": of.SGD_TIMES.tolist(),
    }


def described(shown: xr.Dataset) -> str:
    """Settings and the numbers behind the points: theory, and SGD with its standard error."""
    columns = ("time", "risk", "risk_error", "risk_mean", "risk_standard_error")
    checked = {key: float(shown.attrs[key]) for key in ("largest_z", "comparisons", "passed")}
    points = {name: shown[name].values.tolist() for name in columns}
    return json.dumps({"settings": settings(), "points": points, "checked": checked})


def description(svg: str) -> dict[str, Any]:
    """What ``described`` wrote into a figure."""
    found = re.search(r"<dc:description>(.*?)</dc:description>", svg, flags=re.DOTALL)
    if found is None:
        raise InputError("figure: it holds no description; make it by python -m headflow.overview")
    told: dict[str, Any] = json.loads(unescape(found[1]))
    return told


def draw(study: Study) -> str:
    """The figure of ``report_dynamics.online_sgd`` as SVG text."""
    shown, about = study.comparison, report_dynamics.EXAMPLE
    assert shown is not None
    return training_figure(study.theory, shown, about, study.bayes, study.phases, described(shown))


def main(path: Path) -> None:
    """Run the study, a minute or two, and write its figure."""
    require_writable(path.parent)
    write_whole(path, draw(report_dynamics.online_sgd(SEED)))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "training.svg"))

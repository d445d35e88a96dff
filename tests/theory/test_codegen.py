"""Generated modules: same text on every run, what derivations/ holds, stable everywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import headflow as hf
from headflow.derivations import bayes_documents, documents
from headflow.store import DERIVATIONS, kernels_for, slug
from tests.documents import derived
from theory.codegen import numpy_source

USER = hf.Activation("user", score="x*exp(x)+softplus(x)", normalizer="cosh(x)", offset="1/3")
NAMED = hf.Activation("named", score="x0*x+x0", scope="none", parameters={"x0": 2})
SCRIPT = (
    "import headflow as hf; from theory.codegen import numpy_source;"
    "print(numpy_source(hf.activation('softmax-1-norm')));"
    "print(numpy_source(hf.Activation('user', score='x*exp(x)+softplus(x)',"
    " normalizer='cosh(x)', offset='1/3')));"
    "print(numpy_source("
    "hf.Activation('named', score='x0*x+x0', scope='none', parameters={'x0': 2})))"
)


@pytest.mark.parametrize("name", hf.CATALOGUE)
def test_derivations_have_not_drifted(name):
    """Rebuild with `headflow derive --all` when this fails."""
    folder = DERIVATIONS / slug(name)
    assert all(result.passed for _, result in derived(name).checks)
    for file, text in documents(derived(name)).items():
        assert (folder / file).read_text(encoding="utf-8") == text, f"{folder / file} differs"


def test_the_bayes_risk_has_not_drifted():
    for file, text in bayes_documents().items():
        assert (DERIVATIONS / "bayes_risk" / file).read_text(encoding="utf-8") == text


def test_same_text_under_six_hash_seeds():
    """Field case F35."""
    acts = hf.activation("softmax-1-norm"), USER, NAMED
    expected = "".join(numpy_source(act) + "\n" for act in acts)
    # The user's x0 is known by another name, and no temporary takes it.
    assert not re.search(r"(?<![\w\"])x0\b", numpy_source(NAMED))
    for seed in range(6):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        )
        assert run.stdout == expected


FINITE = [-800.0, -30.0, -1e-12, 0.0, 0.4, 30.0, 800.0]


@pytest.mark.parametrize("name", [*hf.CATALOGUE, "user"])
def test_no_overflow_for_any_finite_logit(name):
    kernels = kernels_for(USER if name == "user" else hf.activation(name))
    # log(1 + e^x) is no float below -745, so that its quotients are 0/0 there.
    finite = [max(z, -700.0) for z in FINITE] if name == "softplus-normalized" else FINITE
    grid = np.array(np.meshgrid(finite, finite, finite)).reshape(3, -1).T[..., None]
    grid = np.concatenate([grid, grid[:, ::-1]], axis=-1)  # (N, L = 3, H = 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = kernels.attention(grid)
        assert weights.shape == grid.shape and weights.dtype == np.float64
        assert np.all(np.isfinite(weights))
        if kernels.SCOPE != "heads":
            s = np.linspace(-900.0, 900.0, 41)
            tables = kernels.factors(s[:, None], np.array(FINITE))
            assert tables.shape == (3, 3, 41, len(FINITE)) and tables.dtype == np.float64
            if kernels.SCOPE == "tokens" and name != "user":
                assert np.all(np.isfinite(tables))


def test_factors_broadcast_like_numpy():
    """Field case F03: constants fill their shape, integers and lists become float64."""
    linear = kernels_for(hf.activation("linear"))
    for x in (0.5, [0.5, 1.0], np.arange(3), np.ones((5, 1)), np.ones((2, 3, 4))):
        tables = linear.factors(0.0, x)
        assert tables.shape == (3, 3, *np.shape(x)) and tables.dtype == np.float64
        assert np.all(tables[1, 1] == 1.0) and np.all(tables[1, 2] == 0.0)


@pytest.mark.parametrize("name", [a.name for a in hf.CATALOGUE.values() if a.scope != "heads"])
def test_factor_derivatives(name):
    """Tables of derivatives against central differences of the table before them."""
    kernels = kernels_for(hf.activation(name))
    x, s, step = np.linspace(-2.1, 1.9, 9), np.array([[-1.3], [0.4]]), 1e-5
    up, here, down = (kernels.factors(s, x + d) for d in (step, 0.0, -step))
    for order in (0, 1):
        difference = (up[:, order] - down[:, order]) / (2 * step)
        if not kernels.SMOOTH and order == 1:
            continue
        assert here[:, order + 1] == pytest.approx(difference, abs=2e-9)


def test_every_function_states_its_equation():
    for name in hf.CATALOGUE:
        kernels = kernels_for(hf.activation(name))
        functions = [f for f in vars(kernels).values() if callable(f) and hasattr(f, "__code__")]
        assert len(functions) > 8
        assert all(f.__doc__ for f in functions)

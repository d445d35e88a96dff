"""Definitions that the catalogue does not hold, from the command line, without help."""

from __future__ import annotations

import resource

import pytest

from tests.test_dynamics_cli import run

DEFINITIONS = [
    ("tanh(x)", "--scope", "none"),
    ("x*sigmoid(x)", "--scope", "none"),
    ("sin(x)+1", "--scope", "none"),
    ("exp(-x^2/2)", "--scope", "none"),
    ("x^3-x", "--scope", "none", "--gain", "sum"),
    ("abs(x)", "--scope", "none"),
    ("exp(q*x)", "--param", "q=1.3", "--offset", "1/2", "--bias", "norm"),
    ("Phi(x)", "--offset", "1"),
    ("exp(x)", "--power", "1/2", "--offset", "1"),
    ("x+exp(x)", "--normalizer", "1+x^2", "--gain", "0.7"),
    ("cosh(x)", "--scope", "heads", "--offset", "1/2"),
    ("exp(x)", "--scope", "heads", "--offset", "2", "--bias", "norm", "--gain", "sum"),
]
# Of processor time, since machines are shared; derivation and validation each.
SECONDS = 30.0


@pytest.mark.slow
@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: " ".join(d))
def test_derive_and_validate_without_help(definition, tmp_path):
    """All z-scores within the bound of a family's false-alarm rate 1e-3, at a fixed seed."""
    for command in (
        ["derive", *definition, "--folder", str(tmp_path)],
        ["validate", *definition, "--seed", "3"],
    ):
        before = _processor_seconds()
        done = run(*command)
        assert done.returncode == 0, done.stderr
        assert _processor_seconds() - before < SECONDS


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

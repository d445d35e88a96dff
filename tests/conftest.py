"""Shared settings: generated kernels of user activations go to a folder of the test run."""

from __future__ import annotations

import pytest
from hypothesis import settings

from theory.catalogue import CATALOGUE

# Derivations take longer than Hypothesis' default deadline on a busy machine.
settings.register_profile("headflow", deadline=None, derandomize=True)
settings.load_profile("headflow")


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory):
    """A cache of this run only, so that no test sees kernels of an older generator."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("kernels")
        patch.setenv("HEADFLOW_CACHE", str(folder))
        yield folder


def pytest_collection_modifyitems(items):
    """Tests of one entry's derivation run in one process, where it is derived once."""
    for item in items:
        given = getattr(item, "callspec", None)
        if given is None or "tests/theory/" not in item.nodeid:
            continue
        one = given.params.get("name", given.params.get("activation"))
        name = getattr(one, "name", one)
        if name in CATALOGUE:
            item.add_marker(pytest.mark.xdist_group(name))

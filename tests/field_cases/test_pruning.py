"""Field case of pruning: a removed head renormalizes the gain, or it does not; both by name."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf

ORIGIN = np.zeros((2, 1)), np.zeros((2, 2))


@pytest.mark.parametrize("convention, expected", [("rescaled", 0.5), ("zeroed", 0.625)])
def test_f28_one_of_two_identical_heads(convention, expected):
    """L = 2, heads at 0: attention 1/2 a token, or 1/4, so E = 2 (1/2)^2 or (3/4)^2 + (1/4)^2."""
    data = hf.prune("softmax", hf.flipped_spikes([1.3], [0.4]), 2, *ORIGIN, convention=convention)
    assert data.attrs["convention"] == convention
    assert np.abs(data.risk.values[0, 0] - 0.5) <= data.error.values[0, 0]
    assert np.all(np.abs(data.risk.values[1] - expected) <= data.error.values[1])
    assert data.error.values.max(where=np.isfinite(data.error.values), initial=0) < 1e-7
    assert data.spread.values[1] <= 2 * data.evaluation_error.values[1]
    assert data.gain.values.tolist() == [0.5, 1.0 if convention == "rescaled" else 0.5]

"""Phase diagrams: against fixed points found one by one, resumed, in any number of processes."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf
from headflow.continuation import Family
from headflow.store import write_netcdf
from numerics.phase_diagram import diagram

PRIOR = hf.flipped_spikes([1.0], [0.3])
# One head has no pairs: a place takes a fraction of a second.
ONE = ("softmax", PRIOR, 5, 1, ("mean:1", [0.0, 0.5]), ("strength:1", [1.5, 2.0]))


def test_heads_part_on_one_side_of_the_pitchfork_only():
    """Near mean 0.9755 the unspecialized point becomes stable, as its continuation says."""
    data = hf.phase_diagram("softmax", PRIOR, 5, 2, ("mean:1", [0.9, 1.05]), ("strength:1", [1.0]))
    assert data.attrs["status"] == "complete; no stable state at 0 of 2 places"
    assert data.state.values.ravel().tolist() == [3, 2]
    assert data.unspecialized_index.values.ravel().tolist() == [1, 0]
    family = Family.of("softmax", PRIOR, 5, "mean:1")
    for i, p in enumerate(data["first"].values):
        risk, m = family(float(p)), data.m.values[i, 0]
        slope = risk.gradient(m, m @ m.T)
        assert np.abs(slope.m + 2 * slope.R @ m).max() < 1e-6
        above = risk(m, m @ m.T).value - hf.bayes_risk(risk.prior, 5).value
        assert abs(above - data.above_bayes.values[i, 0]) <= data.above_bayes_error.values[i, 0]
    apart = hf.unspecialized_fixed_point(family(0.9), 2)
    assert data.risk.values[0, 0] < apart.risk.value - 1e-5


def test_one_head_leaves_the_origin_where_its_closed_spectrum_says(tmp_path):
    """Mean 0 and V = L / (L - 3) = 2.5: the origin below, a head with an alignment above."""
    whole = hf.phase_diagram(*ONE, checkpoint=tmp_path / "whole.part")
    assert whole.state.values.tolist() == [[1, 2], [2, 2]]
    assert np.all(whole.unspecialized_index == 0) and not (tmp_path / "whole.part").exists()
    assert np.all(whole.above_bayes > 0) and np.all(whole.above_bayes_error > 0)
    two = hf.phase_diagram(*ONE, workers=2)
    assert two.identical(whole)
    write_netcdf(whole, tmp_path / "whole.nc")
    write_netcdf(_interrupted(tmp_path / "cut.part"), tmp_path / "cut.nc")
    assert (tmp_path / "cut.nc").read_bytes() == (tmp_path / "whole.nc").read_bytes()


def _interrupted(path):
    """The same diagram, interrupted after two places; the resumed run computes only the others."""
    steps = []

    def stop(done, total):
        steps.append(done)
        if len(steps) == 2:
            raise KeyboardInterrupt

    first = hf.phase_diagram(*ONE, checkpoint=path, progress=stop)
    assert first.attrs["status"] == "interrupted: 2 of 4 places" and path.exists()
    assert np.isnan(first.risk.values).sum() == 2
    other = (*ONE[:3], 2, *ONE[4:])
    with pytest.raises(hf.InputError, match="belongs to another run"):
        hf.phase_diagram(*other, checkpoint=path)
    resumed = []
    data = hf.phase_diagram(*ONE, checkpoint=path, progress=lambda done, _: resumed.append(done))
    assert resumed == [3, 4]
    return data


def test_places_that_cannot_be_evaluated_say_why():
    family = Family.of("softmax", PRIOR, 5, "strength:1", "signal")

    def partly(a: float, b: float) -> hf.PopulationRisk:
        if b > 1:
            raise hf.InputError("signal: too strong")
        return family(a, b)

    data = diagram(partly, 1, ("strength:1", "signal"), [1.0], [0.9, 1.1])
    assert data.state.values.ravel().tolist() == [2, 0]
    assert data.reason.values.ravel().tolist() == ["", "signal: too strong"]
    assert np.isnan(data.risk.values[0, 1]) and np.isnan(data.m.values[0, 1]).all()
    assert data.attrs["status"] == "complete; no stable state at 1 of 2 places"


@pytest.mark.parametrize(
    "first, second, message",
    [
        (("mean:2", [0, 1]), ("L", [3, 4]), "expected a spike from 1 to 1"),
        (("L", [3, 4]), ("L", [3, 4]), "'L' is the first parameter already"),
        (("L", [4, 3]), ("mean:1", [0, 1]), "first: expected values in increasing order"),
        (("L", [3, 4]), ("mean:1", []), "second: expected values in increasing order"),
    ],
)
def test_bad_input_is_one_line(first, second, message):
    with pytest.raises(hf.InputError, match=message):
        hf.phase_diagram("softmax", PRIOR, 5, 2, first, second)

"""The figure of learning: well-formed, reproducible, and with what it was given."""

from xml.etree import ElementTree

import numpy as np
import pytest
import xarray as xr

from numerics.dynamics.averages import compare
from numerics.dynamics.phases import phases
from numerics.dynamics.plot import _draw, dynamics_figure
from numerics.errors import InputError
from numerics.priors import FiniteSupport, GaussianPrior

TAU = np.concatenate([[0.0], np.geomspace(0.03, 3e3, 120)])
PRIOR = FiniteSupport([[1.7, 0.4], [-0.9, 1.1], [0.3, -1.5]], [0.5, 0.2, 0.3])


def case(prior, heads, seeds):
    rng = np.random.default_rng(2)
    late = (TAU**3 / (TAU**3 + 200.0**3))[:, None, None]
    early = (TAU**3 / (TAU**3 + 2.0**3))[:, None, None]
    m = 0.6 * early + late * rng.standard_normal((heads, prior.spikes))
    R = m @ np.swapaxes(m, 1, 2) + np.eye(heads)
    data = {
        "m": (("time", "head", "spike"), m),
        "R": (("time", "head", "other_head"), R),
        "risk": ("time", (0.8 - 0.1 * early - 0.05 * late)[:, 0, 0]),
    }
    errors = {f"{name}_error": (dims, np.full(v.shape, 1e-4)) for name, (dims, v) in data.items()}
    flow = xr.Dataset(data | errors, coords={"time": TAU})
    sgd = flow[["m", "R", "risk"]].expand_dims(seed=seeds)
    noise = {name: v + 0.02 * rng.standard_normal(v.shape) for name, v in sgd.data_vars.items()}
    return flow, compare(flow, xr.Dataset(noise)), phases(flow, prior)


@pytest.mark.parametrize(
    "prior, heads, seeds, panels",
    [
        (PRIOR, 3, 5, 4),
        (GaussianPrior([0.0, 0.0, 0.0, 0.0, 0.0], [3.0, 2.0, 2.0, 1.0, 0.5]), 7, 1, 4),
        (GaussianPrior([0.0], [2.0]), 1, 2, 2),
        # The mean lies along the second direction: one panel for both.
        (GaussianPrior([0.0, -0.7], [2.0, 1.0]), 3, 4, 3),
    ],
)
def test_the_figure_is_the_same_each_time_and_has_its_panels(prior, heads, seeds, panels):
    flow, comparison, found = case(prior, heads, seeds)
    text = dynamics_figure(flow, comparison, prior, 0.55, found)
    assert text == dynamics_figure(flow, comparison, prior, 0.55, found)
    assert ElementTree.fromstring(text).tag.endswith("svg")
    figure = _draw(flow, comparison, prior, 0.55, found)
    assert len(figure.axes) == panels
    for panel in figure.axes[1:]:
        curves = [line for line in panel.lines if len(line.get_xdata()) == TAU.size - 1]
        assert len(curves) == heads == len(panel.containers)
    looks = {(line.get_color(), line.get_linestyle()) for line in curves}
    assert len(looks) == heads
    alone = _draw(flow, None, prior, 0.55, found)
    assert not any(panel.containers for panel in alone.axes)


def test_parts_that_do_not_fit_are_refused():
    flow, comparison, found = case(PRIOR, 3, 5)
    with pytest.raises(InputError, match="comparison"):
        dynamics_figure(flow.isel(head=slice(2)), comparison, PRIOR, 0.5, found)
    other = GaussianPrior([0.0], [2.0])
    with pytest.raises(InputError, match="spike 1"):
        dynamics_figure(flow, comparison, other, 0.5, found)

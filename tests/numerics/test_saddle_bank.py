# notation: m, R alignments and overlaps; L tokens, H heads.
"""A bank of fixed points whose Hessian is known: zero modes, degenerate modes, one atom."""

from __future__ import annotations

import numpy as np
import pytest

import headflow as hf

ONE = hf.FiniteSupport([[1.0]], [1.0])


def modes(point):
    """Eigenvalues with their multiplicities written out, in order."""
    return np.sort(np.repeat(point.spectrum.eigenvalue, point.spectrum.multiplicity))


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_linear_attention_sees_only_the_sum_of_its_heads(heads):
    """E = 1 - 2 theta m + theta^2 m^2 + L R of the mean head: 6 and 4 for L = 2, over H."""
    point = hf.unspecialized_fixed_point(hf.PopulationRisk("linear", ONE, 2), heads)
    assert point.m == pytest.approx(np.full((heads, 1), 1 / 3), abs=1e-12)
    assert point.risk.value == pytest.approx(2 / 3, abs=1e-12)
    zeros = 2 * (heads - 1)  # each difference of heads, along the spike and along noise
    assert modes(point) == pytest.approx([0.0] * zeros + [4 / heads, 6 / heads], abs=1e-9)
    assert (point.flat.rotation, point.flat.line, point.flat.higher) == (0, zeros, 0)
    assert point.verdict.startswith("minimum") and point.index == point.noise_index == 0


def test_one_head_and_one_atom():
    """The atom is the only fixed point; along the ray 0.112306, beyond it 2 dE/dR = 2 * 0.1265139.

    The digits are those of the page; the flow's rate in R is twice the Hessian's.
    """
    risk = hf.PopulationRisk("softmax", ONE, 2)
    (point,) = hf.fixed_points(risk, heads=1, starts=4)
    assert point.m == pytest.approx(1.0, abs=1e-7) and point.R == pytest.approx(1.0, abs=1e-7)
    assert modes(point) == pytest.approx([0.112306, 2 * 0.1265139], abs=5e-7)
    assert point.verdict == "minimum" and point.flat.total == 0


def test_an_unphysical_point_is_refused():
    """At (20, 0.01) the slopes vanish to rounding, and no heads have these overlaps."""
    risk = hf.PopulationRisk("softmax", ONE, 2)
    with pytest.raises(hf.InputError, match="positive semidefinite"):
        hf.weight_spectrum(risk, [[20.0]], [[0.01]])


def test_equal_strengths_have_degenerate_modes():
    """The closed form at the origin: each eigenvalue once for each of F = 2 equal spikes."""
    risk = hf.PopulationRisk("softmax", hf.flipped_spikes([1.6, 1.6]), 4)
    point = hf.origin_fixed_point(risk, 3)
    splitting, common = hf.origin_spectrum("softmax").evaluate(L=4, H=3, V=1.6**2)
    noise = hf.origin_spectrum("softmax").evaluate(L=4, H=3, V=0.0)
    wanted = [*[splitting] * 4, *[common] * 2, *[noise[0]] * 2, noise[1]]
    assert modes(point) == pytest.approx(sorted(wanted), abs=1e-9)
    # Along noise the heads part at no rate, which no symmetry asks for.
    assert (point.index, point.noise_index) == (4, 0)
    assert (point.flat.rotation, point.flat.line, point.flat.higher) == (0, 0, 2)


def test_a_one_hot_prior_has_pairs_of_modes():
    """Permuting three spikes leaves the unspecialized point alone: all but the mean in pairs."""
    risk = hf.PopulationRisk("softmax", hf.FiniteSupport(2.0 * np.eye(3), [1 / 3] * 3), 4)
    point = hf.unspecialized_fixed_point(risk, 3)
    assert point.m == pytest.approx(np.full((3, 3), point.m[0, 0]), abs=1e-9)
    for block in ("heads together", "heads against each other"):
        values = np.sort(point.spectrum.eigenvalue[point.spectrum.block == block].values)
        gaps = np.diff(values)
        assert gaps.min() < 1e-9 < 1e-3 < gaps.max()
    assert point.index == 4


def test_an_isotropic_prior_turns_freely():
    """Heads on a line through the origin may turn in the plane of the spikes: one zero mode."""
    risk = hf.PopulationRisk("softmax", hf.GaussianPrior([0.0, 0.0], [3.0, 3.0]), 5)
    point = hf.fixed_points(risk, heads=2, starts=1)[0]
    (flat,) = np.flatnonzero(np.abs(point.spectrum.eigenvalue.values) < 1e-9)
    turned = point.m @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    overlap = np.sum(point.spectrum.pattern.values[flat] * turned) / np.linalg.norm(turned)
    assert abs(overlap) == pytest.approx(1.0, abs=1e-6)
    assert (point.flat.rotation, point.flat.line, point.flat.higher) == (1, 0, 0)


def test_an_anisotropic_prior_does_not():
    """Negative control: with unequal variances nothing is flat."""
    risk = hf.PopulationRisk("softmax", hf.GaussianPrior([0.0, 0.0], [3.0, 2.5]), 5)
    assert hf.fixed_points(risk, heads=2, starts=1)[0].flat.total == 0


def test_the_origin_is_no_fixed_point_under_a_mean():
    risk = hf.PopulationRisk("softmax", hf.flipped_spikes([1.6], [0.4]), 4)
    with pytest.raises(hf.InputError, match="origin: not a fixed point"):
        hf.origin_fixed_point(risk, 2)

"""Heads at places with a name: the origin, the unspecialized point, the atoms of the prior."""

from __future__ import annotations

import numpy as np

from numerics.checks import count
from numerics.errors import InputError
from numerics.priors import FiniteSupport
from numerics.risk import PopulationRisk
from numerics.saddles.fixed_points import unspecialized_fixed_point

UNSPECIALIZED, ORIGIN, ATOMS = "unspecialized", "origin", "atoms"
PLACES = (UNSPECIALIZED, ORIGIN, ATOMS)


def heads_at(place: str, risk: PopulationRisk, heads: int) -> np.ndarray:
    """Alignments m (H, F) of ``heads`` at one of PLACES, with R = m m^T.

    "atoms": one head at each of the most probable atoms, several where there are more heads than
    atoms; only "unspecialized" is always a fixed point. Raises InputError for another place, and
    for "atoms" where the prior has none.
    """
    heads = count("heads", heads)
    if place == UNSPECIALIZED:
        return unspecialized_fixed_point(risk, heads).m
    if place == ORIGIN:
        return np.zeros((heads, risk.prior.spikes))
    if place != ATOMS:
        raise InputError(f"place: expected one of {', '.join(PLACES)}, got {place!r}")
    if not isinstance(risk.prior, FiniteSupport):
        raise InputError("place: 'atoms' needs a prior with finitely many atoms")
    return risk.prior.support[risk.prior.atoms_for(heads)]

"""Phase diagrams for an activation given by name or definition."""

from __future__ import annotations

from typing import Any

import xarray as xr

from headflow.continuation import Family
from headflow.versions import with_versions
from numerics.phase_diagram import diagram
from numerics.priors import Prior
from theory.activation import Activation


def phase_diagram(
    act: Activation | str,
    prior: Prior,
    tokens: Any = 5,
    heads: int = 2,
    first: tuple[str, Any] = ("signal", (0.5, 1.0, 1.5)),
    second: tuple[str, Any] = ("L", (3, 5, 8)),
    **options: Any,
) -> xr.Dataset:
    """Which kind of state is stable and of least risk, over a grid of two parameters.

    first, second: names (as in ``hf.continue_fixed_point``) with values in increasing order.
    options: workers, checkpoint (a file from which a run that was cut off goes on) and progress.

    At each place the origin, the unspecialized point, the way down from it where it is unstable,
    one head at each atom where heads are enough, and the best state of the place before it (in the
    second parameter) are tried: "best" is the best of these, not of all there are. Variables over
    first and second: state (0 none found, 1 origin, 2 unspecialized, 3 specialized),
    unspecialized_index and noise_index, risk and above_bayes with errors, m, R, and reason, which
    says what failed. The bits do not depend on workers or on a resume. Raises InputError or
    DefinitionError for bad input.
    """
    family = Family.of(act, prior, tokens, first[0], second[0])
    names = (first[0], second[0])
    return with_versions(diagram(family, heads, names, first[1], second[1], **options))

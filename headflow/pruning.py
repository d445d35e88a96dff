# notation: m, R alignments and overlaps; beta free biases; H heads.
"""Pruning of heads for an activation given by name or definition."""

from __future__ import annotations

from typing import Any

import xarray as xr

from headflow.risk import PopulationRisk
from headflow.versions import with_versions
from numerics.priors import Prior
from numerics.pruning import removal
from numerics.quadrature.numeric_attention import NumericAttention, require_equation
from theory.activation import Activation

RTOL = 1e-8


def prune(
    act: Activation | NumericAttention | str | PopulationRisk,
    prior: Prior | None,
    tokens: Any,
    m: Any,
    R: Any,
    *,
    convention: str = removal.RESCALED,
    rtol: float | None = None,
    **options: Any,
) -> xr.Dataset:
    """Population risk after 1, 2, ... of the heads at (m, R) are removed, without training again.

    act: as of PopulationRisk, or a PopulationRisk, whose prior, tokens and rtol stand in for those
    that are None. m (H, F), R (H, H). convention: "rescaled", where the gain follows its rule with
    the heads that remain (mean: 1/H becomes 1/(H - n); free: the best one of each subset), or
    "zeroed", where it stays what it was with all heads; they differ for gain mean and free only.
    In both a removed head leaves the normalizer too. rtol: of each risk, 1e-8 unless given.

    options: beta (H,), free biases; gain, that of all heads, for a free gain zeroed; removed,
    numbers of heads (0 to H - 1 unless given); subsets, all are taken where there are no more
    (200), and otherwise so many drawn without replacement; seed of that draw (0); progress, told
    the share done.

    Over count and subset: risk, error, kept. Over count: risk_mean, risk_low, risk_high, spread
    (standard deviation over subsets), standard_error of a mean over drawn subsets,
    evaluation_error, loss_to_full, gain. Raises InputError or DefinitionError for bad input.
    Source: docs/model.md section 10.

    >>> import headflow as hf
    >>> one = hf.FiniteSupport([[1.0]], [1.0])
    >>> origin = [[0.0], [0.0]], [[0.0, 0.0], [0.0, 0.0]]
    >>> hf.prune("softmax", one, 2, *origin).risk_mean.values.round(7).tolist()
    [0.5, 0.5]
    >>> hf.prune("softmax", one, 2, *origin, convention="zeroed").risk_mean.values.round(7).tolist()
    [0.5, 0.625]
    """
    removal.require_convention(convention)
    model: dict[str, Any] = {"act": act, "prior": prior, "tokens": tokens, "rtol": rtol}
    own: dict[str, Any] = {"rtol": RTOL}
    if isinstance(act, PopulationRisk):
        own = {"prior": act.prior, "tokens": act.length, "rtol": act.rtol}
        model["act"] = act.activation
    model |= {name: one for name, one in own.items() if model[name] is None}
    model["seed"] = options.get("seed", 0)
    risk, held = PopulationRisk(**model), None
    if convention == removal.ZEROED and removal.depends_on_heads(risk):
        require_equation(risk.kernels, "convention 'zeroed' with gain mean")
        held = PopulationRisk(**{**model, "act": risk.activation.with_changes(gain="free")})
    return with_versions(removal.prune(risk, m, R, held=held, convention=convention, **options))

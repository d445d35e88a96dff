"""Which way a risk's response is evaluated: closed form, one lift a head, or a joint lift."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from numerics.errors import InputError
from numerics.lengths import SequenceLength
from numerics.quadrature import closed_heads, joint_heads, separate_heads
from numerics.quadrature.logits import LogitLaw, Response
from numerics.quadrature.numeric_attention import require_equation
from numerics.quadrature.resolution import STRIP, Resolution
from numerics.quadrature.tangents import Tangents

# A response as a function of the gain.
Respond = Callable[[float], Response]


def closed(
    kernels: ModuleType,
    law: LogitLaw,
    length: SequenceLength,
    *,
    gradient: bool,
    tangents: Tangents | None = None,
) -> Respond:
    """By formula, no error but rounding."""
    return lambda gamma: closed_heads.respond(
        kernels, law, length, gamma, gradient=gradient, tangents=tangents
    )


def at_digits(
    kernels: ModuleType,
    law: LogitLaw,
    length: SequenceLength,
    digits: float,
    tangents: Tangents | None = None,
) -> Respond:
    """By uniform grids of a resolution of ``digits`` nats."""
    grid = Resolution(digits, length.longest, STRIP if kernels.SMOOTH else 0.0)
    if kernels.SCOPE != "heads":
        return lambda gamma: separate_heads.respond(kernels, law, length, gamma, grid, tangents)
    nodes = joint_heads.grid_nodes(law, grid)
    return lambda gamma: joint_heads.respond(kernels, law, length, gamma, grid, nodes, tangents)


def at_points(
    kernels: ModuleType,
    law: LogitLaw,
    length: SequenceLength,
    digits: float,
    z: np.ndarray,
    tangents: Tangents | None = None,
) -> Respond:
    """Heads that share a normalizer, averaged over normal points z (N, H) instead of a grid."""
    nodes = joint_heads.normal_points_nodes(law, z)
    grid = Resolution(digits)
    return lambda gamma: joint_heads.respond(kernels, law, length, gamma, grid, nodes, tangents)


def grid_size(law: LogitLaw, length: SequenceLength, digits: float) -> int:
    """Nodes of the tensor grids over all heads at once, for heads that share a normalizer."""
    return joint_heads.grid_size(law, Resolution(digits, length.longest))


def for_fixed_rule(
    kernels: ModuleType,
    law: LogitLaw,
    length: SequenceLength,
    digits: float,
    points: np.ndarray | None,
) -> Respond:
    """The one evaluation of a right-hand side, gradient included."""
    if kernels.CLOSED:
        return closed(kernels, law, length, gradient=True)
    if not kernels.SMOOTH:
        require_kinks_resolved(kernels, law)
    if points is not None and kernels.SCOPE == "heads":
        return at_points(kernels, law, length, digits, points)
    return at_digits(kernels, law, length, digits)


def kinks_resolved(kernels: ModuleType, law: LogitLaw) -> bool:
    """Whether quadrature serves an activation with kinks at this law of the logits."""
    return separate_heads.resolves_kinks(kernels, law)


def require_kinks_resolved(kernels: ModuleType, law: LogitLaw) -> None:
    """InputError unless derivatives of a kinked activation exist and are known at this law."""
    require_equation(kernels, "gradient")
    if kernels.SCOPE == "heads" or kernels.KINKS is None:
        why = "shares its normalizer over heads" if kernels.KINKS is not None else "is not linear"
        raise InputError(
            f"gradient: this activation has a kink that {why} and no closed form, so its second "
            "derivative is not a function; only its risk can be evaluated"
        )
    if not kinks_resolved(kernels, law):
        raise InputError(
            "R: the risk of this activation has a kink where a logit has variance 0 or two logits "
            "are equal, and derivatives are not resolved this near to it; move R away from there"
        )

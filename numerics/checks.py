"""Bad input is refused here, in one line, before any work."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from numerics.errors import InputError

# Rounding in R - m m^T is of the size of its entries; a tenth of the digits is left for users
# who typed R with few of them.
PSD_TOLERANCE = 1e-8
# Squares of entries, and sums of them, must stay finite.
LARGEST = 1e50
# Counts above this are not exact in float64 with room for products.
MOST = 10**12


def real_array(name: str, given: Any, ndim: int) -> np.ndarray:
    """``given`` as a finite float64 array of ``ndim`` dimensions."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{name}: expected an array of real numbers, got {given!r}"[:200]
        ) from None
    if array.ndim != ndim:
        raise InputError(f"{name}: expected {ndim} dimension(s), got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{name}: entry {where} is {array[where]}; every entry must be finite")
    return array


def require_dataset(name: str, given: Any, *variables: str) -> None:
    """InputError unless ``given`` is an xarray Dataset with these variables."""
    missing = [one for one in variables if one not in getattr(given, "variables", ())]
    if missing:
        raise InputError(
            f"{name}: expected a Dataset with {', '.join(variables)}; "
            f"{type(given).__name__} has no {missing[0]}"
        )


def order_parameters(m: Any, R: Any, spikes: int) -> tuple[np.ndarray, np.ndarray]:
    """m (H, F) and R (H, H) as arrays, or InputError unless R - m m^T is physical."""
    m = real_array("m", m, 2)
    R = real_array("R", R, 2)
    if m.shape[1] != spikes:
        raise InputError(f"m: expected {spikes} columns, one a spike of the prior, got {m.shape}")
    if m.shape[0] == 0:
        raise InputError("m: expected at least one row, one for each head, got none")
    if R.shape != (m.shape[0], m.shape[0]):
        raise InputError(f"R: expected shape {(m.shape[0],) * 2} to fit m {m.shape}, got {R.shape}")
    if max(np.max(np.abs(m)), np.max(np.abs(R))) > LARGEST:
        raise InputError(f"m, R: entries must be below {LARGEST:g} in absolute value")
    scale = max(1e-300, float(np.max(np.abs(R))))
    asymmetry = float(np.max(np.abs(R - R.T)))
    if asymmetry > PSD_TOLERANCE * scale:
        raise InputError(
            f"R: must be symmetric, entries differ from the transpose by {asymmetry:.3g}"
        )
    smallest = float(np.linalg.eigvalsh(R - m @ m.T)[0])
    if smallest < -PSD_TOLERANCE * max(scale, float(np.max(np.abs(m))) ** 2):
        raise InputError(
            f"R - m m^T: must be positive semidefinite, its smallest eigenvalue is {smallest:.6g}"
        )
    return m, (R + R.T) / 2


def positive(name: str, given: Any) -> float:
    """``given`` as a finite number above 0."""
    number = np.asarray(given)
    if number.ndim or number.dtype.kind not in "iuf" or not 0 < number < np.inf:
        raise InputError(f"{name}: expected a number > 0, got {given!r}")
    return float(number)


def count(name: str, given: Any, *, least: int = 1) -> int:
    """``given`` as an integer of at least ``least``."""
    whole = isinstance(given, (int, np.integer)) or (
        isinstance(given, float) and given.is_integer()
    )
    if isinstance(given, bool) or not whole or given < least:
        raise InputError(f"{name}: expected an integer >= {least}, got {given!r}")
    if given > MOST:
        raise InputError(f"{name}: expected at most {MOST:.0e}, got a larger number")
    return int(given)


def free_bias(kernels: ModuleType, beta: Any, heads: int, name: str = "beta") -> np.ndarray:
    """``beta`` as (H,) free biases, zeros for an activation that has none."""
    if not kernels.FREE_BIAS:
        if beta is not None:
            raise InputError(f"{name}: this activation has no free bias; choose bias='free'")
        return np.zeros(heads)
    if beta is None:
        raise InputError(f"{name}: this activation needs free biases; give one number a head")
    beta = real_array(name, beta, 1)
    if beta.size != heads:
        raise InputError(f"{name}: expected {heads} numbers, one a head, got {beta.size}")
    return beta


def fixed_or_free_gain(
    kernels: ModuleType, gain: float | None, heads: int, name: str = "gain"
) -> float | None:
    """The gain of ``heads`` heads, or None where it is free and was not given."""
    if kernels.FREE_GAIN:
        return None if gain is None else float(real_array(name, gain, 0))
    if gain is not None:
        raise InputError(f"{name}: this activation has a fixed gain; choose gain='free'")
    return float(kernels.gain(heads))

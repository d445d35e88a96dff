"""The Bayes risk: the smallest risk that any attention can have, with its error."""

from __future__ import annotations

import warnings
from math import exp, log
from typing import Any

import numpy as np

from derivations.bayes_risk import kernels
from numerics.checks import positive
from numerics.errors import AccuracyWarning
from numerics.estimate import Estimate
from numerics.evidence import Accuracy, EvidenceLaw, Signal
from numerics.lengths import SequenceLength
from numerics.priors import Prior
from numerics.quadrature.sobol import replicated

# The error of a value is SAFETY times its change from a grid with a share COARSER of the
# digits, where errors fall exponentially far above the truth.
COARSER = 0.85
SAFETY = 3.0
# Digits (in nats) are raised by this factor until the tolerance is met.
RAISE = 1.25
# Strong signals make the risk exponentially small: e^-320 is 1e-139.
MOST_DIGITS = 320.0
# A grid that cannot hold this many digits, or this many nodes, gives way to Sobol points.
LEAST_DIGITS = 12.0
MOST_GRID_NODES = 3_000_000
MOST_GRID_RANK = 3


def bayes_risk(prior: Prior, tokens: Any, rtol: float = 1e-8, seed: int = 0) -> Estimate:
    """The Bayes risk R_B = 1 - E[sum_l w_l^2], w the posterior of the location.

    prior: law of theta. tokens: L, or {L: probability}. rtol: wanted relative accuracy. seed:
    for Sobol points, used only where a grid cannot go. The error is absolute; where it exceeds
    rtol times the value, AccuracyWarning is given and the error still holds. Raises InputError
    for bad input. Source: docs/model.md section 6.

    >>> from numerics.priors import flipped_spikes
    >>> round(bayes_risk(flipped_spikes([2.0, 1.5]), tokens=5).value, 4)
    0.3339
    """
    length, rtol = SequenceLength.of(tokens), positive("rtol", rtol)
    signal = Signal.of(prior)
    if length.longest == 1:
        return Estimate(0.0, 0.0, "one token is always the relevant one", 0)
    most = _most_digits(signal)
    if most < LEAST_DIGITS:
        return _by_sobol(signal, length, rtol, seed)
    return _by_quadrature(signal, length, rtol, most)


def _most_digits(signal: Signal) -> float:
    """The finest resolution whose grid is not too large; 0 above MOST_GRID_RANK."""
    digits = MOST_DIGITS if signal.rank <= MOST_GRID_RANK else 0.0
    while digits >= LEAST_DIGITS and signal.grid_size(Accuracy.of(digits)) > MOST_GRID_NODES:
        digits /= RAISE
    return digits


def _risk(law: EvidenceLaw, length: SequenceLength) -> float:
    s, survival, loss = law.averages()
    # Far tails underflow, and interpolation leaves +-1e-17 there: both count as 0.
    survival, phi = np.maximum(survival, 0.0), np.maximum(1.0 - loss, 0.0)
    with np.errstate(divide="ignore"):
        logs = kernels.log_integrand(s, survival, length.powers(phi)[1])
    return law.step * float(np.sum(np.exp(logs)))


def _by_quadrature(signal: Signal, length: SequenceLength, rtol: float, most: float) -> Estimate:
    """Raise the resolution until two of them agree, the left-out tails included."""
    evaluations = 0
    digits = min(most, max(log(SAFETY / rtol) / COARSER, log(length.longest / rtol)))
    while True:
        pair = Accuracy.of(digits, COARSER), Accuracy.of(digits)
        coarse, fine = (_risk(EvidenceLaw.on_grid(signal, one), length) for one in pair)
        evaluations += int(sum(signal.grid_size(one) for one in pair))
        # No more than e^-digits of each token's density is left out of the grid, and the power
        # phi^(L-2) multiplies the rounding of phi by L.
        rounding = np.finfo(float).eps * (16 + length.longest) * fine
        error = SAFETY * abs(fine - coarse) + rounding + length.longest * exp(-digits)
        if error <= rtol * fine or digits >= most:
            break
        needed = log(2 * length.longest / rtol) - log(max(fine, exp(-MOST_DIGITS)))
        digits = min(most, max(RAISE * digits, needed))
    if error > rtol * fine:
        _warn(error, rtol * fine)
    return Estimate(fine, float(error), "quadrature", evaluations)


def _by_sobol(signal: Signal, length: SequenceLength, rtol: float, seed: int) -> Estimate:
    # The lattice is far finer than the noise of the points.
    accuracy = Accuracy.of(log(10 / rtol))

    def evaluate(z):
        return np.atleast_1d(_risk(EvidenceLaw.from_points(signal, z, accuracy), length))

    mean, spread, used, met = replicated(
        evaluate, signal.rank + 1, seed=seed, tolerance=lambda mean: rtol * float(mean[0])
    )
    # What is rarer than one point in all of them cannot be seen in their spread.
    error = max(float(spread[0]), 1 / used)
    if not met or error > rtol * mean[0]:
        _warn(error, rtol * float(mean[0]))
    return Estimate(float(mean[0]), error, "sobol", used)


def _warn(error: float, wanted: float) -> None:
    warnings.warn(
        f"Bayes risk: error {error:.2g} is above the requested {wanted:.2g}",
        AccuracyWarning,
        stacklevel=4,
    )

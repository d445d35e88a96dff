# notation: tau time; m, R alignments and overlaps; C = R - m m^T; Sigma as in
# numerics/quadrature/noise.py.
"""The right-hand side of gradient flow and of online SGD, by one fixed rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.checks import PSD_TOLERANCE
from numerics.dynamics.state import Packing, State
from numerics.errors import InputError
from numerics.quadrature.noise import dimension, noise, require_sample_gradient
from numerics.quadrature.sobol import normal_points
from numerics.risk import Gradient, PopulationRisk

# Points for Sigma, and for heads that share a normalizer where a grid would be too large.
LOG2_NOISE_POINTS = 12
LOG2_JOINT_POINTS = 13
MOST_GRID_NODES = 60_000
# Overlaps beyond which a trajectory counts as blown up: none of the model's end there, and the
# risk takes minutes.
LARGEST = 1e5


class Halt(Exception):
    """Integration cannot go on; the message says why."""


@dataclass(frozen=True)
class VectorField:
    """d(state)/dtau at a packed state: drift plus learning_rate / batch times Sigma.

    digits: accuracy of the rule in nats. noise_points, joint_points: fixed normal points, None
    where a grid does. The same state gives the same bits.
    """

    risk: PopulationRisk
    packing: Packing
    learning_rate: float
    batch: int
    digits: float
    noise_points: np.ndarray | None
    joint_points: np.ndarray | None

    @classmethod
    def of(
        cls,
        risk: PopulationRisk,
        start: State,
        learning_rate: float,
        batch: int,
        digits: float,
        stream: np.random.SeedSequence,
        *,
        grid: bool,
    ) -> VectorField:
        """``stream`` makes the fixed points, where any are needed; ``grid`` False: joint points."""
        for_noise, for_heads = stream.spawn(2)
        points = joint = None
        if learning_rate > 0:
            require_sample_gradient(risk.kernels)
            size = dimension(len(start.m), risk.length)
            points = normal_points(size, LOG2_NOISE_POINTS, for_noise)
        if not grid:
            joint = normal_points(len(start.m), LOG2_JOINT_POINTS, for_heads)
        packing = Packing.of(risk.kernels, start, source=learning_rate > 0)
        return cls(risk, packing, learning_rate, batch, digits, points, joint)

    @property
    def stochastic(self) -> bool:
        """Whether the rule depends on its points and not on its digits only."""
        return self.noise_points is not None or self.joint_points is not None

    def __call__(self, tau: float, y: np.ndarray) -> np.ndarray:
        m, C, beta, gain = self.packing.unpack(y)
        kernels = self.risk.kernels
        if not _physical(m @ m.T + C):
            # A trial of a step that is too long: a stepper rejects nan and takes a shorter one.
            return np.full_like(y, np.nan)
        slope = self.at(y)
        by_C = kernels.drift_C(slope.R, C)
        if self.noise_points is not None:
            law = self.risk.law(m, m @ m.T + C, beta)
            sigma = noise(kernels, law, self.risk.length, gain, self.noise_points)
            by_C = by_C + self.learning_rate / self.batch * sigma
        by_m = kernels.drift_m(slope.m, slope.R, m)
        return self.packing.pack(by_m, by_C, -slope.beta, -slope.gain)

    def start(self) -> np.ndarray:
        """The packed start; InputError where the field does not exist there."""
        y = self.packing.first()
        try:
            change = self(0.0, y)
        except Halt as reason:
            raise InputError(f"at the start: {reason}") from None
        if not np.all(np.isfinite(change)):
            raise InputError("at the start: the right-hand side is not finite")
        return y

    def at(self, y: np.ndarray) -> Gradient:
        """The risk and its derivatives at a packed state; Halt where they do not exist."""
        m, C, beta, gain = self.packing.unpack(y)
        if not np.all(np.isfinite(y)) or np.max(np.abs(y)) > LARGEST:
            raise Halt(f"an alignment or overlap is beyond {LARGEST:g}")
        R = m @ m.T + C
        if self.joint_points is None and self.risk.needs_points(
            m, R, beta, self.digits, MOST_GRID_NODES
        ):
            raise GridTooLarge
        try:
            return self.risk.fixed(m, R, beta, gain, self.digits, self.joint_points)
        except InputError as refusal:
            raise Halt(str(refusal)) from None

    def dissipation(self, y: np.ndarray, slope: Gradient) -> float:
        """-dE/dtau of gradient flow: the squared gradient in weights, biases and gain."""
        m, C, _, _ = self.packing.unpack(y)
        weights = self.risk.kernels.dissipation(slope.m, slope.R, m, m @ m.T + C)
        trained = self.packing.trains_bias * np.sum(slope.beta**2)
        return float(weights + trained + self.packing.trains_gain * slope.gain**2)


def _physical(R: np.ndarray) -> bool:
    """Whether R can be a matrix of overlaps, up to rounding."""
    if not np.all(np.isfinite(R)):
        return False
    values = np.linalg.eigvalsh(R)
    return bool(values[0] >= -PSD_TOLERANCE * values[-1])


class GridTooLarge(Exception):
    """Heads that share a normalizer need points instead of a grid."""

    def __str__(self) -> str:
        return "heads that share a normalizer need points instead of a grid"

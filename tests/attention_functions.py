"""Attention that no formula of the family gives, as functions of logits (..., L, H)."""

from __future__ import annotations

import numpy as np


def hardmax(x: np.ndarray) -> np.ndarray:
    """All weight of a head on its largest logit."""
    return x == x.max(axis=-2, keepdims=True)


def sparsemax(x: np.ndarray) -> np.ndarray:
    """The point of the simplex over tokens that is nearest to a head's logits."""
    ordered = -np.sort(-x, axis=-2)
    count = np.arange(1, x.shape[-2] + 1)[:, None]
    above = np.cumsum(ordered, axis=-2) - 1
    support = np.sum(ordered * count > above, axis=-2, keepdims=True)
    level = np.take_along_axis(above, support - 1, axis=-2) / support
    return np.maximum(x - level, 0.0)

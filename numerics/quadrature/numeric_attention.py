"""Attention given as a Python function: no formula, so its risk is sampled and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from derivations.softmax import kernels as plain
from derivations.softmax_1_norm import kernels as normed
from numerics.errors import InputError

# Of the generated modules only what holds for any attention is used: the law of the logits and
# the risk as a polynomial in the gain. The biases and gains on offer are those two modules'.
_GAINS = {"mean": plain.gain, "sum": normed.gain}
_BIASES = {"none": plain.bias, "norm": normed.bias}
# Logits on which a function is tried before any work: several shapes, one token among them.
_PROBES = ((2, 3, 2), (3, 1, 1), (1, 4, 2))


@dataclass(frozen=True)
class NumericAttention:
    """Attention outside the family: any function from logits (..., L, H) to weights (..., L, H).

    function: vectorized over leading axes; sparsemax and hardmax are examples in docs/model.md.
    bias of the logits "none" or "norm" (-R_hh / 2), gain "mean" (1/H) or "sum" (1). PopulationRisk
    and validate take it in place of an activation: Sobol points over all tokens give the risk with
    its error. There is no symbolic equation, hence no derivation, gradient, flow, spectrum or SGD:
    asking for one is an InputError. Raises InputError for a function that does not fit.

    >>> import numpy as np
    >>> NumericAttention(lambda x: np.exp(x) / np.exp(x).sum(axis=-2, keepdims=True)).name
    '<lambda>'
    """

    function: Callable[[np.ndarray], Any]
    bias: Any = "none"
    gain: Any = "mean"
    name: str = ""

    # What numerics asks of the kernels of any activation.
    SCOPE = "function"
    SMOOTH = CLOSED = CONTINUOUS = FREE_BIAS = FREE_GAIN = False
    KINKS = None
    PARAMETERS: ClassVar[dict[str, str]] = {}
    mean, covariance = staticmethod(plain.mean), staticmethod(plain.covariance)
    risk, best_gain = staticmethod(plain.risk), staticmethod(plain.best_gain)

    def __post_init__(self):
        if not callable(self.function):
            raise InputError(f"attention: expected a function of logits, got {self.function!r}")
        named = self.name or getattr(self.function, "__name__", type(self.function).__name__)
        definition = {"name": named, "function": named, "bias": self.bias, "gain": self.gain}
        for what, given, known in (("bias", self.bias, _BIASES), ("gain", self.gain, _GAINS)):
            if given not in known:
                raise InputError(f"{what}: expected one of {', '.join(known)}, got {given!r}")
            object.__setattr__(self, what, known[given])
        object.__setattr__(self, "name", named)
        object.__setattr__(self, "DEFINITION", definition)
        for shape in _PROBES:
            logits = np.linspace(-1.3, 2.1, int(np.prod(shape))).reshape(shape)
            try:
                self.attention(logits)
            except InputError:
                raise
            except Exception as problem:
                raise InputError(
                    f"attention {named}: fails on logits of shape {shape}: "
                    f"{type(problem).__name__}: {problem}".splitlines()[0]
                ) from None

    def attention(self, x: np.ndarray) -> np.ndarray:
        """The function's weights at logits (..., L, H), bias included, checked."""
        weights = np.asarray(self.function(x))
        if weights.shape != x.shape or weights.dtype.kind not in "iufb":
            raise InputError(
                f"attention {self.name}: expected real weights of the logits' shape {x.shape}, got "
                f"shape {weights.shape} of {weights.dtype}"
            )
        weights = weights.astype(float)
        if not np.all(np.isfinite(weights)):
            raise InputError(f"attention {self.name}: a weight is not finite")
        return weights


def require_equation(kernels: Any, what: str) -> None:
    """InputError where ``what`` needs an equation and the attention is a function without one."""
    if isinstance(kernels, NumericAttention):
        raise InputError(
            f"{what}: attention {kernels.name} is a Python function, so there is no symbolic "
            "equation; only its risk can be evaluated"
        )

"""Online SGD on samples of the model, with token vectors or exactly in law without them."""

from numerics.sgd.simulate import simulate

__all__ = ["simulate"]

"""Escape from a saddle: when heads leave it, predicted, along the flow, and by SGD at any D."""

from numerics.escape.law import LinearEscape
from numerics.escape.measure import escape_times

__all__ = ["LinearEscape", "escape_times"]

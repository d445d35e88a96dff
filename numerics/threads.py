"""Matrix products here are many and small: waking threads for each costs more than it gives."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> Any:
    """A context in which the linear algebra library keeps to the calling thread."""
    return _controller().limit(limits=1, user_api="blas")

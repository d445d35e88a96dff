"""One function over a grid of parameters and seeds, on any number of processes or machines."""

from numerics.sweep.dataset import open_sweep
from numerics.sweep.executor import Executor, Lost
from numerics.sweep.run import Progress, Quantity, run
from numerics.sweep.store import SweepStore
from numerics.sweep.study import Axis, Point, Study

__all__ = [
    "Axis",
    "Executor",
    "Lost",
    "Point",
    "Progress",
    "Quantity",
    "Study",
    "SweepStore",
    "open_sweep",
    "run",
]

"""The model's results, one experiment a file: settings, computation, claims and figure."""

from __future__ import annotations

# In the order of the page. Each has a module and a .toml of that name here, with _ for -;
# a new one is these two files and its name in this list.
NAMES = (
    "one-head",
    "activations",
    "heads",
    "phases",
    "hierarchy",
    "excursions",
    "escape",
    "priors",
    "pruning",
)

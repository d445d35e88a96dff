"""How to cite: this software and the paper whose model it is about. CITATION.cff says the same."""

from __future__ import annotations

from headflow import __version__

TITLE = "headflow: population risk and training dynamics of attention activations"
AUTHORS = "The headflow authors"
MODEL_AUTHORS = ("Sagitova, M.", "Duranthon, O.", "Zdeborová, L.")
MODEL_TITLE = (
    "Specialization of softmax attention heads: insights from the high-dimensional "
    "single-location model"
)
ARXIV, YEAR = "2603.03993", 2026


def bibtex() -> str:
    """Both entries."""
    return f"""@software{{headflow,
  author  = {{{{{AUTHORS}}}}},
  title   = {{{TITLE}}},
  version = {{{__version__}}},
  year    = {{{YEAR}}}
}}

@article{{single-location,
  author  = {{{" and ".join(MODEL_AUTHORS)}}},
  title   = {{{MODEL_TITLE}}},
  journal = {{arXiv:{ARXIV}}},
  year    = {{{YEAR}}}
}}
"""

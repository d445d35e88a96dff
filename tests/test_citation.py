"""CITATION.cff and the pages name the same things."""

from __future__ import annotations

from pathlib import Path

from headflow import __version__, citation

TEXT = (Path(__file__).parent.parent / "CITATION.cff").read_text(encoding="utf-8")


def test_the_file_and_the_pages_say_the_same():
    told = " ".join(TEXT.split())
    family_names = [name.split(",")[0] for name in citation.MODEL_AUTHORS]
    for text in (
        f'title: "{citation.TITLE}"',
        f"version: {__version__} ",
        f"- name: {citation.AUTHORS}",
        citation.MODEL_TITLE,
        f"arxiv.org/abs/{citation.ARXIV}",
        f"year: {citation.YEAR}",
    ):
        assert text in told
    assert [
        line.split()[-1] for line in TEXT.splitlines() if "family-names" in line
    ] == family_names
    assert all(name in citation.bibtex() for name in (*family_names, citation.ARXIV, __version__))

"""Derivations in a browser without a network: equations are laid out, every sign has a glyph."""

from __future__ import annotations

import re

import pytest

from tests.browser import BROWSER, probed
from tests.documents import NAMES, written

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser (chromium) is installed")


@pytest.fixture(scope="module")
def everything() -> str:
    """All derivations under one another: one start of the browser serves them all."""
    pages = [written(name, "html") for name in NAMES]
    mains = [re.search(r"<main>(.*)</main>", page, flags=re.DOTALL)[1] for page in pages]
    return pages[0].replace(mains[0], "\n".join(mains))


def test_every_equation_is_laid_out(everything, tmp_path):
    for found in probed(everything, tmp_path):
        assert found["faults"] == []
        assert found["equations"] == everything.count('class="scroll equation"') > 20 * len(NAMES)
        assert found["formulas"] == everything.count("<math")


def _long(terms: int) -> str:
    return f"<math><mrow>{'<mi>x</mi><mo>+</mo>' * terms}<mi>x</mi></mrow></math>"


@pytest.mark.parametrize(
    "bad, expected",
    [
        (
            '<math></math><p style="width:2000px">\U000f1234</p>',
            ["empty", "no glyph U+f1234", "scrolls aside"],
        ),
        (
            '<img src="nowhere.png"><script>console.error("said")</script>',
            ["missing image nowhere.png", "said"],
        ),
        (
            f'<p>{_long(90)}</p><div class="equation" style="overflow:hidden">{_long(90)}</div>',
            ["formula beyond the page", "formula cut off"],
        ),
        (
            '<figure><svg viewBox="0 0 900 90" width="900"></svg></figure>'
            '<figure><svg viewBox="0 0 900 90" width="300"></svg></figure>',
            ["figure beyond the page", "figure too small to read"],
        ),
    ],
    ids=["page", "image-and-console", "overlong", "figures"],
)
def test_the_probe_sees_what_is_wrong(bad, expected, tmp_path):
    """Negative controls: each fault is reported in a page that has it."""
    page = written("relu", "html").replace("</main>", f"{bad}</main>", 1)
    (found,) = probed(page, tmp_path, (390,))
    faults = " ".join(found["faults"])
    assert [what for what in expected if what not in faults] == []

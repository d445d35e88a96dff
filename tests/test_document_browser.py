"""Derivations in a browser without a network: equations are laid out, every sign has a glyph."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from tests.documents import NAMES, written

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser (chromium) is installed")

# Runs in a copy of the page: boxes of all formulas, and whether a character is drawn like one
# that no font has.
PROBE = """<script>
window.addEventListener("load", () => {
  const found = {equations: 0, formulas: 0, faults: []};
  const width = document.documentElement.clientWidth;
  for (const box of document.querySelectorAll(".equation")) {
    found.equations += 1;
    const outer = box.getBoundingClientRect();
    if (outer.right > width + 1) found.faults.push("box beyond the page");
    for (const math of box.querySelectorAll("math")) {
      const inner = math.getBoundingClientRect();
      if (inner.right - outer.left > box.scrollWidth + 1) found.faults.push("cut off");
    }
  }
  for (const math of document.querySelectorAll("math")) {
    const box = math.getBoundingClientRect();
    found.formulas += 1;
    if (!(box.width > 1 && box.height > 1)) found.faults.push("empty " + math.textContent);
  }
  if (document.documentElement.scrollWidth > width + 1) found.faults.push("the page scrolls aside");
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const drawn = (c) => {
    canvas.clearRect(0, 0, 60, 60);
    canvas.font = "30px 'Source Serif 4', Georgia, 'Times New Roman', serif, math";
    canvas.fillText(c, 10, 40);
    return canvas.getImageData(0, 0, 60, 60).data.join();
  };
  const none = drawn("\\uFFFE");
  for (const c of new Set(document.querySelector("main").textContent)) {
    const name = "U+" + c.codePointAt(0).toString(16);
    if (c.trim() && drawn(c) === none) found.faults.push("no glyph " + name);
  }
  const report = document.createElement("pre");
  report.id = "probe";
  report.textContent = JSON.stringify(found);
  document.body.append(report);
});
</script>"""


def probed(page: str, width: int, folder) -> dict:
    """What the probe found in a window of some width."""
    path = folder / "page.html"
    path.write_text(page.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    # A window has a least width; a frame has not.
    frame = folder / "frame.html"
    frame.write_text(
        f'<!DOCTYPE html><iframe id="f" src="page.html" style="width:{width}px;height:900px">'
        "</iframe><script>window.addEventListener('load', () => { const found = document"
        ".getElementById('f').contentDocument.getElementById('probe'); document.body.append("
        "found.cloneNode(true)); });</script>",
        encoding="utf-8",
    )
    command = [
        str(BROWSER),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'profile'}",
        "--enable-logging=stderr",
        "--window-size=1300,1000",
        "--dump-dom",
        frame.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, timeout=120)
    console = [
        line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line
    ]
    assert console == []
    match = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout.decode(), flags=re.DOTALL)
    assert match, done.stderr.decode(errors="replace")[-2000:]
    return json.loads(match[1])


@pytest.fixture(scope="module")
def everything() -> str:
    """All derivations under one another: one start of the browser serves them all."""
    pages = [written(name, "html") for name in NAMES]
    mains = [re.search(r"<main>(.*)</main>", page, flags=re.DOTALL)[1] for page in pages]
    return pages[0].replace(mains[0], "\n".join(mains))


@pytest.mark.parametrize("width", [1200, 390])
def test_every_equation_is_laid_out(everything, width, tmp_path):
    found = probed(everything, width, tmp_path)
    assert found["faults"] == []
    assert found["equations"] == everything.count('class="scroll equation"') > 20 * len(NAMES)
    assert found["formulas"] == everything.count("<math")


def test_the_probe_sees_what_is_wrong(tmp_path):
    """Negative control: an empty formula, a missing glyph, a page wider than the window."""
    page = written("relu", "html")
    bad = page.replace("</main>", '<math></math><p style="width:2000px">\U000f1234</p></main>', 1)
    faults = " ".join(probed(bad, 390, tmp_path)["faults"])
    assert "empty" in faults and "no glyph U+f1234" in faults and "scrolls aside" in faults

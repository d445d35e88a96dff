"""Pages in a browser without a network: what is laid out badly, and a picture of what was seen."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
WIDTHS = (1200, 390)
# Pictures of a test run; git ignores build/.
SCREENSHOTS = Path(__file__).parent.parent / "build" / "screenshots"
# Whole pages are seen down to here, in pixels.
HEIGHT = 14000

# Runs in a copy of the page with every fold open: boxes of formulas and figures, pictures, and
# whether a character is drawn like one that no font has.
PROBE = """<script>
window.addEventListener("load", () => {
  const found = {equations: 0, formulas: 0, figures: 0, faults: []};
  const fault = (what) => found.faults.push(what);
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const width = document.documentElement.clientWidth;
  for (const box of document.querySelectorAll(".equation")) {
    found.equations += 1;
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    if (box.getBoundingClientRect().right > width + 1) fault("box beyond the page");
    if (box.scrollWidth > box.clientWidth + 1 && !scrolls) fault("formula cut off");
  }
  for (const math of document.querySelectorAll("math")) {
    const box = math.getBoundingClientRect();
    found.formulas += 1;
    if (!(box.width > 1 && box.height > 1)) fault("empty " + math.textContent);
    if (!math.closest(".scroll") && box.right > width + 1) {
      fault("formula beyond the page: " + math.textContent.slice(0, 40));
    }
  }
  for (const figure of document.querySelectorAll("figure svg, img")) {
    const box = figure.getBoundingClientRect();
    if (box.width === 0 && figure.tagName !== "IMG") continue;
    found.figures += 1;
    if (box.right > width + 1) fault("figure beyond the page");
    if (figure.tagName === "IMG") {
      if (!figure.naturalWidth) fault("missing image " + figure.getAttribute("src"));
    } else if (box.width < 0.7 * figure.viewBox.baseVal.width) {
      // A point of the figure is then below 0.7 pixels, and its letters below 8.
      fault("figure too small to read");
    }
  }
  if (document.documentElement.scrollWidth > width + 1) fault("the page scrolls aside");
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
    if (c.trim() && drawn(c) === none) fault("no glyph " + name);
  }
  for (const fold of document.querySelectorAll("details")) fold.open = false;
  const report = document.createElement("pre");
  report.id = "probe";
  report.hidden = true;
  report.textContent = JSON.stringify(found);
  document.body.append(report);
});
</script>"""

# A window has a least width; a frame has not.
FRAME = """<!DOCTYPE html><style>body {{ margin: 0; display: flex; gap: 8px; background: #bbb }}
iframe {{ border: 0; flex: none; height: {height}px }}</style>{frames}<script>
window.addEventListener("load", () => {{
  for (const frame of document.querySelectorAll("iframe")) {{
    document.body.append(frame.contentDocument.getElementById("probe").cloneNode(true));
  }}
}});
</script>"""


def probed(
    page: str, folder: Path, widths: tuple[int, ...] = WIDTHS, keep: str | None = None
) -> list[dict]:
    """What the probe found at each width: equations, formulas, figures and faults.

    What the browser said on its console is a fault at every width. keep: the name of a picture in
    SCREENSHOTS, all widths side by side.
    """
    (folder / "page.html").write_text(page.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    frames = "".join(
        f'<iframe src="page.html" style="width:{width}px"></iframe>' for width in widths
    )
    frame = folder / "frame.html"
    height = HEIGHT if keep else 900
    frame.write_text(FRAME.format(frames=frames, height=height), encoding="utf-8")
    picture = []
    if keep:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        picture = [f"--screenshot={SCREENSHOTS / keep}.png"]
    command = [
        str(BROWSER),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        # As on a phone, where they take no room.
        "--hide-scrollbars",
        "--allow-file-access-from-files",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'profile'}",
        "--enable-logging=stderr",
        f"--window-size={sum(widths) + 8 * (len(widths) - 1)},{height}",
        *picture,
        "--dump-dom",
        frame.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, timeout=120)
    log = done.stderr.decode(errors="replace")
    console = [f"console: {line}" for line in log.splitlines() if "CONSOLE" in line]
    results = re.findall(r'<pre id="probe".*?>(.*?)</pre>', done.stdout.decode(), flags=re.DOTALL)
    assert len(results) == len(widths), log[-2000:]
    found = [json.loads(result) for result in results]
    for one in found:
        one["faults"] += console
    return found

"""Documents: formulas keep their meaning when broken, and every format is sound."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace

import pytest

from tests.documents import MINE, NAMES, derived, document, equations, faults, written
from tests.points import KINDS
from theory import rendering
from theory.document import html, latex, markdown
from theory.document.breaking import INDENT, LINE, broken
from theory.document.formula import parse, write
from theory.document.parts import Document, Paragraph, Section, Text, Verdict, plain
from theory.document.widths import width
from theory.errors import DefinitionError

ALL = [*NAMES, MINE.name]
ENGINE = shutil.which("pdflatex")
every_entry = pytest.mark.parametrize("name", ALL)
# One of each kind by default; the others in the slow suite.
one_of_each_kind = pytest.mark.parametrize(
    "name",
    [
        name if name in (*KINDS, MINE.name) else pytest.param(name, marks=pytest.mark.slow)
        for name in ALL
    ],
)


def _tokens(formula: str) -> list[str]:
    """What a formula says, without spaces, sizes of brackets and signs of multiplication."""
    formula = re.sub(r"\\left|\\right|\\[Bb]igg?[lr]|\{\}\s*\\times", "", formula)
    return re.findall(r"\\[A-Za-z]+|[^\s{}]", formula)


@one_of_each_kind
def test_broken_lines_say_what_the_formula_says(name):
    """Symbol by symbol; where a fraction is opened, the same symbols and a bracket around them."""
    opened = 0
    for formula in equations(name):
        joined = " ".join(line.latex for line in broken(formula))
        same = _tokens(joined) == _tokens(write(parse(formula)))
        if not same:
            opened += 1
            lost = Counter(_tokens(formula)) - Counter(_tokens(joined))
            new = Counter(_tokens(joined)) - Counter(_tokens(formula))
            assert not lost and set(new) <= {"1", "(", ")"}
    assert opened <= 2


@one_of_each_kind
def test_every_line_fits(name):
    for formula in equations(name):
        for line in broken(formula):
            assert width(parse(line.latex)) + INDENT * line.indent <= LINE + 0.5, line


@every_entry
def test_latex_is_sound(name):
    assert faults(written(name, "latex")) == []


@every_entry
def test_html_stands_alone(name):
    page = written(name, "html")
    assert page.count("<math") == page.count("</math>") > 30
    assert "<script" not in page and "src=" not in page and "<link" not in page
    assert set(re.findall(r'href="(.)', page)) == {"#"} and "url(" not in page
    # Nothing that the converter did not understand is left as text.
    assert not re.search(r"\\[A-Za-z]|<m[io]>&(?:amp;)?</m", page)


@every_entry
def test_markdown_keeps_its_marks(name):
    text = written(name, "markdown")
    assert text.count("$$") % 2 == 0 and text.count("\\begin") == text.count("\\end")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}


@pytest.mark.parametrize(
    "spoil, fault",
    [
        (lambda t: t.replace(r"\right", "", 1), "closes nothing"),
        (lambda t: t.replace(r"\end{equation*}", "", 1), "closes nothing"),
        (lambda t: t.replace(r"\mathbb", r"\matbb", 1), "unknown command"),
        (lambda t: t.replace("$", "", 1), "open: $"),
        (lambda t: t.replace(r"\biggr)", ")", 1), "without"),
        (lambda t: t.replace("token", "tok\u00e9n", 1), "ASCII"),
    ],
    ids=["right", "end", "command", "dollar", "size", "character"],
)
def test_a_faulty_article_is_seen(spoil, fault):
    """Negative control of the structural check."""
    assert any(fault in found for found in faults(spoil(written("softmax", "latex"))))


def _compiled(text: str, folder) -> str:
    (folder / "d.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "d.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
    log = (folder / "d.log").read_text(encoding="utf-8", errors="replace")
    return log if done.returncode == 0 else f"FAILED\n{log}"


def _overfull(log: str) -> list[float]:
    return [float(size) for size in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]


@pytest.mark.skipif(ENGINE is None, reason="no LaTeX engine (pdflatex) is installed")
@every_entry
def test_latex_compiles_and_nothing_runs_off_the_page(name, tmp_path):
    log = _compiled(written(name, "latex"), tmp_path)
    assert not log.startswith("FAILED"), log[-2000:]
    assert max(_overfull(log), default=0.0) <= 5.0


@pytest.mark.skipif(ENGINE is None, reason="no LaTeX engine (pdflatex) is installed")
def test_the_compiler_sees_what_is_wrong(tmp_path):
    """Negative control: an unknown command fails, a line that is not broken is overfull."""
    text = written("relu", "latex")
    assert _compiled(text.replace(r"\mathbb", r"\matbb"), tmp_path).startswith("FAILED")
    long = (
        "\\begin{equation*}\n" + " + ".join(["a" * 9] * 20) + "\n\\end{equation*}\n\\end{document}"
    )
    assert max(_overfull(_compiled(text.replace(r"\end{document}", long), tmp_path))) > 5.0


@pytest.mark.parametrize(
    "formula, size, lines",
    [
        (r"E = a a a a a + b b b b b", 5.0, ["E = a a a a a", "+ b b b b b"]),
        (
            r"E = c \left(a a a a + b b b b\right)^{2}",
            6.5,
            [r"E = c \Bigl( a a a a", r"+ b b b b \Bigr)^{2}"],
        ),
        (
            r"y = \frac{a a a a a a + b b b b b b}{2 d}",
            7.5,
            [r"y = \frac{1}{2 d} \Bigl( a a a a a a", r"+ b b b b b b \Bigr)"],
        ),
        (
            r"y = e^{- a a a a a a - b b b b b b - c c c c c c}",
            10.0,
            [r"y = \exp \Bigl( - a a a a a a", r"- b b b b b b", r"- c c c c c c \Bigr)"],
        ),
        (
            r"y = \left[a a a a a\right]^{2} \left[b b b b b\right]",
            6.5,
            [r"y = [a a a a a]^{2}", r"{} \times [b b b b b]"],
        ),
        (r"y = f{\left(x x x x x x x x\right)}", 5.0, [r"y = f {(x x x x x x x x)}"]),
    ],
    ids=["sum", "bracket", "fraction", "exponential", "product", "argument"],
)
def test_where_a_line_ends(formula, size, lines):
    """The last one holds no place for a break: a function is not torn from its argument."""
    assert [line.latex for line in broken(formula, size)] == lines


@pytest.mark.parametrize(
    "wrong", ["a}", "{a", r"\left( a", r"a \right)", "a_", "a_b_c", r"\frac{a}"]
)
def test_what_is_no_formula_is_refused(wrong):
    with pytest.raises((ValueError, IndexError)):
        parse(wrong)


def test_reading_what_was_written_changes_nothing():
    for formula in equations("softmax-1-norm") + equations("relu"):
        once = write(parse(formula))
        assert write(parse(once)).replace(" ", "") == once.replace(" ", "")


def test_a_user_s_name_is_text_in_every_format():
    assert (
        Text.of(plain(MINE.name)).spans
        and "".join(span.text for span in Text.of(plain(MINE.name)).spans) == MINE.name
    )
    assert "<b>" not in written(MINE.name, "html")
    assert r"50\% \textless{}b\textgreater{}\_x" in written(MINE.name, "latex")


def test_every_step_is_told_with_its_reason_and_its_numbers():
    found = rendering.document(derived("erf"), checked=True)
    blocks = [block for section in found.sections for block in section.blocks]
    verdicts = [block for block in blocks if isinstance(block, Verdict)]
    checks = [check for _, check in derived("erf").checks]
    assert [(v.left, v.right) for v in verdicts] == [(c.left, c.right) for c in checks]
    assert all(v.passed for v in verdicts)
    words = " ".join(span.text for b in blocks if isinstance(b, Paragraph) for span in b.text.spans)
    for number, step in enumerate(derived("erf").steps):
        assert f"{number}. {step.rule}" in words
        assert Text.of(step.reason).spans[0].text.strip() in words
    # The document without numbers says the same otherwise.
    bare = [tuple(b for b in s.blocks if not isinstance(b, Verdict)) for s in found.sections]
    lead = found.sections, document("erf").sections
    assert [s.heading for s in lead[0]] == [s.heading for s in lead[1]]
    assert bare == [section.blocks for section in document("erf").sections]


def test_a_step_that_does_not_hold_says_so_in_every_format():
    """Negative control of the numbers beside each step."""
    good = Verdict(1.0, 1.0, 1e-6, True)
    for verdict, word in ((good, "holds"), (replace(good, right=1.1, passed=False), "NOT HOLD")):
        one = Document(Text.of("t"), (), (Section("s", (verdict,)),))
        assert all(word in write(one) for write in (latex.write, markdown.write, html.write))
    assert 'class="check failed"' in html.write(one)


def test_contract_of_the_derivation():
    one = derived("relu")
    assert r"\mathbb{E}_{\star}" in one.latex() and "begin" not in one.latex()
    assert one.markdown() == written("relu", "markdown")
    assert one.html() == one.document("html") and one.document().startswith(r"\documentclass")
    with pytest.raises(DefinitionError, match="latex, markdown, html"):
        one.document("pdf")

"""Documents of the catalogue, each derived once a session, and a checker of LaTeX's structure."""

from __future__ import annotations

import re
from functools import cache

import headflow as hf
from theory import rendering
from theory.derived import Derived
from theory.document.parts import Document, Equation
from theory.document.writers import writer

NAMES = list(hf.CATALOGUE)
# A user's own: a name of every special character that a name may hold, and what is free.
MINE = hf.Activation(
    r"50% <b>_x^2_</b> & $#{|*~",
    score="x*sigmoid(x)",
    scope="none",
    bias="norm+free",
    gain="free",
)

ENVIRONMENTS = {"document", "align*", "equation*", "longtable", "cases"}
COMMANDS = set(
    r"""\documentclass \usepackage \setlength \allowdisplaybreaks \begin \end \section \LARGE \par
    \small \itshape \textbf \texttt \hline \endhead \mathindent \parindent \parskip \textwidth
    \textbackslash \textasciicircum \textasciitilde \textless \textgreater \textbar \textquotedbl
    \frac \sqrt \sum \int \limits \substack \left \right \bigl \bigr \Bigl \Bigr \biggl \biggr
    \mathbb \mathbf \mathrm \operatorname \text \hat \dot \quad \times \cdot \leq \ni \in \sim
    \ldots \to \leftarrow \infty \partial \nabla \ell \star \top \exp \log \ln \sin \cos
    \tan \sinh \cosh \tanh \gamma \delta \epsilon \eta \theta \lambda \mu \nu \pi \sigma \tau \phi
    \chi \beta \rho \Gamma \Lambda \Sigma \Phi \, \: \; \\ \{ \} \$ \& \# \% \_""".split()
)
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|[{}$]", re.DOTALL)


@cache
def derived(name: str) -> Derived:
    """The derivation of a catalogue entry, or of MINE."""
    return hf.derive(MINE if name == MINE.name else name)


@cache
def document(name: str) -> Document:
    """Without the numbers of checks, which take most of the time and are tested elsewhere."""
    return rendering.document(derived(name), checked=False)


@cache
def written(name: str, form: str) -> str:
    return writer(form)(document(name))


def equations(name: str) -> list[str]:
    blocks = (block for section in document(name).sections for block in section.blocks)
    return [block.latex for block in blocks if isinstance(block, Equation)]


def faults(latex: str) -> list[str]:
    """What is wrong with the structure of a LaTeX document; nothing if it is sound."""
    found = []
    stack: list[str] = []
    math = False
    position = 0
    while match := _TOKEN.search(latex, position):
        token, position = match[0], match.end()
        if token in (r"\begin", r"\end"):
            name = re.compile(r"\{([^}]*)\}").match(latex, position)
            assert name
            position = name.end()
            if name[1] not in ENVIRONMENTS:
                found.append(f"unknown environment {name[1]}")
            if token == r"\begin":
                stack.append(name[1])
            elif not stack or stack.pop() != name[1]:
                found.append(f"environment {name[1]} closes nothing")
        elif token in ("{", r"\left"):
            stack.append(token)
        elif token in ("}", r"\right"):
            if not stack or stack.pop() != {"}": "{", r"\right": r"\left"}[token]:
                found.append(f"{token} closes nothing before {latex[position : position + 20]!r}")
        elif token == "$":
            math = not math
        elif token not in COMMANDS:
            found.append(f"unknown command {token}")
    sizes = [(f"{big}l", f"{big}r") for big in (r"\Big", r"\bigg")]
    for left, right in sizes:
        if latex.count(left) != latex.count(right):
            found.append(f"{left} without {right}")
    if any(ord(c) > 126 for c in latex):
        found.append("a character beyond ASCII")
    return found + [f"open: {mark}" for mark in stack] + (["open: $"] if math else [])

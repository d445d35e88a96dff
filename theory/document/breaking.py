r"""Long formulas broken over lines, by rules that leave the mathematics as it is.

A line ends before a sum's + or -, else before a factor, which then starts with \times. A bracket
that has to be broken gets delimiters of a fixed size, since \left and \right must share a line.
What is too wide without a bracket gets one: N/D is (1/D)(N) or N (D)^{-1}, e^X is exp(X).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from theory.document.formula import Bracket, Command, Group, Item, Leaf, Row, Scripted, parse, write
from theory.document.widths import RELATIONS, width

# Em that fit on a line of the article and of a page on a desktop.
LINE = 48.0
# What is moved in by \quad, for each level of brackets.
INDENT = 1.0
_DELIMITER = 0.8
# A term this short may stand on the last line of a broken one.
_SHORT = 3.0
_DEEPEST = 4


@dataclass(frozen=True)
class Line:
    """One line of a broken formula, ``indent`` levels in."""

    indent: int
    latex: str


@dataclass
class _Page:
    """The lines set so far; the last one may still be added to."""

    size: float
    lines: list[tuple[int, list[str]]] = field(default_factory=lambda: [(0, [])])
    used: float = 0.0

    def put(self, text: str, size: float) -> None:
        self.lines[-1][1].append(text)
        self.used += size

    def new_line(self, indent: int) -> None:
        depth = min(indent, _DEEPEST)
        self.lines.append((depth, []))
        self.used = depth * INDENT

    def fits(self, size: float) -> bool:
        return self.used + size <= self.size

    def fits_alone(self, size: float, indent: int) -> bool:
        return min(indent, _DEEPEST) * INDENT + size <= self.size


@lru_cache(maxsize=1024)
def broken(latex: str, size: float = LINE) -> tuple[Line, ...]:
    """The lines of a formula, none wider than ``size`` em as far as its parts allow.

    >>> broken("a = b")
    (Line(indent=0, latex='a = b'),)
    """
    row = parse(latex)
    if width(row) <= size:
        return (Line(0, write(row)),)
    page = _Page(size)
    relation = next((n for n, item in enumerate(row) if _is(item, RELATIONS)), -1)
    if relation >= 0:
        left = row[: relation + 1]
        page.put(write(left), width(left))
    _sum(page, row[relation + 1 :], 1, 0.0)
    return tuple(Line(indent, " ".join(texts)) for indent, texts in page.lines if texts)


def aligned(lines: tuple[Line, ...]) -> str:
    """Lines as rows of an alignment, each moved in by its level."""
    return " \\\\\n".join("&" + "\\quad " * line.indent + line.latex for line in lines)


def _sum(page: _Page, row: Row, indent: int, tail: float) -> None:
    """Set terms one after the other; ``tail`` is what has to follow on the last one's line."""
    terms = _terms(row)
    whole = True
    for number, term in enumerate(terms):
        size = width(term) + (tail if number == len(terms) - 1 else 0.0)
        if not whole and size > _SHORT:
            page.new_line(indent)
        started = len(page.lines) + (not page.fits(size))
        _piece(page, term, size, indent, number == 0 or not page.lines[-1][1], _product)
        whole = len(page.lines) <= started


def _product(page: _Page, row: Row, indent: int, tail: float) -> None:
    """Set a term that fits on no line: factor by factor, or through its widest bracket."""
    factors = _factors(row)
    if len(factors) == 1:
        _inside(page, row, indent, tail)
        return
    for number, factor in enumerate(factors):
        signed = factor if number == 0 else (Group(()), Leaf(r"\times"), *factor)
        size = width(signed) + (tail if number == len(factors) - 1 else 0.0)
        if page.fits(width(factor) + size - width(signed)):
            page.put(write(factor), width(factor))
        else:
            _piece(page, signed, size, indent + (number > 0), number == 0, _inside)


def _piece(page, row: Row, size: float, indent: int, first: bool, inside) -> None:
    """Set a piece here, else on a line of its own, else broken by ``inside``."""
    if page.fits(size):
        page.put(write(row), width(row))
        return
    alone = page.fits_alone(size, indent)
    if alone or not first:
        page.new_line(indent)
    if alone:
        page.put(write(row), width(row))
    else:
        inside(page, row, indent, size - width(row))


def _inside(page: _Page, row: Row, indent: int, tail: float) -> None:
    """Break the widest bracket of a row; without one, make one; without that, let it be."""
    number = max(range(len(row)), key=lambda n: _breakable(row[n]))
    if _breakable(row[number]) == 0.0:
        opened = _opened(row)
        if opened is None:
            page.put(write(row), width(row))
        else:
            _inside(page, opened, indent, tail)
        return
    before, after = row[:number], row[number + 1 :]
    bracket, scripts = _bracket(row[number])
    size = r"\bigg" if _is_tall(bracket.inner) else r"\Big"
    page.put(f"{write(before)} {size}l{bracket.left}".strip(), width(before) + _DELIMITER)
    close = Scripted(Leaf(f"{size}r{bracket.right}"), *scripts) if any(scripts) else None
    closing = write((close,)) if close else f"{size}r{bracket.right}"
    rest = _DELIMITER + (width((close,)) - 0.7 if close else 0.0)
    _sum(page, bracket.inner, indent + 1, rest + width(after) + tail)
    page.put(f"{closing} {write(after)}".strip(), rest + width(after))


def _terms(row: Row) -> list[Row]:
    """A row cut before each + and - that stands between two terms."""
    cuts = [
        n
        for n, item in enumerate(row)
        if n > 0 and _is(item, "+-") and not _is(row[n - 1], (*RELATIONS, *"+-(,", r"\times"))
    ]
    return _cut(row, cuts)


def _factors(row: Row) -> list[Row]:
    """A row cut where one factor ends and another begins."""
    return _cut(row, [n for n in range(1, len(row)) if _ends(row[n - 1]) and _begins(row, n)])


def _cut(row: Row, cuts: list[int]) -> list[Row]:
    edges = [0, *cuts, len(row)]
    return [row[a:b] for a, b in zip(edges, edges[1:], strict=False)]


def _ends(item: Item) -> bool:
    """Whether a factor may end with an item: a bracket, a fraction or a power."""
    if isinstance(item, Scripted):
        return _ends(item.base) or (item.above is not None and _is(item.base, "e"))
    if isinstance(item, Command):
        return item.name in (r"\frac", r"\sqrt")
    return isinstance(item, Bracket) or (isinstance(item, Group) and bool(item.inner))


def _begins(row: Row, at: int) -> bool:
    """Whether a factor begins at an item, and is not the argument of what comes before."""
    item = _core(row[at])
    if isinstance(item, Command):
        return item.name in (r"\mathbb", r"\frac", r"\sqrt", r"\operatorname")
    return isinstance(item, Bracket) or _is(item, (r"\sum", r"\int", "e", "f", "g"))


def _breakable(item: Item) -> float:
    """The width of a bracket whose inside can be broken, else 0."""
    core = _core(item)
    if isinstance(core, Group) and len(core.inner) == 1:
        core = core.inner[0]
    if not isinstance(core, Bracket):
        return 0.0
    return width((item,)) if _has_parts(core.inner) or _opened(core.inner) else 0.0


def _has_parts(row: Row) -> bool:
    """Whether a row can be broken without a new bracket."""
    return len(_terms(row)) > 1 or len(_factors(row)) > 1 or any(map(_breakable, row))


def _bracket(item: Item) -> tuple[Bracket, tuple[Row | None, Row | None]]:
    scripts = (item.below, item.above) if isinstance(item, Scripted) else (None, None)
    core = _core(item)
    if isinstance(core, Group):
        core = core.inner[0]
    assert isinstance(core, Bracket)
    return core, scripts


def _opened(row: Row) -> Row | None:
    """The row with its widest fraction or power of e written with brackets, if that can break."""
    for number in sorted(range(len(row)), key=lambda n: -width((row[n],))):
        new = _with_bracket(row[number])
        if new is not None:
            return (*row[:number], *new, *row[number + 1 :])
    return None


def _with_bracket(item: Item) -> Row | None:
    match item:
        case Command(r"\frac", _, (above, below)) if _has_parts(above):
            inverse = Command(r"\frac", "", ((Leaf("1"),), below))
            return (inverse, Bracket("(", above, ")"))
        case Command(r"\frac", _, (above, below)) if _has_parts(below):
            power = Scripted(Bracket("(", below, ")"), None, (Leaf("-"), Leaf("1")))
            return (*above, power)
        case Scripted(Leaf("e"), None, exponent) if exponent and len(_terms(exponent)) > 1:
            return (Leaf(r"\exp"), Bracket("(", exponent, ")"))
    return None


def _is_tall(row: Row) -> bool:
    r"""Whether something in a row is taller than a letter with scripts."""
    text = write(row)
    return any(name in text for name in (r"\frac", r"\sum", r"\int"))


def _core(item: Item) -> Item:
    return item.base if isinstance(item, Scripted) else item


def _is(item: Item, texts) -> bool:
    return isinstance(item, Leaf) and item.text in texts

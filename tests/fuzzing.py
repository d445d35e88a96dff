"""Random texts: formulas of the grammar, formulas with a few characters changed, plain text."""

from __future__ import annotations

from hypothesis import strategies as st

from theory.vocabulary import FUNCTIONS

UNARY = sorted(name for name, (_, arity) in FUNCTIONS.items() if arity == 1)
SEVERAL = sorted(name for name, (_, arity) in FUNCTIONS.items() if arity is None)
NUMBERS = ["0", "1", "2", "3", "7", "0.5", ".25", "3.", "1e3", "1.5e-2", "1e12", "1e300", "007"]
ODD = ["E", "I", "m", "beta", "foo(x)", "2x", "x(", "1e999", "()", "x y", "9^9^9", "x.__class__"]

LEAVES = st.one_of(
    st.sampled_from(["x"] * 6 + ["q", "pi", "N"]),
    st.sampled_from(NUMBERS),
    st.floats(0, 100, allow_subnormal=False).map(lambda z: f"{z:.3g}"),
)


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*", "/", "^", "**", " - ", "*-", "/ "])
    powers = st.sampled_from(["2", "3", "-1", "-2", "1/2", "0.5", "(1/3)", "-x^2"])
    return st.one_of(
        st.tuples(inner, operators, inner).map("".join),
        st.tuples(inner, operators, inner).map(lambda t: "({})".format("".join(t))),
        st.tuples(st.sampled_from("-+"), inner).map("".join),
        st.tuples(inner, powers).map(lambda t: "({})^{}".format(*t)),
        st.tuples(st.sampled_from(UNARY), inner).map(lambda t: "{}({})".format(*t)),
        st.tuples(st.sampled_from(SEVERAL), inner, inner).map(lambda t: "{}({}, {})".format(*t)),
    )


FORMULAS = st.recursive(LEAVES, _extend, max_leaves=12)


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """A formula with one to three places overwritten."""
    text = draw(FORMULAS)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        piece = draw(st.one_of(st.sampled_from([*"()+-*/^,.x1e _'\n\x00", *ODD]), st.characters()))
        text = text[:place] + piece + text[place + draw(st.integers(0, 2)) :]
    return text


@st.composite
def chains(draw: st.DrawFn) -> str:
    """One template applied to itself again and again, which grows fastest of all."""
    template = draw(FORMULAS.filter(lambda text: "x" in text))
    text = "x"
    for _ in range(draw(st.integers(1, 30))):
        longer = template.replace("exp", "EXP").replace("max", "MAX").replace("Max", "MAXX")
        longer = longer.replace("x", f"({text})", 1)
        longer = longer.replace("MAXX", "Max").replace("EXP", "exp").replace("MAX", "max")
        if len(longer) > 1200:
            break
        text = longer
    return text


QUICK_TEXTS = st.one_of(FORMULAS, FORMULAS, mutations(), st.text(max_size=40))
TEXTS = st.one_of(QUICK_TEXTS, QUICK_TEXTS, QUICK_TEXTS, QUICK_TEXTS, chains())

"""Whatever is typed: a right value, or one line that refuses it, in bounded time."""

from __future__ import annotations

import re
import signal
import time
from contextlib import contextmanager
from functools import reduce

import mpmath
import pytest
import sympy as sp
from hypothesis import HealthCheck, given, seed, settings

import headflow as hf
from tests import expression_oracle as oracle
from tests.fuzzing import QUICK_TEXTS, TEXTS
from theory import symbols as sym
from theory.errors import DefinitionError, ExpressionError
from theory.evaluation import evaluate
from theory.parsing import parse_expression

PARAMETERS = {"q": "0.7", "N": "7/3"}
with mpmath.workdps(60):
    NUMBERS = {"q": mpmath.mpf(7) / 10, "N": mpmath.mpf(7) / 3}
POINTS = (-1.375, 0.4375, 2.21875)
SECONDS = 30  # of processor time for one text, on a slow machine; the usual one takes 10 ms
SMALL, LARGE = 300, 2500  # texts for each test; four seeds make 10,000 of the large ones


@contextmanager
def in_time(text):
    """Fail where a text takes too long, and interrupt it where it never ends."""

    def stop(*_):
        raise TimeoutError(f"no end: {text!r}")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(4 * SECONDS)
    start = time.process_time()
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - start < SECONDS, text


def require_one_line(problem):
    message = str(problem)
    assert message and message.isprintable() and len(message) < 1000
    if isinstance(problem, ExpressionError):
        shown, caret = problem.caret().split("\n")
        assert 0 <= problem.position <= len(problem.text)
        assert caret.strip() == "^" and len(caret) <= len(shown) + 1


def require_right(text, expression):
    """The value agrees with Python's reading of the text wherever both are well determined."""
    for point in POINTS:
        try:
            wanted = oracle.value(text, point, 60, **NUMBERS)
            rougher = oracle.value(text, point, 40, **NUMBERS)
        except oracle.Incomparable:
            continue
        size = max(1, abs(wanted))
        if abs(wanted - rougher) > mpmath.mpf(10) ** -25 * size:
            continue  # digits cancel: no evaluation settles this text
        with mpmath.workdps(60):
            found = evaluate(expression, sym.logit, mpmath.mpf(point))
        assert abs(found - wanted) <= mpmath.mpf(10) ** -14 * size, (text, point, found, wanted)


def check(text):
    with in_time(text):
        try:
            parsed = parse_expression(
                text,
                variable=sym.logit,
                parameters={name: sp.Rational(one) for name, one in PARAMETERS.items()},
            )
        except DefinitionError as problem:
            require_one_line(problem)
            return
        require_right(text, parsed)
        # One that is not in the text is refused.
        there = {name: one for name, one in PARAMETERS.items() if re.search(rf"\b{name}\b", text)}
        try:
            act = hf.Activation("fuzz", score=text, scope="none", parameters=there)
        except DefinitionError as problem:
            require_one_line(problem)
            return
        require_right(text, act.typed(act.score))


@settings(max_examples=SMALL, suppress_health_check=list(HealthCheck))
@given(QUICK_TEXTS)
def test_any_text_is_right_or_refused(text):
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "((x)^-2)^0.5",
        "x/Abs(x)",
        "Max(0, (x))/x",
        "Phi(Phi(x^x)^x)",
        reduce(lambda inner, _: f"Heaviside(({inner})^-1)-abs(x^-1)", range(28), "x"),
        "Min(Min((x), 0)/ 1e3/x, (Max(1, x))^2)",
        "Min((x+1)^-2, (1+x))",
        "sign(.25/(sign(.25/(sign(.25/(x))))))",
        "q+N",
        "Min(Min((Min(Min((x), 0)/ 1e3/x, (Min(1, 0))^3)), 0)/ 1e3/x, (Min(1, 0))^3)",
    ],
)
def test_texts_that_once_were_neither(text):
    check(text)


@pytest.mark.slow
@pytest.mark.parametrize("stream", range(4))
def test_ten_thousand_texts(stream):
    @seed(stream)
    @settings(
        max_examples=LARGE,
        derandomize=False,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(TEXTS)
    def run(text):
        check(text)

    run()


def test_a_wrong_reading_is_seen():
    for text, wrong in [("-x^2", (-sym.logit) ** 2), ("2^3^2*x", 64 * sym.logit)]:
        with pytest.raises(AssertionError):
            require_right(text, wrong)
    with pytest.raises(AssertionError):
        require_right("sigmoid(x)", hf.Activation("a", score="sigmoid(-x)", scope="none").score)

"""Text that would run code, exhaust the machine or look like something else is refused, soon."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from headflow.cli import main

HOSTILE = {
    "import": "__import__('os').system('id')",
    "import without quotes": "__import__(os).system(id)",
    "attribute": "x.__class__",
    "attribute of a number": "(1).real",
    "subclasses": "().__class__.__bases__[0].__subclasses__()",
    "dunder name": "__builtins__",
    "lambda": "lambda: x",
    "call of a lambda": "(lambda z: z)(x)",
    "f-string": "f'{x}'",
    "walrus": "(x := 1)",
    "comprehension": "[x for x in range(10)]",
    "eval": "eval('1')",
    "exec": "exec(x)",
    "getattr": "getattr(x, diff)",
    "comment": "x # comment",
    "semicolon": "x; x",
    "statement": "import os",
    "newline": "x\nimport os",
    "backslash": "x\\\n+1",
    "null byte": "x\x00",
    "escape sequence": "x\x1b[31m",
    "invalid bytes": "x\udcff",
    "right to left": "x\u202e+1",
    "cyrillic lookalike": "\u0435xp(x)",
    "full width": "\uff45\uff58\uff50(x)",
    "mathematical letter": "\U0001d465",
    "minus sign": "\u2212x",
    "arabic digit": "\u0663*x",
    "zero width": "x\u200b+1",
    "long integer": "9" * 900,
    "longer integer": "9" * 100_000,
    "power tower": "9**9**9",
    "tower of powers": "9^9^9^9^9",
    "factorial": "9!",
    "nested factorials": "factorial(factorial(factorial(9)))",
    "huge exponent": "x^1000000000",
    "huge power of ten": "1e999999999",
    "huge constant": "exp(exp(exp(exp(9))))",
    "huge function": "exp(exp(exp(exp(x))))",
    "periods without end": "sin(exp(exp(exp(x))))",
    "hidden power": "exp(1e12*log(2))",
    "deep brackets": "(" * 500 + "x" + ")" * 500,
    "deeper brackets": "(" * 100_000,
    "deep signs": "-" * 900 + "x",
    "deep calls": "tanh(" * 150 + "x" + ")" * 150,
    "nested roots": "1/(x+sqrt(" * 20 + "x" + "))" * 20,
    "option": "--normalizer",
    "nothing": "",
    "blank": " \t\n",
}


@pytest.fixture
def no_way_out(monkeypatch):
    """A test in which a process is started, or a shell, fails."""

    def never(*arguments, **options):
        raise AssertionError("hostile text got out")

    for name in ("system", "popen", "execv", "fork"):
        monkeypatch.setattr(os, name, never)
    monkeypatch.setattr(subprocess, "Popen", never)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("option", ["score", "normalizer"])
def test_hostile_text_is_refused(text, option, monkeypatch, capsys, tmp_path, no_way_out):
    monkeypatch.chdir(tmp_path)
    words = [text] if option == "score" else ["exp(x)", f"--normalizer={text}"]
    monkeypatch.setattr(sys, "argv", ["headflow", "derive", *words, "--offset", "1"])
    start = time.process_time()
    with pytest.raises(SystemExit) as ended:
        main()
    assert time.process_time() - start < 30
    out, err = capsys.readouterr()
    message, *picture = err.splitlines()
    assert ended.value.code == 2 and out == ""
    assert message.startswith("headflow: ") and message.isascii() and len(message) < 1000
    assert len(picture) in (0, 2) and all(line.isascii() for line in picture)
    assert list(tmp_path.iterdir()) == []

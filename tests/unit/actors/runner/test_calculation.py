"""app.calculate computes exactly, and says what is wrong with an expression that has no value."""

from __future__ import annotations

import pytest

from actors.runner.tools.calculation import MAX_CHARS, ExpressionError, shown, value_of
from tests.requirements import requirement

VALUES = [
    ("1 + 2 * 3", None, "7"),
    ("(1 + 2) * 3", None, "9"),
    ("0.1 + 0.2", None, "0.3"),
    ("1/3*3", None, "1"),
    ("-(-2)", None, "2"),
    ("--2", None, "2"),
    (".5 + 5.", None, "5.5"),
    ("007", None, "7"),
    ("10 - 10.0", None, "0"),
    ("-0.001", 2, "0.00"),
    ("2 ÷ 3", 4, "0.6667"),
    ("0.125", 2, "0.13"),
    ("5", 0, "5"),
    ("5", 2, "5.00"),
    ("1/3", None, "0.3333333333333333333333333333"),
    ("99999999999999999999 * 99999999999999999999", None, "9999999999999999999800000000000000000001"),
    ("1\n+\n1", None, "2"),
]

ERRORS = [
    (" ", "empty"),
    ("1 +", "malformed"),
    ("1 2", "malformed"),
    ("(1", "malformed"),
    ("2(3)", "malformed"),
    ("()", "malformed"),
    ("1..2", "malformed"),
    (".", "malformed"),
    ("1 / (2 - 2)", "divides by zero"),
    ("2 ** 9", "something else"),
    ("2 * * 9", "something else"),
    ("7 // 2", "something else"),
    ("1e9", "something else"),
    ("__import__('os')", "something else"),
    ("x", "something else"),
    ("1_000", "something else"),
    ("1" * (MAX_CHARS + 1), "longer than"),
    ("-" * (MAX_CHARS - 1) + "1", "nested too deeply"),
    ("(" * 300 + "1" + ")" * 300, "malformed"),
]


@requirement("003.tools.app")
@pytest.mark.parametrize(("expression", "precision", "result"), VALUES)
def test_expressions(expression: str, precision: int | None, result: str) -> None:
    assert shown(value_of(expression), precision) == result


@pytest.mark.parametrize(("expression", "why"), ERRORS)
def test_errors(expression: str, why: str) -> None:
    with pytest.raises(ExpressionError, match=why):
        value_of(expression)

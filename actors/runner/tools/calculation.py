"""app.calculate: an expression of numbers, computed exactly (003 "App-level primitives")."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from msgspec import UnsetType
from simpleeval import InvalidExpression, SimpleEval  # pyright: ignore[reportMissingTypeStubs] - it has no types

from actors.runner.tools.context import ToolDependencies, failed
from protocol.faults import Code, fault
from protocol.policy import RunTool, ToolErrorCode, ToolResult, ToolStatus
from protocol.tools.app import Calculate

MAX_CHARS: Final = 1_000
MAX_SHOWN: Final = 28
"""Digits of a result that has no end, unless its precision is named."""

_ALLOWED: Final = re.compile(r"[0-9.+\-*/()\s]+")
_REFUSED: Final = re.compile(r"\*\s*\*|/\s*/")
_LEADING_ZEROS: Final = re.compile(r"(?<![\d.])0+(?=\d)")
_AS_TYPED: Final = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})  # noqa: RUF001 - what people type

_OPERATORS: Final[Mapping[type[ast.AST], Callable[..., Any]]] = MappingProxyType[type[ast.AST], Callable[..., Any]](
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: Fraction.__truediv__,
        ast.USub: operator.neg,
        ast.UAdd: operator.pos,
    }
)


class ExpressionError(ValueError):
    """An expression has no value; its text says why."""


async def calculate(context: ToolDependencies, request: RunTool, arguments: Calculate) -> ToolResult:
    """Compute an expression; the result is text, so that no digit of it is lost."""
    del context
    precision = None if isinstance(arguments.precision, UnsetType) else arguments.precision
    try:
        result = shown(value_of(arguments.expression), precision)
    except ExpressionError as error:
        invalid = fault(Code.VALIDATION_INVALID_REQUEST, str(error), field="expression")
        return failed(request, ToolErrorCode.INVALID_ARGUMENTS, invalid)
    payload = {"result": result, "expression": arguments.expression}
    return ToolResult(tool_call_id=request.id, status=ToolStatus.OK, payload=payload)


def value_of(expression: str) -> Fraction:
    """Compute an expression of decimals, + - * /, signs and parentheses.

    Raises:
        ExpressionError: it is empty, too long, malformed, or divides by zero.
    """
    text = " ".join(expression.translate(_AS_TYPED).split())
    if not text:
        raise ExpressionError("The expression is empty.")
    if len(text) > MAX_CHARS:
        raise ExpressionError(f"The expression is longer than {MAX_CHARS} characters.")
    if not _ALLOWED.fullmatch(text) or _REFUSED.search(text):
        raise ExpressionError("The expression has something else than numbers, + - * / and parentheses.")
    try:
        return _evaluated(_LEADING_ZEROS.sub("", text))
    except ZeroDivisionError:
        raise ExpressionError("The expression divides by zero.") from None
    except (InvalidExpression, SyntaxError):
        raise ExpressionError("The expression is malformed.") from None
    except (RecursionError, MemoryError):
        raise ExpressionError("The expression is nested too deeply.") from None


def shown(value: Fraction, precision: int | None) -> str:
    """Write a number in decimals: all of them where it has an end, or as many as `precision` says, rounded half up."""
    with localcontext(Context(prec=3 * MAX_CHARS)):
        exact = Decimal(value.numerator) / value.denominator
        if precision is not None:
            exact = exact.quantize(Decimal(1).scaleb(-precision), rounding=ROUND_HALF_UP)
        elif Fraction(exact) != value:
            exact = Context(prec=MAX_SHOWN, rounding=ROUND_HALF_UP).plus(exact)
        text = f"{exact:f}"
    text = text if precision is not None or "." not in text else text.rstrip("0").rstrip(".")
    return text.removeprefix("-") if not text.strip("-0.") else text


def _evaluated(text: str) -> Fraction:
    """Evaluate numbers as they are written, where Python's own would be floats, without any name or function."""
    evaluator: Any = SimpleEval(operators=dict(_OPERATORS), functions={}, names={})

    def number_of(node: ast.Constant) -> Fraction:
        return Fraction(text[node.col_offset : node.end_col_offset])

    kept = {kind: evaluator.nodes[kind] for kind in (ast.Expr, ast.BinOp, ast.UnaryOp)}
    evaluator.nodes = {**kept, ast.Constant: number_of}
    result: Fraction = evaluator.eval(text)
    return result

"""Sums and simple equations that a page shows, solved."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from operator import add, mul, sub
from types import MappingProxyType
from typing import Final

from actors.planner.solving.scene import Scene

_NUMBER: Final = r"-?\d+(?:\.\d+)?"
_TERM: Final = re.compile(rf"\s*({_NUMBER}|[a-z])\s*")
_OPERATION: Final = re.compile(r"\s*([+\-−–*×x·/÷:])\s*")
_EQUATION: Final = re.compile(
    rf"(?P<left>(?:{_NUMBER}|\b[a-z]\b)(?:\s*[+\-−–*×·/÷]\s*(?:{_NUMBER}|\b[a-z]\b))*)\s*=\s*(?P<right>{_NUMBER}|\b[a-z]\b|\?|_*)",
    re.IGNORECASE,
)
_OPERATIONS: Final[Mapping[str, Callable[[Fraction, Fraction], Fraction]]] = MappingProxyType(
    {"+": add, "-": sub, "−": sub, "–": sub, "*": mul, "×": mul, "·": mul}
)
_DIVISIONS: Final = frozenset("/÷:")


def answer_on(scene: Scene) -> str | None:
    """Return the answer to the sum or the equation that the page shows, or None where it shows none."""
    lines = [node.name for node in scene.nodes if node.role in {"text", "h", "img"}]
    for text in (*lines, " ".join(lines)):
        answer = solved(text)
        if answer is not None:
            return answer
    return None


def solved(text: str) -> str | None:
    """Return the answer to a sum (`3 + 4 =`) or to an equation of one unknown (`3 + x = 7`)."""
    for match in _EQUATION.finditer(re.sub(r"(?<=\d)\s*x\s*(?=-?\d)", " × ", text)):
        left, right = match["left"].strip(), match["right"].strip(" _?")
        unknown = next((letter for letter in re.findall(r"\b[a-z]\b", f"{left} {right}", re.IGNORECASE)), "")
        if not unknown and not right and re.search(r"\d\s*[+\-−–*×·/÷]", left):
            value = _evaluated(left, {})
            return None if value is None else _shown(value)
        if unknown and left.casefold() != unknown.casefold() and right:
            return _root(left, right, unknown)
    return None


def _root(left: str, right: str, unknown: str) -> str | None:
    """Return where a linear equation holds, from its values at two points."""
    points = list[Fraction]()
    for at in (Fraction(0), Fraction(1)):
        one, other = _evaluated(left, {unknown: at}), _evaluated(right, {unknown: at})
        if one is None or other is None:
            return None
        points.append(one - other)
    slope = points[1] - points[0]
    return None if slope == 0 else _shown(-points[0] / slope)


def _evaluated(text: str, names: Mapping[str, Fraction]) -> Fraction | None:
    """Compute a chain of terms, products first."""
    values: list[Fraction] = []
    signs: list[str] = []
    place = 0
    while place < len(text):
        term = _TERM.match(text, place)
        if term is None:
            return None
        value = names.get(term[1]) if term[1].isalpha() else Fraction(term[1])
        if value is None:
            return None
        values.append(value)
        place = term.end()
        operation = _OPERATION.match(text, place)
        if operation is None:
            break
        signs.append(operation[1])
        place = operation.end()
    return _chained(values, signs[: len(values) - 1])


def _chained(values: list[Fraction], signs: list[str]) -> Fraction | None:
    sums, rest = values[:1], list[str]()
    for sign, value in zip(signs, values[1:], strict=True):
        if sign in _DIVISIONS:
            if value == 0:
                return None
            sums[-1] /= value
        elif sign in "*×·x":
            sums[-1] *= value
        else:
            rest.append(sign)
            sums.append(value)
    total = sums[0] if sums else None
    for sign, value in zip(rest, sums[1:], strict=True):
        total = _OPERATIONS[sign](total, value) if total is not None else None
    return total


def _shown(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"

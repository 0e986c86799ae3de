"""Finds values in answers by their sources, and writes them in their forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeGuard
from urllib.parse import quote

from msgspec import Struct

from actors.extraction.parse.addresses import joined, without_tracking
from actors.extraction.write import fragment_markdown
from actors.patterns.mapping import dates, numbers
from actors.patterns.mapping.markup import is_html, one_line, paragraphs, plain_lines
from protocol.patterns.mapping import (
    NUMBER,
    AsIs,
    Compact,
    Count,
    CurrencySign,
    Day,
    Duration,
    Encoded,
    Form,
    JoinedAddress,
    Key,
    Number,
    Rich,
    Stars,
    Test,
    ValueSource,
)
from protocol.patterns.use import Drift

MAX_TEXT = 200_000
"""Characters of a value that are written."""


class DriftError(Exception):
    """An answer is not what the mapping knows: how, and where."""

    def __init__(self, drift: Drift, where: str) -> None:
        super().__init__(f"{drift.value} at {where}")
        self.drift = drift
        self.where = where


class UnknownCaseError(DriftError):
    """An answer is as the mapping knows it, but of a kind that no page seen was of."""

    def __init__(self, where: str) -> None:
        super().__init__(Drift.NEW_KIND, where)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Return whether a value of JSON is an array."""
    return isinstance(value, list)


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a value of JSON is an object."""
    return isinstance(value, dict)


class ValueLevel(Struct, frozen=True):
    """The root or an item of a repeat; items have a number from 1."""

    value: Any
    number: int = 0


Levels = tuple[ValueLevel, ...]


def root(answers: Sequence[Any], slots: Mapping[str, str], url: str) -> ValueLevel:
    """Return what stands around all repeats."""
    return ValueLevel({"answers": list(answers), "slots": dict(slots), "url": url})


_NAMED = re.compile(r"[A-Za-z_$@][A-Za-z_$@:.]*\d{0,2}")


def named(value: dict[str, Any]) -> dict[Key, Any]:
    """Return the fields of an object; a single one whose name is an id, another on each page, has the place 0."""
    if len(value) == 1 and not any(map(_NAMED.fullmatch, value)):
        return {0: next(iter(value.values()))}
    fields: dict[Key, Any] = {}
    fields.update(value)
    return fields


def step(value: Any, key: Key) -> Any:
    """Return what a step leads to, None where it leads nowhere."""
    if isinstance(key, str):
        return value.get(key) if is_object(value) else None
    if is_object(value):
        return next(iter(value.values())) if key == 0 and len(value) == 1 else None
    return value[key] if is_array(value) and -len(value) <= key < len(value) else None


def resolve(levels: Levels, source: ValueSource) -> Any:
    """Return the value of a source, None where there is none."""
    if source.level >= len(levels):
        return None
    level = levels[source.level]
    if source.path == (NUMBER,):
        return level.number
    value = level.value
    for key in source.path:
        # The usual step without a call: a page takes some hundreds of them.
        value = value.get(key) if isinstance(key, str) and is_object(value) else step(value, key)
        if value is None:
            return None
    return value


def items_of(value: Any) -> list[Any] | None:
    """Return the items of an array, and the pairs of an object; None for what has no items."""
    if is_array(value):
        return value
    if is_object(value):
        return [{"key": key, "value": each} for key, each in value.items()]
    return None


def where(source: ValueSource) -> str:
    """Return a source as words: what a drift is told by."""
    path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in source.path)
    return path.lstrip(".") if source.level == 0 else f"{'item of ' * (source.level - 1)}item{path}"


def case_of(test: Test, levels: Levels) -> str:
    """Return the answer to a test; "" where the value is of no kind that it knows."""
    value = resolve(levels, test.source)
    if test.asks == "present":
        return "yes" if value else "no"
    if test.asks == "one":
        number = len(value) if is_array(value) else value
        return "" if number is None or isinstance(number, str | bool) else "one" if number == 1 else "many"
    if test.asks == "count":
        return str(len(value)) if is_array(value) else ""
    if test.asks == "code":
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return value if isinstance(value, str) else ""


def write(form: Form, value: Any, source: ValueSource, url: str, *, markdown: bool) -> str:
    """Write a value; what is Markdown of its own (`Rich`) stays, all else is plain text that may have to be escaped.

    Raises:
        DriftError: the value is missing, of another type, or empty.
    """
    if value is None:
        raise DriftError(Drift.MISSING, where(source))
    text = _formatted(form, value, url, markdown=markdown)
    if text is None:
        raise DriftError(Drift.RETYPED, where(source))
    if not text:
        raise DriftError(Drift.EMPTIED, where(source))
    return text


_PROBES: Mapping[type, tuple[Any, ...]] = MappingProxyType(
    {
        int: (7, 59, 950, 4_321, 1_234_567, 12_000, 45_296, 1_614_834_367, 1_636_985_713, 1_614_834_367_000),
        float: (7.0, 0.5, 7.25, 9.876, 1_234_567.5, 12_000.0),
        str: (
            *("7", "7.50", "7.256", "12.00", "1234567.25", "950", "4321", "in_stock_now", "In two words", "TWO words"),
            *(
                "2021-03-04T05:06:07Z",
                "2021-11-12T13:14:15Z",
                "2021-05-06",
                "2021-12-25",
                "2021-03",
                "PT2H6M",
                "PT45M3S",
            ),
        ),
    }
)


def forms_of(form: Form, value: object) -> tuple[str | None, ...]:
    """Return how a form writes each of the values that a value stands for."""
    probes = _PROBES.get(type(value), ())
    return tuple(_formatted(form, probe, "", markdown=False) for probe in probes)


def _formatted(form: Form, value: Any, url: str, *, markdown: bool) -> str | None:
    if isinstance(form, AsIs):  # as most are
        return lettered(one_line(value[:MAX_TEXT]), form.letters) if isinstance(value, str) else None
    match form:
        case Number() | Compact() | Duration() | Stars():
            return _of_number(form, value)
        case Day():
            time = dates.parsed(value)
            return None if time is None else dates.formatted(time, form)
        case Count():
            return str(len(value)) if is_array(value) else None
        case _:
            return _of_text(form, value[:MAX_TEXT], url, markdown=markdown) if isinstance(value, str) else None


def _of_number(form: Number | Compact | Duration | Stars, value: Any) -> str | None:
    match form:
        case Duration(unit=unit):
            seconds = numbers.seconds_of(value, unit)
            return None if seconds is None else numbers.lasting(seconds, form)
        case Stars(of=of, full=full, empty=empty):
            count = value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= of else None
            return None if count is None else full * count + empty * (of - count)
        case _:
            of_text = isinstance(form, Number) and form.of_text
            number = numbers.parsed(value) if isinstance(value, str) == of_text else None
    if number is None:
        return None
    return numbers.formatted(number, form) if isinstance(form, Number) else numbers.compacted(number, form)


def _of_text(form: JoinedAddress | Encoded | Rich | CurrencySign, text: str, url: str, *, markdown: bool) -> str:
    match form:
        case JoinedAddress():
            return without_tracking(joined(url, text))
        case Encoded():
            return quote(text, safe="")
        case CurrencySign():
            return numbers.CURRENCY_SIGNS.get(text, text)
        case Rich(html=html):
            blocks = fragment_markdown(text, url) if html else paragraphs(text)
            return blocks if markdown else plain_lines(blocks)


def lettered(text: str, letters: str) -> str:
    """Return a text in other letters."""
    if letters == "same":
        return text
    match letters:
        case "upper":
            return text.upper()
        case "lower":
            return text.lower()
        case "title":
            return text.replace("_", " ").replace("-", " ").title()
        case "words":
            return text.replace("_", " ").replace("-", " ").capitalize()
        case _:
            return text


_MOST_STARS = 10
_STARS = (Stars(), Stars(empty=""), Stars(of=_MOST_STARS))
_MAX_CASED = 60
_MAX_LINE = 2_000
_LETTERS = ("upper", "lower", "title", "words")


def forms(value: Any, languages: Iterable[str], words: frozenset[str]) -> Iterator[Form]:
    """Yield the forms that a value may have on a page with words of some languages, the plainest first."""
    if isinstance(value, list):
        yield Count()
        return
    if isinstance(value, str):
        yield from _forms_of_text(value)
    yield from numbers.numbers(value)
    yield from numbers.compacts(value)
    yield from numbers.durations(value, words)
    if isinstance(value, int) and 0 <= value <= _MOST_STARS and not words.isdisjoint("★☆"):
        yield from _STARS
    if dates.parsed(value) is not None:
        yield from dates.days(languages)


def _forms_of_text(text: str) -> Iterator[Form]:
    if is_html(text):
        yield Rich(html=True)
    elif "\n" in text.strip():
        yield Rich()
    if len(text) <= _MAX_LINE or "\n" not in text:
        yield AsIs()
    if text.startswith(("/", "http://", "https://", "./")):
        yield JoinedAddress()
    if len(text) <= _MAX_CASED:
        for letters in _LETTERS:
            if lettered(text, letters) != text:
                yield AsIs(letters=letters)  # type: ignore[arg-type]  # of _LETTERS
        if quote(text, safe="") != text:
            yield Encoded()
        if text in numbers.CURRENCY_SIGNS:
            yield CurrencySign()

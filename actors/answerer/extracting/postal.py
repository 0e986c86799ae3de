"""Finds postal addresses in lines of text, and names their parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from actors.answerer.extracting.evidence import Pair
from actors.answerer.extracting.lines import Line
from actors.extraction.evidence import dates
from protocol.answers import FieldOrigin

_WEIGHT = 0.82

_TOWN = r"[^\W\d_a-z][^\d,|:;]{1,40}?"
_PLACES = (
    re.compile(
        r"(?:[A-Z]{1,3}[- ])?(?P<postalcode>\d{5}|\d{4}(?: [A-Z]{2})?|\d{3} \d{2}|\d\d-\d{3})\s+"
        rf"(?P<city>{_TOWN})"
    ),
    re.compile(rf"(?P<city>{_TOWN}),? (?P<region>[A-Z]{{2}}) (?P<postalcode>\d{{5}}(?:-\d{{4}})?)"),
    re.compile(rf"(?:(?P<city>{_TOWN}),? )?(?P<postalcode>[A-Z]{{1,2}}\d[A-Z\d]? \d[A-Z]{{2}})"),
)
"""A code before a town (most of Europe), a state and a code behind it (United States), a code of the United Kingdom."""

_STREET = re.compile(
    r"(?:[^\W\d_][^\d,|:;]{2,40},?\s\d{1,4}\s?[a-zA-Z]?(?:\s?[-\u2013/]\s?\d{1,4}[a-z]?)?"
    r"|\d{1,5}[a-z]?(?:[-\u2013/]\d{1,4})?,? (?:(?:bis|ter) )?[^\W\d_][^\d,|:;]{2,40})"
)
_COMMA = re.compile(r"\s*,\s+(?![A-Z]{2} \d{5}|\d{1,4}(?:,|$))|\s+[|·•]\s+")
"""A comma, but for those before a state and between a street and its number."""

_TOWN_ALONE = re.compile(r"[^\W\d_][^\d,|:;]{1,40}")


def addresses(lines: Sequence[Line]) -> Iterator[Pair]:
    """Return the parts of the addresses that stand in lines, or in one line between commas."""
    parts = [
        (part, line.text)
        for line in lines
        if len(line.text) <= 200 and not line.cells  # noqa: PLR2004 - longer lines are prose
        for part in _COMMA.split(line.text)
    ]
    for number, (part, line) in enumerate(parts):
        bare = re.sub(r"^[^:]{1,30}:\s+", "", part).strip(" .")
        place = next((match for pattern in _PLACES if (match := pattern.fullmatch(bare))), None)
        if place is not None and not dates.day(line):
            yield from _address(place, parts[max(0, number - 2) : number], part, line)


def _address(place: re.Match[str], before: Sequence[tuple[str, str]], part: str, line: str) -> Iterator[Pair]:
    parts_of = {name: text for name, text in place.groupdict().items() if text}
    earlier = [(re.sub(r"^[^:]{1,30}:\s+", "", text).strip(" ."), of) for text, of in before]
    if "city" not in parts_of and earlier and _TOWN_ALONE.fullmatch(earlier[-1][0]):
        parts_of["city"] = earlier.pop()[0]
    street, of = next((each for each in reversed(earlier) if _STREET.fullmatch(each[0])), ("", ""))
    if not street:
        return
    quote = line if of == line else f"{street} {part}"
    for name, text in (("street", street), *parts_of.items(), ("address", f"{street}, {place[0]}")):
        yield Pair((frozenset({name}),), text, FieldOrigin.TEXT, _WEIGHT, quote=quote)

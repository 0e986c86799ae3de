"""Reads the dates that pages write, to the day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import lru_cache

from actors.extraction.assets import months

FIRST_YEAR, LAST_YEAR = 1990, 2099
"""The years in which something can have been published on the web."""

FIRST_NAMED_YEAR = 1900
"""From this year on a day is read where a page may speak of any: of a foundation, of a birth."""

MAX_CHARS = 200
"""How much of a value is read: no written date is longer."""

_YEAR = r"(?:19|20)\d\d"
_MONTH = r"[^\W\d_]{3,14}"
_OF = r"[\s,./-]{0,3}(?:(?:de|del|of|d')\s{0,2})?"
_TIME = r"(?:\d{1,2}:\d\d(?::\d\d)?\s{1,2}(?:[A-Z]{3,4}\s|[+-]\d{4}\s)?)?"
_THEN = r"(?:\s?,\s?|\s{1,3}|/|\.\s)"
_FORMS = (
    rf"(?<!\d)(?P<y1>{_YEAR})(?P<s1>[-/.\u2010\u2011\u2013])\s?(?P<m1>\d\d?)(?P=s1)\s?(?P<d1>\d\d?)(?!\d)",
    rf"(?<!\d)(?P<y2>{_YEAR})\s?[年년]\s?(?P<m2>\d\d?)\s?[月월]\s?(?P<d2>\d\d?)\s?[日일]",
    rf"(?<!\d)(?P<d3>\d\d?)(?:st|nd|rd|th|er|º|ª)?{_OF}\b(?P<m3>{_MONTH})\b\.?,?{_OF}(?P<y3>{_YEAR})(?!\d)",
    rf"\b(?P<m4>{_MONTH})\b\.?[\s/-]{{0,3}}(?P<d4>\d\d?)(?:st|nd|rd|th)?{_THEN}{_TIME}(?P<y4>{_YEAR})(?!\d)",
    rf"(?<!\d)(?P<y5>{_YEAR})[\s.,/-]{{1,3}}(?P<m5>{_MONTH})\b[\s.,/-]{{1,3}}(?P<d5>\d\d?)(?!\d)",
    rf"(?<![\d.])(?P<a6>\d\d?)(?P<s6>[./-])\s?(?P<b6>\d\d?)(?P=s6)\s?(?P<y6>{_YEAR})(?!\d)",
    r"(?<![\d.,/$€£-])(?P<a7>\d\d?)(?P<s7>[./])(?P<b7>\d\d?)(?P=s7)(?P<y7>\d\d)(?![\d.,/%-])",
    rf"(?<!\d)(?P<y8>{_YEAR})(?P<m8>0[1-9]|1[0-2])(?P<d8>0[1-9]|[12]\d|3[01])(?!\d)",
)
_WRITTEN = re.compile("|".join(_FORMS), re.IGNORECASE)
HINT = re.compile(r"\d(?:(?<=1)9\d\d|(?<=2)0\d\d|[./]\s?\d\d?[./]\s?\d\d)")
"""What no written date is without: 19.., 20.. or 1.2.34. It begins with any digit, which is quick to find."""

_REACH = 40
"""How far from its year a date may begin and end."""

_EPOCH = re.compile(r"\s*(\d{10})(?:\d{3})?(?:\.\d+)?\s*$")
_MONTH_FIRST = re.compile(r"en(?:$|[-_](?:us|ph)\b)", re.IGNORECASE)
_TWO_DIGITS_UNTIL = 70
_MONTHS_OF_A_YEAR = 12


def day(text: str, *, month_first: bool = False) -> str:
    """Return the first day that a text names, as of ISO 8601; "" for none.

    It is the day where the text was written: no offset is applied. `month_first` reads 3/4/2019 as of the Americans.
    """
    return _day(text[:MAX_CHARS], month_first=month_first)


@lru_cache(1024)
def _day(text: str, *, month_first: bool) -> str:
    if epoch := _EPOCH.match(text):
        return _checked(datetime.fromtimestamp(int(epoch[1]), UTC).date())
    return next((iso_date for _, _, iso_date in dates_in(text, month_first=month_first)), "")


def dates_in(text: str, *, month_first: bool = False, first_year: int = FIRST_YEAR) -> Iterator[tuple[int, int, str]]:
    """Return where dates stand in a text, from and to, and the day that each is; none before `first_year`."""
    done = 0
    for hint in HINT.finditer(text):
        if hint.start() < done:
            continue
        at, stop = max(done, hint.start() - _REACH), hint.end() + _REACH
        while match := _WRITTEN.search(text, at, stop):
            if iso_date := _read(match, month_first=month_first, first_year=first_year):
                done = at = match.end()
                yield match.start(), done, iso_date
            else:
                at = match.start() + 1
        done = max(done, hint.end())


def month_comes_first(language: str) -> bool:
    """Return whether a language writes 3/4/2019 for a day in March."""
    return bool(_MONTH_FIRST.match(language.strip()))


def _read(match: re.Match[str], *, month_first: bool, first_year: int) -> str:
    parts = {name[0]: value for name, value in match.groupdict().items() if value is not None}
    year = int(parts["y"])
    if len(parts["y"]) == 2:  # noqa: PLR2004 - a year of two digits
        year += 2000 if year < _TWO_DIGITS_UNTIL else 1900
        first_year = FIRST_YEAR
    if "a" in parts:
        month, number = _ordered(int(parts["a"]), int(parts["b"]), month_first=month_first and parts["s"] != ".")
    else:
        name = parts["m"].lower()
        month, number = int(name) if name.isdecimal() else months().get(name, 0), int(parts["d"])
    try:
        return _checked(date(year, month, number), first_year)
    except ValueError:
        return ""


def _ordered(first: int, second: int, *, month_first: bool) -> tuple[int, int]:
    """Return month and day of two numbers; what cannot be a month is the day."""
    if (month_first and first <= _MONTHS_OF_A_YEAR) or second > _MONTHS_OF_A_YEAR:
        return first, second
    return second, first


def _checked(checked: date, first_year: int = FIRST_YEAR) -> str:
    return checked.isoformat() if first_year <= checked.year <= LAST_YEAR else ""

"""Dates and times as goals write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Final

MONTHS: Final[Mapping[str, int]] = MappingProxyType(
    {
        name: place
        for place, names in enumerate(
            (
                "january jan januar jänner janvier enero ene", "february feb februar février fevrier febrero",
                "march mar märz mrz mars marzo", "april apr avril abril abr", "may mai mayo",
                "june jun juni juin junio", "july jul juli juillet julio", "august aug août aout agosto ago",
                "september sep sept septembre septiembre", "october oct oktober okt octobre octubre",
                "november nov novembre noviembre", "december dec dezember dez décembre diciembre dic",
            ),
            start=1,
        )
        for name in names.split()
    }
)  # fmt: skip
"""Names of months in four languages."""

_ISO: Final = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_SLASHED: Final = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_DOTTED: Final = re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b")
_NAME: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY_FIRST: Final = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+|de\s+)?({_NAME})\.?,?\s+(?:de\s+)?(\d{{4}})\b", re.IGNORECASE
)
_MONTH_FIRST: Final = re.compile(rf"\b({_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.IGNORECASE)
_TIME: Final = re.compile(r"\b(\d{1,2})[:.](\d{2})\s*([ap])?\.?(?:m\.?)?(?!\w|/|\.\d)", re.IGNORECASE)
_HOUR: Final = re.compile(r"\b(\d{1,2})\s*([ap])\.?m\b", re.IGNORECASE)
_MONTH_YEAR: Final = re.compile(rf"\b({_NAME})\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_MONTHS_OF_A_YEAR: Final = 12
_HALF_A_DAY: Final = 12


def date_in(text: str) -> date | None:
    """Return the first date in a text; slashes are read as month/day/year unless only the other way is a date."""
    if match := _ISO.search(text):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    if match := _SLASHED.search(text):
        first, second, year = int(match[1]), int(match[2]), int(match[3])
        return _day(year, second, first) if first > _MONTHS_OF_A_YEAR else _day(year, first, second)
    if match := _DOTTED.search(text):
        return _day(int(match[3]), int(match[2]), int(match[1]))
    if match := _DAY_FIRST.search(text):
        return _day(int(match[3]), MONTHS[match[2].casefold()], int(match[1]))
    if match := _MONTH_FIRST.search(text):
        return _day(int(match[3]), MONTHS[match[1].casefold()], int(match[2]))
    return None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def month_in(text: str) -> tuple[int, int] | None:
    """Return the year and the month that a calendar says it shows."""
    match = _MONTH_YEAR.search(text)
    return (int(match[2]), MONTHS[match[1].casefold()]) if match else None


def time_in(text: str) -> tuple[int, int] | None:
    """Return the first time of day in a text: hours of 24 and minutes."""
    if match := _TIME.search(text):
        hour, minute, half = int(match[1]), int(match[2]), (match[3] or "").casefold()
    elif match := _HOUR.search(text):
        hour, minute, half = int(match[1]), 0, match[2].casefold()
    else:
        return None
    if half:
        hour = hour % _HALF_A_DAY + (_HALF_A_DAY if half == "p" else 0)
    return (hour, minute) if hour < 24 and minute < 60 else None  # noqa: PLR2004 - hours and minutes of a day

"""Reads what a PDF says of itself: its title, authors and days, and how far each is to be believed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import timezone as offset_zone
from typing import NamedTuple

from actors.extraction.parse.formats.document import MAX_TITLE_CHARS, MAX_WORDS_CHARS
from actors.extraction.parse.text import one_line

_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?")
_FIRST_YEAR, _LAST_YEAR = 1990, 2099
_NO_TITLE = re.compile(
    r"untitled|unbenannt|sans titre|microsoft (?:word|powerpoint|excel) - .*|document\d*|"
    r"(?:powerpoint )?presentation\d*|(?:file|https?|about):.*|"
    r"\S+\.(?:docx?|pptx?|xlsx?|odt|tex|dvi|indd|pdf|qxd|rtf|html?)",
    re.IGNORECASE,
)
_NO_AUTHOR = re.compile(
    r"administrator|admin|user|users?\d*|root|owner|unknown|author|anonymous|default|microsoft.*|\W*", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s*(?:;|\||,? and |, (?=\w+\.? \w))\s*")
_MAX_AUTHORS = 20


class Title(NamedTuple):
    """A title, how sure it is, and whether the document itself says that it is one."""

    text: str
    score: float
    told: bool


def title(told: str, heading: str, opening: str) -> Title | None:
    """Choose between the title that the document says it has and its first heading.

    `opening` is what its first page says: a title that stands there is its title.
    """
    said = one_line(told, MAX_TITLE_CHARS)
    if said and not _NO_TITLE.fullmatch(said):
        return Title(said, 0.85 if _loose(said) in _loose(opening) else 0.6, told=True)
    shown = one_line(heading, MAX_TITLE_CHARS)
    return Title(shown, 0.6, told=False) if shown else None


def authors(told: str) -> tuple[str, ...]:
    """Return the names of the authors, without those that programs put in."""
    names = (one_line(name, MAX_WORDS_CHARS) for name in _BETWEEN.split(told[: _MAX_AUTHORS * MAX_WORDS_CHARS]))
    return tuple(dict.fromkeys(name for name in names if not _NO_AUTHOR.fullmatch(name)))[:_MAX_AUTHORS]


def day(told: str) -> str:
    """Read a date of ISO 32000-1 §7.9.4 as ISO 8601; "" for none."""
    found = _DATE.match(told.strip())
    if found is None or not _FIRST_YEAR <= int(found[1]) <= _LAST_YEAR:
        return ""
    year, month, date, hour, minute, second = (
        int(part or least) for part, least in zip(found.groups()[:6], _LEAST, strict=True)
    )
    try:
        return datetime(year, month, date, hour, minute, second, tzinfo=_zone(found)).isoformat()
    except ValueError:
        return ""


_LEAST = (0, 1, 1, 0, 0, 0)


def _zone(found: re.Match[str]) -> tzinfo | None:
    if found[7]:
        return UTC
    if not found[8]:
        return None
    offset = timedelta(hours=int(found[9]), minutes=int(found[10] or 0))
    return offset_zone(offset if found[8] == "+" else -offset)


def _loose(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())

"""Reads the text of a page as the kind of value that a schema asks for; what cannot be one is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from msgspec import Struct, structs

from actors.answerer.extracting import choices
from actors.answerer.extracting.schema import Leaf, LeafKind
from actors.answerer.extracting.words import FieldWords, NumberOf
from actors.extraction.evidence import dates, money
from actors.extraction.parse.addresses import on_the_web

MAX_TEXT_CHARS = 2_000

_LINKED = frozenset({"url", "website", "image"})
_DATE = frozenset({"date"})

NO_TIME = "the page names a day without a time: ask for format date"


class RawText(Struct, frozen=True):
    """A text as it stands: where its links lead, whether a program wrote it, and how its page writes dates."""

    text: str
    links: tuple[str, ...] = ()
    data: bool = False
    base: str = ""
    month_first: bool = False


class Value(Struct, frozen=True):
    """A value, and the part of the text that it was read from; `reason` says why it is None.

    `day` is all that is known of a moment without a time.
    """

    value: Any
    raw: str = ""
    reason: str = ""
    day: str = ""


NONE = Value(None)

EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
PHONE = re.compile(r"(?<![\w.,/-])(?:\+|\(\+?)?\d[\d\s().\u2011\u2013/-]{4,22}\d(?!\w|[.,-]\d)")
_MIN_DIALLED, _MAX_DIALLED = 6, 15
_EXTENSION = re.compile(r"\d[\d\s()./+-]{0,19}")
_ADDRESS = re.compile(r"https?://[^\s<>\"')\]]+|(?<![\w@.])(?:www\.)?(?:[\w-]+\.)+[a-z]{2,24}(?:/[^\s<>\"')\]]*)?")
_NUMBER = re.compile(r"(?<![\w.,])[-\u2212]?\d[\d.,'\u2019\u00a0\u202f]*(?: \d{3}(?!\d))*")
_YEAR = re.compile(r"(?<![\w.,])(?:1\d{3}|20\d\d|2100)(?![\d%]|[.,]\d)")
_BEFORE_YEAR = re.compile(
    r"(?:\u00a9|\(c\)|\b(?:copyright|since|seit|depuis|desde|dal|sinds|sedan))[\s:]*(?:\u00a9|\(c\))?\s*"
    r"(?:\d{4}\s?[-\u2013,]\s?)?$",
    re.IGNORECASE,
)
"""What stands before a year that says since when something is so, or whose it is: no count follows it."""

_SCALES: Mapping[str, int] = MappingProxyType(
    {"k": 10**3, "thousand": 10**3, "tsd": 10**3, "mio": 10**6, "million": 10**6, "millionen": 10**6, "millions": 10**6}
    | {"millones": 10**6, "milioni": 10**6, "mrd": 10**9, "billion": 10**9, "bn": 10**9, "万": 10**4}
    | {"milliarden": 10**9, "亿": 10**8, "億": 10**8, "萬": 10**4, "млн": 10**6, "тыс": 10**3}
)
_SCALE = re.compile(r"\s?(" + "|".join(sorted(_SCALES, key=len, reverse=True)) + r")\b\.?(?!\w|²|2)", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?<![\d.:])(?P<h>[01]?\d|2[0-4])(?:(?:[:.]|\s?h\s?)(?P<m>[0-5]\d))?(?:[:.][0-5]\d)?\s?(?P<half>[ap]\.?m\.?\b)?"
    r"(?P<word>\s?(?:Uhr|h|heures|点|時|시)\b)?(?![\d:])",
    re.IGNORECASE,
)
_PARTS = re.compile(
    r"(?P<n>\d+(?:[.,]\d+)?)\s?(?P<u>d(?:ays?)?|tage?|jours?|d[ií]as?|h(?:ours?|rs?)?|stunden?|std|heures?|horas?|ore|ora"
    r"|min(?:ut(?:e[ns]?|os|i))?s?|m|s(?:ec(?:onds?)?)?|sekunden?|小时|時間|分钟|分)\b\.?(?!\w)",
    re.IGNORECASE,
)
_ISO_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_UNITS = (
    ("d", "t", "j", timedelta(days=1)),
    ("h", "st", "o", timedelta(hours=1)),
    ("m", "min", "分", timedelta(minutes=1)),
    ("s", "sec", "sek", timedelta(seconds=1)),
)
_ASKED_UNITS = (
    ("minute", timedelta(minutes=1)),
    ("min", timedelta(minutes=1)),
    ("minuten", timedelta(minutes=1)),
    ("hour", timedelta(hours=1)),
    ("second", timedelta(seconds=1)),
    ("day", timedelta(days=1)),
)
_DURATIONS = ("prep", "cook", "totaltime", "duration")
_LATER = ("end", "max")
_BETWEEN = re.compile(
    r"[\s\w%\u00b2\u20ac$\u00a3.]{0,8}?\s?"
    r"(?:[-\u2013\u2014~\u301c]|\b(?:to|bis|\u00e0|a|al|hasta|tot|do)\b)\s?[\u20ac$\u00a3\u00a5]?\s?"
)
"""What stands between the two ends of a range: perhaps a unit, a dash or a word, perhaps a sign."""


def read_value(leaf: Leaf, field: FieldWords, given: RawText) -> Value:
    """Return the value of a text; `field` says which of two is meant (min, max, start, end) and in what unit."""
    text = " ".join(given.text.split())
    if not text and not given.links:
        return NONE
    return _READERS[leaf.kind](leaf, field, structs.replace(given, text=text))


def _text(leaf: Leaf, field: FieldWords, given: RawText) -> Value:
    text = given.text.strip(" \u00a0;,|·•")
    if field.speaks_of("email"):
        return _email(leaf, field, given)
    if field.speaks_of("phone", "fax"):
        number = phone_number(text)
        return number if number.value is not None or not _EXTENSION.fullmatch(text) else Value(text, text)
    if field.speaks_of("currency"):
        code = _currency(given)
        return code if code.value is not None or re.search(r"\d", text) else Value(text, text)
    if field.core <= _LINKED:
        return _uri(leaf, field, given)
    if not any(character.isalnum() for character in text) or len(text) > min(
        leaf.max_length or MAX_TEXT_CHARS, MAX_TEXT_CHARS
    ):
        return NONE
    is_day = field.core != _DATE or not _is_time_alone(text)
    return Value(text, text) if is_day else Value(None, text, f"the page gives a time of day alone: {text[:80]}")


def _is_time_alone(text: str) -> bool:
    """Return whether a text says a time of day, or from when to when, and no day."""
    return bool(clock_times(text)) and not any(map(str.isalnum, _CLOCK.sub("", text)))


def _number(leaf: Leaf, field: FieldWords, given: RawText) -> Value:
    if field.speaks_of(*_DURATIONS) and (lasting := _duration(field, given.text)).value is not None:
        return _checked(leaf, lasting)
    return _year(leaf, field, given) if field.number_of is NumberOf.YEAR else _count(leaf, field, given)


def _count(leaf: Leaf, field: FieldWords, given: RawText) -> Value:
    matches = [match for match in _NUMBER.finditer(given.text) if not _is_year_aside(match)]
    if not matches or _is_of_date(matches[0], given):
        return NONE
    is_range = len(matches) > 1 and _BETWEEN.fullmatch(given.text, matches[0].end(), matches[1].start()) is not None
    if is_range and not field.speaks_of("min", "max", "start", "end") and not given.data:
        return Value(None, reason=f"the page gives a range: {given.text[:80]}")
    chosen = matches[1] if is_range and field.speaks_of(*_LATER) else matches[0]
    if len(matches) > 1 and not is_range and len(given.text[: chosen.start()].split()) > 2:  # noqa: PLR2004 - a sign, a word
        return Value(None, reason=f"the page gives several numbers: {given.text[:80]}")
    number = money.number(chosen[0], "data" if given.data else "written")
    if number is None:
        return NONE
    if not given.data:
        number *= _scale(given.text, chosen) if not is_range else max(_scale(given.text, each) for each in matches[:2])
    return _checked(leaf, Value(-number if chosen[0][0] in "-\u2212" else number, chosen[0].strip()))


def _year(leaf: Leaf, field: FieldWords, given: RawText) -> Value:
    """Return the one year of a text: other numbers that stand there are days, or last so long."""
    years = list(dict.fromkeys(match[0] for match in _YEAR.finditer(given.text)))
    if len(years) > 1 and not field.speaks_of(*_LATER, "start", "min"):
        return Value(None, reason=f"the page gives several years: {given.text[:80]}")
    chosen = years[-1 if field.speaks_of(*_LATER) else 0] if years else ""
    return _checked(leaf, Value(Decimal(chosen), chosen)) if chosen else NONE


def _is_year_aside(number: re.Match[str]) -> bool:
    """Return whether a number is the year of a copyright or a beginning, or one in brackets: no count."""
    if not _YEAR.fullmatch(number[0].strip(" .,")):
        return False
    before, behind = number.string[: number.start()], number.string[number.end() :]
    in_brackets = before.endswith("(") and behind.startswith(")") and len(before) + len(behind) > len("()")
    return in_brackets or bool(_BEFORE_YEAR.search(before))


def _is_of_date(number: re.Match[str], given: RawText) -> bool:
    """Return whether a number is part of a date: no count."""
    days = _dates_in(given.text, given)
    return any(start <= number.start() < end for start, end, _ in days)


def _scale(text: str, number: re.Match[str]) -> int:
    """Return what a number is to be taken times: 3 million."""
    scale = _SCALE.match(text, number.end())
    return _SCALES[scale[1].lower()] if scale else 1


def _checked(leaf: Leaf, value: Value) -> Value:
    """Return a number as the schema wants it, None for one beyond its limits or a fraction where none may be."""
    number: Decimal = value.value
    whole = number == number.to_integral_value()
    if leaf.kind is LeafKind.INTEGER and not whole:
        return NONE
    for limit, sign, name in ((leaf.minimum, -1, "minimum"), (leaf.maximum, 1, "maximum")):
        beyond = Decimal(0) if limit is None else (number - Decimal(str(limit))) * sign
        if beyond > 0 or (beyond == 0 and name in leaf.exclusive):
            return Value(None, reason=f"{value.raw} is beyond the {name}")
    return structs.replace(value, value=int(number) if whole else float(number))


def _duration(field: FieldWords, text: str) -> Value:
    """Return a duration in the unit that the property names, minutes where it names none."""
    unit = next(
        (each for name, each in _ASKED_UNITS if field.speaks_of(name) or name in field.about), timedelta(minutes=1)
    )
    if iso := _ISO_DURATION.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in iso.groups())
        total, raw = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds), text
    else:
        parts = list(_PARTS.finditer(text))
        if not parts:
            return NONE
        total = sum((_lasting(part) for part in parts), timedelta())
        raw = text[parts[0].start() : parts[-1].end()]
    return Value(Decimal(str(total / unit)), raw)


def _lasting(part: re.Match[str]) -> timedelta:
    word = part["u"].lower()
    unit = {"小时": timedelta(hours=1), "時間": timedelta(hours=1)}.get(word) or next(
        each for *starts, each in _UNITS if word.startswith(tuple(starts))
    )
    return unit * float(part["n"].replace(",", "."))


def _date(_leaf: Leaf, field: FieldWords, given: RawText) -> Value:
    matches = _days(given)
    if not matches:
        return NONE
    raw, day = matches[-1] if field.speaks_of(*_LATER) else matches[0]
    return Value(day, raw)


def _date_time(_leaf: Leaf, field: FieldWords, given: RawText) -> Value:
    try:
        moment = datetime.fromisoformat(given.text)
    except ValueError:
        moment = None
    if moment is not None and len(given.text) > len("2026-01-01"):
        return Value(moment.isoformat(), given.text)
    matches = _days(given)
    if not matches:
        return NONE
    raw, day = matches[-1] if field.speaks_of(*_LATER) else matches[0]
    clocks = clock_times(given.text.replace(raw, " "))
    if not clocks:
        return Value(None, raw, NO_TIME, day)
    clock = clocks[-1] if field.speaks_of(*_LATER) else clocks[0]
    return Value(f"{day}T{clock}:00", given.text)


def phone_number(text: str) -> Value:
    """Return the first number to call in a text: one of as many digits as such numbers have (ITU-T E.164)."""
    for match in PHONE.finditer(text):
        number = match[0].strip()
        if _MIN_DIALLED <= sum(map(str.isdigit, number)) <= _MAX_DIALLED and number.count("(") == number.count(")"):
            return Value(number, number)
    return NONE


def clock_times(text: str) -> list[str]:
    """Return the times of day in a text, as of ISO 8601 to the minute."""
    times: list[str] = []
    for match in _CLOCK.finditer(text):
        if not (match["m"] or match["half"] or match["word"]):
            continue
        hour = int(match["h"])
        if match["half"]:
            hour = hour % 12 + (12 if match["half"][0] in "pP" else 0)
        times.append(f"{hour % 24:02}:{match['m'] or '00'}")
    return times


def _days(given: RawText) -> list[tuple[str, str]]:
    text = given.text[: dates.MAX_CHARS]
    try:
        return [(text, date.fromisoformat(text[:10]).isoformat())] if given.data else _written_days(given)
    except ValueError:
        return _written_days(given)


def _written_days(given: RawText) -> list[tuple[str, str]]:
    text = given.text[: dates.MAX_CHARS]
    text = _RANGE_OF_DAYS.sub(lambda match: f"{match['from']}{match['rest']} - {match['to']}{match['rest']}", text)
    matches = _dates_in(text, given)
    days = [(text[start:end], day) for start, end, day in matches]
    return [(raw if raw in given.text else given.text, day) for raw, day in days]


def _dates_in(text: str, given: RawText) -> Iterator[tuple[int, int, str]]:
    named_from = dates.FIRST_NAMED_YEAR
    return dates.dates_in(text[: dates.MAX_CHARS], month_first=given.month_first, first_year=named_from)


_RANGE_OF_DAYS = re.compile(
    r"(?<!\d)(?P<from>\d{1,2})\.?\s?(?:[-\u2013\u2014]|bis|to|au|al)\s?(?P<to>\d{1,2})"
    r"(?P<rest>\.?\s(?:de\s)?[^\W\d_]{3,12}\.?,?\s(?:de\s)?\d{4}|\.\d{1,2}\.\d{4})"
)
"""12-14 May 2026: both days are of one month."""


def _uri(_leaf: Leaf, _field: FieldWords, given: RawText) -> Value:
    candidates = [link for link in given.links if link.startswith(("http://", "https://"))]
    is_address = "://" in given.text or given.text.startswith("/")
    if given.data and is_address and (address := on_the_web(given.base, given.text)):
        candidates = [address]
    if not candidates and (match := _ADDRESS.search(given.text)) and "@" not in given.text[: match.start()][-1:]:
        address = match[0].rstrip(".,;:")
        candidates = [address if "://" in address else f"https://{address}"]
        return Value(candidates[0], address)
    return Value(candidates[0], given.text) if candidates else NONE


def _email(_leaf: Leaf, _field: FieldWords, given: RawText) -> Value:
    linked = next((link[7:].partition("?")[0] for link in given.links if link.startswith("mailto:")), "")
    matches = _first(EMAIL, given.text)
    return Value(linked, given.text) if linked and matches.value is None and EMAIL.fullmatch(linked) else matches


def _currency(given: RawText) -> Value:
    regions = money.regions(given.base)
    for amount in money.amounts(given.text):
        if amount.sign and (code := money.currency(amount.sign, regions)):
            return Value(code, amount.sign)
    code = money.currency(given.text, regions) if len(given.text) <= 5 else ""  # noqa: PLR2004 - the longest sign
    return Value(code, given.text) if code else NONE


def _boolean(_leaf: Leaf, _field: FieldWords, given: RawText) -> Value:
    answer = choices.truth(given.text)
    return NONE if answer is None else Value(answer, given.text)


def _choice(leaf: Leaf, field: FieldWords, given: RawText) -> Value:
    if field.speaks_of("currency") and (code := _currency(given)).value in leaf.choices:
        return code
    if (number := choices.numeric(leaf.choices)) and (match := _NUMBER.search(given.text)):
        read = money.number(match[0])
        return next((Value(each, match[0]) for each in number if read == Decimal(str(each))), NONE)
    chosen, raw = choices.chosen(leaf.choices, given.text)
    return NONE if chosen is None else Value(chosen, raw)


def _first(pattern: re.Pattern[str], text: str) -> Value:
    match = pattern.search(text)
    return Value(match[0].strip(), match[0].strip()) if match else NONE


_READERS: Mapping[LeafKind, Callable[[Leaf, FieldWords, RawText], Value]] = MappingProxyType(
    {
        LeafKind.TEXT: _text,
        LeafKind.NUMBER: _number,
        LeafKind.INTEGER: _number,
        LeafKind.BOOLEAN: _boolean,
        LeafKind.DATE: _date,
        LeafKind.DATE_TIME: _date_time,
        LeafKind.URI: _uri,
        LeafKind.EMAIL: _email,
        LeafKind.CHOICE: _choice,
    }
)

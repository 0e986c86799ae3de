"""Writes dates and times of day as pages do, in the languages whose months are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType

from protocol.patterns.mapping import Day

_MONTH_NAMES = """
en January February March April May June July August September October November December
de Januar Februar März April Mai Juni Juli August September Oktober November Dezember
fr janvier février mars avril mai juin juillet août septembre octobre novembre décembre
es enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
it gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
pt janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
nl januari februari maart april mei juni juli augustus september oktober november december
"""
_SHORT_NAMES = """
en Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec
de Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.
fr janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.
es ene feb mar abr may jun jul ago sept oct nov dic
it gen feb mar apr mag giu lug ago set ott nov dic
pt jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.
nl jan feb mrt apr mei jun jul aug sep okt nov dec
"""
_WEEKDAY_NAMES = """
en Monday Tuesday Wednesday Thursday Friday Saturday Sunday
de Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag
fr lundi mardi mercredi jeudi vendredi samedi dimanche
es lunes martes miércoles jueves viernes sábado domingo
it lunedì martedì mercoledì giovedì venerdì sabato domenica
pt segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo
nl maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
ja 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日
"""
_SHORT_WEEKDAYS = """
en Mon Tue Wed Thu Fri Sat Sun
de Mo Di Mi Do Fr Sa So
fr lun. mar. mer. jeu. ven. sam. dim.
es lun mar mié jue vie sáb dom
it lun mar mer gio ven sab dom
pt seg. ter. qua. qui. sex. sáb. dom.
nl ma di wo do vr za zo
ja 月 火 水 木 金 土 日
"""
_MONTHS, _SHORT, _WEEKDAYS, _SHORT_DAYS = (
    {name: tuple(months) for name, *months in (line.split() for line in names.strip().splitlines())}
    for names in (_MONTH_NAMES, _SHORT_NAMES, _WEEKDAY_NAMES, _SHORT_WEEKDAYS)
)

_OF_ALL = (
    *("{Y}-{mm}-{dd}", "{dd}/{mm}/{Y}", "{mm}/{dd}/{Y}", "{d}/{m}/{Y}", "{m}/{d}/{Y}", "{dd}.{mm}.{Y}", "{d}.{m}.{Y}"),
    *("{Y}/{mm}/{dd}", "{dd}-{mm}-{Y}", "{Y}年{m}月{d}日", "{Y}-{mm}-{dd}T{HH}:{MM}:{SS}{zone}"),
    *("{dd}.{mm}.", "{d}.{m}.", "{dd}/{mm}", "{dd}.{mm}.{yy}", "{m}/{d}/{yy}", "{m}月{d}日", "{Y}年{m}月", "{mm}/{Y}"),
    *("{HH}:{MM}", "{HH}:{MM}:{SS}", "{h}:{MM} {AP}", "{h}:{MM} {ap}", "{Y}"),
)
_OF_LANGUAGES = (
    *("{d} {month} {Y}", "{d}. {month} {Y}", "{month} {d}, {Y}", "{d} de {month} de {Y}", "{d} {month}", "{month} {Y}"),
    *("{d} {mon} {Y}", "{d}. {mon} {Y}", "{mon} {d}, {Y}", "{mon} {d} {Y}", "{mon} {dd}, {Y}", "{dd} {mon} {Y}"),
    *("{mon} {d}", "{dd} {month} {Y}", "{month} {dd}, {Y}", "{month}", "{mon} {Y}"),
)
_WEEKDAY_PATTERNS = ("{weekday}", "{wd}")
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"\{(\w+)\}")
_MONTH_ONLY = re.compile(r"\d{4}-\d{2}")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?")
_FIRST_SECOND, _LAST_SECOND = 946_684_800, 2_524_608_000
"""Numbers between 2000 and 2050, in seconds or ms, may be times."""


def parsed(value: object) -> datetime | None:
    """Return the time that a value of JSON says: of ISO 8601, or seconds or ms since the epoch."""
    if isinstance(value, str):
        if _MONTH_ONLY.fullmatch(value):
            value = f"{value}-01"
        elif _ISO.fullmatch(value) is None:
            return None
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1000 * _LAST_SECOND:
        for seconds in (float(value), value / 1000):
            if _FIRST_SECOND <= seconds <= _LAST_SECOND:
                return datetime.fromtimestamp(seconds, UTC)
    return None


def languages(words: frozenset[str]) -> tuple[str, ...]:
    """Return the languages whose months or days are among the words of a page."""
    return tuple(
        name
        for name in _WEEKDAYS
        if any(_WORD.findall(each)[0] in words for each in _names_of(name)) or (name == "ja" and "日" in words)
    )


def _names_of(language: str) -> tuple[str, ...]:
    months = _MONTHS.get(language, ()) + _SHORT.get(language, ())
    return months + _WEEKDAYS[language] + _SHORT_DAYS[language]


def days(spoken: Iterable[str]) -> Iterator[Day]:
    """Yield the forms that a page with words of some languages may have."""
    for pattern in _OF_ALL:
        yield Day(pattern=pattern)
    for known in spoken:
        for pattern in (*(_OF_LANGUAGES if known in _MONTHS else ()), *_WEEKDAY_PATTERNS):
            yield Day(pattern=pattern, language=known)


def formatted(time: datetime, form: Day) -> str:
    """Write a time; a name that is not known says nothing."""
    pieces = enumerate(_split(form.pattern))
    return "".join(_named(time, piece, form.language) if place % 2 else piece for place, piece in pieces)


@lru_cache(maxsize=500)
def _split(pattern: str) -> tuple[str, ...]:
    """Return the words of a pattern, and between them the names."""
    return tuple(_NAME.split(pattern))


def _named(time: datetime, name: str, language: str) -> str:
    writer = _WRITERS.get(name)
    return "" if writer is None else writer(time, language)


def _zone(time: datetime, _: str) -> str:
    zone = time.strftime("%z")
    return f"{zone[:3]}:{zone[3:]}" if zone else ""


_NOON = 12
_WRITERS: Mapping[str, Callable[[datetime, str], str]] = MappingProxyType(
    {
        "Y": lambda time, _: f"{time.year}",
        "yy": lambda time, _: f"{time.year % 100:02}",
        "m": lambda time, _: f"{time.month}",
        "mm": lambda time, _: f"{time.month:02}",
        "d": lambda time, _: f"{time.day}",
        "dd": lambda time, _: f"{time.day:02}",
        "HH": lambda time, _: f"{time.hour:02}",
        "h": lambda time, _: f"{time.hour % 12 or 12}",
        "MM": lambda time, _: f"{time.minute:02}",
        "SS": lambda time, _: f"{time.second:02}",
        "AP": lambda time, _: "AM" if time.hour < _NOON else "PM",
        "ap": lambda time, _: "am" if time.hour < _NOON else "pm",
        "zone": _zone,
        "month": lambda time, language: _MONTHS.get(language, _MONTHS["en"])[time.month - 1],
        "mon": lambda time, language: _SHORT.get(language, _SHORT["en"])[time.month - 1],
        "weekday": lambda time, language: _WEEKDAYS.get(language, _WEEKDAYS["en"])[time.weekday()],
        "wd": lambda time, language: _SHORT_DAYS.get(language, _SHORT_DAYS["en"])[time.weekday()],
    }
)

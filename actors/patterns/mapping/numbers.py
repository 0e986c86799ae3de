"""Writes numbers and prices as pages do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from types import MappingProxyType

from protocol.patterns.mapping import Compact, Duration, Number

CURRENCY_SIGNS: Mapping[str, str] = MappingProxyType(
    {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "CNY": "¥", "INR": "₹", "KRW": "₩", "BRL": "R$", "PLN": "zł"}
    | {"SEK": "kr", "NOK": "kr", "DKK": "kr", "CZK": "Kč", "TRY": "₺", "UAH": "₴", "RUB": "₽", "ILS": "₪"}
)
_PLAIN = re.compile(r"-?\d{1,12}(?:\.\d{1,6})?")
_SIGNS = (("", "."), ("", ","), (",", "."), (".", ","), (" ", ","), ("\u00a0", ","), ("\u202f", ","), ("\u2019", "."))
_GROUPED = 1000
_MOST = 10**15


def parsed(value: object) -> Decimal | None:
    """Return the number that a value of JSON is, or writes."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and _PLAIN.fullmatch(value) is None:
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number) < _MOST else None


def numbers(value: object) -> Iterator[Number]:
    """Yield the forms that a page may have for a value, if it is a number."""
    number = parsed(value)
    if number is None:
        return
    of_text = isinstance(value, str)
    whole = number == number.to_integral_value()
    for scale in (0, 2) if whole else (0,):
        for decimals in (-1, 2, 0, 1) if scale or not whole else (-1, 2, 1):
            for thousands, mark in _SIGNS:
                yield Number(scale=scale, decimals=decimals, thousands=thousands, mark=mark, of_text=of_text)


def formatted(number: Decimal, form: Number) -> str:
    """Write a number."""
    number = number.scaleb(-form.scale)
    if form.decimals >= 0:
        number = number.quantize(Decimal(1).scaleb(-min(form.decimals, 6)), ROUND_HALF_UP)
    text = f"{number:f}"
    if form.decimals < 0 and "." in text:
        text = text.rstrip("0").rstrip(".")
    whole, _, fraction = text.partition(".")
    if form.thousands and abs(number) >= _GROUPED:
        whole = f"{int(whole):,}".replace(",", form.thousands)
    return f"{whole}{form.mark}{fraction}" if fraction else whole


_POWERS = ((9, "B"), (6, "M"), (3, "K"))
_COMPACT = tuple(
    Compact(decimals=decimals, mark=mark, lower=lower, trimmed=trimmed, cut=cut, small=small)
    for decimals, trimmed in ((1, False), (1, True), (0, False))
    for mark in (".", ",")
    for lower in (False, True)
    for cut in (False, True)
    for small in (False, True)
)


def compacts(value: object) -> Iterator[Compact]:
    """Yield the short forms that a page may have for a value, if it is a number."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST:
        yield from _COMPACT


def compacted(number: Decimal, form: Compact) -> str | None:
    """Write a number in short; None for one that is too small for a form."""
    power, letter = next((each for each in _POWERS if number >= 10 ** each[0]), (0, ""))
    if not letter:
        return f"{number:f}" if form.small else None
    rounding = ROUND_DOWN if form.cut else ROUND_HALF_UP
    text = f"{number.scaleb(-power).quantize(Decimal(1).scaleb(-form.decimals), rounding):f}"
    if form.trimmed:
        text = text.rstrip("0").rstrip(".")
    return text.replace(".", form.mark) + (letter.lower() if form.lower else letter)


_ISO_DURATION = re.compile(r"P(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,7})(?:\.\d+)?S)?)?")
_UNITS = (("h", "min"), ("h", "m"), ("hr", "min"), ("Std.", "Min."), ("std", "min"), ("hours", "minutes"))
_PATTERNS = (
    *("{M}:{ss}", "{MM}:{ss}", "{h}:{mm}:{ss}", "{hh}:{mm}:{ss}", "[{h}:]{m2}:{ss}", "{hh}:{mm}", "{h}:{mm}"),
    *(f"[{{h}}{gap}{hour} ][{{m}}{gap}{minute}]" for hour, minute in _UNITS for gap in (" ", "", "\u00a0")),
    *(f"{{h}}{gap}{hour} {{m}}{gap}{minute}" for hour, minute in _UNITS for gap in (" ", "", "\u00a0")),
    *(f"{{M}}{gap}{minute}" for minute in ("min", "Min.", "m", "mins", "minutes") for gap in (" ", "")),
    *("[{h}h]{m}m", "{m}m {s}s", "[{h}h ][{m}m ][{s}s]", "[{h}時間][{m}分]", "{M}分", "[{h} h ]{mm}", "{h}h{mm}"),
)
_OPTIONAL = re.compile(r"\[([^]]*)\]")
_PART = re.compile(r"\{(\w+)\}")
_UNIT_WORDS = {pattern: frozenset(re.findall(r"[^\W\d_]+|:", _PART.sub("", pattern))) for pattern in _PATTERNS}
_LONGEST = 400 * 3600
_SECONDS: Mapping[str, Decimal] = MappingProxyType({"ms": Decimal("0.001"), "s": Decimal(1), "min": Decimal(60)})


def durations(value: object, words: frozenset[str]) -> Iterator[Duration]:
    """Yield the forms that a page with some words may have for a value, if it may be a duration."""
    for unit in ("iso",) if isinstance(value, str) else _SECONDS:
        if seconds_of(value, unit) is None:
            continue
        for pattern in _PATTERNS:
            if not words.isdisjoint(_UNIT_WORDS[pattern]):
                yield Duration(pattern=pattern, unit=unit)  # type: ignore[arg-type]  # of _SECONDS, or "iso"


def seconds_of(value: object, unit: str) -> int | None:
    """Return how many seconds a value of JSON says in a unit; None for what is no duration."""
    if unit == "iso":
        match = _ISO_DURATION.fullmatch(value) if isinstance(value, str) else None
        if match is None or not any(match.groups()):
            return None
        days, hours, minutes, seconds = (int(each or 0) for each in match.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _MOST:
        return None
    seconds = int(Decimal(str(value)) * _SECONDS[unit])
    return seconds if 0 < seconds <= _LONGEST else None


def lasting(seconds: int, form: Duration) -> str:
    """Write a duration."""
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    known = {"h": hour, "m": minute, "s": second, "M": minutes, "hh": hour, "mm": minute, "ss": second, "MM": minutes}

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name == "m2":
            return f"{minute:02}" if hour else f"{minute}"
        return f"{known[name]:02}" if len(name) > 1 else f"{known[name]}"

    def optional(match: re.Match[str]) -> str:
        names = _PART.findall(match[1])
        return match[1] if any(known.get(name) for name in names) else ""

    return _PART.sub(number, _OPTIONAL.sub(optional, form.pattern)).strip()

"""Reads amounts of money as people of many countries write them."""

# ruff: noqa: RUF001 - signs of currencies in other alphabets look like Latin letters

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

Notation = Literal["written", "data"]
"""Who wrote a number: people for people, or a program for programs, which write a decimal point."""

_NUMBER = (
    r"\d{1,2}(?:,\d{2}){1,3},\d{3}(?!\d)"
    r"|\d{1,3}(?:[.,'\u2019 \u00a0\u202f]\d{3}){1,4}(?:[.,]\d{1,4})?(?!\d)"
    r"|\d{1,10}(?:[.,]\d{1,4})?(?!\d)"
)
"""A number as India groups it, one with groups of three, one without groups."""

SIGNS: dict[str, str] = {
    "us$": "USD", "u$s": "USD", "ca$": "CAD", "c$": "CAD", "cdn$": "CAD", "au$": "AUD", "a$": "AUD", "nz$": "NZD",
    "hk$": "HKD", "s$": "SGD", "nt$": "TWD", "r$": "BRL", "mx$": "MXN", "rm": "MYR", "rp": "IDR", "€": "EUR",
    "euro": "EUR", "£": "GBP", "zł": "PLN", "kč": "CZK", "ft": "HUF", "lei": "RON", "лв": "BGN", "₽": "RUB",
    "руб": "RUB", "₴": "UAH", "грн": "UAH", "₺": "TRY", "tl": "TRY", "₹": "INR", "rs": "INR", "₩": "KRW",
    "원": "KRW", "₫": "VND", "đ": "VND", "฿": "THB", "₪": "ILS", "₱": "PHP", "₦": "NGN", "fr": "CHF", "sfr": "CHF",
    "元": "CNY", "円": "JPY", "din": "RSD", "r": "ZAR", "₸": "KZT", "₡": "CRC", "gh₵": "GHS", "ksh": "KES",
}  # fmt: skip
"""Signs of one currency, in lower case."""

CODES = frozenset(
    {
        "AED", "ARS", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CRC", "CZK", "DKK", "EGP", "EUR", "GBP",
        "GHS", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KES", "KRW", "KWD", "KZT", "LKR", "MAD", "MXN", "MYR",
        "NGN", "NOK", "NZD", "OMR", "PEN", "PHP", "PKR", "PLN", "QAR", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB",
        "TRY", "TWD", "UAH", "USD", "UYU", "VND", "ZAR",
    }
)  # fmt: skip

_DOLLARS = {
    "ar": "ARS", "au": "AUD", "ca": "CAD", "cl": "CLP", "co": "COP", "hk": "HKD", "mx": "MXN", "nz": "NZD",
    "sg": "SGD", "tw": "TWD", "uy": "UYU", "us": "USD",
}  # fmt: skip
_CROWNS = {"se": "SEK", "no": "NOK", "dk": "DKK", "is": "ISK", "sv": "SEK", "nb": "NOK", "nn": "NOK", "da": "DKK"}
_YENS = {"jp": "JPY", "ja": "JPY", "cn": "CNY", "zh": "CNY"}
_SHARED: dict[str, tuple[dict[str, str], str]] = {
    "$": (_DOLLARS, "USD"),
    "kr": (_CROWNS, "SEK"),
    "¥": (_YENS, "JPY"),
    "￥": (_YENS, "CNY"),
}
"""Signs of several currencies: by country or language, and what they mean where neither decides."""

_SOLD_EVERYWHERE = frozenset({"co", "io", "me", "tv", "ai", "us"})
"""Endings of hosts that say nothing of a country: they are sold to everyone."""

WITHOUT_CENTS = frozenset({"CLP", "JPY", "KRW", "VND", "IDR", "ISK", "HUF", "COP", "TWD", "UYU", "CRC"})
"""Currencies in which prices of shops have no decimals."""

_SIGN = (
    r"(?:[A-Za-z]{0,3}\$[sS]?|[€£¥￥₽₴₺₹₩원₫đ฿₪₱₦₸₡元円]|(?<![A-Za-z])(?:"
    + "|".join(sorted(CODES))
    + r"|zł|Kč|kč|Ft|lei|Lei|лв|руб|грн|TL|Rs|Rp|RM|kr|Kr|KR|Fr|SFr|din|euros?|EUROS?|R(?=\s?\d))(?![A-Za-z]))"
)
AMOUNT = re.compile(
    rf"(?P<before>{_SIGN})?\.?[\s\u00a0:]{{0,4}}"
    rf"(?P<number>{_NUMBER})(?:[.,][-\u2013\u2014]{{1,2}})?[\s\u00a0]{{0,4}}(?P<after>{_SIGN})?"
)
"""An amount, its sign before or after it."""

_THOUSANDS = 3


class Amount(Struct, frozen=True):
    """An amount of money; `sign` is that of the currency as it is written, "" without one."""

    value: Decimal
    sign: str = ""


def amounts(text: str) -> list[Amount]:
    """Return the amounts that a short text holds."""
    read_amounts: list[Amount] = []
    for match in AMOUNT.finditer(text):
        value = number(match["number"])
        if value is not None:
            read_amounts.append(Amount(value, (match["before"] or match["after"] or "").strip()))
    return read_amounts


def number(text: str, notation: Notation = "written", currency: str = "") -> Decimal | None:
    """Read a number whose separators may be those of any country; None for what is none.

    A single separator before three digits stands for thousands when people write, for decimals in data unless the
    currency has none.
    """
    digits = re.sub(r"[^\d.,]", "", text)
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0:
        whole, decimals = digits[:last], digits[last + 1 :]
        kinds = {character for character in digits if character in ".,"}
        alone = len(kinds) == 1 and digits.count(digits[last]) == 1
        if len(kinds) == 1 and not alone:
            thousands = True
        elif alone and len(decimals) == _THOUSANDS:
            thousands = whole not in {"", "0"} and (notation == "written" or currency in WITHOUT_CENTS)
        else:
            thousands = not decimals
        whole = re.sub(r"\D", "", whole)
        digits = whole + decimals if thousands else f"{whole or '0'}.{decimals}"
    try:
        value = Decimal(digits)
    except InvalidOperation:
        return None
    return value if value < 10**12 else None


def plain(value: Decimal) -> str:
    """Write an amount as a plain number: with two decimals, or none where they are zero."""
    if value == value.to_integral_value():
        return str(value.to_integral_value())
    return str(value.quantize(Decimal("0.01"))) if -value.as_tuple().exponent <= 4 else format(value.normalize(), "f")  # type: ignore[operator] # noqa: PLR2004


def currency(sign: str, regions: Iterable[str] = ()) -> str:
    """Return the code of a currency (ISO 4217) by its sign or code, "" for what is neither.

    `regions` are the countries and languages that the page speaks to, surest first: they tell dollars and crowns apart.
    """
    word = sign.strip().strip(".:").lower()
    if word.upper() in CODES:
        return word.upper()
    if word in SIGNS:
        return SIGNS[word]
    if word.endswith("$"):
        word = "$"
    if word.rstrip("s") == "euro":
        return "EUR"
    for shared, (by_region, default) in _SHARED.items():
        if word == shared:
            return next((by_region[region] for region in regions if region in by_region), default)
    return ""


def shares_sign(sign: str, code: str) -> bool:
    """Return whether a sign of several currencies may stand for one."""
    word = sign.strip().lower()
    by_region, _ = _SHARED.get("$" if word.endswith("$") and word not in SIGNS else word.strip("."), ({}, ""))
    return code in by_region.values()


def regions(url: str, *languages: str) -> tuple[str, ...]:
    """Return the countries and languages that a page speaks to: of its host, its path, then of what it declares."""
    try:
        parts = urlsplit(url)
        host, path = parts.hostname or "", parts.path
    except ValueError:
        host = path = ""
    codes = [tail] if (tail := host.rpartition(".")[2]) not in _SOLD_EVERYWHERE else []
    for step in path.lower().split("/")[1:3]:
        if re.fullmatch(r"[a-z]{2}(?:[-_][a-z]{2})?", step):
            codes.extend(reversed(re.split(r"[-_]", step)))
    codes.append(host.partition(".")[0])
    for language in languages:
        codes.extend(reversed(re.split(r"[-_]", language.strip().lower())[:3]))
    return tuple(dict.fromkeys(part for part in codes if len(part) == 2))  # noqa: PLR2004 - codes of ISO 3166 and 639

"""Judges whether the query of a search says something of a person that a stranger should not get (003, policy gate)."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from actors.fields.normalisation import folded, has_cjk, visible
from actors.policy.lexicons import account_words

_EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_NUMBER: Final = re.compile(r"(?<![\w.])\+?\(?\d(?:[\d\s().\-/\u2013]{0,30}\d)?(?![\w])")
_RUN: Final = re.compile(r"\d{9,}")
_DIGITS: Final = re.compile(r"\d")
_AMOUNT: Final = re.compile(r"\d{1,3}(?:([., ])\d{3})*(?:\1)000|\d{1,3}(?:[.,]\d{3})+[.,]\d{2}")
_PLACE: Final = re.compile(r"\d{1,3}\.\d{2,8}[\s,/]+\d{1,3}\.\d{2,8}")
_DATE: Final = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_YEARS: Final = re.compile(
    r"(?:1\d|20)\d\d(?:\s*[-/\u2013]\s*|\s+)(?:1\d|20)\d\d(?:(?:\s*[-/\u2013]\s*|\s+)(?:1\d|20)\d\d)*"
)
_ISBN: Final = re.compile(r"97[89][\s-]?(?:\d[\s-]?){9}\d|(?:\d[\s-]?){9}[\dx]", re.IGNORECASE)
_VERSION: Final = re.compile(
    r"(?=.*(?<!\d)\d(?!\d))\d{1,4}(?:\.\d{1,4}){2,3}|(?:(?:1?\d?\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}"
)
_PHONE_DIGITS: Final = 7
_ACCOUNT_DIGITS: Final = 4


def sensitive_query(query: str) -> str | None:
    """Return why a query is not sent unasked: an e-mail address, a phone or account number; None: it is harmless.

    The limits are those of 003: a phone number has 7 digits and more, 4 digits count beside a word of accounts, and
    9 digits in a row by themselves. ISBNs, dates, years, versions and prices are no phone numbers.
    """
    shown = visible(query)
    if _EMAIL.search(shown):
        return "it has an e-mail address"
    if _names_account(shown) and len(_DIGITS.findall(shown)) >= _ACCOUNT_DIGITS:
        return "it has a number of an account or a paper"
    numbers = [match[0].strip() for match in _NUMBER.finditer(shown)]
    named = "isbn" in shown.casefold()
    rest = [number for number in numbers if not _is_harmless(number, named=named)]
    if any(len(_DIGITS.findall(number)) >= _PHONE_DIGITS for number in rest):
        return "it has a phone number, or one as long"
    if any(_RUN.search(run) and not _is_isbn(run, named=named) for run in re.findall(r"\d+", shown)):
        return "it has nine digits in a row"
    return None


def _names_account(text: str) -> bool:
    whole, within = _words()
    words = f" {folded(text)} "
    if any(f" {word} " in words for word in whole):
        return True
    return has_cjk(words) and any(word in words for word in within)


def _is_harmless(number: str, *, named: bool) -> bool:
    """Whether it is a price, a date, a span of years, a version, a place or an ISBN with its check digit."""
    forms = (_AMOUNT, _DATE, _YEARS, _VERSION, _PLACE)
    return any(form.fullmatch(number) for form in forms) or _is_isbn(number, named=named)


def _is_isbn(number: str, *, named: bool) -> bool:
    """Whether it is an ISBN; one of ten digits, as phone numbers have, only where it is called one."""
    if not _ISBN.fullmatch(number):
        return False
    digits = [10 if one in "xX" else int(one) for one in number if one.isalnum()]
    if len(digits) == 13:  # noqa: PLR2004 - the length of an ISBN-13
        return sum(digit * (3 if at % 2 else 1) for at, digit in enumerate(digits)) % 10 == 0
    return named and sum(digit * (10 - at) for at, digit in enumerate(digits)) % 11 == 0


@cache
def _words() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of accounts, folded: those between blanks, and those that stand within others."""
    words = [folded(word) for word in account_words()]
    spaced = tuple(word for word in words if not has_cjk(word))
    return spaced, tuple(word for word in words if has_cjk(word))

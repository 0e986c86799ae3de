"""Brings the spellings of a text to one form, so that they can be compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from urllib.parse import urlsplit

_WORDS = re.compile(r"[^\W_]+")
_GENERIC = frozenset(
    {"www", "com", "org", "net", "co", "uk", "de", "blog", "news", "en", "m", "gov", "edu", "io", "at", "ch"}
)


@lru_cache(1024)
def loose(text: str) -> str:
    """Return the words of a text, without case, marks and widths."""
    return " ".join(_WORDS.findall((text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()))


@lru_cache(1024)
def squeezed(text: str) -> str:
    """Return the letters and digits of a text alone, without accents."""
    return "".join(_WORDS.findall((text if text.isascii() else unicodedata.normalize("NFKD", text)).casefold()))


def host_words(url: str) -> set[str]:
    """Return the parts of a host that may name a site: "example" of www.example.com."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return set()
    return {squeezed(part) for part in host.split(".") if part not in _GENERIC and len(part) > 1}


def printable_line(text: str, most: int) -> str:
    """Return a text on one line, without marks of control, cut to `most` characters."""
    line = " ".join(text.split())
    if not line.isprintable():
        line = "".join(mark for mark in line if mark.isprintable())
    return line[:most]

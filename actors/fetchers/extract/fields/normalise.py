"""Brings the spellings of a text to one form, so that they can be compared."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

_GENERIC = frozenset({"www", "com", "org", "net", "co", "uk", "de", "blog", "news", "en", "m", "gov", "edu", "io", "at", "ch"})


def loose(text: str) -> str:
    """Give the words of a text, without case, marks and widths."""
    return " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold()))


def squeezed(text: str) -> str:
    """Give the letters and digits of a text alone, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(mark for mark in plain if mark.isalnum())


def host_words(url: str) -> set[str]:
    """Give the parts of a host that may name a site: "example" of www.example.com."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return set()
    return {squeezed(part) for part in host.split(".") if part not in _GENERIC and len(part) > 1}


def one_line(text: str, most: int) -> str:
    """Give a text on one line, without marks of control, cut to `most` characters."""
    shown = "".join(" " if mark.isspace() else mark for mark in text if mark.isprintable() or mark.isspace())
    return " ".join(shown.split())[:most]

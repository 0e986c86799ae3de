"""Shapes of addresses: what those have in common that a site makes alike."""

from __future__ import annotations

import re

import httpx2

_MAX_PARTS = 6
"""Segments of a path, and names of a query, that count for the shape."""

_SECTION = re.compile(r"[a-z]{1,20}|v\d{1,2}|[a-z]{2}[-_][A-Za-z]{2}")
"""What names a section of a site rather than one page in it: a plain word, a version, a language."""

_NUMERIC = re.compile(r"[\d.,:_-]*\d[\d.,:_-]*")
_EXTENSION = re.compile(r"(?P<stem>.+)(?P<extension>\.[A-Za-z]{1,5}\d?)")
_ROUTE = re.compile(r"!?/")
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?", re.IGNORECASE)
_LANGUAGES = frozenset(
    {"ar", "bg", "bn", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr", "ga", "gl", "he"}
    | {"hi", "hr", "hu", "id", "is", "it", "ja", "ka", "ko", "lt", "lv", "mk", "ms", "mt", "nb", "nl", "nn", "no", "pl"}
    | {"pt", "ro", "ru", "sk", "sl", "sq", "sr", "sv", "ta", "th", "tr", "uk", "ur", "vi", "zh"}
)


def address_shape(url: httpx2.URL | str) -> str:
    """Return what an address has in common with those of its site that are made alike, as `/article/{name}?page`.

    Numbers, dates, hashes, slugs and the values of a query are generalised; sections, extensions and the names of a
    query stay, and so does a route in the fragment.

    Raises:
        httpx2.InvalidURL: that is no address.
    """
    parsed = httpx2.URL(url) if isinstance(url, str) else url
    names = sorted(set(parsed.params))[:_MAX_PARTS]
    query = f"?{'&'.join(_generalized(name) for name in names)}" if names else ""
    route = f"#{_path_shape(parsed.fragment)}" if _ROUTE.match(parsed.fragment) else ""
    return f"{_path_shape(parsed.path)}{query}{route}"


def is_section(stem: str) -> bool:
    """Return whether a segment, without its extension, names a section of a site rather than one page in it."""
    return _SECTION.fullmatch(stem) is not None


def names_language(word: str) -> bool:
    """Return whether a word names a language, or one in a country: `de`, `pt-BR`."""
    return _LANGUAGE.fullmatch(word) is not None and word[:2].lower() in _LANGUAGES


def _path_shape(path: str) -> str:
    segments = [segment for segment in path.partition("?")[0].split("/") if segment.strip("!")]
    return "/" + "/".join(_generalized(segment) for segment in segments[:_MAX_PARTS])


def _generalized(name: str) -> str:
    matched = _EXTENSION.fullmatch(name)
    stem, extension = (matched["stem"], matched["extension"].lower()) if matched else (name, "")
    if is_section(stem):
        return stem.lower() + extension
    return ("{number}" if _NUMERIC.fullmatch(stem) else "{name}") + extension

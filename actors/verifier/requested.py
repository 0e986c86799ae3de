"""Reads from an address whether what looks like a stand-in is what was requested: a login, an article on 404."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from actors.verdicts.certain import LOGIN_PATH
from actors.verifier.lexicon import KINDS, HashedText, folded, phrase_book
from actors.verifier.offers import offers_at
from actors.verifier.stated import kind_of_status
from protocol.page import PageKind

_PATHS: Mapping[PageKind, re.Pattern[str]] = MappingProxyType(
    {
        PageKind.LOGIN_WALL: LOGIN_PATH,
        PageKind.MAINTENANCE: re.compile(r"/(?:maintenance|wartung\w*|status|statut|estado|stato|durum|incidents?)\b"),
        PageKind.SERVER_ERROR: re.compile(r"/(?:status|statut|estado|stato|durum|incidents?|outages?)\b"),
    }
)
_STATUS = re.compile(r"(?<!\d)[45]\d\d(?!\d)")


@lru_cache(maxsize=1_024)
def kinds_requested(url: str) -> frozenset[PageKind]:
    """Return the kinds of stand-ins that an address itself speaks of: by what such pages are called, or at its end."""
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return frozenset()
    kinds = {kind for kind, pattern in _PATHS.items() if pattern.search(path)}
    if offers_at(url):
        kinds.add(PageKind.PAYWALL)
    last = path.rstrip("/").rpartition("/")[2]
    counts, _ = phrase_book().counts(HashedText.of(folded(last.replace("_", " "))))
    kinds |= {kind for kind, count in zip(KINDS, counts.tolist(), strict=True) if count}
    if any(map(str.isalpha, last)):  # "what-404-means", not "/item/404"
        kinds |= {kind for status in _STATUS.findall(last) if (kind := kind_of_status(status))}
    return frozenset(kinds)

"""Reads from an address whether what looks like a stand-in is what was requested: a login, an article on 404."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from actors.verdicts.certain import LOGIN_PATH
from actors.verifier.lexicon import KINDS, HashedText, folded, phrase_book
from actors.verifier.offers import offers_at
from actors.verifier.stated import kind_of_status
from protocol.page import PageKind

_STATUS_PAGES = re.compile(r"/(?:status|statut|estado|stato|durum|incidents?|outages?)(?:/|$)", re.IGNORECASE)
_EXPLAINING = re.compile(
    r"/(?:docs?|documentation|help|hilfe|aide|ayuda|aiuto|ajuda|pomoc|hj[aä]lp|guides?|manual|faq|kb|wiki|glossary|api"
    r"|explainers?|foro|forum|foren|threads?|questions|t|blog)/",
    re.IGNORECASE,
)
_LONG_WORDS = 4
"""An end of so many words says what a page is about; "/404" and "/not-found" are where a site keeps its errors."""

_STATUS = re.compile(r"(?<!\d)[45]\d\d(?!\d)")


def kinds_requested(url: str) -> frozenset[PageKind]:
    """Return the kinds of stand-ins that an address itself speaks of: by what such pages are called, or at its end."""
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return frozenset()
    kinds = {PageKind.LOGIN_WALL} if LOGIN_PATH.search(path) else set[PageKind]()
    if offers_at(url):
        kinds.add(PageKind.PAYWALL)
    if _STATUS_PAGES.search(path):
        kinds |= {PageKind.SERVER_ERROR, PageKind.MAINTENANCE, PageKind.SUSPENDED}
    last = next((part for part in reversed(path.split("/")) if any(map(str.isalpha, part))), "")
    words = folded(last.replace("_", " "))
    if _EXPLAINING.search(path) or len(words.split()) >= _LONG_WORDS:
        counts, _ = phrase_book().counts(HashedText.of(words))
        kinds |= {kind for kind, count in zip(KINDS, counts.tolist(), strict=True) if count}
        kinds |= {kind for status in _STATUS.findall(last) if (kind := kind_of_status(status))}
    return frozenset(kinds)

"""Finds dates under telling keys in the scripts of a page, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable

from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_SOURCE_CHARS = 4_000_000
MAX_CLAIMS = 3

# A literal beginning lets the search skip through the source.
_PUBLISHED = re.compile(r"""ublish\w{0,14}\\{0,3}["']?\s{0,2}:\s{0,2}\\{0,3}["'](\d{4}-\d\d-\d\d)""")


def claims(page: Page) -> Iterable[Claim]:
    """Return the first days that stand under a key such as publishedAt."""
    days: dict[str, str] = {}
    for match in _PUBLISHED.finditer(page.source[:MAX_SOURCE_CHARS]):
        days.setdefault(match[1], "first" if not days else "later")
        if len(days) == MAX_CLAIMS:
            break
    for value, word in days.items():
        yield Claim(PageField.PUBLISHED, value, ClaimPlace(PlaceKind.SCRIPT, word), Source.FRAMEWORK_DATA)

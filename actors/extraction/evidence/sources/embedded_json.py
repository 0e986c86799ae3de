"""Reads what scripts say of their page: states of frameworks, data of no known one, and dates under telling keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.mappers import of_record
from actors.extraction.evidence.states import Framework
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_SOURCE_CHARS = 4_000_000
MAX_DAYS = 3

# A literal beginning lets the search skip through the source.
_PUBLISHED = re.compile(r"""ublish\w{0,14}\\{0,3}["']?\s{0,2}:\s{0,2}\\{0,3}["'](\d{4}-\d\d-\d\d)""")


def claims(page: Page) -> Iterable[Claim]:
    """Return what the records say that bear the page's title, the fullest first; what no framework made counts less."""
    for record in embedded(page).records:
        for field, value, name in of_record(record):
            if record.framework is Framework.OTHER:
                yield Claim(field, value, ClaimPlace(PlaceKind.EMBEDDED_JSON, name), Source.HEURISTIC)
            else:
                place = ClaimPlace(PlaceKind.FRAMEWORK, f"{record.framework}.{name}")
                yield Claim(field, value, place, Source.FRAMEWORK_DATA)
    yield from _days(page)


def _days(page: Page) -> Iterator[Claim]:
    """Return the first days that stand under a key such as publishedAt, wherever that is."""
    days: dict[str, str] = {}
    for match in _PUBLISHED.finditer(page.source[:MAX_SOURCE_CHARS]):
        days.setdefault(match[1], "first" if not days else "later")
        if len(days) == MAX_DAYS:
            break
    for value, word in days.items():
        yield Claim(PageField.PUBLISHED, value, ClaimPlace(PlaceKind.SCRIPT, word), Source.FRAMEWORK_DATA)

"""Finds by whom and when a page was written, as its readers see it."""

from __future__ import annotations

from collections.abc import Iterable

from actors.extraction.evidence.bylines import author_claims, called_authors
from actors.extraction.evidence.claim import Claim
from actors.extraction.evidence.date_lines import TIMES, date_claims
from actors.extraction.evidence.text_runs import sight
from actors.extraction.parse.tree import Page


def claims(page: Page) -> Iterable[Claim]:
    """Return the names and the dates that are seen, those near a title first."""
    view = sight(page)
    yield from author_claims(view, called_authors(page, view))
    yield from date_claims(view, page.root.select(TIMES))

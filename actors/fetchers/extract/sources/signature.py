"""Finds by whom and when a page was written, as its readers see it."""

from __future__ import annotations

from collections.abc import Iterable

from actors.fetchers.extract.claim import Claim
from actors.fetchers.extract.fields.bylines import author_claims, called_authors
from actors.fetchers.extract.fields.date_lines import TIMES, date_claims
from actors.fetchers.extract.fields.sight import sight
from actors.fetchers.extract.tree import Page


def claims(page: Page) -> Iterable[Claim]:
    """Give the names and the dates that are seen, those near a title first."""
    view = sight(page)
    yield from author_claims(view, called_authors(page, view))
    yield from date_claims(view, page.root.select(TIMES))

"""Remembers what was extracted from a page, for when the same bytes come again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from hashlib import blake2b

from msgspec import UNSET, structs

from actors.extraction.extraction import Extraction

_SHARE = 4
"""What an extraction is counted with: it holds the page's text as Markdown, as plain text and in parts."""


@dataclass(frozen=True)
class Page:
    """What an extraction depends on, and nothing else."""

    body: bytes
    content_type: str
    url: str
    include_html: bool

    @cached_property
    def digest(self) -> bytes:
        """Tell pages apart."""
        told = blake2b(self.body, digest_size=20)
        told.update(f"\n{self.content_type}\n{self.url}\n{self.include_html}".encode("utf-8", "replace"))
        return told.digest()


class Extracted:
    """The extractions of the last pages, bounded by the bytes of the pages that they came from."""

    def __init__(self, max_bytes: int) -> None:
        """Remember nothing of pages that are larger than an eighth of `max_bytes`."""
        self._max_bytes = max_bytes
        self._kept: OrderedDict[bytes, tuple[Extraction, int]] = OrderedDict()
        self._bytes = 0

    def get(self, page: Page, captured_at: datetime) -> Extraction | None:
        """Return what was extracted from a page, as of the time at which it was had."""
        found = self._kept.get(page.digest)
        if found is None:
            return None
        self._kept.move_to_end(page.digest)
        return as_of(found[0], captured_at)

    def keep(self, page: Page, extraction: Extraction) -> None:
        """Remember what was extracted from a page, and forget what was used least recently."""
        cost = len(page.body) * _SHARE
        if cost > self._max_bytes // 8 or page.digest in self._kept:
            return
        self._kept[page.digest] = (extraction, cost)
        self._bytes += cost
        while self._bytes > self._max_bytes:
            self._bytes -= self._kept.popitem(last=False)[1][1]


def as_of(extraction: Extraction, captured_at: datetime) -> Extraction:
    """Say of an extraction when its page was had."""
    if extraction.summary.captured_at is UNSET:
        return extraction
    return replace(extraction, summary=structs.replace(extraction.summary, captured_at=captured_at))

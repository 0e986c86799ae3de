"""A source as the answerer reads it: its Markdown, the words that citations may quote, and its parts."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from protocol.documents import ExtractedTable, PageParts


class AnswerSource(Struct, frozen=True, kw_only=True):
    """A page or a document, whole: chunks are joined in their order.

    `doc_id` is the name by which citations name it, `source_id` that of a collection's source beside it.
    """

    doc_id: str
    url: str
    title: str
    markdown: str
    source_id: str = ""
    language: str = ""
    confidence: float | None = None
    captured_at: int | None = None
    """When it was read into its collection, in ms since the epoch."""
    tables: tuple[ExtractedTable, ...] = ()
    parts: PageParts = msgspec.field(default_factory=PageParts)


class Quote(Struct, frozen=True, kw_only=True):
    """A sentence of a source: `quote` stands in the source's plain text word for word; `score` from 0 to 1."""

    doc_id: str
    quote: str
    score: float
    section: str = ""
    """The heading above it."""


class LocalAnswer(Struct, frozen=True, kw_only=True):
    """What the sources say by themselves: quotes, the most telling first (in the order of the text for a summary).

    `supported`: whether they say what was asked, `confidence` how probable that is. `value` is a short answer within
    the first quote, for questions about a date, a number or a name. `collect` says what to read next.
    """

    quotes: tuple[Quote, ...]
    supported: bool
    confidence: float
    value: str = ""
    collect: tuple[str, ...] = ()

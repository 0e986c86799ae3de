"""The context documents of LLMCP: web text as it travels, marked with how far to trust it (003 "Context documents")."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.page import Form, PageFields, RecordList, StructuredItem

NonEmpty = Annotated[str, Meta(min_length=1)]


class Signal(StrEnum):
    """What stands between a reader and the page (003)."""

    PAYWALL_OR_LOGIN = "paywall_or_login"
    CONSENT_MODAL = "consent_modal"
    CAPTCHA_OR_ROBOT_CHECK = "captcha_or_robot_check"
    OVERLAY_BLOCKING = "overlay_blocking"
    SPARSE_TEXT = "sparse_text"
    NON_TEXT_CONTENT = "non_text_content"
    CROSS_ORIGIN_IFRAME = "cross_origin_iframe"
    CLOSED_SHADOW_ROOT = "closed_shadow_root"
    VIRTUALIZED_LIST = "virtualized_list"
    INFINITE_SCROLL = "infinite_scroll"
    PDF_VIEWER = "pdf_viewer"
    URL_REDACTED = "url_redacted"
    AGE_GATE = "age_gate"
    GEO_BLOCK = "geo_block"
    SCRIPT_REQUIRED = "script_required"


class ExtractedLink(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A link of the main content: where it leads (absolute), its text, and the words around it."""

    url: str
    text: str
    context: str = ""


class ExtractedTable(Struct, frozen=True, kw_only=True, rename="camel"):
    """A data table (000 §5): one row per record, one cell per header.

    `row_count` tells how many rows it has where not all of them are given.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str | UnsetType = UNSET
    row_count: int | UnsetType = UNSET


class PageParts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page says beside its words: its fields, its other links, its forms, records and structured data.

    `left_out` counts, by kind, what the page holds but nobody is meant to see.
    """

    fields: PageFields = PageFields()
    navigation: tuple[ExtractedLink, ...] = ()
    forms: tuple[Form, ...] = ()
    lists: tuple[RecordList, ...] = ()
    structured: tuple[StructuredItem, ...] = ()
    left_out: dict[str, int] = {}


class WebObservationSummary(Struct, frozen=True, kw_only=True, tag_field="doc_type", tag="web.observation.summary.v1"):
    """One page as Markdown; what follows `signals` is added to the seed's fields."""

    url: str
    title: str
    markdown: str
    captured_at: datetime | UnsetType = UNSET
    extracted_links: tuple[ExtractedLink, ...] = ()
    signals: tuple[Signal, ...] = ()
    text: str | UnsetType = UNSET
    html: str | UnsetType = UNSET
    language: str | UnsetType = UNSET
    tables: tuple[ExtractedTable, ...] = ()
    parts: PageParts = PageParts()


class WebObservationChunk(Struct, frozen=True, kw_only=True, tag_field="doc_type", tag="web.observation.chunk.v1"):
    """One part of a long page; `chunk_index` counts from 1 to `chunk_count`."""

    url: str
    title: str
    chunk_index: Annotated[int, Meta(ge=1)]
    chunk_count: Annotated[int, Meta(ge=1)]
    markdown: str

    def __post_init__(self) -> None:
        """Refuse a chunk beyond the last."""
        if self.chunk_index > self.chunk_count:
            msg = f"chunk_index {self.chunk_index} is beyond chunk_count {self.chunk_count}"
            raise ValueError(msg)


class CollectionEntry(Struct, frozen=True, kw_only=True):
    """One line of a collection's index."""

    source_id: NonEmpty
    url: str
    title: str
    captured_at: datetime


class CollectionIndex(Struct, frozen=True, kw_only=True, tag_field="doc_type", tag="collection.index.v1"):
    """The sources of a collection, without their text."""

    collection_id: NonEmpty
    title: str
    sources: tuple[CollectionEntry, ...]


class CollectionSource(Struct, frozen=True, kw_only=True, tag_field="doc_type", tag="collection.source.v1"):
    """One captured source of a collection, whole."""

    collection_id: NonEmpty
    source_id: NonEmpty
    url: str
    title: str
    captured_at: datetime
    markdown: str
    extracted_links: tuple[ExtractedLink, ...] = ()


Content = WebObservationSummary | WebObservationChunk | CollectionIndex | CollectionSource
C = TypeVar("C", bound=Content)
Kind = Literal["web.observation.summary.v1", "web.observation.chunk.v1", "collection.index.v1", "collection.source.v1"]


class Trust(StrEnum):
    """Whether a document's words may be followed; whatever came from the web is untrusted."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Origin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The browser and tab a document was captured in."""

    browser: str | None = None
    tab_id: str | None = None


class Document(Struct, Generic[C], frozen=True, kw_only=True):
    """A piece of evidence for a model or an actor: never an instruction (003 "Robustness").

    `kind` repeats `content.doc_type`; every kind of today comes from the web, so `trust` must be `untrusted`.
    """

    doc_id: NonEmpty
    kind: Kind
    content: C
    trust: Trust
    source: Origin | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Hold the two rules of the wrapper."""
        tag = self.content.__struct_config__.tag
        if tag != self.kind:
            msg = f"kind is {self.kind}, but content.doc_type is {tag}"
            raise ValueError(msg)
        if self.trust is not Trust.UNTRUSTED:
            msg = f"a document of kind {self.kind} comes from the web, so trust must be untrusted"
            raise ValueError(msg)


def untrusted(doc_id: str, content: C, source: Origin | UnsetType = UNSET) -> Document[C]:
    """Wrap what came from the web; `source` is the browser that it was captured in."""
    kind = msgspec.convert(content.__struct_config__.tag, Kind)
    return Document(doc_id=doc_id, kind=kind, content=content, trust=Trust.UNTRUSTED, source=source)

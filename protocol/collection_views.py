"""Collections as they are listed, packed, followed, imported and asked for (003 "Collections").

Times are in ms since the epoch.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from protocol.browse import SCHEMA_VERSION, stated_version
from protocol.collections import CaptureStatus, SectionChange, SourceKind, TextStatus
from protocol.confidence import Score
from protocol.documents import Content, Document, ExtractedLink, Signal
from protocol.faults import Fault
from protocol.packets import Citation


class CollectionInfo(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A collection as it is listed."""

    id: str
    title: str
    tags: tuple[str, ...] = ()
    created_at: int
    updated_at: int
    sources: int = 0
    captured: int = 0
    failed: int = 0
    pending: int = 0
    watch_every_ms: int = 0
    watch_webhook: str = ""


class SourceInfo(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A source as it is listed; `age_ms` is how long ago it was read last."""

    id: str
    collection_id: str
    kind: SourceKind
    title: str
    url: str = ""
    status: CaptureStatus
    version: int = 0
    added_at: int
    captured_at: int | None = None
    age_ms: int | None = None
    updated_at: int
    chars: int = 0
    summary: str = ""
    language: str = ""
    confidence: Score = 0.0
    error: Fault | None = None
    changes: tuple[SectionChange, ...] = ()
    truncated: bool = False
    changed_at: int | None = None
    """When its newest version was read first."""
    job_id: str = ""
    """The capture that is under way, where there is one."""


class SourceContent(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A source whole."""

    info: SourceInfo
    markdown: str
    links: tuple[ExtractedLink, ...] = ()
    signals: tuple[Signal, ...] = ()
    content_hash: str = ""
    versions: tuple[SourceVersion, ...] = ()
    schema_version: str = stated_version()


class SourceVersion(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A version of a page that is kept, and what it has changed of the one before it."""

    version: int
    captured_at: int
    content_hash: str
    chars: int
    changes: tuple[SectionChange, ...] = ()


class TextInfo(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A kept text as it is listed; `content_markdown` and `citations` where one alone is asked for."""

    id: str
    type: str
    title: str
    status: TextStatus
    collection_id: str = ""
    tags: tuple[str, ...] = ()
    created_at: int
    updated_at: int
    started_at: int | None = None
    ended_at: int | None = None
    source_ids: tuple[str, ...] = ()
    config: dict[str, Any] = {}
    served_by: str = ""
    error: Fault | None = None
    unsupported: tuple[str, ...] = ()
    why_local: str = ""
    content_markdown: str = ""
    citations: tuple[Citation, ...] = ()


Limit = Annotated[int, Meta(ge=1, le=1_000)]
Offset = Annotated[int, Meta(ge=0, le=1_000_000)]


class ListCollections(Struct, frozen=True, kw_only=True):
    """COLLECTION_LIST: the collections of a caller, the newest first."""

    caller: str
    limit: Limit = 100
    offset: Offset = 0


class CollectionList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Collections, and how many there are.

    All of them and the texts take `kept_bytes`, of the `max_bytes` that their key may keep (0: any number).
    """

    collections: tuple[CollectionInfo, ...]
    total: int
    kept_bytes: int = 0
    max_bytes: int = 0
    schema_version: str = SCHEMA_VERSION


class AskKeptBytes(Struct, frozen=True, kw_only=True):
    """COLLECTION_BYTES: what a caller keeps in collections and texts."""

    caller: str


class KeptBytes(Struct, frozen=True, kw_only=True):
    """COLLECTION_BYTES: how much that is, and how much it may be (0: any number)."""

    kept: int
    most: int


class AskCollection(Struct, frozen=True, kw_only=True):
    """COLLECTION_GET: one collection of a caller with its sources."""

    caller: str
    id: str
    limit: Limit = 1_000
    offset: Offset = 0


class CollectionView(Struct, frozen=True, kw_only=True, rename="camel"):
    """A collection and its sources, in the order in which they came."""

    collection: CollectionInfo
    sources: tuple[SourceInfo, ...]
    total: int
    schema_version: str = SCHEMA_VERSION


class AskSource(Struct, frozen=True, kw_only=True):
    """SOURCE_GET: one source of a caller, whole; `version` is the newest unless another is named."""

    caller: str
    id: str
    version: int | None = None


class ListTexts(Struct, frozen=True, kw_only=True):
    """TEXT_LIST: the texts that a caller keeps, the newest first; of one collection where it is named."""

    caller: str
    collection: str | None = None
    limit: Limit = 100
    offset: Offset = 0


class TextList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Texts, and how many there are."""

    artifacts: tuple[TextInfo, ...]
    total: int
    schema_version: str = SCHEMA_VERSION


class AskText(Struct, frozen=True, kw_only=True):
    """TEXT_GET: one text of a caller, whole."""

    caller: str
    id: str


class PackCollection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """COLLECTION_PACK: an index and the sources that suit a question best, as documents for a model (003 "Packing").

    Ranked by BM25; `max_chars` bounds them all together, and `per_source_chars` each; `leave_out` names sources that
    were given before, `only` those that alone are wanted. Without a question all sources, as far as there is room.
    """

    caller: str
    collection: str
    question: str = ""
    max_chars: Annotated[int, Meta(ge=1_000, le=800_000)] = 120_000
    per_source_chars: Annotated[int, Meta(ge=200, le=200_000)] = 12_000
    leave_out: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


class PackedSource(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """How a source was packed: whole, in its passages that suit, or not at all; and how old it is."""

    source_id: str
    score: float = 0.0
    whole: bool = False
    packed: bool = True
    captured_at: int | None = None


class PackedCollection(Struct, frozen=True, kw_only=True):
    """An index and sources as documents, the best first, and how each source was packed; `hash` of all of them."""

    documents: tuple[Document[Content], ...]
    packed: tuple[PackedSource, ...]
    hash: str


class CollectionChanged(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """COLLECTION_CHANGED: something of a collection has changed, told to whoever follows it."""

    caller: str
    collection_id: str
    event: Literal["source_added", "captured", "changed", "failed", "text", "deleted", "refreshed"]
    at: int
    source_id: str = ""
    artifact_id: str = ""
    url: str = ""
    title: str = ""
    changes: tuple[SectionChange, ...] = ()


MAX_IMPORT_BYTES: Final = 16 * 1024 * 1024
MAX_REFUSED: Final = 20
"""Addresses of an import that are named because they cannot be kept."""

ImportFormat = Literal["auto", "opml", "bookmarks", "sitemap", "feed", "csv", "list"]


class ImportSources(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """COLLECTION_IMPORT: add the addresses of a list to a collection of the caller; those there already stay."""

    caller: str
    collection: str
    data: bytes
    format: ImportFormat = "auto"


class RefusedAddress(Struct, frozen=True, kw_only=True, rename="camel"):
    """An address that cannot be kept, and why; it is cut."""

    url: str
    reason: str


class ImportedSources(Struct, frozen=True, kw_only=True, rename="camel"):
    """What has come of an import: how many addresses were read, were new, and stood there before or twice.

    `refused` names the first of those that cannot be kept, `refused_count` says how many they are.
    """

    collection_id: str
    read: int
    added: int
    known: int
    refused_count: int
    refused: tuple[RefusedAddress, ...] = ()
    schema_version: str = SCHEMA_VERSION

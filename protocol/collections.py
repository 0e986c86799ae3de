"""Collections of sources, what was captured of them, and the texts made of them (003 "Collections", "Storage").

What has happened to them are lines of one journal; everything else is read from it. Times in ms since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from protocol.browse import SCHEMA_VERSION
from protocol.confidence import Score
from protocol.documents import Content, Document, ExtractedLink, Signal
from protocol.faults import Fault
from protocol.packets import Citation

COLLECTION_PREFIX, SOURCE_PREFIX, JOB_PREFIX, ARTIFACT_PREFIX = "col_", "src_", "job_", "art_"
ID_BYTES: Final = 16

MAX_ATTEMPTS: Final = 3
MAX_SOURCES: Final = 10_000
"""Sources of a collection."""

MAX_ADDED: Final = 1_000
"""Sources of one call."""

MAX_NOTE_CHARS: Final = 200_000
MAX_CAPTURE_CHARS: Final = 200_000
CAPTURE_CHARS: Final = 24_000
"""What is kept of a page unless its capture says otherwise (003, capture)."""

MAX_LINKS: Final = 30
"""Links that are kept of a page."""

KEPT_VERSIONS: Final = 5
"""The newest versions of a page that are kept."""

CollectionId = Annotated[str, Meta(pattern=r"^col[_:][A-Za-z0-9_-]{1,86}$(?!\n)")]
SourceId = Annotated[str, Meta(pattern=r"^src[_:][A-Za-z0-9_-]{1,86}$(?!\n)")]


def own_id(given: str) -> str:
    """Return an id as we write it: clients may write a colon after its prefix."""
    prefix, colon, rest = given.partition(":")
    return f"{prefix}_{rest}" if colon else given


def capture_key(collection: str, normalized_url: str, version: int) -> str:
    """Return the key by which a capture is known while it is under way (003 `dedupe_key`)."""
    return sha256(f"capture:{collection}:{normalized_url}:{version}".encode()).hexdigest()


def transform_key(collection: str, kind: str, sources: str, config: str) -> str:
    """Return the key by which a transform is known while it is under way; `sources` and `config` are hashes."""
    return sha256(f"transform:{collection}:{kind}:{sources}:{config}".encode()).hexdigest()


class SourceKind(StrEnum):
    """What a source is."""

    URL = "url"
    NOTE = "note"


class CaptureStatus(StrEnum):
    """How a source stands: what failed keeps what it had before."""

    PENDING = "pending"
    CAPTURED = "captured"
    FAILED = "failed"


class JobStatus(StrEnum):
    """How a capture stands (003 `capture_jobs`)."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TextStatus(StrEnum):
    """How a text of ours stands (003 `artifacts`)."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


CaptureMode = Literal["auto", "article", "list"]


# -- the lines of COLLECTIONS ------------------------------------------------------------------------------------------


class _Line(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line"):
    """Something that has happened; `caller` is whose it is, `collection` where, "" where it is in none."""

    caller: str
    at: int
    collection: str = ""


class CollectionCreated(_Line, frozen=True, kw_only=True, tag="collection_created"):
    """A collection was begun, by the call `call_id`, which begins one alone."""

    title: str
    tags: tuple[str, ...] = ()
    call_id: str = ""


class CollectionWatched(_Line, frozen=True, kw_only=True, tag="collection_watched"):
    """It is refreshed every so often, or no more (0); `webhook` is the integration that is told of changes."""

    every_ms: int
    webhook: str = ""


class CollectionRefreshed(_Line, frozen=True, kw_only=True, tag="collection_refreshed"):
    """All pages of a watched collection are being read anew, in the round that began `at`, or have been (`ended`)."""

    round: int
    ended: bool = False


class CollectionDeleted(_Line, frozen=True, kw_only=True, tag="collection_deleted"):
    """It is gone, with its sources; texts made of it stay."""

    call_id: str = ""


class SourceAdded(_Line, frozen=True, kw_only=True, tag="source_added"):
    """A source came to a collection: a page by its normalized address, once a collection, or a note with its words.

    Its id follows from the collection and that address, or from the call that has brought the note.
    """

    source: str
    kind: SourceKind
    url: str = ""
    normalized_url: str = ""
    title: str = ""
    markdown: str = ""
    provenance: dict[str, Any] = {}


class SourceDeleted(_Line, frozen=True, kw_only=True, tag="source_deleted"):
    """A source is gone: this takes the place of everything that was said of it."""

    source: str
    call_id: str = ""


class CaptureQueued(_Line, frozen=True, kw_only=True, tag="capture_queued"):
    """A page is to be read: the version that it is to become, how, and by which call, if one has asked for it."""

    job: str
    source: str
    url: str
    dedupe_key: str
    version: int
    mode: CaptureMode = "auto"
    max_chars: int = CAPTURE_CHARS
    call_id: str = ""


class CaptureStarted(_Line, frozen=True, kw_only=True, tag="capture_started"):
    """A replica reads it; attempts count from 1."""

    job: str
    source: str
    attempt: int
    replica: str = ""


class SectionChange(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What has changed of a section of a page, by its heading ("" before the first)."""

    heading: str
    change: Literal["added", "removed", "changed"]
    added_lines: int = 0
    removed_lines: int = 0


class SourceCaptured(_Line, frozen=True, kw_only=True, tag="source_captured"):
    """A page was read: `version` counts from 1; where nothing has changed, `unchanged`, and `markdown` is empty."""

    job: str
    source: str
    version: int
    url: str
    title: str
    content_hash: str
    markdown: str = ""
    summary: str = ""
    links: tuple[ExtractedLink, ...] = ()
    signals: tuple[Signal, ...] = ()
    language: str = ""
    confidence: Score = 0.0
    unchanged: bool = False
    changes: tuple[SectionChange, ...] = ()
    truncated: bool = False


class CaptureFailed(_Line, frozen=True, kw_only=True, tag="capture_failed"):
    """A page was not read; `final` after the last attempt."""

    job: str
    source: str
    attempt: int
    fault: Fault
    final: bool = True


class TextAsked(_Line, frozen=True, kw_only=True, tag="text_asked"):
    """A text is to be made of a collection, or is kept as it is (`markdown`, where nothing is left to be done)."""

    artifact: str
    type: str
    title: str
    dedupe_key: str = ""
    call_id: str = ""
    config: dict[str, Any] = {}
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    local_only: bool = False
    markdown: str | None = None
    citations: tuple[Citation, ...] = ()


class TextStarted(_Line, frozen=True, kw_only=True, tag="text_started"):
    """A replica makes it."""

    artifact: str
    attempt: int
    replica: str = ""


class TextEnded(_Line, frozen=True, kw_only=True, tag="text_ended"):
    """A text is made, or came to nothing."""

    artifact: str
    status: TextStatus
    title: str = ""
    markdown: str = ""
    citations: tuple[Citation, ...] = ()
    served_by: str = ""
    fault: Fault | None = None
    unsupported: tuple[str, ...] = ()
    """What a model has said that its sentences do not bear out, and that was left out."""
    why_local: str = ""
    """Why no model has made it, where none has."""


class TextDeleted(_Line, frozen=True, kw_only=True, tag="text_deleted"):
    """A text is gone."""

    artifact: str


CollectionLine = (
    CollectionCreated
    | CollectionWatched
    | CollectionRefreshed
    | CollectionDeleted
    | SourceAdded
    | SourceDeleted
    | CaptureQueued
    | CaptureStarted
    | SourceCaptured
    | CaptureFailed
    | TextAsked
    | TextStarted
    | TextEnded
    | TextDeleted
)


def collection_topic(collection: str) -> str:
    """Name where the lines of a collection as a whole are: that it was begun, is watched, is gone."""
    return f"collection.{collection}"


def sources_topics(collection: str) -> str:
    """Match the lines of all sources of a collection."""
    return f"source.{collection}.>"


def source_topics(source: str, collection: str = "*") -> str:
    """Match all lines of a source."""
    return f"source.{collection}.{source}.>"


def added_topic(collection: str, source: str) -> str:
    """Name where is said that a source is there, or is gone."""
    return f"source.{collection}.{source}.added"


def source_topic(collection: str, source: str) -> str:
    """Name where is said how the captures of a source go on: what was read of it stands elsewhere."""
    return f"source.{collection}.{source}.state"


def version_topic(collection: str, source: str, version: int) -> str:
    """Name where a version of a page is: that of the version `KEPT_VERSIONS` before it, which makes room for it."""
    return f"source.{collection}.{source}.{version % KEPT_VERSIONS}"


def text_topic(artifact: str) -> str:
    """Name where the lines of a text are."""
    return f"text.{artifact}"


# -- work --------------------------------------------------------------------------------------------------------------


class DoCapture(Struct, frozen=True, kw_only=True):
    """CAPTURE: read a page into its source; `at` is when it was asked for."""

    job: str
    source: str
    caller: str
    collection: str
    at: int


class DoTransform(Struct, frozen=True, kw_only=True):
    """TRANSFORM: make a text of a collection; `at` is when it was put into the queue (ms since the epoch)."""

    artifact: str
    caller: str
    at: int = 0


# -- what is asked of the keeper ---------------------------------------------------------------------------------------


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
    schema_version: str = SCHEMA_VERSION


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
    """Collections, and how many there are."""

    collections: tuple[CollectionInfo, ...]
    total: int
    schema_version: str = SCHEMA_VERSION


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


def sources_hash(hashes: Iterable[str]) -> str:
    """Return the hash that sources have together, in whatever order they stand."""
    return sha256("\n".join(sorted(hashes)).encode()).hexdigest()

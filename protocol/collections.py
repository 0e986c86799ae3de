"""Collections of sources, what was captured of them, and the texts made of them (003 "Collections", "Storage").

What has happened to them are lines of one journal; everything else is read from it. Times in ms since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from protocol.actions import CHECK_TEXT
from protocol.confidence import Score
from protocol.documents import ExtractedLink, Signal
from protocol.faults import Code, Fault, FaultError, fault
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
CaptureChars = Annotated[int, Meta(ge=1, le=MAX_CAPTURE_CHARS)]
CAPTURE_CHARS: Final = 24_000
SHARED_RUNNERS: Final = 4
"""How many runners one key may keep busy with captures while others wait; what it has more waits in its line."""
"""What is kept of a page unless its capture says otherwise (003, capture)."""

MAX_LINKS: Final = 30
"""Links that are kept of a page."""

KEPT_VERSIONS: Final = 5
"""The newest versions of a page that are kept."""

CollectionId = Annotated[str, Meta(pattern=r"^col[_:][A-Za-z0-9_-]{1,86}$(?!\n)")]
SourceId = Annotated[str, Meta(pattern=r"^src[_:][A-Za-z0-9_-]{1,86}$(?!\n)")]


def unknown_text(field: str) -> FaultError:
    """Return the error that there is no kept text of the id in `field`, or it is somebody else's."""
    return FaultError(fault(Code.ARTIFACT_NOT_FOUND, "There is no such text.", field=field, actions=(CHECK_TEXT,)))


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


def sources_hash(hashes: Iterable[str]) -> str:
    """Return the hash that sources have together, in whatever order they stand."""
    return sha256("\n".join(sorted(hashes)).encode()).hexdigest()

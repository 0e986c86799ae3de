"""What is recorded of a conversation, so that it can be replayed: its packets, and what the outside world answered."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from protocol.answers import ConversationId
from protocol.browse import SCHEMA_VERSION
from protocol.faults import Fault

EntryKind = Literal["call", "event", "work", "outside"]

FORMAT: Final = 1
"""The version of what a recording's file holds."""


class RecordedEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was asked or told: a packet, as the one who sent it saw it, or something of the outside world.

    `name` is the subject of a packet, or what was asked of the outside; `sender` is `actor/replica`. `at_us` is since
    the epoch. `request` is the packet in JSON, or what was asked; `response` is what came of it, unless that is
    `fault`. What was read with a login is `withheld`.
    """

    kind: EntryKind
    name: str
    sender: str
    at_us: int
    took_us: int = 0
    request: Raw
    response: Raw | UnsetType = UNSET
    fault: Fault | UnsetType = UNSET
    withheld: bool = False


class RecordedPiece(Struct, frozen=True, kw_only=True):
    """A part of what one replica has noted of a conversation: entries in JSON, packed by Zstandard and cut.

    `began_us` and `first` are of its first entry.
    """

    conversation: str
    began_us: int
    first: str
    entries: int
    blob: str
    part: int
    parts: int
    data: bytes


class RecordedBatch(Struct, frozen=True, kw_only=True):
    """What one replica has noted since the last one; `lost` entries found no room."""

    replica: str
    pieces: tuple[RecordedPiece, ...] = ()
    lost: int = 0


class AskRecording(Struct, frozen=True, kw_only=True):
    """Asks for the recording of a conversation."""

    id: ConversationId


class ListRecordings(Struct, frozen=True, kw_only=True):
    """Asks which conversations are recorded, the newest first."""

    limit: Annotated[int, Meta(ge=1, le=1_000)] = 50


class RecordingInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A recorded conversation: when it began (ms since the epoch), with which subject, and how much of it there is."""

    id: str
    began_at: int
    first: str
    entries: int
    bytes: int


class RecordingList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Recorded conversations; `recording` says whether any are recorded now."""

    recordings: tuple[RecordingInfo, ...]
    recording: bool
    schema_version: str = SCHEMA_VERSION


class ConversationRecording(Struct, frozen=True, kw_only=True, rename="camel"):
    """A recorded conversation, as a file holds it: what it takes to replay it, without its secrets.

    `settings` are those of the system that differ from the defaults; `lost` entries of its replicas found no room.
    """

    format: Annotated[int, Meta(ge=1)] = FORMAT
    id: str
    version: str
    settings: dict[str, Any]
    entries: tuple[RecordedEntry, ...]
    lost: int = 0

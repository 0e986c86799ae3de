"""The recordings of conversations: kept as they come in, found by going through a day of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Final

import structlog
from msgspec import Struct

from actors.settings import Settings
from bus.recording import read_entries
from bus.stores import JournalLog
from protocol.faults import Code, FaultError, fault
from protocol.recordings import (
    AskRecording,
    ConversationRecording,
    ListRecordings,
    RecordedBatch,
    RecordedEntry,
    RecordedPiece,
    RecordingInfo,
    RecordingList,
)

log = structlog.stdlib.get_logger()

UNREADABLE: Final = "recording_unreadable"
TOPIC: Final = "batch"

MAX_BYTES: Final = 48 * 1024 * 1024
"""What the entries of one conversation may be, unpacked."""


class Recordings(Struct, frozen=True):
    """The recordings of a day."""

    journal: JournalLog[RecordedBatch]
    settings: Settings

    async def keep(self, batch: RecordedBatch) -> None:
        """Keep what a replica has noted."""
        await self.journal.append(TOPIC, batch)

    async def listed(self, request: ListRecordings) -> RecordingList:
        """Return which conversations are recorded, the newest first."""
        infos = dict[str, RecordingInfo]()
        async for line in self.journal.read():
            for piece in line.value.pieces:
                infos[piece.conversation] = _with(infos.get(piece.conversation), piece)
        newest = sorted(infos.values(), key=lambda info: -info.began_at)
        return RecordingList(recordings=tuple(newest[: request.limit]), recording=self.settings.record_conversations)

    async def get(self, request: AskRecording) -> ConversationRecording:
        """Return what was noted of a conversation, in the order of time.

        Raises:
            FaultError: VALIDATION_UNKNOWN_CONVERSATION where nothing was; CONTENT_TOO_LARGE.
        """
        blobs, lost = defaultdict[str, _Blob](_Blob), dict[str, int]()
        async for line in self.journal.read():
            batch = line.value
            lost[batch.replica] = lost.get(batch.replica, 0) + batch.lost
            for piece in batch.pieces:
                if piece.conversation == request.id:
                    blobs[piece.blob].take(piece)
        entries = self._entries(blobs)
        if not entries:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_CONVERSATION, _why(self.settings), field="id"))
        senders = {entry.sender for entry in entries}
        return ConversationRecording(
            id=request.id,
            version=metadata.version("weft"),
            settings=_changed(self.settings),
            entries=tuple(sorted(entries, key=lambda entry: entry.at_us)),
            lost=sum(count for replica, count in lost.items() if replica in senders),
        )

    def _entries(self, blobs: dict[str, _Blob]) -> list[RecordedEntry]:
        entries, room = list[RecordedEntry](), MAX_BYTES
        for blob in blobs.values():
            if not blob.whole:  # its other parts are too old, or still to come
                continue
            try:
                more = read_entries(blob.data, room)
            except (ValueError, FaultError) as error:
                log.warning(UNREADABLE, reason=str(error))
                raise FaultError(fault(Code.CONTENT_TOO_LARGE, "The recording is too large to be told.")) from None
            entries += more
            room -= sum(len(bytes(one.request)) + (len(bytes(one.response)) if one.response else 0) for one in more)
        return entries


@dataclass
class _Blob:
    parts: dict[int, bytes] = field(default_factory=dict[int, bytes])
    count: int = 0

    def take(self, piece: RecordedPiece) -> None:
        self.parts[piece.part], self.count = piece.data, piece.parts

    @property
    def whole(self) -> bool:
        return len(self.parts) == self.count

    @property
    def data(self) -> bytes:
        return b"".join(self.parts[number] for number in sorted(self.parts))


def _with(info: RecordingInfo | None, piece: RecordedPiece) -> RecordingInfo:
    """Count a piece among those of its conversation."""
    began_at, size = piece.began_us // 1_000, len(piece.data)
    if info is None:
        return RecordingInfo(
            id=piece.conversation, began_at=began_at, first=piece.first, entries=piece.entries, bytes=size
        )
    return RecordingInfo(
        id=info.id,
        began_at=min(began_at, info.began_at),
        first=piece.first if began_at < info.began_at else info.first,
        entries=info.entries + piece.entries,
        bytes=info.bytes + size,
    )


def _changed(settings: Settings) -> dict[str, Any]:
    """Return the numbers and switches that differ from the defaults: no text, which may name a place or hold a key."""
    usual = Settings()
    changed = (
        (name, value)
        for name in Settings.__struct_fields__
        if (value := getattr(settings, name)) != getattr(usual, name)
    )
    return {name: value for name, value in changed if isinstance(value, int | float)}


def _why(settings: Settings) -> str:
    if settings.record_conversations:
        return "Nothing is recorded of this conversation: recordings are kept for a day, up to 128 MB."
    return "Nothing is recorded of this conversation: set record_conversations = true, and do again what is to be seen."

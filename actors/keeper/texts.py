"""The table of the texts that callers keep: what was made of collections, and what was saved (003 "artifacts")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.projection.database import Database, Write
from actors.projection.projection import TableUpdate
from bus.seal import Seal, UnsealError
from bus.stores import JournalLine
from protocol.codec import MalformedError, decoder, encode
from protocol.collection_views import AskText, ListTexts, TextInfo, TextList
from protocol.collections import CollectionLine, TextAsked, TextDeleted, TextEnded, TextStarted, own_id, unknown_text
from protocol.faults import Code, FaultError, fault
from protocol.subjects import COLLECTIONS
from protocol.texts import KeptText, text_after

_WANTED = "SELECT texts.id, line, content FROM json_each(?) AS wanted JOIN texts ON texts.id = wanted.value"
_GONE = "DELETE FROM texts WHERE id = ?"
_KEPT = "INSERT OR IGNORE INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

_ONE = "SELECT id, content FROM texts WHERE id = ? AND caller = ?"
_OF_CALLER = "FROM texts WHERE caller = ?"
_OF_COLLECTION = "FROM texts WHERE caller = ? AND collection_id = ?"
_NEWEST = " ORDER BY line DESC LIMIT ? OFFSET ?"

_TextLine = TextAsked | TextStarted | TextEnded | TextDeleted


class TextTables(Struct, frozen=True):
    """The texts, as the lines of COLLECTIONS say: each row is what its lines come to."""

    database: Database
    seal: Seal
    clear: ClassVar[tuple[str, ...]] = ("DELETE FROM texts",)
    prune: ClassVar[tuple[str, ...]] = ()

    async def update(self, lines: Sequence[JournalLine[CollectionLine]]) -> TableUpdate:
        """Return the rows of the texts that some lines are of, and their ids."""
        fresh = [(line.sequence, line.value) for line in lines if isinstance(line.value, _TextLine)]
        ids = sorted({line.artifact for _, line in fresh})
        texts = await self._known(ids)
        for sequence, line in fresh:
            began, text = texts.get(line.artifact, (sequence, None))
            texts[line.artifact] = (began, text_after(text, line))
        rows = [self._row(began, text) for began, text in texts.values() if text is not None]
        writes: list[Write] = [(_GONE, [(name,) for name in ids]), (_KEPT, rows)]
        return TableUpdate(writes, ids)

    async def _known(self, ids: Sequence[str]) -> dict[str, tuple[int, KeptText | None]]:
        rows = await self.database.read(_WANTED, (msgspec.json.encode(ids).decode(),)) if ids else []
        return {name: (line, opened(self.database, self.seal, name, content)) for name, line, content in rows}

    def _row(self, began: int, text: KeptText) -> tuple[Any, ...]:
        info = text.info
        return (
            info.id,
            began,
            text.caller,
            info.collection_id,
            info.type,
            text.request.dedupe_key,
            info.status.value,
            info.created_at,
            info.updated_at,
            info.started_at,
            info.ended_at,
            self.seal.seal(encode(text), _place(info.id)),
        )


class TextQueries(Struct, frozen=True):
    """The queries to the table; each is answered to the caller whose texts they are."""

    database: Database
    seal: Seal

    async def page(self, request: ListTexts) -> TextList:
        """Return the texts of a caller, the newest first, without their words.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, where the file was sealed with another key; it is being replaced.
        """
        of, whose = _OF_CALLER, [request.caller]
        if request.collection is not None:
            of, whose = _OF_COLLECTION, [request.caller, own_id(request.collection)]
        rows = await self.database.read(f"SELECT id, content {of}{_NEWEST}", (*whose, request.limit, request.offset))
        ((total,),) = await self.database.read(f"SELECT count(*) {of}", tuple(whose))
        return TextList(artifacts=tuple(self._listed(*row) for row in rows), total=int(total))

    async def text(self, request: AskText) -> TextInfo:
        """Return a text of a caller, whole.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND; INTERNAL_UNAVAILABLE, as above.
        """
        rows = await self.database.read(_ONE, (own_id(request.id), request.caller))
        if not rows:
            raise unknown_text("id")
        return opened(self.database, self.seal, *rows[0]).info

    def _listed(self, name: str, content: bytes) -> TextInfo:
        info = opened(self.database, self.seal, name, content).info
        return replace(info, content_markdown="", citations=())


def opened(database: Database, seal: Seal, name: str, content: bytes) -> KeptText:
    """Return a text that was kept.

    Raises:
        FaultError: INTERNAL_UNAVAILABLE, where it was sealed with another key.
    """
    try:
        text: KeptText = decoder(KeptText).decode(seal.unseal(content, _place(name)))
    except (UnsealError, MalformedError):
        database.broken = True
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None
    return text


def _place(name: str) -> str:
    return f"{COLLECTIONS.name} {name}"

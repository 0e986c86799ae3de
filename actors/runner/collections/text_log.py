"""The texts of callers in the journal of collections: read as they stand, and made once, whoever dies meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import anyio
import structlog
from msgspec import Struct, structs

from actors import redact
from actors.key_ends import key_ended
from actors.runner.collections.collection_log import CollectionLog, known_id
from actors.settings import Settings
from bus import Bus
from bus.clock import now_ms
from protocol.actions import Action
from protocol.agent import MadeText, MakeText, TransformType
from protocol.codec import encode
from protocol.collection_views import CollectionChanged, PackCollection, PackedCollection
from protocol.collections import (
    ARTIFACT_PREFIX,
    DoTransform,
    TextAsked,
    TextEnded,
    TextStarted,
    TextStatus,
    text_topic,
    unknown_text,
)
from protocol.documents import CollectionSource
from protocol.faults import Code, Fault, FaultError, fault
from protocol.packets import Citation
from protocol.subjects import COLLECTION_CHANGED, COLLECTION_PACK, MAKE_TEXT, TRANSFORM
from protocol.texts import FINAL, MAX_TEXT_CHARS, KeptText, TransformConfig, text_after

log = structlog.stdlib.get_logger()

MADE = "text_made"
NOT_MADE = "text_not_made"
UNKNOWN_TEXT = "text_unknown"
NOT_TOLD = "text_change_not_told"

MAX_TRIES: Final = 3
"""How often a text is tried, by whichever replicas."""

PACK_CHARS, SOURCE_CHARS = 480_000, 24_000
"""What is read of a collection for one text, and of each source."""

MAX_UNSUPPORTED, MAX_UNSUPPORTED_CHARS = 40, 300
MAX_LINE_BYTES: Final = 900_000
"""What a line of the journal takes, words and citations together."""

WRITTEN_MS: Final = 20_000
"""How long after it was put into the queue a text may lack its line: whoever put it there has died then."""

LOOK_S: Final = 0.03
AGAIN_MS: Final = 1_000

EMPTY: Final = "Nothing of this collection was captured yet: there is nothing to make a text of."
_ADD_SOURCES: Final = Action(
    action="add_sources", description="Add pages or notes to the collection, or wait until those that it has were read."
)
TOO_LONG: Final = "The text is too long to be kept."


class TextHistory(Struct, frozen=True):
    """A text as it stands, None where there is none, and the sequence of its last line."""

    text: KeptText | None = None
    last: int = 0


class TextLog(Struct, frozen=True):
    """The lines of texts."""

    log: CollectionLog

    async def read(self, artifact: str) -> TextHistory:
        """Return how a text stands.

        Raises:
            FaultError: the journal is away.
        """
        text, last = None, 0
        for line in await self.log.lines(text_topic(artifact)):
            text, last = text_after(text, line.value), line.sequence
        return TextHistory(text, last)

    async def of_caller(self, given: str, caller: str) -> tuple[KeptText, int]:
        """Return a text of a caller, and the sequence of its last line.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND, also for that of somebody else; the journal is away.
        """
        history = await self.read(known_id(given, ARTIFACT_PREFIX))
        if history.text is None or history.text.caller != caller:
            raise unknown_text("artifactId")
        return history.text, history.last


class Transforming(Struct, frozen=True):
    """Makes texts of collections for one replica; none is made once the key of its caller `has_ended`."""

    texts: TextLog
    bus: Bus
    settings: Settings
    has_ended: Callable[[str], bool] = lambda _: False

    async def packed(self, caller: str, collection: str, config: TransformConfig) -> PackedCollection:
        """Return what a text of a collection is made of.

        Raises:
            FaultError: VALIDATION_UNKNOWN_COLLECTION; CONTENT_EMPTY, where nothing was captured.
        """
        request = PackCollection(
            caller=caller,
            collection=collection,
            question=config.focus,
            max_chars=PACK_CHARS,
            per_source_chars=SOURCE_CHARS,
            only=config.sources,
        )
        packed = await self.bus.call(COLLECTION_PACK, request, wait_ms=self.settings.restart_grace_ms)
        if not sources_of(packed):
            raise FaultError(fault(Code.CONTENT_EMPTY, EMPTY, actions=(_ADD_SOURCES,)))
        return packed

    async def queue(self, line: TextAsked) -> KeptText:
        """Have a text made, and return it as it stands: also one that is made, or under way.

        Raises:
            FaultError: CONFIG_STORAGE_FULL; the bus is away.
        """
        while True:
            history = await self.texts.read(line.artifact)
            text = history.text
            if text is not None and text.info.status not in {TextStatus.FAILED, TextStatus.CANCELLED}:
                return text
            # First into the queue: a line without a place there would never be worked on.
            work = DoTransform(artifact=line.artifact, caller=line.caller, at=now_ms())
            await self.bus.enqueue(TRANSFORM, work, packet_id=f"{line.artifact}.{history.last}")
            await self.texts.log.append(text_topic(line.artifact), line, last=history.last)

    async def ended(self, artifact: str, patience_s: float) -> KeptText | None:
        """Wait for the end of a text, and return it as it stands then, or when the patience is over."""
        text = (await self.texts.read(artifact)).text
        with anyio.move_on_after(patience_s):
            async with self.texts.log.journal.records.signal() as wait:
                while text is not None and text.info.status not in FINAL:
                    with anyio.move_on_after(1.0):
                        await wait()
                    await anyio.sleep(LOOK_S)
                    text = (await self.texts.read(artifact)).text
        return text

    async def do(self, work: DoTransform) -> None:
        """Make a text, unless it is made.

        Raises:
            FaultError: it is to be tried again.
        """
        history = await self._queued(work)
        text = history.text
        if text is None or text.info.status in FINAL:
            return
        if self.has_ended(text.caller):
            await self._end(text, history.last, _failed(text, key_ended()))
            return
        if text.attempt >= MAX_TRIES:
            died = fault(Code.EXECUTION_ERROR, f"The processes that made the text died {text.attempt} times.")
            await self._end(text, history.last, _failed(text, died))
            return
        started = TextStarted(
            caller=text.caller,
            at=now_ms(),
            collection=text.info.collection_id,
            artifact=work.artifact,
            attempt=text.attempt + 1,
            replica=self.bus.replica,
        )
        last = await self.texts.log.append(text_topic(work.artifact), started, last=history.last)
        if last is None:
            raise FaultError(_again(fault(Code.INTERNAL_BUSY)))
        try:
            end = _completed(text, await self._made(text))
            await self.texts.log.room.take(text.caller, len(encode(end)))
        except FaultError as error:
            if error.fault.retryable and started.attempt < MAX_TRIES:
                raise FaultError(_again(error.fault)) from None
            end = _failed(text, error.fault)
        await self._end(text, last, end)

    async def _queued(self, work: DoTransform) -> TextHistory:
        """Return a text as soon as its line is written, which comes after its place in the queue."""
        while True:
            history = await self.texts.read(work.artifact)
            if history.text is not None or now_ms() - work.at > WRITTEN_MS:
                if history.text is None:
                    log.warning(UNKNOWN_TEXT, artifact=work.artifact)
                return history
            await anyio.sleep(LOOK_S)

    async def _made(self, text: KeptText) -> MadeText:
        line, kind = text.request, TransformType(text.info.type)
        config = TransformConfig(focus=str(line.config.get("focus", "")), sources=line.sources)
        packed = await self.packed(text.caller, line.collection, config)
        request = MakeText(
            type=kind,
            documents=packed.documents,
            caller=text.caller,
            config=line.config,
            local_only=line.local_only,
        )
        return await self.bus.call(MAKE_TEXT, request, wait_ms=self.settings.restart_grace_ms)

    async def _end(self, text: KeptText, last: int, line: TextEnded) -> None:
        """Write down how a text has ended, once: where somebody else has taken it over, his end counts."""
        artifact = text.info.id
        if await self.texts.log.append(text_topic(artifact), line, last=last) is None:
            return
        log.info(MADE if line.fault is None else NOT_MADE, artifact=artifact, code=line.fault and line.fault.code)
        change = CollectionChanged(
            caller=text.caller,
            collection_id=text.info.collection_id,
            event="text",
            at=line.at,
            artifact_id=artifact,
            title=line.title,
        )
        try:
            await self.bus.tell(COLLECTION_CHANGED, change)
        except FaultError as error:
            log.warning(NOT_TOLD, code=error.fault.code)


def sources_of(packed: PackedCollection) -> tuple[str, ...]:
    """Return the sources whose words were packed."""
    contents = (document.content for document in packed.documents)
    return tuple(dict.fromkeys(one.source_id for one in contents if isinstance(one, CollectionSource)))


def _completed(text: KeptText, made: MadeText) -> TextEnded:
    """Return the last line of a text.

    Raises:
        FaultError: CONTENT_TOO_LARGE, where it is too long to be kept.
    """
    markdown = made.assistant.markdown if isinstance(made.assistant.markdown, str) else ""
    end = structs.replace(
        _ended(text, TextStatus.COMPLETED),
        title=made.title,
        markdown=markdown,
        citations=tuple(map(_without_credentials, made.assistant.citations)),
        served_by=made.served_by.model or made.served_by.provider,
        why_local=made.served_by.why_local,
        unsupported=tuple(words[:MAX_UNSUPPORTED_CHARS] for words in made.unsupported[:MAX_UNSUPPORTED]),
    )
    if len(markdown) > MAX_TEXT_CHARS or len(encode(end)) > MAX_LINE_BYTES:
        raise FaultError(fault(Code.CONTENT_TOO_LARGE, TOO_LONG))
    return end


def _without_credentials(citation: Citation) -> Citation:
    return structs.replace(citation, url=redact.url(citation.url)) if isinstance(citation.url, str) else citation


def _failed(text: KeptText, why: Fault) -> TextEnded:
    return structs.replace(_ended(text, TextStatus.FAILED), fault=structs.replace(why, context=None))


def _ended(text: KeptText, status: TextStatus) -> TextEnded:
    info = text.info
    return TextEnded(
        caller=text.caller,
        at=now_ms(),
        collection=info.collection_id,
        artifact=info.id,
        status=status,
        title=info.title,
    )


def _again(why: Fault) -> Fault:
    """Return a fault by which the queue hands a text out again."""
    wait = Action(action="retry", description="The text is tried again.", suggested_delay_ms=AGAIN_MS)
    return structs.replace(why, actions=(wait,), retryable=True)


def shown(text: KeptText) -> dict[str, Any]:
    """Return what a tool answers of a text."""
    info = text.info
    payload: dict[str, Any] = {
        "artifactId": info.id,
        "type": info.type,
        "title": info.title,
        "status": info.status.value,
        "chars": len(info.content_markdown),
        "citations": len(info.citations),
    }
    return payload if not info.collection_id else {**payload, "collectionId": info.collection_id}

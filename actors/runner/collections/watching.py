"""Reads the pages of watched collections anew, again and again: what is due follows from the journal, whoever looks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import msgspec
import structlog

from actors.runner.collections.capturing import Capturing
from actors.runner.collections.history import CollectionHistory
from bus import TransportError
from bus.clock import now_ms
from bus.context import account
from bus.fairness import Account
from protocol.collection_views import AskCollection, CollectionChanged, CollectionInfo, SourceInfo
from protocol.collections import (
    MAX_SOURCES,
    CollectionCreated,
    CollectionRefreshed,
    CollectionWatched,
    SourceKind,
    collection_topic,
)
from protocol.faults import Code, FaultError
from protocol.subjects import COLLECTION_GET

log = structlog.stdlib.get_logger()

ROUND_BEGUN = "watch_round_begun"
ROUND_ENDED = "watch_round_ended"
WATCH_ENDED = "watch_of_ended_key_ended"
NOT_WATCHED = "collections_not_watched"
NOT_NOTIFIED = "watch_not_notified"

LOOK_S: Final = 15.0
"""How often a replica looks what is due."""

LONGEST_MS: Final = 6 * 3_600_000
"""After that a round is over, whatever is still to be read."""

CHANGED: Final = "collection.changed"
"""What an integration is told to do."""

MAX_TOLD: Final = 100
"""Sources that an integration is told of."""

_TOPICS: Final = "collection.*"
_PAGE: Final = 1_000
_UNITS: Final = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}

Notify = Callable[[str, str, str, dict[str, Any], str], Awaitable[object]]
"""Has an integration told something: caller, its name, the operation, the payload, and a key by which it is once."""


def every_ms(every: str | None) -> int:
    """Return what a number and a unit say, such as `12h`; 0 for nothing."""
    return 0 if every is None else int(every[:-1]) * _UNITS[every[-1]]


@dataclass
class Watching:
    """Looks after watched collections in one replica; the line that begins a round says which of them does.

    With the key of its caller a watch ends for good.
    """

    capturing: Capturing
    notify: Notify
    clock: Callable[[], int] = now_ms
    _collections: dict[str, CollectionHistory] = field(default_factory=dict[str, CollectionHistory], init=False)
    _after: int = field(default=0, init=False)

    async def run(self) -> None:
        """Look again and again."""
        while True:
            try:
                await self.look()
            except (FaultError, TransportError) as error:
                log.warning(NOT_WATCHED, reason=str(error))
            await anyio.sleep(LOOK_S)

    async def look(self) -> None:
        """Begin the rounds that are due, go on with those that are open, and end those of which nothing is left.

        Raises:
            FaultError: the journal or the keeper is away.
        """
        await self._follow()
        for name, history in list(self._collections.items()):
            if history.created is None:
                del self._collections[name]
            elif self.capturing.has_ended(history.created.caller):
                await self._end(history.created, history)
            elif history.open or self._due(history):
                await self._go_on(history.created, history)

    async def _end(self, created: CollectionCreated, history: CollectionHistory) -> None:
        """Write down that a collection is watched no more, and then that its round is over; by two looks both are."""
        if history.watched is not None and history.watched.every_ms:
            line = CollectionWatched(caller=created.caller, at=self.clock(), collection=created.collection, every_ms=0)
            topic = collection_topic(created.collection)
            if await self.capturing.log.append(topic, line, last=history.last) is not None:
                log.info(WATCH_ENDED, collection=created.collection)
        elif history.open:
            await self._write(created, history, history.round, ended=True)

    async def _follow(self) -> None:
        async with aclosing(self.capturing.log.journal.read(_TOPICS, self._after)) as lines:
            async for line in lines:
                history = self._collections.get(line.value.collection, CollectionHistory())
                self._collections[line.value.collection] = history.after(line)
                self._after = line.sequence

    def _due(self, history: CollectionHistory) -> bool:
        watched = history.watched
        if watched is None or not watched.every_ms:
            return False
        return self.clock() >= max(history.round, watched.at) + watched.every_ms

    async def _go_on(self, created: CollectionCreated, history: CollectionHistory) -> None:
        if not history.open:
            if not await self._write(created, history, self.clock(), ended=False):
                return
            await self._follow()
            history = self._collections[created.collection]
            log.info(ROUND_BEGUN, collection=created.collection, round=history.round)
        info, sources = await self._sources(created)
        left = [one for one in sources if not _is_read(one, history.round)]
        waiting = [one for one in left if one.job_id or not await self._read_already(one, history.round)]
        if waiting and self.clock() < history.round + LONGEST_MS:
            return
        info, sources = await self._sources(created)
        changed = [one for one in sources if one.version > 1 and (one.changed_at or 0) >= history.round]
        failed = [one for one in sources if one.error is not None and one.updated_at >= history.round]
        await self._tell(created, info, history.round, changed, failed)
        if await self._write(created, history, history.round, ended=True):
            log.info(ROUND_ENDED, collection=created.collection, changed=len(changed), failed=len(failed))
            await self.capturing.tell(_refreshed(created, self.clock()))

    async def _write(self, created: CollectionCreated, history: CollectionHistory, number: int, *, ended: bool) -> bool:
        """Write how a round goes on, and return False where somebody else has written meanwhile."""
        line = CollectionRefreshed(
            caller=created.caller, at=self.clock(), collection=created.collection, round=number, ended=ended
        )
        topic = collection_topic(created.collection)
        return await self.capturing.log.append(topic, line, last=history.last) is not None

    async def _sources(self, created: CollectionCreated) -> tuple[CollectionInfo, list[SourceInfo]]:
        """Return the pages of a collection, as they stand now."""
        bus, settings = self.capturing.bus, self.capturing.settings
        pages = list[SourceInfo]()
        for offset in range(0, MAX_SOURCES, _PAGE):
            query = AskCollection(caller=created.caller, id=created.collection, limit=_PAGE, offset=offset)
            view = await bus.call(COLLECTION_GET, query, wait_ms=settings.restart_grace_ms)
            pages += [one for one in view.sources if one.kind is SourceKind.URL]
            if offset + _PAGE >= view.total:
                return view.collection, pages
        raise AssertionError  # pragma: no cover - no collection has more

    async def _read_already(self, source: SourceInfo, number: int) -> bool:
        """Have a page read in a round, once, and return whether it has been."""
        history = await self.capturing.log.source(source.id, source.collection_id)
        if history.added is None:
            return True
        try:
            with account(Account(history.added.caller)):
                job, history = await self.capturing.queue(history, history.added, f"watch_{number}")
        except FaultError as error:
            if error.fault.code is Code.VALIDATION_UNKNOWN_SOURCE:  # it has been deleted meanwhile
                return True
            raise
        return job in history.ends

    async def _tell(
        self,
        created: CollectionCreated,
        info: CollectionInfo,
        number: int,
        changed: Sequence[SourceInfo],
        failed: Sequence[SourceInfo],
    ) -> None:
        """Have the integration told that is named, if there is something to tell."""
        if not info.watch_webhook or not (changed or failed):
            return
        payload = {
            "collectionId": created.collection,
            "title": info.title,
            "round": number,
            "changed": [_described(one) for one in changed[:MAX_TOLD]],
            "failed": [_described(one) for one in failed[:MAX_TOLD]],
            "changedCount": len(changed),
            "failedCount": len(failed),
        }
        try:
            await self.notify(created.caller, info.watch_webhook, CHANGED, payload, f"{created.collection}.{number}")
        except FaultError as error:
            log.warning(NOT_NOTIFIED, collection=created.collection, code=error.fault.code)


def _is_read(source: SourceInfo, number: int) -> bool:
    if source.job_id:
        return False
    return (source.captured_at or 0) >= number or (source.error is not None and source.updated_at >= number)


def _described(source: SourceInfo) -> dict[str, Any]:
    described: dict[str, Any] = {"sourceId": source.id, "url": source.url[:500], "version": source.version}
    if source.error is not None:
        return {**described, "code": source.error.code.value}
    return {**described, "title": source.title[:100], "changes": msgspec.to_builtins(source.changes[:3])}


def _refreshed(created: CollectionCreated, at: int) -> CollectionChanged:
    return CollectionChanged(
        caller=created.caller, collection_id=created.collection, event="refreshed", at=at, title=created.title
    )

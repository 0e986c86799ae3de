"""The keys that were given out, as every gateway knows them: watched over the bus, read from a local dict."""

from __future__ import annotations

import hmac
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import structlog

from actors.gateway.access import keys
from actors.gateway.access.caller import Caller, Scope
from bus import Tables
from bus.clock import now_ms
from protocol.access import KeyRecord
from protocol.faults import FaultError
from protocol.subjects import KEYS

log = structlog.stdlib.get_logger()

KEYS_NOT_WATCHED = "keys_not_watched"

RETRY_S = 1.0
"""Between two tries, while the bus is broken."""

FIRST_READ_S = 2.0
"""What reading the keys may take before the gateway serves; those that come later are heard of."""


@dataclass
class KeyStore:
    """The keys by their ids. While the bus is broken, what was known last holds."""

    clock: Callable[[], int] = now_ms
    _held: dict[str, tuple[KeyRecord, int, Caller]] = field(
        default_factory=dict[str, tuple[KeyRecord, int, Caller]], init=False, repr=False
    )

    def holder(self, text: str) -> Caller | None:
        """Tell whose key this is, if it is one that is good now."""
        name = keys.id_of(text)
        found = self._held.get(name) if name else None
        if found is None:
            return None
        record, _, who = found
        same = hmac.compare_digest(keys.digest(text), record.digest)
        return who if same and is_good(record, self.clock()) else None

    def hear(self, key: str, record: KeyRecord | None, revision: int) -> None:
        """Take in what has become of a key, unless something newer is known."""
        held = self._held.get(key)
        if held is not None and held[1] >= revision:
            return
        if record is None:
            self._held.pop(key, None)
        else:
            self._held[key] = (record, revision, holder_of(record))

    def records(self) -> list[KeyRecord]:
        """Return every key that is known."""
        return [record for record, _, _ in self._held.values()]

    @asynccontextmanager
    async def watching(self, bus: Tables) -> AsyncGenerator[None]:
        """Know the keys when the block begins, unless the bus is broken, and follow the bucket as long as it lasts."""
        with anyio.move_on_after(FIRST_READ_S):
            await self._read(bus)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, bus)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _read(self, bus: Tables) -> None:
        try:
            table = await bus.table(KEYS)
            for name in await table.names():
                if (found := await table.get(name)) is not None:
                    self.hear(found.key, found.value, found.revision)
        except (FaultError, ValueError) as error:
            log.warning(KEYS_NOT_WATCHED, error=type(error).__name__)

    async def _watch(self, bus: Tables) -> None:
        while True:
            try:
                table = await bus.table(KEYS)
                async with table.watch() as changes:
                    async for change in changes:
                        self.hear(change.key, change.value, change.revision)
            except FaultError as error:
                log.warning(KEYS_NOT_WATCHED, code=error.fault.code)
            except ValueError:  # this gateway was given no key of the sealed buckets, and never will be
                log.warning(KEYS_NOT_WATCHED, code="sealed")
                return
            await anyio.sleep(RETRY_S)


def is_good(record: KeyRecord, now_ms: int) -> bool:
    """Return whether a key lets anybody in."""
    return not record.revoked and (not record.expires or now_ms < record.expires)


def holder_of(record: KeyRecord) -> Caller:
    """Return the caller that a key stands for; what belongs to it belongs to this key alone, whatever its name."""
    known = {scope.value: scope for scope in Scope}
    return Caller(f"key-{record.id}", frozenset(known[name] for name in record.scopes if name in known))

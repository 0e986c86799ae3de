"""Stores of the HTTP cache, in the memory of a replica or shared over the bus, bounded by number and by bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from hashlib import blake2b
from typing import Protocol

import anyio
import structlog
from msgspec.structs import replace

from actors.web.cache_rules import StoredVariants
from bus import TransportError
from bus.stores import KeyValues
from bus.transport import KeyPresence
from protocol.faults import FaultError
from protocol.web import KeptAnswer, KeptAnswers

log = structlog.stdlib.get_logger()

SHARED_CACHE_AWAY = "shared_cache_away"

SHARED_BYTES = 131_072
"""Bodies up to here are shared, all variants of one key together; most pages are smaller as they travel, compressed."""

_SLOT_BYTES = 196_608
"""What one slot may take on disk: its bodies in Base64, and as much again for a few fields."""

_BUS_S = 1.0
"""How long the bus may take before a replica does without what is shared."""

STALE = -1
"""The revision of a key that must not be written any more."""

_VARIANTS = 8
_OVERHEAD_BYTES = 4_096
"""What the headers and the objects of an entry are counted with."""


class AnswerStore(Protocol):
    """Stores answers by key."""

    async def get(self, key: str, *, latest: bool = False) -> StoredVariants:
        """Return the stored answers of a key, with their bodies; `latest`: also what was stored this very moment."""
        ...

    async def put(self, key: str, variants: tuple[KeptAnswer, ...], revision: int) -> int:
        """Replace what is stored of a key and return its new revision.

        Where the key is no longer at `revision`, nothing happens and STALE is returned; at STALE nothing is written.
        """
        ...


class MemoryStore:
    """An LRU cache in memory; what is larger than a quarter of the whole is not stored."""

    def __init__(self, max_bytes: int, max_entries: int = 1_000) -> None:
        self._max_bytes = max_bytes
        self._max_entries = max_entries
        self._kept: OrderedDict[str, StoredVariants] = OrderedDict()
        self._bytes = 0
        self._revision = 0

    @property
    def size(self) -> tuple[int, int]:
        """The number of keys, and what they cost in bytes."""
        return len(self._kept), self._bytes

    async def get(self, key: str, *, latest: bool = False) -> StoredVariants:  # noqa: ARG002 - it always is
        """Return the stored answers of a key, which becomes the most recently used."""
        record = self._kept.get(key)
        if record is None:
            return StoredVariants()
        self._kept.move_to_end(key)
        return record

    async def put(self, key: str, variants: tuple[KeptAnswer, ...], revision: int) -> int:
        """Replace the stored answers of a key, and evict others where there is no room."""
        former = self._kept.get(key, StoredVariants())
        if former.revision != revision:
            return STALE
        self._drop(key)
        variants = _bounded(variants, self._max_bytes // 4)
        if variants:
            self._revision += 1
            self._kept[key] = StoredVariants(variants, self._revision)
            self._bytes += _cost(variants)
        while self._bytes > self._max_bytes or len(self._kept) > self._max_entries:
            self._drop(next(iter(self._kept)))
        return self._kept.get(key, StoredVariants()).revision

    def _drop(self, key: str) -> None:
        record = self._kept.pop(key, None)
        if record is not None:
            self._bytes -= _cost(record.variants)


class SharedStore:
    """Answers that every replica may serve, in a bucket of so many slots that it cannot outgrow `max_bytes`.

    A key overwrites whatever else is in its slot. Bodies of more than SHARED_BYTES stay in the replica that got them;
    the rest of the answer is shared, so that invalidation works everywhere. While the bus is away nothing is stored.
    What `presence` knows to be absent is not asked for: most pages are new, and a question costs as much as a hop.
    """

    def __init__(
        self,
        table: KeyValues[KeptAnswers],
        bodies: MemoryStore,
        max_bytes: int,
        presence: KeyPresence | None = None,
    ) -> None:
        self._table = table
        self._bodies = bodies
        self._slots = max(max_bytes // _SLOT_BYTES, 1)
        self._presence = presence

    async def get(self, key: str, *, latest: bool = False) -> StoredVariants:
        """Return the stored answers of a key, as far as this replica has their bodies."""
        if not latest and self._presence is not None and self._presence.absent(self._slot(key)):
            return StoredVariants()
        try:
            with anyio.fail_after(_BUS_S):
                change = await self._table.get(self._slot(key))
        except (TransportError, TimeoutError) as error:
            log.warning(SHARED_CACHE_AWAY, reason=type(error).__name__)
            return StoredVariants(revision=STALE)
        except FaultError:  # written by another version
            return StoredVariants()
        if change is None or change.value is None:
            return StoredVariants()
        if change.value.key != key:
            return StoredVariants(revision=change.revision)
        whole = [await self._whole(one) for one in change.value.variants]
        return StoredVariants(tuple(one for one in whole if one is not None), change.revision)

    async def put(self, key: str, variants: tuple[KeptAnswer, ...], revision: int) -> int:
        """Replace the stored answers of a key, and whatever else is in its slot."""
        if revision == STALE:
            return STALE
        shared = [await self._shared(one) for one in variants]
        try:
            value = KeptAnswers(key=key, variants=_bounded(shared, SHARED_BYTES))
            with anyio.fail_after(_BUS_S):
                # Where there was nothing, there may be what cannot be read: it goes, whatever its revision.
                return await self._table.put(self._slot(key), value, revision=revision or None)
        except (TransportError, TimeoutError) as error:
            log.warning(SHARED_CACHE_AWAY, reason=type(error).__name__)
            return STALE
        except ValueError:  # another replica was here in between
            return STALE

    async def _whole(self, kept: KeptAnswer) -> KeptAnswer | None:
        if kept.body is not None:
            return kept
        held = (await self._bodies.get(kept.id)).variants
        return replace(kept, body=held[0].body) if held else None

    async def _shared(self, kept: KeptAnswer) -> KeptAnswer:
        if kept.body is None or len(kept.body) <= SHARED_BYTES:
            return kept
        record = await self._bodies.get(kept.id)
        if not record.variants:
            await self._bodies.put(kept.id, (kept,), record.revision)
        return replace(kept, body=None)

    def _slot(self, key: str) -> str:
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return str(int.from_bytes(digest, "big") % self._slots)


def _bounded(variants: Iterable[KeptAnswer], max_bytes: int) -> tuple[KeptAnswer, ...]:
    """Leave out the oldest of too many or too large variants."""
    kept: list[KeptAnswer] = []
    room = max_bytes
    for one in list(variants)[: -_VARIANTS - 1 : -1]:
        room -= len(one.body or b"")
        if room < 0:
            break
        kept.append(one)
    return tuple(reversed(kept))


def _cost(variants: tuple[KeptAnswer, ...]) -> int:
    return sum(len(one.body or b"") + _OVERHEAD_BYTES for one in variants)

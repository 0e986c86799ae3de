"""Keeps answers of sites, in the memory of a replica or shared over the bus, bounded by number and by bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

import anyio
import structlog
from msgspec.structs import replace

from bus import TransportError
from bus.stores import KeyChange
from protocol.faults import FaultError
from protocol.web import KeptAnswer, KeptAnswers

log = structlog.stdlib.get_logger()

SHARED_CACHE_AWAY = "shared_cache_away"

SHARED_BYTES = 131_072
"""Bodies up to here are shared, all variants of one key together; most pages are smaller as they travel, compressed."""

_PLACE_BYTES = 196_608
"""What one place may take on disk: its bodies in Base64, and as much again for a few fields."""

_BUS_S = 1.0
"""How long the bus may take before a replica does without what is shared."""

STALE = -1
"""The revision of what is not to be written any more."""

_VARIANTS = 8
_OVERHEAD_BYTES = 4_096
"""What the headers and the objects of an entry are counted with."""


@dataclass(frozen=True)
class Record:
    """The variants of one key, the newest last, as they stand at a revision."""

    variants: tuple[KeptAnswer, ...] = ()
    revision: int = 0


class Store(Protocol):
    """Where answers are kept by key."""

    async def get(self, key: str) -> Record:
        """Return what is kept of a key, whole."""
        ...

    async def put(self, key: str, variants: tuple[KeptAnswer, ...], revision: int) -> int:
        """Replace what is kept of a key and give its new revision.

        Where it is no longer at `revision` somebody knows better: nothing happens, now or with the -1 that is given.
        """
        ...


class Shelves(Protocol):
    """What is used of the bucket HTTP_CACHE."""

    async def get(self, key: str) -> KeyChange[KeptAnswers] | None:
        """Return the value of a key with its revision, if it has one."""
        ...

    async def put(self, key: str, value: KeptAnswers, *, revision: int | None = None) -> int:
        """Set a key; ValueError when `revision` is no longer the last."""
        ...


class MemoryStore:
    """The least recently used key goes first; what is larger than a quarter of the whole is not kept."""

    def __init__(self, max_bytes: int, max_entries: int = 1_000) -> None:
        self._max_bytes = max_bytes
        self._max_entries = max_entries
        self._kept: OrderedDict[str, Record] = OrderedDict()
        self._bytes = 0
        self._revision = 0

    @property
    def size(self) -> tuple[int, int]:
        """How many keys there are, and what they cost in bytes."""
        return len(self._kept), self._bytes

    async def get(self, key: str) -> Record:
        """Return what is kept of a key, which becomes the most recently used."""
        record = self._kept.get(key)
        if record is None:
            return Record()
        self._kept.move_to_end(key)
        return record

    async def put(self, key: str, variants: tuple[KeptAnswer, ...], revision: int) -> int:
        """Replace what is kept of a key, and forget others where there is no room."""
        former = self._kept.get(key, Record())
        if former.revision != revision:
            return STALE
        self._drop(key)
        variants = _bounded(variants, self._max_bytes // 4)
        if variants:
            self._revision += 1
            self._kept[key] = Record(variants, self._revision)
            self._bytes += _cost(variants)
        while self._bytes > self._max_bytes or len(self._kept) > self._max_entries:
            self._drop(next(iter(self._kept)))
        return self._kept.get(key, Record()).revision

    def _drop(self, key: str) -> None:
        record = self._kept.pop(key, None)
        if record is not None:
            self._bytes -= _cost(record.variants)


class SharedStore:
    """Answers that every replica may give, in a bucket of so many places that it cannot outgrow `max_bytes`.

    Who comes to a place takes it. Bodies of more than SHARED_BYTES stay in the replica that got them; everybody knows
    of them, so that what makes them invalid does so everywhere. While the bus is away nothing is kept.
    """

    def __init__(self, shelves: Shelves, bodies: MemoryStore, max_bytes: int) -> None:
        self._shelves = shelves
        self._bodies = bodies
        self._places = max(max_bytes // _PLACE_BYTES, 1)

    async def get(self, key: str) -> Record:
        """Return what is kept of a key, as far as this replica has the bodies."""
        try:
            with anyio.fail_after(_BUS_S):
                found = await self._shelves.get(self._place(key))
        except (TransportError, TimeoutError) as error:
            log.warning(SHARED_CACHE_AWAY, reason=type(error).__name__)
            return Record(revision=STALE)
        except FaultError:  # written by another version
            return Record()
        if found is None or found.value is None:
            return Record()
        if found.value.key != key:
            return Record(revision=found.revision)
        whole = [await self._whole(one) for one in found.value.variants]
        return Record(tuple(one for one in whole if one is not None), found.revision)

    async def put(self, key: str, variants: tuple[KeptAnswer, ...], revision: int) -> int:
        """Replace what is kept of a key, and whatever else is in its place."""
        if revision == STALE:
            return STALE
        shared = [await self._shared(one) for one in variants]
        try:
            value = KeptAnswers(key=key, variants=_bounded(shared, SHARED_BYTES))
            with anyio.fail_after(_BUS_S):
                # Where there was nothing, there may be what cannot be read: it goes, whatever its revision.
                return await self._shelves.put(self._place(key), value, revision=revision or None)
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

    def _place(self, key: str) -> str:
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return str(int.from_bytes(digest, "big") % self._places)


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

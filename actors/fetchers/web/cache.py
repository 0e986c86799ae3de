"""Keeps answers of sites in memory, bounded by number and by bytes, for hishel to judge by RFC 9111."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass, replace
from uuid import UUID, uuid4

from hishel import AsyncBaseStorage, Entry, Headers, Request, Response

_OVERHEAD_BYTES = 4_096
"""What the headers and the objects of an entry are counted with."""


@dataclass(frozen=True)
class _Kept:
    key: str
    request: Request
    response: Response
    body: bytes

    @property
    def cost(self) -> int:
        return len(self.body) + _OVERHEAD_BYTES


class MemoryStorage(AsyncBaseStorage):
    """The least recently used entry goes first; what is larger than `max_entry_bytes` is passed on without being kept.

    Cookies are not part of what is kept: a later answer from here must not turn a session back.
    """

    def __init__(self, max_bytes: int, max_entries: int = 1_000) -> None:
        super().__init__(max_stream_size=max_bytes // 4)
        self._max_bytes = max_bytes
        self._max_entries = max_entries
        self._kept: OrderedDict[UUID, _Kept] = OrderedDict()
        self._by_key: dict[str, list[UUID]] = {}
        self._bytes = 0

    @property
    def size(self) -> tuple[int, int]:
        """How many entries there are, and what they cost in bytes."""
        return len(self._kept), self._bytes

    async def create_entry(
        self, request: Request, response: Response, key: str, *, ttl: float | None = None, tti: float | None = None
    ) -> Entry:
        """Pass the body on and keep it once it has been read whole."""
        del ttl, tti  # HTTP says how long
        entry_id = uuid4()
        stream = self._saving(entry_id, request, response, key)
        return Entry(id=entry_id, request=request, response=replace(response, stream=stream))

    async def get_entries(self, key: str) -> list[Entry]:
        """Give the entries of a key, which become the most recently used."""
        found: list[Entry] = []
        for entry_id in self._by_key.get(key, ()):
            kept = self._kept[entry_id]
            self._kept.move_to_end(entry_id)
            response = replace(kept.response, stream=_once(kept.body))
            found.append(Entry(id=entry_id, request=kept.request, response=response))
        return found

    async def update_headers(self, id: UUID, headers: Headers) -> None:  # noqa: A002 - the signature is hishel's
        """Replace the headers of an entry that a 304 has freshened."""
        if kept := self._kept.get(id):
            self._kept[id] = replace(kept, response=replace(kept.response, headers=_without_cookies(headers)))

    async def remove_entry(self, id: UUID) -> None:  # noqa: A002 - the signature is hishel's
        """Forget an entry, if it is still there."""
        self._drop(id)

    async def _saving(self, entry_id: UUID, request: Request, response: Response, key: str) -> AsyncIterator[bytes]:
        kept: bytearray | None = bytearray()
        assert isinstance(response.stream, AsyncIterable)  # noqa: S101 - hishel's model speaks for both worlds
        async for chunk in response.stream:
            if kept is not None:
                kept += chunk
                if len(kept) > (self.max_stream_size or 0):
                    kept = None
            yield chunk
        if kept is not None:
            plain = replace(response, headers=_without_cookies(response.headers), stream=None)
            self._keep(entry_id, _Kept(key=key, request=request, response=plain, body=bytes(kept)))

    def _keep(self, entry_id: UUID, kept: _Kept) -> None:
        for former in tuple(self._by_key.get(kept.key, ())):
            if _same_variant(self._kept[former], kept):
                self._drop(former)
        self._kept[entry_id] = kept
        self._by_key.setdefault(kept.key, []).append(entry_id)
        self._bytes += kept.cost
        while self._bytes > self._max_bytes or len(self._kept) > self._max_entries:
            self._drop(next(iter(self._kept)))

    def _drop(self, entry_id: UUID) -> None:
        if kept := self._kept.pop(entry_id, None):
            self._bytes -= kept.cost
            siblings = self._by_key[kept.key]
            siblings.remove(entry_id)
            if not siblings:
                del self._by_key[kept.key]


def _same_variant(one: _Kept, other: _Kept) -> bool:
    fields = [name.strip() for name in other.response.headers.get("vary", "").split(",")]
    return all(one.request.headers.get(name) == other.request.headers.get(name) for name in fields if name)


def _without_cookies(headers: Headers) -> Headers:
    names = (name for name in headers if name.lower() != "set-cookie")
    return Headers({name: headers.get_list(name) or [] for name in names})


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body

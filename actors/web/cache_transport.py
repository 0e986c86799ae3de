"""The HTTP cache as a transport: serves stored answers by the rules of cache_rules.py, and stores new ones.

hishel's own transport is not used: it lacks what cache_rules.py adds, and its storages know no revisions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import NotRequired, TypedDict
from uuid import uuid4

import anyio
import httpx2
import structlog
from anyio.abc import TaskGroup
from msgspec.structs import replace

from actors.web import cache_rules
from actors.web.cache_rules import CacheLookup, CacheUse, StoredVariants
from actors.web.cache_store import AnswerStore
from protocol.faults import FaultError
from protocol.web import KeptAnswer

log = structlog.stdlib.get_logger()

ANSWER_NOT_STORED = "answer_not_stored"

Clock = Callable[[], float]
"""Returns the time of day in seconds since the epoch."""

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_CONDITIONS = ("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range")
"""A request with conditions of its own passes by what is kept, as Fetch has it (HTTP-network-or-cache fetch)."""

_FIRST_ERROR = 400


class Served(TypedDict):
    """Where an answer came from, as its extension `caching`; `received_at` in seconds since the epoch.

    `from_cache` means that the body was stored, though the site may have confirmed it. `received_at` is when the body
    came, or was last confirmed. Whoever has read and unpacked the whole body calls `keep`, which has it stored.
    """

    from_cache: bool
    received_at: float
    keep: NotRequired[Callable[[], None]]


class CachingTransport(httpx2.AsyncBaseTransport):
    """A cache in front of another transport; the extension `partition` of a request says whose, "" is everybody's."""

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, store: AnswerStore, clock: Clock, max_body: int, tasks: TaskGroup
    ) -> None:
        """Keep bodies of up to `max_body` bytes, written by `tasks` while their readers go on."""
        self._inner = inner
        self._store = store
        self._max_body = max_body
        self._now = clock
        self._tasks = tasks
        self._writing: dict[str, anyio.Event] = {}

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._inner.aclose()

    async def flush(self) -> None:
        """Wait until all that was had stored so far is stored."""
        for done in list(self._writing.values()):
            await done.wait()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request from the cache, from the site, or from both."""
        lookup = CacheLookup.of(request)
        if request.method not in _SAFE:
            return await self._unsafe(lookup)
        if request.method != "GET" or any(name in request.headers for name in _CONDITIONS):
            return await self._past(lookup)
        lookup.stored = await self._stored(lookup.key)
        kept = lookup.matching()
        use = (
            CacheUse.VALIDATE
            if kept is None
            else cache_rules.judge(kept, lookup.directives, self._now(), shared=lookup.shared)
        )
        if kept is not None and use is not CacheUse.VALIDATE:
            return self._kept(kept)
        if lookup.directives.only_if_cached:  # RFC 9111 §5.2.1.7
            return httpx2.Response(HTTPStatus.GATEWAY_TIMEOUT, extensions={"caching": self._served(None)})
        return await self._from_site(lookup) if kept is None else await self._validated(lookup, kept)

    async def _unsafe(self, lookup: CacheLookup) -> httpx2.Response:
        """Send an unsafe request; unless it fails, it invalidates what is stored of its address (RFC 9111 §4.4)."""
        response = await self._past(lookup)
        if HTTPStatus.OK <= response.status_code < _FIRST_ERROR:
            for key in lookup.invalidates(response):
                record = await self._stored(key, latest=True)
                if record.variants:
                    await self._store.put(key, (), record.revision)
        return response

    async def _past(self, lookup: CacheLookup) -> httpx2.Response:
        response = await self._inner.handle_async_request(lookup.request)
        response.extensions["caching"] = self._served(None)
        return response

    async def _from_site(self, lookup: CacheLookup) -> httpx2.Response:
        sent_at = self._now()
        response = await self._inner.handle_async_request(lookup.request)
        return await self._new(lookup, response, sent_at)

    async def _validated(self, lookup: CacheLookup, kept: KeptAnswer) -> httpx2.Response:
        """Validate a stored answer with the site; where that fails, it may be served all the same (RFC 5861)."""
        sent_at = self._now()
        try:
            response = await self._inner.handle_async_request(lookup.conditional(kept))
        except (httpx2.TransportError, FaultError):
            if not cache_rules.may_replace_error(kept, lookup.directives, self._now(), shared=lookup.shared):
                raise
            return self._kept(kept)
        if response.status_code == HTTPStatus.NOT_MODIFIED:
            await response.aread()
            await response.aclose()
            return await self._freshened(lookup, kept, response, sent_at)
        if response.status_code in cache_rules.ERRORS and cache_rules.may_replace_error(
            kept, lookup.directives, self._now(), shared=lookup.shared
        ):
            await response.aclose()
            return self._kept(kept)
        if response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
            # What is kept is not suitable any more (RFC 9111 §4.3.3), whether or not the new answer may be kept.
            others = tuple(one for one in lookup.stored.variants if one.id != kept.id)
            await self._put(lookup, others)
        return await self._new(lookup, response, sent_at)

    async def _freshened(
        self, lookup: CacheLookup, kept: KeptAnswer, response: httpx2.Response, sent_at: float
    ) -> httpx2.Response:
        """Freshen a stored answer by a 304 (RFC 9111 §4.3.4); a 304 for another answer is of no use."""
        now = self._now()
        headers = lookup.freshened(kept, response, now)
        others = tuple(one for one in lookup.stored.variants if one.id != kept.id)
        if headers is None:
            await self._put(lookup, others)
            return await self._from_site(lookup)
        fresh = replace(
            kept,
            headers=headers,
            received_at=now,
            initial_age=cache_rules.initial_age(response.headers, sent_at, now),
        )
        if _undated(fresh) != _undated(kept) or cache_rules.lifetime(fresh, shared=lookup.shared) > 0:
            await self._put(lookup, (*others, fresh))
        # Otherwise it is as stale as before, and nobody gains by knowing that it was confirmed.
        return self._kept(fresh)

    async def _new(self, lookup: CacheLookup, response: httpx2.Response, sent_at: float) -> httpx2.Response:
        """Pass an answer on, and have it stored once its reader says that it is whole, where it may be stored."""
        now = self._now()
        headers = lookup.storable(response, now)
        if headers is None:
            response.extensions["caching"] = Served(from_cache=False, received_at=now)
            return response
        fresh = KeptAnswer(
            id=str(uuid4()),
            status=response.status_code,
            headers=headers,
            received_at=now,
            initial_age=cache_rules.initial_age(response.headers, sent_at, now),
            vary=lookup.vary(response),
        )

        async def keep(body: bytes) -> None:
            others = tuple(one for one in lookup.stored.variants if one.vary != fresh.vary)
            await self._put(lookup, (*others, replace(fresh, body=body)))

        response.stream = saving = _Saving(response.stream, partial(self._write, lookup.key, keep), self._max_body)
        response.extensions["caching"] = Served(from_cache=False, received_at=now, keep=saving.keep)
        return response

    async def _stored(self, key: str, *, latest: bool = False) -> StoredVariants:
        """Return what is stored of a key, once what is being written there is."""
        if (done := self._writing.get(key)) is not None:
            await done.wait()
        return await self._store.get(key, latest=latest)

    def _write(self, key: str, keep: Callable[[bytes], Awaitable[None]], body: bytes) -> None:
        """Have a body stored while its reader goes on, after what is being written there."""
        former, done = self._writing.get(key), anyio.Event()
        self._writing[key] = done

        async def write() -> None:
            try:
                if former is not None:
                    await former.wait()
                await keep(body)
            except Exception:  # its reader has it, and others are at work
                log.exception(ANSWER_NOT_STORED)
            finally:
                done.set()
                if self._writing.get(key) is done:
                    del self._writing[key]

        self._tasks.start_soon(write)

    async def _put(self, lookup: CacheLookup, variants: tuple[KeptAnswer, ...]) -> None:
        lookup.stored = StoredVariants(variants, await self._store.put(lookup.key, variants, lookup.stored.revision))

    def _kept(self, kept: KeptAnswer) -> httpx2.Response:
        old = round(cache_rules.age(kept, self._now()))
        headers = [*(pair for pair in kept.headers if pair[0] != "age"), ("age", str(old))]  # RFC 9111 §4
        return httpx2.Response(
            kept.status,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
            stream=httpx2.ByteStream(kept.body or b""),
            extensions={"caching": self._served(kept)},
        )

    def _served(self, kept: KeptAnswer | None) -> Served:
        return Served(from_cache=kept is not None, received_at=kept.received_at if kept else self._now())


class _Saving(httpx2.AsyncByteStream):
    """A body that `keep` hands to `store` where it was read whole; one that breaks off is not (RFC 9111 §3.3)."""

    def __init__(self, inner: object, store: Callable[[bytes], None], max_bytes: int) -> None:
        assert isinstance(inner, httpx2.AsyncByteStream)  # noqa: S101 - httpx2's model speaks for both worlds
        self._inner = inner
        self._store = store
        self._max_bytes = max_bytes
        self._whole: bytes | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body: bytearray | None = bytearray()
        async for chunk in self._inner:
            if body is not None:
                body += chunk
                if len(body) > self._max_bytes:
                    body = None
            yield chunk
        if body is not None:
            self._whole = bytes(body)

    def keep(self) -> None:
        """Have the body stored, once; one that is too large, or was not read to its end, is not stored."""
        body, self._whole = self._whole, None
        if body is not None:
            self._store(body)

    async def aclose(self) -> None:
        """Close what the body comes from."""
        await self._inner.aclose()


def _undated(kept: KeptAnswer) -> set[tuple[str, str]]:
    return {pair for pair in kept.headers if pair[0] not in ("date", "age")}

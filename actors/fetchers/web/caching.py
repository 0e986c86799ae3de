"""Answers requests from what is kept where RFC 9111 allows it, and keeps what comes.

hishel judges what may be stored and what a 304 freshens. What it leaves out is in visits.py and freshness.py: the age
of an answer, heuristics, requests that say how fresh, stale answers for errors, and what else may not be stored.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import TypedDict
from uuid import uuid4

import httpx2
from msgspec.structs import replace

from actors.fetchers.web import freshness
from actors.fetchers.web.cache import Record, Store
from actors.fetchers.web.freshness import Use
from actors.fetchers.web.visits import Visit
from protocol.faults import FaultError
from protocol.web import KeptAnswer

Clock = Callable[[], float]
"""Gives the time of day in seconds since the epoch."""

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_CONDITIONS = ("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range")
"""A request with conditions of its own passes by what is kept, as Fetch has it (HTTP-network-or-cache fetch)."""

_FIRST_ERROR = 400


class Served(TypedDict):
    """What the transport tells of an answer, as its extension `caching`; `received_at` in seconds since the epoch.

    `from_cache` tells that the body was kept; a site may have confirmed it. `received_at` is when the body came, or was
    last confirmed.
    """

    from_cache: bool
    received_at: float


class CachingTransport(httpx2.AsyncBaseTransport):
    """A private cache in front of another transport; the extension `partition` of a request says whose."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, store: Store, clock: Clock, max_body: int) -> None:
        """Keep bodies of up to `max_body` bytes."""
        self._inner = inner
        self._store = store
        self._max_body = max_body
        self._now = clock

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request from what is kept, from the site, or from both."""
        visit = Visit.of(request)
        if request.method not in _SAFE:
            return await self._unsafe(visit)
        if request.method != "GET" or any(name in request.headers for name in _CONDITIONS):
            return await self._past(visit)
        visit.record = await self._store.get(visit.key)
        kept = visit.matching()
        use = Use.VALIDATE if kept is None else freshness.judge(kept, visit.asked, self._now(), shared=visit.shared)
        if kept is not None and use is not Use.VALIDATE:
            return self._kept(kept)
        if visit.asked.only_if_cached:  # RFC 9111 §5.2.1.7
            return httpx2.Response(HTTPStatus.GATEWAY_TIMEOUT, extensions={"caching": self._served(None)})
        return await self._from_site(visit) if kept is None else await self._validated(visit, kept)

    async def _unsafe(self, visit: Visit) -> httpx2.Response:
        """Send what may change things; unless it fails, what is kept of them is no longer true (RFC 9111 §4.4)."""
        response = await self._past(visit)
        if HTTPStatus.OK <= response.status_code < _FIRST_ERROR:
            for key in visit.invalidates(response):
                record = await self._store.get(key)
                if record.variants:
                    await self._store.put(key, (), record.revision)
        return response

    async def _past(self, visit: Visit) -> httpx2.Response:
        response = await self._inner.handle_async_request(visit.request)
        response.extensions["caching"] = self._served(None)
        return response

    async def _from_site(self, visit: Visit) -> httpx2.Response:
        asked_at = self._now()
        response = await self._inner.handle_async_request(visit.request)
        return await self._new(visit, response, asked_at)

    async def _validated(self, visit: Visit, kept: KeptAnswer) -> httpx2.Response:
        """Ask the site whether what is kept is still true; where that fails, it may serve all the same (RFC 5861)."""
        asked_at = self._now()
        try:
            response = await self._inner.handle_async_request(visit.conditional(kept))
        except (httpx2.TransportError, FaultError):
            if not freshness.may_replace_error(kept, visit.asked, self._now(), shared=visit.shared):
                raise
            return self._kept(kept)
        if response.status_code == HTTPStatus.NOT_MODIFIED:
            await response.aread()
            await response.aclose()
            return await self._freshened(visit, kept, response, asked_at)
        if response.status_code in freshness.ERRORS and freshness.may_replace_error(
            kept, visit.asked, self._now(), shared=visit.shared
        ):
            await response.aclose()
            return self._kept(kept)
        if response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
            # What is kept is not suitable any more (RFC 9111 §4.3.3), whether or not the new answer may be kept.
            others = tuple(one for one in visit.record.variants if one.id != kept.id)
            await self._put(visit, others)
        return await self._new(visit, response, asked_at)

    async def _freshened(
        self, visit: Visit, kept: KeptAnswer, response: httpx2.Response, asked_at: float
    ) -> httpx2.Response:
        """Return what is kept with the fields of a 304 (RFC 9111 §4.3.4); one for another answer is of no use."""
        now = self._now()
        headers = visit.freshened(kept, response, now)
        others = tuple(one for one in visit.record.variants if one.id != kept.id)
        if headers is None:
            await self._put(visit, others)
            return await self._from_site(visit)
        fresh = replace(
            kept,
            headers=headers,
            received_at=now,
            initial_age=freshness.initial_age(response.headers, asked_at, now),
        )
        if _undated(fresh) != _undated(kept) or freshness.lifetime(fresh, shared=visit.shared) > 0:
            await self._put(visit, (*others, fresh))
        # Otherwise it is as stale as before, and nobody gains by knowing that it was confirmed.
        return self._kept(fresh)

    async def _new(self, visit: Visit, response: httpx2.Response, asked_at: float) -> httpx2.Response:
        """Pass an answer on, and keep it once it has been read whole, where it may be kept."""
        now = self._now()
        response.extensions["caching"] = Served(from_cache=False, received_at=now)
        headers = visit.storable(response, now)
        if headers is None:
            return response
        fresh = KeptAnswer(
            id=str(uuid4()),
            status=response.status_code,
            headers=headers,
            received_at=now,
            initial_age=freshness.initial_age(response.headers, asked_at, now),
            vary=visit.vary(response),
        )

        async def keep(body: bytes) -> None:
            others = tuple(one for one in visit.record.variants if one.vary != fresh.vary)
            await self._put(visit, (*others, replace(fresh, body=body)))

        response.stream = _Saving(response.stream, keep, self._max_body)
        return response

    async def _put(self, visit: Visit, variants: tuple[KeptAnswer, ...]) -> None:
        visit.record = Record(variants, await self._store.put(visit.key, variants, visit.record.revision))

    def _kept(self, kept: KeptAnswer) -> httpx2.Response:
        old = round(freshness.age(kept, self._now()))
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
    """A body that is handed over once it has been passed on whole; what breaks off is not kept (RFC 9111 §3.3)."""

    def __init__(self, inner: object, keep: Callable[[bytes], Awaitable[None]], max_bytes: int) -> None:
        assert isinstance(inner, httpx2.AsyncByteStream)  # noqa: S101 - httpx2's model speaks for both worlds
        self._inner = inner
        self._keep = keep
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body: bytearray | None = bytearray()
        async for chunk in self._inner:
            if body is not None:
                body += chunk
                if len(body) > self._max_bytes:
                    body = None
            yield chunk
        if body is not None:
            await self._keep(bytes(body))

    async def aclose(self) -> None:
        """Close what the body comes from."""
        await self._inner.aclose()


def _undated(kept: KeptAnswer) -> set[tuple[str, str]]:
    return {pair for pair in kept.headers if pair[0] not in ("date", "age")}

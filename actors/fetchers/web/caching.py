"""Answers requests from what is kept where RFC 9111 allows it, and keeps what comes.

hishel judges what may be stored and what a 304 freshens. What it leaves out is done here and in freshness.py: the age
of an answer, heuristics, requests that say how fresh, stale answers for errors, and what else may not be stored.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from hashlib import blake2b
from http import HTTPStatus
from typing import TypedDict
from uuid import UUID, uuid4

import httpx2
from hishel import AnyState, CacheMiss, CacheOptions, Entry, Headers, NeedRevalidation, Request, Response, StoreAndUse
from hishel import NeedToBeUpdated as Freshened
from msgspec.structs import replace

from actors.fetchers.web import freshness
from actors.fetchers.web.cache import Record, Store
from actors.fetchers.web.freshness import Asked, Use
from protocol.faults import FaultError
from protocol.webcache import KeptAnswer

Clock = Callable[[], float]
"""Gives the time of day in seconds since the epoch."""

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_CONDITIONS = ("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range")
"""A request with conditions of its own passes by what is kept, as Fetch has it (HTTP-network-or-cache fetch)."""

_FIRST_ERROR = 400
_SECRET = frozenset({"cookie", "authorization"})
_PER_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "set-cookie"}
)
"""Fields of one connection (RFC 9110 §7.6.1), and cookies: a later answer must not turn a session back."""


class Served(TypedDict):
    """What the transport tells of an answer, as its extension `caching`; `received_at` in seconds since the epoch.

    `from_cache` tells that the body was kept; a site may have confirmed it. `received_at` is when the body came, or was
    last confirmed.
    """

    from_cache: bool
    received_at: float


@dataclass
class Visit:
    """One request on its way: what it asks, under which key it is kept, and what is kept there."""

    request: httpx2.Request
    partition: str
    asked: Asked
    record: Record = field(default_factory=Record)

    @property
    def key(self) -> str:
        """Where answers to this request are kept."""
        return _key(self.partition, self.request.url)

    @property
    def shared(self) -> bool:
        """Whether what a person was shown could reach another: what has no session is kept for everybody."""
        return not self.partition and any(name in self.request.headers for name in _SECRET)

    @property
    def options(self) -> CacheOptions:
        """What hishel is told."""
        return CacheOptions(shared=self.shared, supported_methods=["GET"])

    def matching(self) -> KeptAnswer | None:
        """Give the newest of what is kept that this request selects (RFC 9111 §4.1)."""
        fields = {name: _field(self.request, name) for one in self.record.variants for name, _ in one.vary}
        return freshness.newest(one for one in self.record.variants if freshness.matches(one, fields))


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
        partition = str(request.extensions.get("partition", ""))
        visit = Visit(request, partition, Asked.of(request.headers.get("cache-control")))
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
            for key in _changed(visit, response):
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
            response = await self._inner.handle_async_request(_conditional(visit.request, kept))
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
        """Give what is kept with the fields of a 304 (RFC 9111 §4.3.4); one that means another answer is of no use."""
        now = self._now()
        state = _after_304(visit, kept, _fields(response.headers, now))
        others = tuple(one for one in visit.record.variants if one.id != kept.id)
        if not isinstance(state, Freshened):
            await self._put(visit, others)
            return await self._from_site(visit)
        fresh = replace(
            kept,
            headers=_pairs(state.updating_entries[0].response.headers),
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
        headers = _may_be_kept(visit, response, now)
        if headers is None:
            return response
        vary = freshness.names(response.headers.get("vary"))
        fresh = KeptAnswer(
            id=str(uuid4()),
            status=response.status_code,
            headers=headers,
            received_at=now,
            initial_age=freshness.initial_age(response.headers, asked_at, now),
            vary=tuple((name, _field(visit.request, name)) for name in vary),
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


def _may_be_kept(visit: Visit, response: httpx2.Response, now: float) -> tuple[tuple[str, str], ...] | None:
    """Give the fields that are kept of an answer, or None if it may not be kept (RFC 9111 §3)."""
    control = response.headers.get("cache-control")
    if not freshness.storable(response.status_code, control, response.headers.get("vary", ""), visit.asked):
        return None
    fields = _fields(response.headers, now)
    if "must-understand" in freshness.directives(control):
        fields = tuple((name, _without_no_store(value) if name == "cache-control" else value) for name, value in fields)
    asked = Request("GET", str(visit.request.url), Headers(dict(visit.request.headers)))
    state = CacheMiss(request=asked, options=visit.options).next(
        Response(response.status_code, Headers(_lists(fields)))
    )
    return _pairs(state.response.headers) if isinstance(state, StoreAndUse) else None


def _after_304(visit: Visit, kept: KeptAnswer, fields: tuple[tuple[str, str], ...]) -> AnyState:
    asked = Request("GET", str(visit.request.url))
    # The age of what is kept is told by the 304 or not at all.
    former = Headers(_lists(tuple(pair for pair in kept.headers if pair[0] != "age")))
    entry = Entry(UUID(kept.id), asked, Response(kept.status, former))
    state = NeedRevalidation(request=asked, original_request=asked, revalidating_entries=[entry], options=visit.options)
    return state.next(Response(HTTPStatus.NOT_MODIFIED, Headers(_lists(fields))))


def _conditional(request: httpx2.Request, kept: KeptAnswer) -> httpx2.Request:
    """Add to a request what tells the site which answer is kept (RFC 9111 §4.3.1)."""
    headers = request.headers.copy()
    for name, validator in (
        ("if-none-match", kept.header("etag")),
        ("if-modified-since", kept.header("last-modified")),
    ):
        if validator:
            headers[name] = validator
    return httpx2.Request(request.method, request.url, headers=headers, extensions=request.extensions)


def _changed(visit: Visit, response: httpx2.Response) -> set[str]:
    """Name what a request that is not safe makes invalid: its own address, and those of its origin that it tells of."""
    own = visit.request.url
    keys = {visit.key}
    for name in ("location", "content-location"):
        if value := response.headers.get(name):
            with suppress(httpx2.InvalidURL, ValueError):
                told = own.join(value)
                if (told.scheme, told.host, told.port) == (own.scheme, own.host, own.port):
                    keys.add(_key(visit.partition, told))
    return keys


def _key(partition: str, url: httpx2.URL) -> str:
    return f"{partition} {url.copy_with(fragment=None)}"


def _field(request: httpx2.Request, name: str) -> str | None:
    """Give a field that answers vary by; of a secret one only a digest is kept."""
    value = freshness.normal(request.headers.get(name))
    if value is None or name not in _SECRET:
        return value
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _fields(headers: httpx2.Headers, now: float) -> tuple[tuple[str, str], ...]:
    """Give what may be kept of the fields of an answer, dated by its arrival where it says none (RFC 9110 §6.6.1)."""
    left_out = _PER_HOP | set(freshness.names(headers.get("connection")))
    pairs = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers.raw)
    kept = tuple(pair for pair in pairs if pair[0] not in left_out)
    if freshness.http_date(headers.get("date")) is None:
        kept = (*(pair for pair in kept if pair[0] != "date"), ("date", formatdate(now, usegmt=True)))
    return kept


def _lists(fields: tuple[tuple[str, str], ...]) -> dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    for name in dict.fromkeys(name for name, _ in fields):
        found[name] = [value for field_name, value in fields if field_name == name]
    return found


def _pairs(headers: Headers) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name in headers for value in headers.get_list(name) or [])


def _undated(kept: KeptAnswer) -> set[tuple[str, str]]:
    return {pair for pair in kept.headers if pair[0] not in ("date", "age")}


def _without_no_store(control: str) -> str:
    return ", ".join(part for part in control.split(",") if part.strip().lower() != "no-store")

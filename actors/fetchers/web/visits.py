"""Reads requests and answers for the cache: what they ask, what of them is kept, and what they make invalid."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from hashlib import blake2b
from http import HTTPStatus
from uuid import UUID

import httpx2
from hishel import (
    CacheMiss,
    CacheOptions,
    Entry,
    Headers,
    NeedRevalidation,
    NeedToBeUpdated,
    Request,
    Response,
    StoreAndUse,
)

from actors.fetchers.web import freshness
from actors.fetchers.web.cache import Record
from actors.fetchers.web.freshness import Asked
from protocol.web import KeptAnswer

Fields = tuple[tuple[str, str], ...]

_SECRET = frozenset({"cookie", "authorization"})
_PER_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "set-cookie"}
)
"""Fields of one connection (RFC 9110 §7.6.1), and cookies: a later answer must not turn a session back."""


@dataclass
class Visit:
    """One request on its way: what it asks, in whose cache, and what is kept there of its address."""

    request: httpx2.Request
    partition: str
    asked: Asked
    record: Record = field(default_factory=Record)

    @classmethod
    def of(cls, request: httpx2.Request) -> Visit:
        """Read a request; its extension `partition` says whose it is."""
        partition = str(request.extensions.get("partition", ""))
        return cls(request, partition, Asked.of(request.headers.get("cache-control")))

    @property
    def key(self) -> str:
        """Where answers to this request are kept."""
        return _key(self.partition, self.request.url)

    @property
    def shared(self) -> bool:
        """Whether what a person was shown could reach another: what has no session is kept for everybody."""
        return not self.partition and any(name in self.request.headers for name in _SECRET)

    def matching(self) -> KeptAnswer | None:
        """Return the newest of what is kept that this request selects (RFC 9111 §4.1)."""
        fields = {name: _field(self.request, name) for one in self.record.variants for name, _ in one.vary}
        return freshness.newest(one for one in self.record.variants if freshness.matches(one, fields))

    def conditional(self, kept: KeptAnswer) -> httpx2.Request:
        """Return the request with what tells the site which answer is kept (RFC 9111 §4.3.1)."""
        headers = self.request.headers.copy()
        for name, validator in (("if-none-match", "etag"), ("if-modified-since", "last-modified")):
            if value := kept.header(validator):
                headers[name] = value
        return httpx2.Request(
            self.request.method, self.request.url, headers=headers, extensions=self.request.extensions
        )

    def storable(self, response: httpx2.Response, now: float) -> Fields | None:
        """Return the fields that are kept of an answer, or None if it may not be kept (RFC 9111 §3)."""
        control = response.headers.get("cache-control")
        if not freshness.storable(response.status_code, control, response.headers.get("vary", ""), self.asked):
            return None
        fields = _fields(response.headers, now)
        if "must-understand" in freshness.directives(control):
            fields = tuple(
                (name, _without_no_store(value) if name == "cache-control" else value) for name, value in fields
            )
        asked = Request("GET", str(self.request.url), Headers(dict(self.request.headers)))
        told = Response(response.status_code, Headers(_lists(fields)))
        state = CacheMiss(request=asked, options=self._options).next(told)
        return _pairs(state.response.headers) if isinstance(state, StoreAndUse) else None

    def freshened(self, kept: KeptAnswer, response: httpx2.Response, now: float) -> Fields | None:
        """Return the fields of what is kept after a 304, or None if that means another answer (RFC 9111 §4.3.4)."""
        asked = Request("GET", str(self.request.url))
        # The age of what is kept is told by the 304 or not at all.
        former = Headers(_lists(tuple(pair for pair in kept.headers if pair[0] != "age")))
        entry = Entry(UUID(kept.id), asked, Response(kept.status, former))
        state = NeedRevalidation(
            request=asked, original_request=asked, revalidating_entries=[entry], options=self._options
        ).next(Response(HTTPStatus.NOT_MODIFIED, Headers(_lists(_fields(response.headers, now)))))
        return _pairs(state.updating_entries[0].response.headers) if isinstance(state, NeedToBeUpdated) else None

    def vary(self, response: httpx2.Response) -> tuple[tuple[str, str | None], ...]:
        """Return what the request had of the fields that an answer varies by."""
        names = freshness.names(response.headers.get("vary"))
        return tuple((name, _field(self.request, name)) for name in names)

    def invalidates(self, response: httpx2.Response) -> set[str]:
        """Name what a request that is not safe makes invalid: its address, and those of its origin that it tells of."""
        own = self.request.url
        keys = {self.key}
        for name in ("location", "content-location"):
            if value := response.headers.get(name):
                with suppress(httpx2.InvalidURL, ValueError):
                    told = own.join(value)
                    if (told.scheme, told.host, told.port) == (own.scheme, own.host, own.port):
                        keys.add(_key(self.partition, told))
        return keys

    @property
    def _options(self) -> CacheOptions:
        return CacheOptions(shared=self.shared, supported_methods=["GET"])


def _key(partition: str, url: httpx2.URL) -> str:
    return f"{partition} {str(url).partition('#')[0]}"


def _field(request: httpx2.Request, name: str) -> str | None:
    """Return a field that answers vary by; of a secret one only a digest is kept."""
    value = freshness.normal(request.headers.get(name))
    if value is None or name not in _SECRET:
        return value
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _fields(headers: httpx2.Headers, now: float) -> Fields:
    """Return what may be kept of the fields of an answer, dated by its arrival where it says none (RFC 9110 §6.6.1)."""
    left_out = _PER_HOP | set(freshness.names(headers.get("connection")))
    pairs = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers.raw)
    kept = tuple(pair for pair in pairs if pair[0] not in left_out)
    if freshness.http_date(headers.get("date")) is None:
        kept = (*(pair for pair in kept if pair[0] != "date"), ("date", formatdate(now, usegmt=True)))
    return kept


def _lists(fields: Fields) -> dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    for name in dict.fromkeys(name for name, _ in fields):
        found[name] = [value for field_name, value in fields if field_name == name]
    return found


def _pairs(headers: Headers) -> Fields:
    return tuple((name, value) for name in headers for value in headers.get_list(name) or [])


def _without_no_store(control: str) -> str:
    return ", ".join(part for part in control.split(",") if part.strip().lower() != "no-store")

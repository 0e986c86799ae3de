"""RFC 9111 as pure rules: what may be stored, which stored answer a request selects, and whether it may be served.

hishel decides what may be stored and what a 304 freshens. It leaves out the age of an answer, heuristics, the
directives of requests, stale answers for errors, and further bars to storing: those stand here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate, parsedate_tz
from enum import Enum, auto
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
from msgspec import Struct

from protocol.web import KeptAnswer

HEURISTIC = frozenset({200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501})
"""Statuses that may be served again although nothing says for how long (RFC 9110 §15.1); partial ones are not kept."""

ERRORS = frozenset({500, 502, 503, 504})
"""What RFC 5861 §4 calls an error."""

_HEURISTIC_SHARE = 0.1
"""Of the time since the last change, as RFC 9111 §4.2.2 has it."""

_HEURISTIC_MAX_S = 7 * 86_400.0
_FOREVER_S = 2**31
"""What RFC 9111 §1.2.2 has a cache take for more than it can count."""

_DIRECTIVE = re.compile(r'([!#$%&\'*+.^_`|~\w-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?', re.ASCII)

_SECRET = frozenset({"cookie", "authorization"})
_PER_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "set-cookie"}
)
"""Fields of one connection (RFC 9110 §7.6.1), and cookies: a later answer must not turn a session back."""


class CacheUse(Enum):
    """What is to be done with a stored answer."""

    FRESH = auto()
    STALE = auto()
    VALIDATE = auto()


class RequestDirectives(Struct, frozen=True):
    """What the Cache-Control of a request says; times in seconds."""

    no_cache: bool = False
    no_store: bool = False
    only_if_cached: bool = False
    max_age: float | None = None
    min_fresh: float = 0.0
    max_stale: float | None = None
    stale_if_error: float | None = None

    @classmethod
    def of(cls, cache_control: str | None) -> RequestDirectives:
        """Parse the field of a request."""
        directives = cache_directives(cache_control)
        return cls(
            no_cache="no-cache" in directives,
            no_store="no-store" in directives,
            only_if_cached="only-if-cached" in directives,
            max_age=seconds(directives["max-age"]) if "max-age" in directives else None,
            min_fresh=seconds(directives.get("min-fresh")),
            max_stale=seconds(directives["max-stale"] or str(_FOREVER_S)) if "max-stale" in directives else None,
            stale_if_error=seconds(directives["stale-if-error"]) if "stale-if-error" in directives else None,
        )


class StoredVariants(Struct, frozen=True):
    """The stored answers of one key, the newest last, as they stand at a revision."""

    variants: tuple[KeptAnswer, ...] = ()
    revision: int = 0


@dataclass
class CacheLookup:
    """A request and what the cache has for it: `partition` says in whose cache, `stored` what of its address."""

    request: httpx2.Request
    partition: str
    directives: RequestDirectives
    stored: StoredVariants = field(default_factory=StoredVariants)

    @classmethod
    def of(cls, request: httpx2.Request) -> CacheLookup:
        """Parse a request; its extension `partition` says whose it is."""
        partition = str(request.extensions.get("partition", ""))
        return cls(request, partition, RequestDirectives.of(request.headers.get("cache-control")))

    @property
    def key(self) -> str:
        """Where answers to this request are kept."""
        return _key(self.partition, self.request.url)

    @property
    def shared(self) -> bool:
        """Whether what a person was shown could reach another: what has no session is kept for everybody."""
        return not self.partition and any(name in self.request.headers for name in _SECRET)

    def matching(self) -> KeptAnswer | None:
        """Return the newest stored answer that this request selects (RFC 9111 §4.1)."""
        fields = {name: _field(self.request, name) for one in self.stored.variants for name, _ in one.vary}
        return newest(one for one in self.stored.variants if matches(one, fields))

    def conditional(self, kept: KeptAnswer) -> httpx2.Request:
        """Return the request with the validators of a stored answer (RFC 9111 §4.3.1)."""
        headers = self.request.headers.copy()
        for name, validator in (("if-none-match", "etag"), ("if-modified-since", "last-modified")):
            if value := kept.header(validator):
                headers[name] = value
        return httpx2.Request(
            self.request.method, self.request.url, headers=headers, extensions=self.request.extensions
        )

    def storable(self, response: httpx2.Response, now: float) -> Fields | None:
        """Return the header fields to store of an answer, or None if it may not be stored (RFC 9111 §3)."""
        control = response.headers.get("cache-control")
        if not self.partition and "private" in cache_directives(control):  # what has no session is kept for everybody
            return None
        if not may_store(response.status_code, control, response.headers.get("vary", ""), self.directives):
            return None
        fields = _fields(response.headers, now)
        if "must-understand" in cache_directives(control):
            fields = tuple(
                (name, _without_no_store(value) if name == "cache-control" else value) for name, value in fields
            )
        request = Request("GET", str(self.request.url), Headers(dict(self.request.headers)))
        answer = Response(response.status_code, Headers(_lists(fields)))
        state = CacheMiss(request=request, options=self._options).next(answer)
        return _pairs(state.response.headers) if isinstance(state, StoreAndUse) else None

    def freshened(self, kept: KeptAnswer, response: httpx2.Response, now: float) -> Fields | None:
        """Return the fields of a stored answer after a 304, or None if that is for another answer (RFC 9111 §4.3.4)."""
        request = Request("GET", str(self.request.url))
        # The age of what is kept is told by the 304 or not at all.
        former = Headers(_lists(tuple(pair for pair in kept.headers if pair[0] != "age")))
        entry = Entry(UUID(kept.id), request, Response(kept.status, former))
        state = NeedRevalidation(
            request=request, original_request=request, revalidating_entries=[entry], options=self._options
        ).next(Response(HTTPStatus.NOT_MODIFIED, Headers(_lists(_fields(response.headers, now)))))
        return _pairs(state.updating_entries[0].response.headers) if isinstance(state, NeedToBeUpdated) else None

    def vary(self, response: httpx2.Response) -> tuple[tuple[str, str | None], ...]:
        """Return the values that the request has of the fields named by the Vary of an answer."""
        varying = vary_names(response.headers.get("vary"))
        return tuple((name, _field(self.request, name)) for name in varying)

    def invalidates(self, response: httpx2.Response) -> set[str]:
        """Return the keys that an unsafe request invalidates: its own, and those of its origin the answer names."""
        own = self.request.url
        keys = {self.key}
        for name in ("location", "content-location"):
            if value := response.headers.get(name):
                with suppress(httpx2.InvalidURL, ValueError):
                    named = own.join(value)
                    if (named.scheme, named.host, named.port) == (own.scheme, own.host, own.port):
                        keys.add(_key(self.partition, named))
        return keys

    @property
    def _options(self) -> CacheOptions:
        return CacheOptions(shared=self.shared, supported_methods=["GET"])


def cache_directives(cache_control: str | None) -> dict[str, str]:
    """Parse a Cache-Control field; of directives of one name the first counts (RFC 9111 §4.2.1)."""
    directives: dict[str, str] = {}
    for name, quoted, token in _DIRECTIVE.findall(cache_control or ""):
        directives.setdefault(name.lower(), quoted or token)
    return directives


def seconds(value: str | None) -> float:
    """Parse a number of seconds; what is none counts as 0, which makes stale (RFC 9111 §4.2.1)."""
    if value is None or not (value.isascii() and value.isdigit()):
        return 0.0
    return float(min(int(value[:11]), _FOREVER_S))


def http_date(value: str | None) -> float | None:
    """Parse a date of HTTP in one of its three forms, as seconds since the epoch; None for what is none."""
    if not value:
        return None
    read = parsedate_tz(value)
    if read is None:
        return None
    try:
        return datetime(*read[:6], tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def initial_age(headers: Mapping[str, str], asked_at: float, received_at: float) -> float:
    """Return how old an answer was when it came (RFC 9111 §4.2.3)."""
    date = http_date(headers.get("date"))
    apparent = max(0.0, received_at - date) if date is not None else 0.0
    # Of several values the first counts, and one that is no number is ignored (§5.1).
    first = headers.get("age", "").partition(",")[0].strip()
    return max(apparent, seconds(first) + (received_at - asked_at))


def age(kept: KeptAnswer, now: float) -> float:
    """Return how old a stored answer is (RFC 9111 §4.2.3)."""
    return kept.initial_age + max(0.0, now - kept.received_at)


def lifetime(kept: KeptAnswer, *, shared: bool = False) -> float:
    """Return the seconds for which an answer is fresh from its Date on (RFC 9111 §4.2.1); 0 where nothing says so."""
    directives = cache_directives(kept.header("cache-control"))
    if shared and "s-maxage" in directives:
        return seconds(directives["s-maxage"])
    if "max-age" in directives:
        return seconds(directives["max-age"])
    date = http_date(kept.header("date")) or kept.received_at
    if (expires := _first(kept, "expires")) is not None:
        until = http_date(expires)
        return 0.0 if until is None else max(0.0, until - date)  # §5.3: an invalid date lies in the past
    return _heuristic(kept, date, public="public" in directives)


def _heuristic(kept: KeptAnswer, date: float, *, public: bool) -> float:
    changed = http_date(kept.header("last-modified"))
    if changed is None or not (public or kept.status in HEURISTIC):
        return 0.0
    return min(max(0.0, (date - changed) * _HEURISTIC_SHARE), _HEURISTIC_MAX_S)


def judge(kept: KeptAnswer, wanted: RequestDirectives, now: float, *, shared: bool = False) -> CacheUse:
    """Return whether a stored answer that matches a request may be served without asking the site (RFC 9111 §4)."""
    if wanted.no_cache or has_no_cache(kept):
        return CacheUse.VALIDATE
    left = lifetime(kept, shared=shared) - age(kept, now)
    too_old = wanted.max_age is not None and age(kept, now) > wanted.max_age
    if left > 0 and left >= wanted.min_fresh and not (too_old and wanted.max_stale is None):
        return CacheUse.FRESH
    if wanted.max_stale is None or left < -wanted.max_stale or never_stale(kept, shared=shared):
        return CacheUse.VALIDATE
    return CacheUse.STALE if left <= 0 else CacheUse.FRESH


def may_replace_error(kept: KeptAnswer, wanted: RequestDirectives, now: float, *, shared: bool = False) -> bool:
    """Return whether a stored answer may be served where the site fails (RFC 5861 §4)."""
    if wanted.no_cache or has_no_cache(kept) or never_stale(kept, shared=shared):
        return False
    directives = cache_directives(kept.header("cache-control"))
    windows = [seconds(directives["stale-if-error"])] if "stale-if-error" in directives else []
    if wanted.stale_if_error is not None:
        windows.append(wanted.stale_if_error)
    return bool(windows) and age(kept, now) - lifetime(kept, shared=shared) <= max(windows)


def has_no_cache(kept: KeptAnswer) -> bool:
    """Return whether the whole answer must always be validated; with names, only those fields must (§5.2.2.4)."""
    return cache_directives(kept.header("cache-control")).get("no-cache") == ""


def never_stale(kept: KeptAnswer, *, shared: bool = False) -> bool:
    """Return whether an answer is never served once it is stale, come what may (RFC 9111 §5.2.2.2, §5.2.2.8)."""
    directives = cache_directives(kept.header("cache-control"))
    return "must-revalidate" in directives or (
        shared and ("proxy-revalidate" in directives or "s-maxage" in directives)
    )


def may_store(status: int, cache_control: str | None, vary: str, wanted: RequestDirectives) -> bool:
    """Return whether an answer passes those bars to storing that hishel does not check (RFC 9111 §3)."""
    if wanted.no_store or "*" in vary_names(vary):
        return False
    return "must-understand" not in cache_directives(cache_control) or understood(status)


def understood(status: int) -> bool:
    """Return whether a status is one whose caching is known (RFC 9111 §5.2.2.3)."""
    return any(status == known for known in HTTPStatus) and status != HTTPStatus.PARTIAL_CONTENT


def vary_names(vary: str | None) -> tuple[str, ...]:
    """Parse a list of field names, as in Vary, in lower case."""
    return tuple(name.strip().lower() for name in (vary or "").split(",") if name.strip())


def matches(kept: KeptAnswer, fields: Mapping[str, str | None]) -> bool:
    """Return whether a request has what the Vary of a stored answer names (RFC 9111 §4.1)."""
    return all(normal(fields.get(name)) == value for name, value in kept.vary)


def normal(value: str | None) -> str | None:
    """Normalize a field so that whitespace about its commas makes no difference (RFC 9111 §4.1)."""
    return None if value is None else ",".join(part.strip() for part in value.split(","))


def newest(kept: Iterable[KeptAnswer]) -> KeptAnswer | None:
    """Return the most recent of several answers, by their Date (RFC 9111 §4)."""
    return max(kept, key=lambda one: (http_date(one.header("date")) or one.received_at, one.received_at), default=None)


def _first(kept: KeptAnswer, name: str) -> str | None:
    return next((value for field, value in kept.headers if field == name), None)


Fields = tuple[tuple[str, str], ...]


def _key(partition: str, url: httpx2.URL) -> str:
    return f"{partition} {str(url).partition('#')[0]}"


def _field(request: httpx2.Request, name: str) -> str | None:
    """Return a field that answers vary by; a secret one as a digest."""
    value = normal(request.headers.get(name))
    if value is None or name not in _SECRET:
        return value
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _fields(headers: httpx2.Headers, now: float) -> Fields:
    """Return the fields of an answer that may be stored, dated by its arrival where it says none (RFC 9110 §6.6.1)."""
    left_out = _PER_HOP | set(vary_names(headers.get("connection")))
    pairs = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers.raw)
    kept = tuple(pair for pair in pairs if pair[0] not in left_out)
    if http_date(headers.get("date")) is None:
        kept = (*(pair for pair in kept if pair[0] != "date"), ("date", formatdate(now, usegmt=True)))
    return kept


def _lists(fields: Fields) -> dict[str, str | list[str]]:
    lists: dict[str, str | list[str]] = {}
    for name in dict.fromkeys(name for name, _ in fields):
        lists[name] = [value for field_name, value in fields if field_name == name]
    return lists


def _pairs(headers: Headers) -> Fields:
    return tuple((name, value) for name in headers for value in headers.get_list(name) or [])


def _without_no_store(control: str) -> str:
    return ", ".join(part for part in control.split(",") if part.strip().lower() != "no-store")

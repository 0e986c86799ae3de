"""One request of a page: as the engine pauses it, from redirect to redirect, and the answer that the engine gets."""

from __future__ import annotations

import base64
import binascii
import re
from http import HTTPStatus
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import httpx2
import msgspec
from msgspec import Struct

from actors.fetchers.lightweight import origins
from actors.web import guard
from actors.web.cookies import Jar
from actors.web.exchange import REDIRECTS, TO_GET, WebRequest, WebResponse
from protocol.browse import Freshness, NetworkRequest
from protocol.faults import Code, FaultError, fault

HeaderPairs = tuple[tuple[str, str], ...]

HTML: Final[HeaderPairs] = (("content-type", "text/html"),)
JSON_MODULE: Final = b"export default "
"""What makes JSON a module: the engine reads it as a script, which it is not, and says nothing."""

_INNER: Final = re.compile(rb"(<iframe\b[^>]{0,2000}?\s)srcdoc(\s*=)", re.IGNORECASE)
_HELD: Final = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml"})
"""What a frame can show; there is no text in what it cannot."""

MAX_HOPS: Final = 10
_EVENT_STREAM = "text/event-stream"
_ENGINE_LANGUAGE = "en-US,en;q=0.9"


class PostData(Struct, frozen=True):
    """A piece of a body, in base64."""

    bytes: str = ""


class CdpRequest(Struct, frozen=True, rename="camel"):
    """The request in Fetch.requestPaused."""

    url: str
    method: str = "GET"
    headers: dict[str, str] = {}
    has_post_data: bool = False
    post_data_entries: tuple[PostData, ...] = ()


class PausedRequest(Struct, frozen=True, rename="camel"):
    """The event Fetch.requestPaused."""

    request_id: str
    request: CdpRequest
    frame_id: str = ""
    resource_type: str = ""
    network_id: str = ""

    @property
    def url(self) -> str:
        """The address, without its fragment."""
        return self.request.url.partition("#")[0]

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the page, without those that the engine adds of its own."""
        return {
            name: value
            for name, value in self.request.headers.items()
            if not (name.lower() == "accept-language" and value == _ENGINE_LANGUAGE)
        }

    @property
    def streams(self) -> bool:
        """Whether the answer would be an endless stream of events."""
        return any(name.lower() == "accept" and value == _EVENT_STREAM for name, value in self.headers.items())

    @property
    def cookies(self) -> str:
        """The cookies that the engine would send, but for their last character, which it loses."""
        return next((value for name, value in self.request.headers.items() if name.lower() == "cookie"), "")

    @property
    def body(self) -> bytes | None:
        """The body; None where the engine leaves it out, as it is too large."""
        entries = self.request.post_data_entries
        if not entries:
            return None if self.request.has_post_data else b""
        try:
            return b"".join(base64.b64decode(entry.bytes, validate=True) for entry in entries)
        except binascii.Error:
            return None


def parse_paused(params: dict[str, Any]) -> PausedRequest:
    """Parse the event.

    Raises:
        msgspec.ValidationError: if it is none.
    """
    return msgspec.convert(params, PausedRequest)


class RequestRefusedError(Exception):
    """A request is refused: mostly, the same-origin policy keeps its answer from the page."""


class Web(Protocol):
    """What the tier uses of WebClient."""

    async def fetch(self, request: WebRequest, cookies: Jar, timeout_ms: int, *, ahead: bool = False) -> WebResponse:
        """Fetch a resource, whatever its status."""
        ...


class HopCookies(Protocol):
    """The cookies of each hop of a request."""

    def jar(self, url: str) -> Jar:
        """Return the jar for one hop; what it sets goes there."""
        ...

    def none(self, url: str) -> Jar:
        """Return an empty jar for one hop to another origin, whose answer must not depend on cookies."""
        ...


class OutgoingRequest(Struct, frozen=True):
    """A request as it is sent: `document` is the address of its frame, `guarded` that a script reads the answer."""

    url: str
    method: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    document: str
    guarded: bool
    partition: str
    freshness: Freshness
    record: bool
    is_page: bool = False
    """Whether the page's own window goes there: then it waits for its turn as pages do."""

    obey_robots: bool = False
    single_shot: bool = False


class FollowedResponse(Struct, frozen=True):
    """An answer at the end of its redirects; `foreign` if it comes from another origin, or by way of one."""

    response: WebResponse
    url: str
    foreign: bool
    exchanges: tuple[NetworkRequest, ...]


async def follow(web: Web, request: OutgoingRequest, cookies: HopCookies, timeout_ms: int) -> FollowedResponse:
    """Fetch a resource from redirect to redirect, each checked anew, whatever its status.

    Raises:
        RequestRefusedError: the page may not request it, or not read it.
        FaultError: as WebClient.fetch.
    """
    chain = _RedirectChain(web, request, cookies, timeout_ms)
    for _ in range(MAX_HOPS + 1):
        response = await chain.hop()
        location = response.headers.get("location")
        if response.status not in REDIRECTS or location is None:
            return FollowedResponse(response, chain.url, chain.foreign, tuple(chain.exchanges))
        chain.turn(response.status, location)
    raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS))


class EngineAnswer(Struct, frozen=True):
    """The answer that the engine gets."""

    status: int
    headers: HeaderPairs = ()
    body: bytes = b""


def headers_of(followed: FollowedResponse) -> HeaderPairs:
    """Return the headers that the engine may get."""
    return origins.shown(followed.response.headers.multi_items(), foreign=followed.foreign)


def is_json(response: WebResponse) -> bool:
    """Return whether the answer to a request for a script is JSON: a module that the engine cannot read."""
    kind = _media_type(response)
    return (
        kind in ("application/json", "text/json")
        or kind.endswith("+json")
        or (not kind and urlsplit(response.url).path.endswith(".json"))
    )


def shows(response: WebResponse) -> bool:
    """Return whether a frame can show an answer."""
    disposition = str(response.headers.get("content-disposition", ""))
    kind = _media_type(response)
    return not disposition.lower().startswith("attachment") and (not kind or kind in _HELD or kind.endswith("+xml"))


def without_inner_documents(body: bytes) -> tuple[bytes, int]:
    """Disable the `srcdoc` of a document's frames; also return how many there were."""
    return _INNER.subn(rb"\1data-srcdoc\2", body)


def onward(url: str) -> bytes:
    """Return a document that leads to another address as a redirect would, without a trace in the history."""
    target = msgspec.json.encode(url).replace(b"<", b"\\u003c")
    return b"<script>location.replace(" + target + b")</script>"


class _RedirectChain:
    def __init__(self, web: Web, request: OutgoingRequest, cookies: HopCookies, timeout_ms: int) -> None:
        self.url = request.url
        self.foreign = False
        self.exchanges: list[NetworkRequest] = []
        self._web, self._request, self._cookies, self._timeout_ms = web, request, cookies, timeout_ms
        self._method, self._headers, self._body = request.method, request.headers, request.body
        self._origin = origins.origin(request.document)

    async def hop(self) -> WebResponse:
        guarded = self._request.guarded
        if guarded and not origins.same_origin(self._origin, origins.origin(self.url)):
            self.foreign = True
        if guarded and self.foreign:
            await self._preflight()
        jar = self._cookies.none(self.url) if guarded and self.foreign else self._cookies.jar(self.url)
        response = await self._fetch(self._method, (*self._headers, *self._initiator()), self._body, jar)
        if guarded and self.foreign and not origins.readable(response.headers, self._origin):
            raise RequestRefusedError
        return response

    def turn(self, status: int, location: str) -> None:
        target = str(guard.check_redirect(httpx2.URL(self.url), location))
        source, destination = origins.origin(self.url), origins.origin(target)
        if source != destination:
            self._headers = tuple(pair for pair in self._headers if pair[0].lower() != "authorization")
            if self.foreign:
                self._origin = origins.OPAQUE
        if (status == HTTPStatus.SEE_OTHER and self._method != "HEAD") or (status in TO_GET and self._method == "POST"):
            self._method, self._body = "GET", b""
            self._headers = tuple(pair for pair in self._headers if not pair[0].lower().startswith("content-"))
        self.url = target

    async def _preflight(self) -> None:
        headers = origins.preflight(self._method, self._headers, self._origin)
        if headers is None:
            return
        answer = await self._fetch("OPTIONS", headers, b"", Jar())
        if not origins.permits(answer.status, answer.headers, self._method, self._headers, self._origin):
            raise RequestRefusedError

    def _initiator(self) -> tuple[tuple[str, str], ...]:
        """Return the headers that say where the request comes from, as a browser sends them."""
        headers = [("Referer", referrer)] if (referrer := origins.referrer(self._request.document, self.url)) else []
        if self.foreign or self._method not in ("GET", "HEAD"):
            headers.append(("Origin", self._origin))
        return tuple(headers)

    async def _fetch(self, method: str, headers: tuple[tuple[str, str], ...], body: bytes, jar: Jar) -> WebResponse:
        wanted = self._request
        partition = f"{wanted.partition} {self._origin}" if self.foreign else wanted.partition
        request = WebRequest(
            self.url,
            method=method,
            headers=headers,
            body=body,
            freshness=wanted.freshness,
            partition=partition,
            follow=False,
            record_body=wanted.record,
            sub_resource=not wanted.is_page,
            obey_robots=wanted.is_page and wanted.obey_robots,
            single_shot=wanted.single_shot,
        )
        response = await self._web.fetch(request, jar, self._timeout_ms, ahead=True)
        self.exchanges += response.exchanges
        return response


def _media_type(response: WebResponse) -> str:
    return response.content_type.partition(";")[0].strip().lower()

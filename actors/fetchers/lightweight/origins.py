"""The same-origin policy, which the engine lacks: what a page may request and read, and the origins of its frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from actors.sites import site_of
from protocol.faults import FaultError

OPAQUE = "null"
"""The origin of what belongs to nobody: `data:` documents, and whatever came back over two borders."""

NOWHERE = ""
"""The address of a document that belongs to nobody."""

_DATA = "data:"

_PORTS = {"http": 80, "https": 443}
_SIMPLE_METHODS = frozenset({"GET", "HEAD", "POST"})
_SIMPLE_TYPES = frozenset({"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"})
_SIMPLE_HEADERS = frozenset({"accept", "accept-language", "content-language", "content-type", "range"})
_MAX_SIMPLE_VALUE = 128
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})

# Fetch, "forbidden request-header", and what the client says itself.
_FORBIDDEN = frozenset(
    {"accept-charset", "accept-encoding", "access-control-request-headers", "access-control-request-method"}
    | {"access-control-request-private-network", "connection", "content-length", "cookie", "cookie2", "date", "dnt"}
    | {"expect", "host", "keep-alive", "origin", "referer", "set-cookie", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "via", "user-agent", "cache-control", "if-modified-since", "if-none-match"}
)
_READABLE = frozenset(
    {"cache-control", "content-language", "content-length", "content-type", "expires", "last-modified", "pragma"}
)
_NOT_PASSED_ON = frozenset(
    {"set-cookie", "set-cookie2", "content-encoding", "content-length", "transfer-encoding", "connection", "location"}
    | {"refresh", "alt-svc", "keep-alive", "strict-transport-security", "link", "clear-site-data"}
)


def origin(url: str) -> str:
    """Return the origin of an address as the Origin header has it; OPAQUE for what is not of the web."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return OPAQUE
    if parts.scheme not in _PORTS or not parts.hostname:
        return OPAQUE
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if port in (None, _PORTS[parts.scheme]) else f":{port}")


def same_origin(one: str, other: str) -> bool:
    """Return whether two origins are the same; an opaque one is not even its own."""
    return one == other != OPAQUE


def site(url: str) -> str:
    """Return the registrable domain of an address, by the public suffix list; a host that has none is its own."""
    if origin(url) == OPAQUE:
        return ""
    try:
        return site_of(url)
    except FaultError:
        return ""


def of_site(domain: str, own: str) -> bool:
    """Return whether the domain of a cookie lies within the site `own`."""
    return bool(own) and (domain == own or domain.endswith(f".{own}"))


def referrer(document: str, target: str) -> str:
    """Return the Referer by strict-origin-when-cross-origin: others get the origin, its own all but the fragment."""
    initiator = origin(document)
    if initiator == OPAQUE or (initiator.startswith("https:") and not target.startswith("https:")):
        return ""
    if same_origin(initiator, origin(target)):
        parts = urlsplit(document)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))
    return f"{initiator}/"


def sendable(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return those of the headers set by a script that it may set."""
    return tuple((name, value) for name, value in headers.items() if _may_send(name.lower()))


def preflight(method: str, headers: Iterable[tuple[str, str]], initiator: str) -> tuple[tuple[str, str], ...] | None:
    """Return the headers of the OPTIONS request that must come first (Fetch, CORS-preflight); None where none need."""
    special = _special(headers)
    if method in _SIMPLE_METHODS and not special:
        return None
    wanted = (("Access-Control-Request-Headers", ",".join(special)),) if special else ()
    return (("Origin", initiator), ("Access-Control-Request-Method", method), *wanted)


def permits(
    status: int, answer: Mapping[str, str], method: str, headers: Iterable[tuple[str, str]], initiator: str
) -> bool:
    """Return whether the answer to a preflight permits the request, which goes without credentials."""
    if not (200 <= status < 300 and readable(answer, initiator)):  # noqa: PLR2004 - an "ok status" of Fetch
        return False
    methods = {word.strip() for word in answer.get("access-control-allow-methods", "").split(",")}
    allowed = {word.strip().lower() for word in answer.get("access-control-allow-headers", "").split(",")}
    if not (method in _SIMPLE_METHODS or method in methods or "*" in methods):
        return False
    # Authorization is never meant by `*`.
    return all(name in allowed or ("*" in allowed and name != "authorization") for name in _special(headers))


def readable(answer: Mapping[str, str], initiator: str) -> bool:
    """Return whether a script of the origin `initiator` may read an answer that came without credentials."""
    return answer.get("access-control-allow-origin", "").strip() in ("*", initiator)


def shown(headers: Iterable[tuple[str, str]], *, foreign: bool) -> tuple[tuple[str, str], ...]:
    """Return the headers of an answer that the engine may get; of a `foreign` one those that its site exposes."""
    pairs = tuple((name.lower(), value) for name, value in headers)
    if foreign:
        exposed = {
            word.strip().lower()
            for name, value in pairs
            if name == "access-control-expose-headers"
            for word in value.split(",")
        }
        pairs = tuple(pair for pair in pairs if pair[0] in _READABLE or pair[0] in exposed or "*" in exposed)
    return tuple(pair for pair in pairs if pair[0] not in _NOT_PASSED_ON)


def known_method(method: str) -> bool:
    """Return whether pages may use a method at all."""
    return method in _METHODS


class Frames:
    """The frames of one page and the documents in them, by the events of the engine in their order.

    A frame holds what was handed to the engine for it: the page may lie about that.
    """

    def __init__(self, main: str) -> None:
        """Start with the main frame."""
        self.main = main
        self._documents: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._coming: dict[str, str] = {}

    def handed(self, loader: str, url: str) -> None:
        """Note a document that was handed to the engine: its frame holds it from `navigated` on."""
        self._coming[loader] = url

    def attached(self, params: dict[str, Any]) -> None:
        """Handle Page.frameAttached."""
        self._parents[str(params.get("frameId"))] = str(params.get("parentFrameId"))

    def navigated(self, params: dict[str, Any]) -> None:
        """Handle Page.frameNavigated."""
        frame = params.get("frame", {})
        name, url = str(frame.get("id")), str(frame.get("url", ""))
        coming = self._coming.pop(str(frame.get("loaderId")), None)
        if coming is not None:
            self._documents[name] = coming
        elif url.startswith(_DATA):
            self._documents[name] = NOWHERE
        # about:blank and srcdoc keep the origin of who was there, or of the parent.

    def document(self, frame: str) -> str:
        """Return the address of the document in a frame, or of the one that it inherits its origin from."""
        visited: set[str] = set()
        while frame not in self._documents and frame in self._parents and frame not in visited:
            visited.add(frame)
            frame = self._parents[frame]
        return self._documents.get(frame, NOWHERE)

    def known(self, frame: str) -> bool:
        """Return whether a frame is part of the page, and not of a window that it has opened."""
        return frame == self.main or frame in self._parents

    def within(self, frame: str, own: str) -> bool:
        """Return whether a frame and all its ancestors belong to the site `own`."""
        visited: set[str] = set()
        while frame not in visited:
            visited.add(frame)
            document = self.document(frame)
            if not of_site(site(document), own):
                return False
            if frame not in self._parents:
                return frame == self.main
            frame = self._parents[frame]
        return False

    def origin(self, frame: str) -> str:
        """Return the origin of a frame's document."""
        return origin(self.document(frame))


def _may_send(name: str) -> bool:
    return name not in _FORBIDDEN and not name.startswith(("proxy-", "sec-"))


def _special(headers: Iterable[tuple[str, str]]) -> list[str]:
    return sorted(name.lower() for name, value in headers if not _simple(name.lower(), value))


def _simple(name: str, value: str) -> bool:
    if name not in _SIMPLE_HEADERS or len(value) > _MAX_SIMPLE_VALUE:
        return False
    return name != "content-type" or value.partition(";")[0].strip().lower() in _SIMPLE_TYPES

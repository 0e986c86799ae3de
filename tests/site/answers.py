"""What is asked of the site, and the ways in which it answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus

HTML = "text/html; charset=utf-8"

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Ask:
    """A request: header names in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""

    def number(self, name: str, default: int) -> int:
        """Read a number from the query."""
        return int(self.query.get(name, default))

    @property
    def rest(self) -> str:
        """What follows the first part of the path."""
        return self.path.strip("/").partition("/")[2]


@dataclass(frozen=True)
class Reply:
    """A regular answer; with `chunks` it is sent piece by piece, without a length."""

    status: int
    body: bytes = b""
    headers: Headers = ()
    chunks: Iterator[bytes] | None = None
    after_ms: int = 0

    @property
    def reason(self) -> str:
        """The words of the status."""
        return HTTPStatus(self.status).phrase


@dataclass(frozen=True)
class Break:
    """Send these bytes and hang up, politely or by a reset."""

    sent: bytes = b""
    reset: bool = False


@dataclass(frozen=True)
class Drip:
    """One byte at a time."""

    count: int
    every_ms: int
    after_ms: int = 0
    headers: Headers = ()


Answer = Reply | Break | Drip


def text(body: str | bytes, content_type: str = HTML, status: int = 200, headers: Headers = ()) -> Reply:
    """Answer with a text."""
    return Reply(status, body.encode() if isinstance(body, str) else body, (("Content-Type", content_type), *headers))

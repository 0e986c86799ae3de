"""Servers of models for tests: one that answers what a test has written down, byte for byte."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketStream

Reply = Callable[[SocketStream], Awaitable[None]]
"""Writes an answer; the connection is closed after it."""


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class ScriptedServer:
    """Answers each request with the next of its replies, and the last of them for good."""

    port: int
    replies: list[Reply]
    asked: list[Asked] = field(default_factory=list[Asked])
    left: anyio.Event = field(default_factory=anyio.Event)
    """Is set when a client leaves before its answer is over."""

    @property
    def base_url(self) -> str:
        """Its address as a provider's."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def host(self) -> str:
        """Its entry in `model_hosts`."""
        return f"127.0.0.1:{self.port}"

    async def serve(self, stream: SocketStream) -> None:
        """Hear one request and answer it."""
        async with stream:
            try:
                self.asked.append(await read_request(stream))
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                await reply(stream)
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                self.left.set()


@asynccontextmanager
async def scripted(*replies: Reply) -> AsyncGenerator[ScriptedServer]:
    """Run a server on a free port within the block."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET)
    port: int = listener.extra_attributes[SocketAttribute.local_port]()
    server = ScriptedServer(port, list(replies))
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.serve)
        yield server
        tasks.cancel_scope.cancel()


async def read_request(stream: SocketStream) -> Asked:
    """Read one request."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += await stream.receive()
    return Asked(first.split(" ")[1], headers, msgspec.json.decode(body) if body else None)


# -- replies -----------------------------------------------------------------------------------------------------------


def raw(*pieces: bytes) -> Reply:
    """Write these pieces."""

    async def reply(stream: SocketStream) -> None:
        for piece in pieces:
            await stream.send(piece)

    return reply


def response(status: int, body: bytes, content_type: str = "application/json", **headers: str) -> Reply:
    """Write a whole response."""
    length = {"content-length": str(len(body))}
    return raw(head(status, {"content-type": content_type, **length, **headers}), body)


def document(value: object, status: int = 200, **headers: str) -> Reply:
    """Write a document of JSON; underscores of the names of headers are hyphens."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return response(status, msgspec.json.encode(value), **named)


def events(*data: object, done: bool = True) -> Reply:
    """Write a stream of server-sent events, each a document or a text, and how OpenAI's end."""
    return raw(EVENTS_HEAD, *event_bytes(data), *([b"data: [DONE]\n\n"] if done else []))


def silence_after(*pieces: bytes) -> Reply:
    """Write these pieces and then nothing, until the client leaves."""

    async def reply(stream: SocketStream) -> None:
        for piece in pieces:
            await stream.send(piece)
        await stream.receive()  # raises when the client leaves
        raise AssertionError

    return reply


def event_bytes(data: Sequence[object]) -> list[bytes]:
    """Write events, each a document or a text."""
    texts = (one if isinstance(one, str) else msgspec.json.encode(one).decode() for one in data)
    return [f"data: {text}\n\n".encode() for text in texts]


def head(status: int, headers: dict[str, str]) -> bytes:
    """Write the head of a response."""
    with_close = {"connection": "close"} | headers
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        *(f"{name}: {text}" for name, text in with_close.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode()


EVENTS_HEAD = head(200, {"content-type": "text/event-stream"})

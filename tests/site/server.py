"""Serves the site over plain sockets, so that it can break every rule of HTTP."""

from __future__ import annotations

import socket
import ssl
import struct
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.abc
import anyio.from_thread
import trustme
from anyio.abc import SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.tls import TLSListener

from tests.site.answers import Answer, Ask, Break, Drip, Reply
from tests.site.routes import ROUTES, not_found

_MAX_HEAD_BYTES = 65_536
_TLS_HANDSHAKE = b"\x16"
_LINGER_NONE = struct.pack("ii", 1, 0)


def routed(ask: Ask) -> Answer:
    """Answer by the path."""
    return next((make for start, make in ROUTES if ask.path == start or ask.path.startswith(f"{start}/")), not_found)(
        ask
    )


@dataclass
class Site:
    """Where the site is, and what was asked of it: `hits` and `asked` by path. `answers` says what it answers."""

    port: int
    tls_port: int
    ca_file: str
    host: str = "127.0.0.1"
    hits: Counter[str] = field(default_factory=Counter[str])
    asked: list[Ask] = field(default_factory=list[Ask])
    answers: Callable[[Ask], Answer] = routed

    def url(self, path: str) -> str:
        """Return the address of a path over HTTP."""
        return f"http://{self.host}:{self.port}{path}"

    def https_url(self, path: str) -> str:
        """Return the address of a path over HTTPS; its certificate is good for those who trust `ca_file`."""
        return f"https://localhost:{self.tls_port}{path}"

    def last(self, path: str) -> Ask:
        """Return the last request for a path."""
        return next(ask for ask in reversed(self.asked) if ask.path == path)


@asynccontextmanager
async def serve_site(
    port: int = 0, host: str = "127.0.0.1", answers: Callable[[Ask], Answer] = routed
) -> AsyncGenerator[Site]:
    """Serve while the block lasts, on a free port unless one is given; `host` is an address of loopback."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = authority.issue_cert("localhost", host)
    certificate.configure_cert(context)  # pyright: ignore[reportUnknownMemberType] - trustme speaks of PyOpenSSL, too
    with tempfile.TemporaryDirectory() as folder:
        ca_file = str(Path(folder, "ca.pem"))
        authority.cert_pem.write_to_path(ca_file)
        plain = await anyio.create_tcp_listener(local_host=host, local_port=port)
        bare = await anyio.create_tcp_listener(local_host=host)
        secret = TLSListener(bare, context, standard_compatible=False)
        site = Site(_port(plain), _port(bare), ca_file, host, answers=answers)

        async def answer(stream: anyio.abc.ByteStream) -> None:
            await _serve(site, stream)

        async with plain, secret, anyio.create_task_group() as tasks:
            tasks.start_soon(plain.serve, answer)
            tasks.start_soon(secret.serve, answer)
            yield site
            tasks.cancel_scope.cancel()


@contextmanager
def site_in_thread(answers: Callable[[Ask], Answer] = routed) -> Generator[Site]:
    """Serve from a thread, for tests and programs that have no event loop of their own."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_site(answers=answers)) as site,
    ):
        yield site


def _port(listener: anyio.abc.Listener[anyio.abc.ByteStream]) -> int:
    return int(listener.extra(SocketAttribute.local_port))  # noqa: S610 - no Django here


async def _serve(site: Site, stream: anyio.abc.ByteStream) -> None:
    reader = BufferedByteReceiveStream(stream)
    try:
        while (ask := await _ask(reader)) is not None:
            site.hits[ask.path] += 1
            site.asked.append(ask)
            if not await _answer(stream, ask, site.answers):
                break
    except (
        anyio.BrokenResourceError,
        anyio.ClosedResourceError,
        anyio.EndOfStream,
        anyio.IncompleteRead,
        ssl.SSLError,
    ):
        pass  # the client went away
    finally:
        with anyio.move_on_after(1, shield=True):
            await anyio.aclose_forcefully(stream)


async def _ask(reader: BufferedByteReceiveStream) -> Ask | None:
    try:
        head = await reader.receive_exactly(1)
        if head == _TLS_HANDSHAKE:
            return Ask("", "/status/400", {}, {})
        head += await reader.receive_until(b"\r\n\r\n", _MAX_HEAD_BYTES)
    except (anyio.IncompleteRead, anyio.DelimiterNotFound):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.receive_exactly(int(headers["content-length"])) if "content-length" in headers else b""
    parts = urlsplit(target)
    return Ask(method, parts.path, dict(parse_qsl(parts.query)), headers, body)


async def _answer(stream: anyio.abc.ByteStream, ask: Ask, answers: Callable[[Ask], Answer]) -> bool:
    """Answer, and tell whether the connection lives on."""
    try:
        reply = answers(ask)
    except (LookupError, ValueError):  # an address that was made up beside one of ours
        reply = not_found(ask)
    if isinstance(reply, Break):
        await _send(stream, reply.sent)
        if reply.reset:
            raw = stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - no Django here
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NONE)
        return False
    await anyio.sleep(reply.after_ms / 1000)
    if isinstance(reply, Drip):
        await stream.send(_head(Reply(200, headers=(*reply.headers, ("Content-Length", str(reply.count))))))
        for _ in range(reply.count):
            await anyio.sleep(reply.every_ms / 1000)
            await stream.send(b".")
        return True
    return await _reply(stream, reply)


async def _reply(stream: anyio.abc.ByteStream, reply: Reply) -> bool:
    if reply.chunks is None:
        length = () if reply.status in (204, 304) else (("Content-Length", str(len(reply.body))),)
        await stream.send(_head(reply, length) + reply.body)
        return True
    await stream.send(_head(reply, (("Transfer-Encoding", "chunked"),)))
    for chunk in reply.chunks:
        await stream.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
    await stream.send(b"0\r\n\r\n")
    return True


async def _send(stream: anyio.abc.ByteStream, data: bytes) -> None:
    if data:
        await stream.send(data)


def _head(reply: Reply, more: tuple[tuple[str, str], ...] = ()) -> bytes:
    fields = "".join(f"{name}: {value}\r\n" for name, value in (*reply.headers, *more))
    return f"HTTP/1.1 {reply.status} {reply.reason}\r\n{fields}\r\n".encode("latin-1")

"""A gateway that can be listened to and cut off: hands each request and each socket on, and keeps what was sent."""

from __future__ import annotations

import select
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

ANSWER_S: Final = 240.0
LOOK_S: Final = 0.05
_OURS: Final = frozenset({"connection", "content-length", "date", "server", "transfer-encoding"})


@dataclass
class Relay:
    """What stands before a gateway.

    While it is `cut` no round gets an answer, though the gateway was asked; while it is `gone` nothing is asked, and no
    socket lives.
    """

    target: str
    url: str = ""
    bodies: list[bytes] = field(default_factory=list[bytes])
    traces: list[str] = field(default_factory=list[str])
    cut: Event = field(default_factory=Event)
    gone: Event = field(default_factory=Event)
    asked_while_cut: Event = field(default_factory=Event)

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """The rounds that were sent."""
        return [msgspec.json.decode(body, type=dict[str, Any]) for body in self.bodies if b'"domMode"' in body]

    def ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """Ask the gateway itself."""
        connection = HTTPConnection(urlsplit(self.target).netloc, timeout=ANSWER_S)
        try:
            connection.request(method, path, body or None, {**headers, "Host": urlsplit(self.target).netloc})
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def join(self, head: bytes, client: socket.socket) -> None:
        """Open a socket of the gateway for a client, and hand on what both say until one leaves or this is gone."""
        host, port = urlsplit(self.target).netloc.split(":")
        with suppress(OSError), socket.create_connection((host, int(port)), ANSWER_S) as gateway:
            gateway.sendall(head)
            others = {client: gateway, gateway: client}
            while not self.gone.is_set():
                for ready in select.select(list(others), [], [], LOOK_S)[0]:
                    content = ready.recv(65_536)
                    if not content:
                        return
                    others[ready].sendall(content)


class _Handler(BaseHTTPRequestHandler):
    """Hands on one request."""

    protocol_version = "HTTP/1.1"
    relay: Relay

    def do_GET(self) -> None:
        """Hand it on."""
        self.hand_on()

    def do_POST(self) -> None:
        """Hand it on."""
        self.hand_on()

    def do_OPTIONS(self) -> None:
        """Hand it on."""
        self.hand_on()

    def hand_on(self) -> None:
        """Ask the gateway, and answer with what it says."""
        if self.relay.gone.is_set():
            self.close_connection = True
            return
        if self.headers.get("upgrade"):
            self.hand_on_socket()
            return
        body = self.rfile.read(int(self.headers["content-length"] or 0))
        if body:
            self.relay.bodies.append(body)
            self.relay.traces.append(self.headers.get("traceparent", ""))
        given = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        status, headers, answer = self.relay.ask(self.command, self.path, given, body)
        if self.relay.cut.is_set() and b'"domMode"' in body:
            self.relay.asked_while_cut.set()
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in _OURS:
                self.send_header(name, value)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def hand_on_socket(self) -> None:
        """Join the client and the gateway, whose Host is its own."""
        self.headers.replace_header("host", urlsplit(self.relay.target).netloc)
        lines = [self.requestline, *(f"{name}: {value}" for name, value in self.headers.items()), "", ""]
        self.relay.join("\r\n".join(lines).encode("latin-1"), self.connection)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name is the library's
        """Say nothing."""


@contextmanager
def relay_to(target: str = "") -> Generator[Relay]:
    """Stand before a gateway while the block lasts; its `target` may be told later."""
    relay = Relay(target)
    handler = type("Handler", (_Handler,), {"relay": relay})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        relay.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield relay
        relay.cut.clear()
        relay.gone.set()
        server.shutdown()
        thread.join()

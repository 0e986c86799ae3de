"""A server for every host that a test has: it serves what it is given, and keeps every byte that came in."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HTML = "text/html; charset=utf-8"


@dataclass
class Recorder:
    """Where it listens, what it serves by path, and what it was sent: request line, headers and body together."""

    origin: str
    pages: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    received: list[bytes] = field(default_factory=list[bytes])

    def serve(self, path: str, text: str, media_type: str = HTML) -> str:
        """Serve a text at a path, and return its address."""
        self.pages[path] = (text, media_type)
        return self.origin + path


@contextmanager
def recording(host: str = "127.0.0.1", pages: Mapping[str, str] | None = None) -> Generator[Recorder]:
    """Listen at an address of this machine while the block lasts; what is not served there is an empty page."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def record(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            recorder.received.append(f"{self.requestline}\r\n{self.headers}".encode() + body)
            text, media_type = recorder.pages.get(urlsplit(self.path).path, ("<p>Nothing here.</p>", HTML))
            data = text.encode()
            self.send_response(200)
            self.send_header("content-type", media_type)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_HEAD = record  # noqa: N815 - the names that the base calls

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
            """Print nothing."""

    with ThreadingHTTPServer((host, 0), Handler) as server:
        recorder = Recorder(f"http://{host}:{server.server_address[1]}")
        for path, text in (pages or {}).items():
            recorder.serve(path, text)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield recorder
        finally:
            server.shutdown()
            thread.join()

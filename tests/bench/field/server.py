"""Serves the pages of the field from a thread, so that its CPU is nobody's."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.bench.field.pages import HTML, PAGES

_FOUND = {f"/page/{number}/": page for number, page in enumerate(PAGES)}


class FieldHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a page, what its script asks for, or 404."""
        path = self.path.partition("?")[0]
        page, late = _FOUND.get(path), _FOUND.get(path.removesuffix("late.json"))
        if page is not None:
            self._answer(page.status, page.body.encode(), HTML, page.headers)
        elif late is not None and late.late:
            self._answer(200, late.late.encode(), "application/json")
        else:
            self._answer(404, b"nothing here", "text/plain")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the standard library
        """Stay silent."""

    def _answer(self, status: int, body: bytes, media: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", media), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def field_server(host: str) -> Generator[str]:
    """Serve until the block ends; yields the address that the paths follow, without a slash at its end."""
    server = ThreadingHTTPServer((host, 0), FieldHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()

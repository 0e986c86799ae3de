"""A receiver of OTLP over HTTP, which keeps the spans that it is sent."""

from __future__ import annotations

import gzip
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import MappingProxyType
from typing import Literal

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1 import trace_pb2

Kind = Literal["internal", "server", "client", "producer", "consumer"]
_KINDS: Mapping[int, Kind] = MappingProxyType({1: "internal", 2: "server", 3: "client", 4: "producer", 5: "consumer"})


@dataclass(frozen=True)
class Seen:
    """A span as it was received."""

    service: str
    instance: str
    host: str
    name: str
    kind: Kind
    trace: str
    id: str
    parent: str
    failed: bool
    attributes: Mapping[str, str]


@dataclass(frozen=True)
class Receiver:
    """Where spans are sent to, and those that came; it answers when `open_` is set."""

    endpoint: str
    spans: list[Seen] = field(default_factory=list[Seen])
    bodies: list[bytes] = field(default_factory=list[bytes])
    open_: Event = field(default_factory=Event)

    def of(self, trace: str) -> list[Seen]:
        """Find the spans of one trace."""
        return [span for span in list(self.spans) if span.trace == trace]


@contextmanager
def receiving(*, hangs: bool = False) -> Generator[Receiver]:
    """Receive while the block lasts; one that `hangs` takes requests and never answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}")
    if not hangs:
        receiver.open_.set()
    server.RequestHandlerClass = _handler(receiver)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield receiver
    finally:
        receiver.open_.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers["Content-Encoding"] == "gzip":
                body = gzip.decompress(body)
            assert self.path == "/v1/traces"
            receiver.open_.wait()
            receiver.bodies.append(body)
            receiver.spans.extend(_spans(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Log nothing."""

    return Handler


def _spans(body: bytes) -> Generator[Seen]:
    for part in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource = {entry.key: entry.value.string_value for entry in part.resource.attributes}
        for scope in part.scope_spans:
            for span in scope.spans:
                yield _seen(resource, span)


def _seen(resource: Mapping[str, str], span: trace_pb2.Span) -> Seen:
    return Seen(
        service=resource["service.name"],
        instance=resource["service.instance.id"],
        host=resource["host.name"],
        name=span.name,
        kind=_KINDS[span.kind],
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        failed=span.status.code == trace_pb2.Status.STATUS_CODE_ERROR,
        attributes={
            entry.key: str(getattr(entry.value, str(entry.value.WhichOneof("value")))) for entry in span.attributes
        },
    )

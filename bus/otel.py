"""Spans recorded by the OpenTelemetry SDK and sent by OTLP over HTTP; imported only when tracing is on."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextvars import Token
from threading import Thread
from types import TracebackType
from typing import Self

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from bus.tracing import TRACEPARENT, Attributes, Value
from bus.tracing import SpanKind as Kind

EXPORT_EVERY_MS = 1_000
QUEUE_SPANS = 16_384
BATCH_SPANS = 2_048
CLOSE_S = 1.0

_KINDS: Mapping[Kind, SpanKind] = {
    "client": SpanKind.CLIENT,
    "server": SpanKind.SERVER,
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
    "internal": SpanKind.INTERNAL,
}
_extract = TraceContextTextMapPropagator().extract


class OtelTracing:
    """The spans of one actor, which is one service in Jaeger."""

    def __init__(self, service: str, replica: str) -> None:
        """Record as `service`; the standard OTEL_* variables say where to and how."""
        resource = Resource.create(
            {
                "service.name": service,
                "service.namespace": "weft",
                "service.instance.id": replica,
                "host.name": socket.gethostname(),
            }
        )
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(
            BatchSpanProcessor(
                OTLPSpanExporter(),
                max_queue_size=QUEUE_SPANS,
                max_export_batch_size=BATCH_SPANS,
                schedule_delay_millis=EXPORT_EVERY_MS,
            )
        )
        self._tracer = self._provider.get_tracer("weft")

    def span(self, name: str, kind: Kind, attributes: Attributes | None, headers: Mapping[str, str] | None) -> OtelSpan:
        """Record what is done inside."""
        parent = _extract(headers) if headers and TRACEPARENT in headers else None
        return OtelSpan(self._tracer.start_span(name, parent, _KINDS[kind], attributes))

    def inject(self, headers: dict[str, str]) -> None:
        """Add the W3C context of the current span to headers."""
        current = trace.get_current_span().get_span_context()
        if current.is_valid:
            headers[TRACEPARENT] = f"00-{current.trace_id:032x}-{current.span_id:016x}-{current.trace_flags:02x}"

    def trace_id(self) -> str | None:
        """Return the id of the current trace in hex, if there is one."""
        current = trace.get_current_span().get_span_context()
        return f"{current.trace_id:032x}" if current.is_valid else None

    def close(self) -> None:
        """Send what is left; a receiver that does not answer in time gets nothing (the SDK would wait for 30 s)."""
        last = Thread(target=self._provider.shutdown, daemon=True)
        last.start()
        last.join(CLOSE_S)


class OtelSpan:
    """One span, current while its block lasts; an exception that leaves the block marks it as failed."""

    def __init__(self, span: trace.Span) -> None:
        """Record into `span`, which has begun."""
        self._span = span
        self._token: Token[Context] | None = None

    def __enter__(self) -> Self:
        """Make it current."""
        self._token = contexts.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """End it."""
        if self._token is not None:
            contexts.detach(self._token)
        if kind is not None:
            self.fail(getattr(getattr(error, "fault", None), "code", kind.__name__))
        self._span.end()

    def set_attribute(self, key: str, value: Value, /) -> None:
        """Add one fact."""
        self._span.set_attribute(key, value)

    def fail(self, reason: str) -> None:
        """Mark it as failed."""
        self._span.set_attribute("error.type", reason)
        self._span.set_status(Status(StatusCode.ERROR))

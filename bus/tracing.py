"""Spans of what is sent and what is done; nothing at all is recorded while tracing is off."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Literal, Protocol

TRACEPARENT = "traceparent"

SpanKind = Literal["client", "server", "producer", "consumer", "internal"]
Value = str | int | bool
Attributes = Mapping[str, Value]


class Span(Protocol):
    """What may be said of the work in hand."""

    def set_attribute(self, key: str, value: Value, /) -> None:
        """Add one fact, named as OpenTelemetry names it."""
        ...

    def fail(self, reason: str) -> None:
        """Mark it as failed, with a code for the reason."""
        ...


class Tracing(Protocol):
    """The spans of one actor."""

    def span(
        self, name: str, kind: SpanKind, attributes: Attributes | None, headers: Mapping[str, str] | None
    ) -> AbstractContextManager[Span]:
        """Record what is done inside; `headers` that carry a traceparent make it a child of a remote span."""
        ...

    def inject(self, headers: dict[str, str]) -> None:
        """Add the W3C context of the current span to headers."""
        ...

    def trace_id(self) -> str | None:
        """Return the id of the current trace in hex, if there is one."""
        ...

    def close(self) -> None:
        """Send what is left; may take seconds, so not on the event loop."""
        ...


class _NoSpan:
    def set_attribute(self, key: str, value: Value, /) -> None:
        """Say nothing."""

    def fail(self, reason: str) -> None:
        """Say nothing."""


NO_SPAN = nullcontext[Span](_NoSpan())


class _Off:
    def span(
        self,
        name: str,  # noqa: ARG002 - nothing is recorded
        kind: SpanKind,  # noqa: ARG002 - nothing is recorded
        attributes: Attributes | None,  # noqa: ARG002 - nothing is recorded
        headers: Mapping[str, str] | None,  # noqa: ARG002 - nothing is recorded
    ) -> AbstractContextManager[Span]:
        return NO_SPAN

    def inject(self, headers: dict[str, str]) -> None:
        """Add nothing."""

    def trace_id(self) -> str | None:
        return None

    def close(self) -> None:
        """Send nothing."""


OFF: Tracing = _Off()
_current: ContextVar[Tracing] = ContextVar("tracing", default=OFF)


def tracing_on() -> bool:
    """Whether spans are recorded, for those who would prepare attributes in vain."""
    return _current.get() is not OFF


def use(tracing: Tracing) -> None:
    """Make `tracing` the one that `span` records with from here on, in this task and those it starts."""
    _current.set(tracing)


def span(
    name: str,
    kind: SpanKind = "internal",
    attributes: Attributes | None = None,
    headers: Mapping[str, str] | None = None,
) -> AbstractContextManager[Span]:
    """Record what is done inside as a span of the current actor."""
    return _current.get().span(name, kind, attributes, headers)


def sending(subject: str) -> Attributes | None:
    """Name the attributes of a span that sends to `subject`, as OpenTelemetry's messaging conventions do."""
    if not tracing_on():
        return None
    return {
        "messaging.system": "nats",
        "messaging.operation.type": "send",
        "messaging.destination.name": subject,
    }


def inject(headers: dict[str, str]) -> None:
    """Add the W3C context of the current span to headers that are about to be sent."""
    _current.get().inject(headers)


def current_trace_id() -> str | None:
    """Return the id of the current trace in hex, if there is one."""
    return _current.get().trace_id()

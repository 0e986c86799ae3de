"""The telemetry of a process: its log (structlog, JSON for machines, colours for a terminal, on stderr), its traces."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from typing import Any, Literal, TextIO, cast

import msgspec
import stamina
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bus.context import conversation_id
from bus.tracing import OFF, Tracing, current_trace_id

ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def configure(level: str, form: Literal["auto", "json", "pretty"] = "auto", **bound: str) -> None:
    """Log from `level` up; `bound` stands on every line. `auto` is pretty on a terminal and JSON elsewhere."""
    pretty = form == "pretty" or (form == "auto" and sys.stderr.isatty())
    render: list[Processor] = (
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if pretty
        else [
            structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False)),
            structlog.processors.JSONRenderer(serializer=_json),
        ]
    )
    collect: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_context,
    ]
    stderr = cast("TextIO", _Stderr(sys.stderr))
    structlog.configure(
        processors=[*collect, *render],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(stderr),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(**bound)
    stamina.instrumentation.set_on_retry_hooks([])
    libraries = logging.StreamHandler(stderr)
    libraries.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render], foreign_pre_chain=collect
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[libraries], force=True)


def load_tracing() -> bool:
    """Import what tracing takes, where it is on, and return whether it is; before forks, that it is done once."""
    if not any(os.environ.get(name) for name in ENDPOINT_VARIABLES):
        return False
    importlib.import_module("bus.otel")  # the SDK costs 130 ms, so only when it is on
    return True


def start_tracing(service: str, replica: str) -> Tracing:
    """Trace as `service` to where OTEL_EXPORTER_OTLP_ENDPOINT points; off when it points nowhere.

    Call after a fork: the exporter has a thread of its own.
    """
    if not load_tracing():
        return OFF
    from bus.otel import OtelTracing  # noqa: PLC0415 - it was imported above

    return OtelTracing(service, replica)


class _Stderr:
    """Writes each line whole, for many processes share stderr, and goes on when nobody reads it any more."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def flush(self) -> None:
        """Do nothing: `write` has."""


def _json(event: EventDict, **_: Any) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()


def _add_context(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Say which trace and which conversation the line belongs to."""
    if trace := current_trace_id():
        event["trace"] = trace
    if conversation := conversation_id():
        event["conversation"] = conversation
    return event

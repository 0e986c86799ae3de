"""What the lines of the journals are as events of the log: types, severities and ids, and no word of what was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from actors import redact
from bus.stores import JournalLine
from protocol import collections as kept
from protocol import tool_log
from protocol.faults import Fault
from protocol.models import CallErrorKind, ModelCalled
from protocol.policy import ApprovalState, ToolStatus, Verb
from protocol.runs.events import CancelRequested, LedgerLine, RunCreated, RunEnded, RunTaken, StepEnded
from protocol.runs.states import RunStatus, StepStatus

PREVIEW_CHARS: Final = 200
_INVALID_JSON: Final = frozenset({CallErrorKind.MALFORMED, CallErrorKind.SCHEMA})
_TRANSFORMS: Final = frozenset(
    {"comparison", "timeline", "executive_brief", "report", "outline", "study_guide", "quiz", "flashcards"}
)

Severity = Literal["info", "warning", "error"]


class LogEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the log: when (ISO 8601, UTC), what, how bad, and the ids by which lines belong together.

    `journal` and `line` say which line of which journal it is made of. The payload has figures, names and codes: of
    addresses what is no credential, of a search query its hash and length, of texts nothing but their length unless
    previews are wanted.
    """

    timestamp: str
    type: str
    severity: Severity = "info"
    payload: dict[str, Any] = {}
    run_id: str = ""
    conversation_id: str = ""
    collection_id: str = ""
    source_id: str = ""
    artifact_id: str = ""
    tool_call_id: str = ""
    request_id: str = ""
    journal: str = ""
    line: int = 0


def events_of(journal: str, line: JournalLine[Any], *, previews: bool = False) -> Sequence[LogEvent]:
    """Return what a line of a journal says has happened: nothing, one event or more."""
    match line.value:
        case RunCreated() | RunTaken() | CancelRequested() | RunEnded() | StepEnded() as value:
            events = _of_run(value)
        case ModelCalled() as value:
            events = _of_call(value, previews=previews)
        case tool_log.CallDecided() | tool_log.CallAnswered() | tool_log.CallEnded() as value:
            events = _of_tool(value)
        case kept.TextAsked() | kept.TextStarted() | kept.TextEnded() | kept.TextDeleted() as value:
            events = _of_text(value)
        case kept.CaptureQueued() | kept.CaptureStarted() | kept.SourceCaptured() | kept.CaptureFailed() as value:
            events = _of_capture(value, previews=previews)
        case kept.SourceDeleted() as value if line.topic != kept.added_topic(value.collection, value.source):
            return ()  # the same once more, in the place of something else that was said of the source
        case (
            kept.CollectionCreated()
            | kept.CollectionWatched()
            | kept.CollectionRefreshed()
            | kept.CollectionDeleted()
            | kept.SourceAdded()
            | kept.SourceDeleted() as value
        ):
            events = _of_collection(value)
        case _:
            return ()
    return tuple(replace(event, journal=journal, line=line.sequence) for event in events)


def _event(at_ms: int, name: str, severity: Severity = "info", /, **more: Any) -> LogEvent:
    """Return an event; what is no id belongs to its payload, where it says anything."""
    ids = {name: value for name, value in more.items() if name in LogEvent.__struct_fields__}
    payload = {name: value for name, value in more.items() if name not in ids and value not in (None, "", (), {})}
    timestamp = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return LogEvent(timestamp=timestamp, type=name, severity=severity, payload=payload, **ids)


# -- runs --------------------------------------------------------------------------------------------------------------

_RUN_ENDS: Final[dict[RunStatus, Severity]] = {RunStatus.FAILED: "error", RunStatus.PARTIAL_SUCCESS: "warning"}


def _of_run(line: LedgerLine) -> Iterator[LogEvent]:
    run_id = line.run_id
    match line:
        case RunCreated():
            steps = len(line.steps)
            yield _event(line.at, "run.created", run_id=run_id, template=line.template_id, mode=line.mode, steps=steps)
        case RunTaken():
            kind = "run.started" if line.attempt == 1 else "run.resumed"
            yield _event(line.at, kind, run_id=run_id, attempt=line.attempt, replica=line.replica)
        case CancelRequested():
            yield _event(line.at, "run.cancel_requested", run_id=run_id, reason=line.reason)
        case StepEnded():
            severity: Severity = "warning" if line.status is StepStatus.FAILED else "info"
            facts = {"index": line.index, "name": line.name, "status": line.status, "tries": line.tries}
            yield _event(line.at, "run.step", severity, run_id=run_id, **facts, code=_code(line.fault))
        case RunEnded():
            ended = f"run.{line.status.value}"
            yield _event(line.at, ended, _RUN_ENDS.get(line.status, "info"), run_id=run_id, code=_code(line.fault))
            for one in line.artifacts:
                facts = {"form": one.type, "bytes": one.size, "expires_at": one.expires_at}
                yield _event(line.at, "artifact.created", run_id=run_id, artifact_id=one.artifact_id, **facts)


# -- models and tools --------------------------------------------------------------------------------------------------


def _of_call(line: ModelCalled, *, previews: bool) -> Iterator[LogEvent]:
    """Return the two ends of a try: the journal has it when it is over."""
    ids = {"run_id": line.run, "conversation_id": line.conversation, "request_id": line.call_id}
    names = {"tool": line.tool, "provider": line.provider, "model": line.model}
    question = line.asked_preview if previews else ""
    begun = line.at - line.latency_ms
    yield _event(begun, "llm.request", **ids, **names, reason=line.reason, digest=line.digest, preview=question)
    figures = {"latency_ms": line.latency_ms, "cost_usd": line.cost_usd}
    figures |= {"input_tokens": line.usage.input, "output_tokens": line.usage.output}
    if line.success:
        status = "truncated" if line.truncated else "ok"
        answer = line.answer_preview if previews else ""
        severity: Severity = "warning" if line.truncated else "info"
        yield _event(line.at, "llm.response", severity, **ids, **names, **figures, status=status, preview=answer)
    else:
        status = "invalid_json" if line.error_kind in _INVALID_JSON else "error"
        yield _event(line.at, "llm.error", "error", **ids, **names, **figures, status=status, error=line.error_kind)


def _of_tool(line: tool_log.CallDecided | tool_log.CallAnswered | tool_log.CallEnded) -> Iterator[LogEvent]:
    ids = {"tool_call_id": line.call, "conversation_id": line.conversation}
    match line:
        case tool_log.CallDecided():
            facts = {"tool": line.tool, "surface": line.surface, "proposed": line.proposed, "site": line.site}
            decided = {"decision": line.decision.decision, "reason": line.decision.reason_code}
            yield _event(line.at, "tool.proposed", **ids, **facts, **decided, arguments=_arguments(line.arguments))
            if line.decision.decision is Verb.ALLOW:
                yield _event(line.at, "tool.approved", **ids, tool=line.tool, by="rules", **decided)
            elif line.decision.decision is Verb.DENY:
                yield _event(line.at, "tool.denied", "warning", **ids, tool=line.tool, by="rules", **decided)
        case tool_log.CallAnswered():
            if line.state is ApprovalState.ALLOWED:
                yield _event(line.at, "tool.approved", **ids, tool=line.tool, by="person", remember=line.remember)
            else:
                yield _event(line.at, "tool.denied", "warning", **ids, tool=line.tool, state=line.state)
        case tool_log.CallEnded():
            severity: Severity = "info" if line.status is ToolStatus.OK else "error"
            yield _event(line.at, "tool.executed", severity, **ids, tool=line.tool, status=line.status, code=line.code)


def _arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return which arguments a call has: of a search query a hash and the length, of all others nothing else."""
    shown: dict[str, Any] = {}
    for name, value in arguments.items():
        is_query = name == "query" and isinstance(value, str)
        shown[name] = {"sha256": sha256(str(value).encode()).hexdigest(), "chars": len(value)} if is_query else True
    return shown


# -- collections -------------------------------------------------------------------------------------------------------


def _of_collection(line: kept.CollectionLine) -> Iterator[LogEvent]:
    ids = {"collection_id": line.collection}
    match line:
        case kept.CollectionCreated():
            yield _event(line.at, "collection.created", **ids, tool_call_id=line.call_id, tags=len(line.tags))
        case kept.CollectionWatched():
            yield _event(line.at, "collection.watched", **ids, every_ms=line.every_ms)
        case kept.CollectionRefreshed():
            kind = "collection.refreshed" if line.ended else "collection.refresh_started"
            yield _event(line.at, kind, **ids, round=line.round)
        case kept.CollectionDeleted():
            yield _event(line.at, "collection.deleted", **ids, tool_call_id=line.call_id)
        case kept.SourceAdded():
            facts = {"kind": line.kind, "url": _url(line.url), "chars": len(line.markdown)}
            yield _event(line.at, "source.added", **ids, source_id=line.source, **facts)
        case kept.SourceDeleted():
            yield _event(line.at, "source.deleted", **ids, source_id=line.source)
        case _:
            return


def _of_capture(
    line: kept.CaptureQueued | kept.CaptureStarted | kept.SourceCaptured | kept.CaptureFailed, *, previews: bool
) -> Iterator[LogEvent]:
    ids = {"collection_id": line.collection, "source_id": line.source}
    match line:
        case kept.CaptureQueued():
            facts = {"url": _url(line.url), "version": line.version, "mode": line.mode}
            yield _event(line.at, "capture.job_queued", **ids, tool_call_id=line.call_id, job=line.job, **facts)
        case kept.CaptureStarted():
            yield _event(line.at, "capture.job_started", **ids, job=line.job, attempt=line.attempt)
        case kept.SourceCaptured():
            preview = redact.text(line.markdown[:PREVIEW_CHARS]) if previews else ""
            figures = {"version": line.version, "chars": len(line.markdown), "changes": len(line.changes)}
            yield _event(line.at, "capture.job_succeeded", **ids, job=line.job, version=line.version)
            facts = {"url": _url(line.url), "unchanged": line.unchanged, "language": line.language, "preview": preview}
            yield _event(line.at, "source.captured", **ids, **figures, **facts)
        case kept.CaptureFailed():
            kind = "capture.job_failed" if line.final else "capture.job_retried"
            facts = {"job": line.job, "attempt": line.attempt, "code": _code(line.fault)}
            yield _event(line.at, kind, "error" if line.final else "warning", **ids, **facts)


def _of_text(line: kept.TextAsked | kept.TextStarted | kept.TextEnded | kept.TextDeleted) -> Iterator[LogEvent]:
    ids = {"collection_id": line.collection, "artifact_id": line.artifact}
    match line:
        case kept.TextAsked():
            is_transform = line.markdown is None or line.type in _TRANSFORMS
            kind = "transform.queued" if is_transform else "artifact.saved"
            facts = {"form": line.type, "sources": len(line.sources), "chars": len(line.markdown or "")}
            yield _event(line.at, kind, **ids, tool_call_id=line.call_id, **facts)
        case kept.TextStarted():
            yield _event(line.at, "transform.started", **ids, attempt=line.attempt)
        case kept.TextEnded():
            failed = line.status is kept.TextStatus.FAILED
            facts = {"code": _code(line.fault), "served_by": line.served_by, "citations": len(line.citations)}
            yield _event(line.at, f"transform.{line.status.value}", "error" if failed else "info", **ids, **facts)
            if line.status is kept.TextStatus.COMPLETED:
                yield _event(line.at, "artifact.saved", **ids, chars=len(line.markdown))
        case kept.TextDeleted():
            yield _event(line.at, "artifact.deleted", **ids)


def _url(address: str) -> str:
    return redact.url(address) if address else ""


def _code(failure: Fault | None) -> str:
    return failure.code.value if failure is not None else ""

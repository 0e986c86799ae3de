"""Runs of templates at the edge: begin, wait for, look at and cancel them, in requests and answers of the clients."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Annotated, Any, Final, Literal

import anyio
import msgspec
from msgspec import Meta, Struct, structs

from actors.gateway.app_context import AppContext
from actors.gateway.request import RequestContext
from protocol import subjects
from protocol.browsers.operations import SessionId
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.runs.requests import (
    MAX_FOLLOW_MS,
    AskRun,
    CreateRun,
    FollowRun,
    ListRuns,
    ListTemplates,
    ReadArtifact,
    RunNews,
    RunSort,
    inputs_of,
)
from protocol.runs.responses import ArtifactChunk, CancelAnswer, Run, RunAccepted, RunList, RuntimeProfile, TemplateList
from protocol.runs.states import (
    HANDLE_BYTES,
    MAX_INPUT_BYTES,
    MAX_RUN_TIMEOUT_MS,
    RUN_PREFIX,
    ArtifactId,
    Mode,
    RunId,
    TemplateId,
    TrustLevel,
)
from protocol.tools.runs import MAX_HANDLE_CHARS, ArtifactRequest, RunRequest, RunsRequest

MAX_CHUNK_BYTES: Final = 500_000
"""More than any Weft hands out at once: whoever names no limit gets as much as this one does."""

QUEUE_MARGIN_MS: Final = 60_000
"""What a run may wait for its turn, beside its own time, before a client that waits is told how it stands."""

FOLLOW_PATIENCE_MS: Final = 60_000
"""How long whoever tells of runs may be away until a client that listens is told that it is."""

_AGAIN_S: Final = 0.25
_CANCEL_S: Final = 1.0
_NO_RUN: Final = "after: not the id of a run; take that of the last run of the list before, or leave it out"


class OrderedRunsRequest(RunsRequest, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which runs to list, in which order, and behind which one to begin."""

    sort: Annotated[RunSort, Meta(description="By when they were begun, or last changed.")] = RunSort.CREATED
    order: Annotated[Literal["asc", "desc"], Meta(description="`desc`: the newest first.")] = "desc"
    after: (
        Annotated[str, Meta(max_length=MAX_HANDLE_CHARS, description="Run behind which to begin; `offset` counts on.")]
        | None
    ) = None


class ResumeRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What a run needs to be gone on with: of its inputs what is secret, since it is kept nowhere."""

    inputs: dict[str, Any] = {}


async def templates(app: AppContext) -> TemplateList:
    """Return what there is to run."""
    known = await app.bus.call(subjects.RUN_TEMPLATES, ListTemplates(), wait_ms=app.grace_ms)
    return TemplateList(templates=known.templates)


async def profile(app: AppContext, request: RequestContext) -> RuntimeProfile:
    """Return what bounds all runs together, and where the caller sits (002 §2)."""
    known = await app.bus.call(subjects.RUN_TEMPLATES, ListTemplates(), wait_ms=app.grace_ms)
    return RuntimeProfile(
        runtime_version=app.version,
        limits=known.limits,
        trust_level=TrustLevel.LOCAL if request.caller.local else TrustLevel.REMOTE,
        artifact_ttl_ms=known.artifact_ttl_ms,
    )


async def create(app: AppContext, request: RequestContext, arguments: RunRequest) -> RunAccepted:
    """Begin a run, and wait for nothing.

    Raises:
        FaultError: what of the request is at fault, or why no run can be begun.
    """
    return await _create(app, request, new_run_id(), arguments)


async def run(app: AppContext, request: RequestContext, arguments: RunRequest) -> RunAccepted | Run:
    """Begin a run, and wait for its end where the accepted mode is sync; whoever watches hears how far it is.

    The wait has the time of the run, and some more for the queue: where it is over earlier, the run is told as it
    stands. A client that leaves before it is answered cancels the run, which it does not know, unless it gave an
    idempotency key: by that it can take the run up again. A gateway that stops leaves the run alone.

    Raises:
        FaultError: why no run was begun, or cannot be told of.
    """
    run_id = new_run_id()
    try:
        accepted = await _create(app, request, run_id, arguments)
        if accepted.mode is not Mode.SYNC:
            return accepted
        done = await ended(app, request, accepted.run_id, arguments.options.timeout_ms)
        return msgspec.structs.replace(done, deduplicated=accepted.deduplicated)
    except anyio.get_cancelled_exc_class():
        if arguments.idempotency_key is None and not app.closing.is_set():
            with anyio.move_on_after(_CANCEL_S, shield=True), suppress(FaultError):
                await cancel(app, request, run_id)
        raise


async def ended(app: AppContext, request: RequestContext, run_id: str, timeout_ms: int | None = None) -> Run:
    """Wait for the end of a run whose time is `timeout_ms`, as long as that may take, and tell how it stands then."""
    bound_ms = min(timeout_ms or MAX_RUN_TIMEOUT_MS, MAX_RUN_TIMEOUT_MS) + QUEUE_MARGIN_MS
    with anyio.move_on_after(bound_ms / 1_000):
        async with aclosing(_stream_news(app, request, _first(run_id), bound_ms)) as stream:
            async for news in stream:
                _report(request, news.run)
    return await get(app, request, run_id)


async def resume(app: AppContext, request: RequestContext, run_id: str, arguments: ResumeRequest) -> RunAccepted:
    """Begin a run that takes its inputs and its finished steps from another one, which has come to an end.

    Raises:
        FaultError: RUN_NOT_FOUND, or why it cannot be gone on with.
    """
    before, after = _run_id(run_id), new_run_id()
    who = request.caller
    order = CreateRun(
        run_id=after,
        inputs=_sealed(app, after, arguments.inputs),
        caller=who.name,
        scopes=tuple(sorted(who.scopes)),
        local=who.local,
        resume=before,
    )
    return await app.bus.call(subjects.RUN_CREATE, order, wait_ms=app.grace_ms)


async def get(app: AppContext, request: RequestContext, run_id: str, *, include_inputs: bool = False) -> Run:
    """Return how a run of the caller stands (002 §4.2), with its inputs where they are wanted.

    Raises:
        FaultError: RUN_NOT_FOUND, also for the run of somebody else.
    """
    question = structs.replace(_mine(request, run_id), include_inputs=include_inputs)
    return await app.bus.call(subjects.RUN_GET, question, wait_ms=app.grace_ms)


async def list_runs(app: AppContext, request: RequestContext, arguments: RunsRequest) -> RunList:
    """List the runs of the caller, newest first unless another order is asked for (002 §4.3).

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, there is no run after which to begin.
    """
    order = ListRuns(
        caller=request.caller.name,
        status=arguments.status,
        template_id=arguments.template_id,
        limit=arguments.limit,
        offset=arguments.offset,
    )
    if isinstance(arguments, OrderedRunsRequest):
        after = (
            None
            if arguments.after is None
            else _known(arguments.after, RunId, Code.VALIDATION_INVALID_REQUEST, "after", _NO_RUN)
        )
        order = structs.replace(order, sort=arguments.sort, ascending=arguments.order == "asc", after=after)
    return await app.bus.call(subjects.RUN_LIST, order, wait_ms=app.grace_ms)


async def cancel(app: AppContext, request: RequestContext, run_id: str) -> CancelAnswer:
    """Ask a run of the caller to stop before its next step (002 §4.4).

    Raises:
        FaultError: RUN_NOT_FOUND, also for the run of somebody else.
    """
    return await app.bus.call(subjects.RUN_CANCEL, _mine(request, run_id), wait_ms=app.grace_ms)


async def artifact(app: AppContext, request: RequestContext, arguments: ArtifactRequest) -> ArtifactChunk:
    """Read a piece of a file of the caller (002 §5).

    Raises:
        FaultError: ARTIFACT_NOT_FOUND, also for the file of somebody else, or ARTIFACT_EXPIRED.
    """
    order = ReadArtifact(
        artifact_id=_known(arguments.artifact_id, ArtifactId, Code.ARTIFACT_NOT_FOUND, "artifactId"),
        caller=request.caller.name,
        offset=arguments.offset,
        limit=min(arguments.limit or MAX_CHUNK_BYTES, MAX_CHUNK_BYTES),
    )
    return await app.bus.call(subjects.ARTIFACT_READ, order, wait_ms=app.grace_ms)


def follow(
    app: AppContext, request: RequestContext, run_id: str, after: int = 0, *, notes: bool = False
) -> AsyncGenerator[RunNews]:
    """Return what happens to a run of the caller after the event `after`, until it is over.

    With `notes` it is told of each step what that was about.

    News without events come now and then; they show that somebody is still there. Whoever tells of runs may be
    restarted meanwhile. Close the generator when you leave early (`contextlib.aclosing`).

    Raises:
        FaultError: RUN_NOT_FOUND, also for the run of somebody else, or whoever tells of runs stays away.
    """
    return _stream_news(app, request, _first(run_id, after, notes=notes), FOLLOW_PATIENCE_MS)


def new_run_id() -> str:
    """Make the id of a run, which nobody guesses."""
    return RUN_PREFIX + secrets.token_urlsafe(HANDLE_BYTES)


async def _create(app: AppContext, request: RequestContext, run_id: str, arguments: RunRequest) -> RunAccepted:
    who = request.caller
    order = CreateRun(
        run_id=run_id,
        inputs=_sealed(app, run_id, arguments.inputs),
        template_id=_known(arguments.template_id, TemplateId, Code.TEMPLATE_NOT_FOUND, "templateId"),
        template_version=arguments.template_version,
        session_id=None if arguments.session_id is None else _session(arguments.session_id),
        options=arguments.options,
        idempotency_key=arguments.idempotency_key,
        caller=who.name,
        scopes=tuple(sorted(who.scopes)),
        local=who.local,
    )
    return await app.bus.call(subjects.RUN_CREATE, order, wait_ms=app.grace_ms)


def _first(run_id: str, after: int = 0, *, notes: bool = False) -> FollowRun:
    """Return what is asked of a run first; whose it is stands not in it yet."""
    return FollowRun(run_id=run_id, caller="", after=after, wait_ms=MAX_FOLLOW_MS, notes=notes)


async def _stream_news(
    app: AppContext, request: RequestContext, first: FollowRun, patience_ms: int
) -> AsyncGenerator[RunNews]:
    """Ask again and again; what passes is waited for."""
    mine, after, heard = _mine(request, first.run_id), first.after, anyio.current_time()
    while True:
        order = msgspec.structs.replace(first, run_id=mine.run_id, caller=mine.caller, after=after)
        try:
            news = await app.bus.call(subjects.RUN_FOLLOW, order, wait_ms=app.grace_ms)
        except FaultError as error:
            if error.fault.code not in _PASSING or anyio.current_time() - heard >= patience_ms / 1_000:
                raise
            await anyio.sleep(_AGAIN_S)
            continue
        heard = anyio.current_time()
        after = max([after, *(event.id for event in news.events)])
        yield news
        if news.run.status.final and not _has_more(news):
            return


def _has_more(news: RunNews) -> bool:
    """Whether a run that is over has events that one answer had no room for."""
    return bool(news.events) and not news.events[-1].status.final


_PASSING: Final = frozenset(
    {
        Code.INTERNAL_ERROR,
        Code.INTERNAL_UNAVAILABLE,
        Code.INTERNAL_BUSY,
        Code.INTERNAL_DISCONNECTED,
        Code.INTERNAL_DEADLINE,
        Code.INTERNAL_CANCELLED,
    }
)
"""What an actor that is being restarted may answer with."""


def _report(request: RequestContext, now: Run) -> None:
    done, total = now.progress.done_steps, now.progress.total_steps
    request.report(done, f"{now.status.value}: {done} of {total} steps", total)


def _sealed(app: AppContext, run_id: str, inputs: dict[str, Any]) -> bytes:
    """Encrypt inputs before they leave this process: they may hold a password."""
    seal = app.bus.seal
    if seal is None:
        raise FaultError(fault(Code.CONFIG_INVALID, "This gateway has no key to seal the inputs of a run with."))
    written = encode(inputs)
    if len(written) > MAX_INPUT_BYTES:
        message = f"inputs: {len(written):,} bytes of JSON are more than the {MAX_INPUT_BYTES:,} allowed"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="inputs"))
    return seal.seal(written, inputs_of(run_id))


def _mine(request: RequestContext, run_id: str) -> AskRun:
    return AskRun(run_id=_run_id(run_id), caller=request.caller.name)


def _run_id(given: str) -> str:
    return _known(given, RunId, Code.RUN_NOT_FOUND, "runId")


def _session(given: str) -> str:
    return _known(given, SessionId, Code.SESSION_NOT_FOUND, "sessionId")


def _known(given: str, kind: Any, code: Code, field: str, message: str | None = None) -> str:
    """Answer what can be no id of ours like one that nobody was given."""
    try:
        known: str = msgspec.convert(given, kind)
    except msgspec.ValidationError:
        raise FaultError(fault(code, message, field=field)) from None
    return known

"""The endpoints of the runs: templates, runs, what happens to them, and the files that they leave."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from actors.gateway import runs
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.captures import media_type, own_capture
from actors.gateway.errors import RunFault, to_run_fault
from actors.gateway.http import EVENTS, JSON, answer, download_headers, refusal
from actors.gateway.request import RequestContext
from actors.gateway.rest.browse import VARY
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from actors.gateway.rest.streaming import ArtifactDownload, EventForm, EventStream, RunStream
from actors.gateway.runs import OrderedRunsRequest, ResumeRequest
from protocol.faults import FaultError
from protocol.runs.responses import ArtifactChunk, CancelAnswer, Run, RunAccepted, RunList, RuntimeProfile, TemplateList
from protocol.runs.states import ArtifactType
from protocol.tools.runs import MAX_HANDLE_CHARS, ArtifactRequest, RunRequest

MAX_NUMBER = 2**53 - 1
"""The largest integer that every reader of JSON takes as it is (RFC 8259 §6)."""

_RUN_ID = Meta(max_length=MAX_HANDLE_CHARS, description="Id of the run, as its start answered.")
_ARTIFACT_ID = Meta(max_length=MAX_HANDLE_CHARS, description="Id of the file, as its run tells.")


class RunPath(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which run is meant."""

    run_id: Annotated[str, _RUN_ID]


class RunQuery(RunPath, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which run is meant, and whether its inputs are told."""

    include_inputs: Annotated[
        bool, Meta(description="Tell its inputs, too, without what is secret in them, and the id of its conversation.")
    ] = False


class FollowPath(RunPath, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which run is followed, and from where."""

    after: Annotated[
        int, Meta(ge=0, le=MAX_NUMBER, description="Tell what came after the event of this id; 0 tells all.")
    ] = 0


class PiecePath(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which piece of a file is meant; a larger `limit` than there may be is cut to what there may be."""

    artifact_id: Annotated[str, _ARTIFACT_ID]
    offset: Annotated[int, Meta(ge=0, le=MAX_NUMBER, description="First byte.")] = 0
    limit: (
        Annotated[int, Meta(ge=1, le=MAX_NUMBER, description="Bytes at most; none: maxArtifactInlineBytes.")] | None
    ) = None


class ArtifactPath(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which file is meant."""

    artifact_id: Annotated[str, _ARTIFACT_ID]


class CapturePath(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which capture is meant."""

    name: Annotated[str, Meta(max_length=MAX_HANDLE_CHARS, description="Name of the capture, as a step tells it.")]


async def _templates(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(await runs.templates(app))


async def _profile(app: AppContext, request: RequestContext, _arguments: None) -> Response:
    return answer(await runs.profile(app, request))


async def _run(app: AppContext, request: RequestContext, arguments: RunRequest) -> Response:
    return _accepted(await runs.run(app, request, arguments), VARY)


async def _run_events(app: AppContext, request: RequestContext, arguments: RunRequest) -> Response:
    form = EventForm(
        result=lambda data: data, error=lambda error: to_run_fault(error, template_id=arguments.template_id)
    )
    return EventStream(app, request, lambda watched: runs.run(app, watched, arguments), form)


async def _list(app: AppContext, request: RequestContext, arguments: OrderedRunsRequest) -> Response:
    return answer(await runs.list_runs(app, request, arguments))


async def _get(app: AppContext, request: RequestContext, arguments: RunQuery) -> Response:
    return answer(await runs.get(app, request, arguments.run_id, include_inputs=arguments.include_inputs))


async def _cancel(app: AppContext, request: RequestContext, arguments: RunPath) -> Response:
    return answer(await runs.cancel(app, request, arguments.run_id))


async def _resume(app: AppContext, request: RequestContext, arguments: Addressed[RunPath, ResumeRequest]) -> Response:
    return _accepted(await runs.resume(app, request, arguments.params.run_id, arguments.body))


async def _events(app: AppContext, request: RequestContext, arguments: FollowPath) -> Response:
    """Answer 404 before the stream begins, where there is no such run."""
    return RunStream(app, request, await runs.get(app, request, arguments.run_id), arguments.after)


async def _artifact(app: AppContext, request: RequestContext, arguments: PiecePath) -> Response:
    piece = ArtifactRequest(artifact_id=arguments.artifact_id, offset=arguments.offset, limit=arguments.limit)
    return answer(await runs.artifact(app, request, piece))


async def _capture(app: AppContext, request: RequestContext, arguments: CapturePath) -> Response:
    """Return what was captured for the caller; a name of somebody else's is one that there is not."""
    data = await own_capture(app, request, arguments.name)
    return Response(data, headers=download_headers(), media_type=media_type(arguments.name))


async def _content(app: AppContext, request: RequestContext, arguments: ArtifactPath) -> Response:
    return ArtifactDownload(
        app, request, await runs.artifact(app, request, ArtifactRequest(artifact_id=arguments.artifact_id))
    )


def _accepted(run: RunAccepted | Run, headers: dict[str, str] | None = None) -> Response:
    """Answer 202 with where to look, unless the run is told of as it stands."""
    if isinstance(run, Run):
        return answer(run, headers=headers)
    return answer(run, HTTPStatus.ACCEPTED, {**(headers or {}), "Location": f"/api/runs/{run.run_id}"})


def _refuse(error: FaultError, arguments: Any) -> Response:
    """Return an error in the form of 002 §7.2, with what was asked for."""
    named = getattr(arguments, "params", arguments)
    names = {name: getattr(named, name, None) for name in ("run_id", "template_id", "artifact_id")}
    return refusal(error, to_run_fault(error.fault, **names))


_INSIDE = frozenset({500, 503, 504})
_RUN = "/api/runs/{runId}"
_ARTIFACT = "/api/artifacts/{artifactId}"
_RUN_EXAMPLE = {"runId": "run_3q2-7wEjRVaLz0uYxT1mNg"}
_ARTIFACT_EXAMPLE = {"artifactId": "art_Zk9rT2VxYw0pQmJtS1dHcA"}
_EXAMPLE = {
    "templateId": "batch_extract_pages",
    "inputs": {"urls": ["https://example.com/", "https://example.org/"], "concurrency": 2},
    "options": {"mode": "async", "timeoutMs": 120_000, "artifacts": ["json", "csv"]},
    "idempotencyKey": "orders-2026-01-01",
}
_LEAVING = (
    "`started` at once, `progress` with the steps that are done, then one `result` with what the JSON answer would be, "
    "or one `error`. Who leaves before the result, as before an answer in JSON, cancels the run, unless the request "
    "has an idempotencyKey: then it goes on, and the same request again takes it up."
)
_FOLLOWED = (
    "Server-sent events. Each thing that happens to the run is one, with its id, its name (`queued`, `started`, "
    "`resumed`, `cancel_requested`, `step`, and at last the status that the run ends in) and JSON as its data: "
    "`{id, event, at, status, totalSteps, doneSteps}`, of a step also `step`, `name`, `startedAt`, `stepStatus`, "
    "`errorCode` and, in a run with `screenshots`, `screenshot`, a name for GET /api/captures/{name}. "
    "Then comes `end`, with the run as GET /api/runs/{runId} tells it, without its result, and the stream is closed. "
    "`error` in its place says why no more can be told. A reader that comes back with `Last-Event-ID`, as browsers do, "
    "or with `after` hears what it has missed. Whoever closes the stream leaves the run as it is."
)

_FAMILY: dict[str, Any] = {"scope": Scope.RUNS, "tag": Tag.RUNS, "failure": RunFault, "refuse": _refuse}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/templates",
        name="listTemplates",
        summary="List the templates that can be run, with the schemas of their inputs and outputs.",
        run=_templates,
        answer=TemplateList,
        errors=_INSIDE,
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path="/api/runs",
        name="startRun",
        summary="Run a template: 200 with its result where the mode is sync, 202 at once where it is async.",
        about="The mode `auto` (which is the usual one) is what the template makes of its inputs. A run that is "
        "accepted is done, whatever becomes of this gateway or of the machines that work on it. The same "
        "`idempotencyKey` within half an hour gives the same run.",
        run=_run,
        events=_run_events,
        stream=f"Server-sent events, for a client that accepts `text/event-stream`: {_LEAVING}",
        body=RunRequest,
        answer=Run,
        accepted=RunAccepted,
        errors=_INSIDE | {404, 502},
        example=_EXAMPLE,
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/runs",
        name="listRuns",
        summary="List your runs, newest first.",
        about="`total` counts all that fit, beyond `limit` too, and `offset` those before the first that is listed. "
        "With `after` a list goes on behind a run, whatever was begun or has changed meanwhile.",
        run=_list,
        params=OrderedRunsRequest,
        answer=RunList,
        errors=_INSIDE,
        example={"status": "running", "templateId": "batch_extract_pages", "limit": 20, "sort": "updatedAt"},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=_RUN,
        name="getRun",
        summary="Tell how a run stands, and at its end what came of it.",
        about="Ask every 2 seconds at most, or follow its events. An id that nobody gave you, of whatever form, is a "
        "404, as is the run of another key.",
        run=_get,
        params=RunQuery,
        answer=Run,
        errors=_INSIDE,
        example=_RUN_EXAMPLE,
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path=f"{_RUN}/cancel",
        name="cancelRun",
        summary="Ask a run to stop before its next step.",
        about="The step in hand is finished, the others are skipped, and what was done can still be read. "
        "`cancelRequested` is false where the run was over already.",
        run=_cancel,
        params=RunPath,
        answer=CancelAnswer,
        errors=_INSIDE,
        example=_RUN_EXAMPLE,
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path=f"{_RUN}/resume",
        name="resumeRun",
        summary="Begin a new run that takes over the steps which succeeded in one that has ended.",
        about="The inputs are those of the run before; `inputs` holds only what is secret in them, which is kept "
        "nowhere. The body may be left out. A login begins from its first step, in the session that it has opened.",
        run=_resume,
        params=RunPath,
        body=ResumeRequest,
        optional=True,
        accepted=RunAccepted,
        errors=_INSIDE | {502},
        where=_RUN_EXAMPLE,
        example={"inputs": {}},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=f"{_RUN}/events",
        name="followRun",
        summary="Follow what happens to a run, as server-sent events.",
        run=_events,
        params=FollowPath,
        media=(EVENTS,),
        stream=_FOLLOWED,
        errors=_INSIDE,
        example={**_RUN_EXAMPLE, "after": 0},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=_ARTIFACT,
        name="getArtifact",
        summary="Read a piece of a file that a run left, in base64.",
        about="Go on with `offset` until `complete` is true. A file is kept for a day after the end of its run "
        "(`artifactTtlMs` of the runtime profile): after that it is a 410, while one that nobody gave you is a 404.",
        run=_artifact,
        params=PiecePath,
        answer=ArtifactChunk,
        errors=_INSIDE | {410},
        example={**_ARTIFACT_EXAMPLE, "offset": 0, "limit": 262_144},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=f"{_ARTIFACT}/content",
        name="downloadArtifact",
        summary="Download a file that a run left, as it is.",
        run=_content,
        params=ArtifactPath,
        media=(ArtifactType.CSV.media_type, ArtifactType.MARKDOWN.media_type, JSON),
        errors=_INSIDE | {410},
        example=_ARTIFACT_EXAMPLE,
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/captures/{name}",
        name="getCapture",
        summary="Return a screenshot, a PDF or a download that was captured for you, as it is.",
        about="It is kept for a day. One of another key is a 404.",
        run=_capture,
        params=CapturePath,
        media=(
            *("image/jpeg", "image/png", "application/pdf", "text/markdown", "text/plain", "text/csv", JSON),
            "application/octet-stream",
        ),
        errors=_INSIDE | {410},
        example={"name": "screenshot-5f1c-9ad0.jpg"},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/runtime-profile",
        name="getRuntimeProfile",
        summary="Tell the version of the runtime and what bounds all runs together.",
        run=_profile,
        answer=RuntimeProfile,
        errors=_INSIDE,
        **_FAMILY,
    ),
)

"""The endpoints of the recorded flows."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from actors.gateway import flows
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.flows import ForgetRequest, KeepRequest, RecordRequest, ReplayRequest
from actors.gateway.http import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from protocol.flows import Flow, FlowForgotten, FlowList, FlowRecording, KeptRecording
from protocol.runs.responses import Run, RunAccepted

MAX_ID_CHARS = 100


class FlowPath(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which flow is meant."""

    flow_id: Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARS, description="Id of the flow.")]


async def _record(app: AppContext, request: RequestContext, arguments: RecordRequest) -> Response:
    return answer(await flows.record(app, request, arguments))


async def _keep(app: AppContext, request: RequestContext, arguments: KeepRequest) -> Response:
    return answer(await flows.keep(app, request, arguments))


async def _forget_recording(app: AppContext, request: RequestContext, arguments: ForgetRequest) -> Response:
    return answer(await flows.forget_recording(app, request, arguments))


async def _list(app: AppContext, request: RequestContext, _arguments: None) -> Response:
    return answer(await flows.list_flows(app, request))


async def _get(app: AppContext, request: RequestContext, arguments: FlowPath) -> Response:
    return answer(await flows.get(app, request, arguments.flow_id))


async def _forget(app: AppContext, request: RequestContext, arguments: FlowPath) -> Response:
    return answer(await flows.forget(app, request, arguments.flow_id))


async def _replay(app: AppContext, request: RequestContext, arguments: Addressed[FlowPath, ReplayRequest]) -> Response:
    run = await flows.replay(app, request, arguments.params.flow_id, arguments.body)
    if isinstance(run, Run):
        return answer(run)
    return answer(run, HTTPStatus.ACCEPTED, {"Location": f"/api/runs/{run.run_id}"})


_FAMILY: dict[str, Any] = {"scope": Scope.BROWSER, "tag": Tag.FLOWS}
_ERRORS = frozenset({400, 403, 404, 409, 500, 501, 502, 503, 504, 507})
_RECORDINGS = "/api/flows/recordings"
_FLOW = "/api/flows/{flowId}"
_ID = {"flowId": "flow_Zk9rT2VxYw0pQmJtS1dHcA"}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path=_RECORDINGS,
        name="recordFlow",
        summary="Record what is done in a browser session from now on, by browser tools or by act.",
        about="`POST /api/flows` ends it. Of each step is kept by what its element is found again, and what must be "
        "true after it; what is typed becomes a parameter, and what is secret is never recorded.",
        run=_record,
        body=RecordRequest,
        optional=True,
        answer=FlowRecording,
        errors=_ERRORS,
        example={"url": "https://example.com/"},
        **_FAMILY,
    ),
    Endpoint(
        method="DELETE",
        path=_RECORDINGS,
        name="forgetRecording",
        summary="End the recording of a browser session, and keep nothing of it.",
        run=_forget_recording,
        params=ForgetRequest,
        answer=KeptRecording,
        errors=_ERRORS,
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path="/api/flows",
        name="keepFlow",
        summary="End the recording of a browser session, and keep what was done as a flow.",
        run=_keep,
        body=KeepRequest,
        answer=Flow,
        errors=_ERRORS,
        example={"name": "Order a lamp"},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/flows",
        name="listFlows",
        summary="List your flows, the newest first.",
        run=_list,
        answer=FlowList,
        errors=_ERRORS,
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=_FLOW,
        name="getFlow",
        summary="Return a flow: its steps and parameters.",
        run=_get,
        params=FlowPath,
        answer=Flow,
        errors=_ERRORS,
        example=_ID,
        **_FAMILY,
    ),
    Endpoint(
        method="DELETE",
        path=_FLOW,
        name="forgetFlow",
        summary="Forget a flow.",
        run=_forget,
        params=FlowPath,
        answer=FlowForgotten,
        errors=_ERRORS,
        example=_ID,
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path=f"{_FLOW}/replay",
        name="replayFlow",
        summary="Do a flow again with other inputs: a run of the template replay_flow.",
        about="It finds each element by what is known of it, also where the page has changed, and stops with "
        "`STEP_VERIFICATION_FAILED` where that is gone, is like another, or does not leave what it left. No model is "
        "asked. Each step goes by the policy like any call of a tool.",
        run=_replay,
        params=FlowPath,
        body=ReplayRequest,
        optional=True,
        answer=Run,
        accepted=RunAccepted,
        errors=_ERRORS,
        where=_ID,
        example={"parameters": {"search": "blue lamp"}},
        **_FAMILY,
    ),
)

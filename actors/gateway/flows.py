"""Recorded flows at the edge: recorded in a browser session of the caller's, and done again as runs."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from actors.flows.inputs import values_of
from actors.gateway import runs
from actors.gateway.app_context import AppContext
from actors.gateway.request import RequestContext
from actors.gateway.tool_calls import ClientCall, call_or_ask, default_session
from protocol import subjects
from protocol.browsers.operation_bases import BrowserSessionId
from protocol.faults import Code, FaultError, fault
from protocol.flows import (
    MAX_PARAMETERS,
    AskFlow,
    Flow,
    FlowForgotten,
    FlowId,
    FlowList,
    FlowName,
    FlowRecording,
    KeepFlow,
    KeptRecording,
    ListFlows,
    ParameterName,
    ParameterValue,
    RecordFlow,
)
from protocol.pages import Url
from protocol.runs.requests import RunOptions
from protocol.runs.responses import Run, RunAccepted
from protocol.runs.states import IdempotencyKey
from protocol.tools.runs import RunRequest
from protocol.tools.tool import Surface

REPLAY_FLOW = "replay_flow"
"""The template that does a flow again."""

Session = Annotated[
    BrowserSessionId | None, Meta(description="A browser session of yours; without one the one that you have anyway.")
]
Values = Annotated[dict[ParameterName, ParameterValue], Meta(max_length=MAX_PARAMETERS)]


class RecordRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Which session is recorded, and the page that it goes to first."""

    session_id: Session = None
    url: Url | None = None


class KeepRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """What a flow is called that was recorded, and in which session."""

    name: FlowName
    session_id: Session = None


class ForgetRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """In which session the recording is that is forgotten."""

    session_id: Session = None


class ReplayRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """What a flow is done again with: parameters that are not given have the values that were recorded.

    `secrets` are those of parameters that are secret, each time anew: they are kept nowhere.
    """

    parameters: Values = {}
    secrets: Values = {}
    session_id: Session = None
    options: RunOptions = RunOptions()
    idempotency_key: IdempotencyKey | None = None


async def record(app: AppContext, request: RequestContext, arguments: RecordRequest) -> FlowRecording:
    """Begin to record what is done in a session.

    Raises:
        FaultError: SESSION_NOT_FOUND; there is no browser; the page cannot be had, or the policy does not allow to go
            there.
    """
    session = arguments.session_id or default_session(app, request)
    ask = RecordFlow(caller=request.caller.name, session=session, at_need=arguments.session_id is None)
    begun = await app.bus.call(subjects.FLOW_RECORD, ask, wait_ms=app.grace_ms)
    if arguments.url is None:
        return begun
    there = {"url": arguments.url, "sessionId": session}
    await call_or_ask(app, request, ClientCall(name="navigate", arguments=there, surface=Surface.REST))
    return msgspec.structs.replace(begun, url=arguments.url)


async def keep(app: AppContext, request: RequestContext, arguments: KeepRequest) -> Flow:
    """End the recording of a session, and keep what was done as a flow.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, nothing is recorded there; CONFIG_STORAGE_FULL.
    """
    kept = await _keep(app, request, arguments.session_id, arguments.name)
    if kept.flow is None:
        raise FaultError(fault(Code.INTERNAL_ERROR))
    return kept.flow


async def forget_recording(app: AppContext, request: RequestContext, arguments: ForgetRequest) -> KeptRecording:
    """End the recording of a session, and keep nothing of it."""
    return await _keep(app, request, arguments.session_id, None)


async def list_flows(app: AppContext, request: RequestContext) -> FlowList:
    """List the flows of the caller, the newest first."""
    return await app.bus.call(subjects.FLOW_LIST, ListFlows(caller=request.caller.name), wait_ms=app.grace_ms)


async def get(app: AppContext, request: RequestContext, flow_id: str) -> Flow:
    """Return a flow of the caller.

    Raises:
        FaultError: VALIDATION_UNKNOWN_FLOW, also for that of somebody else.
    """
    return await app.bus.call(subjects.FLOW_GET, _mine(request, flow_id), wait_ms=app.grace_ms)


async def forget(app: AppContext, request: RequestContext, flow_id: str) -> FlowForgotten:
    """Forget a flow of the caller.

    Raises:
        FaultError: VALIDATION_UNKNOWN_FLOW, also for that of somebody else.
    """
    return await app.bus.call(subjects.FLOW_FORGET, _mine(request, flow_id), wait_ms=app.grace_ms)


async def replay(app: AppContext, request: RequestContext, flow_id: str, arguments: ReplayRequest) -> RunAccepted | Run:
    """Do a flow again, as a run of its template; what it takes is looked at before it begins.

    Raises:
        FaultError: VALIDATION_UNKNOWN_FLOW; VALIDATION_INVALID_REQUEST, an input is missing or unknown; why no run was
            begun.
    """
    return await runs.run(app, request, await replay_request(app, request, flow_id, arguments))


async def replay_request(
    app: AppContext, request: RequestContext, flow_id: str, arguments: ReplayRequest
) -> RunRequest:
    """Return the run that does a flow again.

    Raises:
        FaultError: VALIDATION_UNKNOWN_FLOW; VALIDATION_INVALID_REQUEST.
    """
    flow = await get(app, request, flow_id)
    values_of(flow.parameters, arguments.parameters, arguments.secrets)
    inputs = {"flowId": flow.flow_id, "parameters": arguments.parameters, "secrets": arguments.secrets}
    return RunRequest(
        template_id=REPLAY_FLOW,
        inputs=inputs,
        session_id=arguments.session_id,
        options=arguments.options,
        idempotency_key=arguments.idempotency_key,
    )


async def _keep(app: AppContext, request: RequestContext, session_id: str | None, name: str | None) -> KeptRecording:
    session = session_id or default_session(app, request)
    ask = KeepFlow(caller=request.caller.name, session=session, name=name)
    return await app.bus.call(subjects.FLOW_KEEP, ask, wait_ms=app.grace_ms)


def _mine(request: RequestContext, flow_id: str) -> AskFlow:
    """Answer what can be no id of ours like one that nobody was given."""
    try:
        known: str = msgspec.convert(flow_id, FlowId)
    except msgspec.ValidationError:
        raise FaultError(fault(Code.VALIDATION_UNKNOWN_FLOW, field="flowId")) from None
    return AskFlow(flow_id=known, caller=request.caller.name)

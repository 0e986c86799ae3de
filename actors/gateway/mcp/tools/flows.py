"""The tools of recorded flows, in a toolset of their own."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from mcp.types import ToolAnnotations

from actors.gateway import flows
from actors.gateway.app_context import AppContext
from actors.gateway.flows import ForgetRequest, KeepRequest, RecordRequest, ReplayRequest
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer, by_name
from actors.gateway.mcp.tools.runs import ended_answer
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from actors.gateway.translate import framed, one_line
from protocol.faults import Code, FaultError, fault
from protocol.flows import FlowParameter
from protocol.runs.requests import RunOptions
from protocol.runs.responses import Run
from protocol.runs.states import Mode
from protocol.tools.flows import FLOW_TOOLS as REGISTERED
from protocol.tools.flows import RecordArguments, ReplayArguments
from protocol.tools.tool import WithoutArguments

BOUNDARY_BYTES = 8

_ACT = ToolAnnotations(destructive_hint=True)
_KEEP = ToolAnnotations(destructive_hint=False)


async def _record(app: AppContext, request: RequestContext, arguments: RecordArguments) -> ToolAnswer:
    session = arguments.session_id
    match arguments.action:
        case "begin":
            begun = await flows.record(app, request, RecordRequest(session_id=session, url=arguments.url))
            return ToolAnswer(f"What is done in {begun.session_id} is recorded: call it again to keep it.", begun)
        case "drop":
            dropped = await flows.forget_recording(app, request, ForgetRequest(session_id=session))
            return ToolAnswer("Nothing is recorded any more.", dropped)
        case "keep":
            if arguments.name is None:
                message = "name: a flow that is kept needs one"
                raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="name"))
            kept = await flows.keep(app, request, KeepRequest(name=arguments.name, session_id=session))
            words = f"{kept.flow_id} is kept: {len(kept.steps)} steps."
            return ToolAnswer(f"{words}\n{_framed([_parameters(kept.parameters)])}", kept)


async def _list(app: AppContext, request: RequestContext, _arguments: WithoutArguments) -> ToolAnswer:
    listed = await flows.list_flows(app, request)
    lines = [
        f"{one.flow_id}: {one_line(one.name)}, {one.steps} steps, {one.url}. {_parameters(one.parameters)}"
        for one in listed.flows
    ]
    return ToolAnswer(f"Flows: {len(listed.flows)}.\n{_framed(lines)}" if lines else "There are no flows.", listed)


async def _replay(app: AppContext, request: RequestContext, arguments: ReplayArguments) -> ToolAnswer:
    wanted = ReplayRequest(
        parameters=arguments.parameters,
        secrets=arguments.secrets,
        session_id=arguments.session_id,
        options=RunOptions(mode=Mode.SYNC),
    )
    run = await flows.replay(app, request, arguments.flow_id, wanted)
    if not isinstance(run, Run):
        raise FaultError(fault(Code.INTERNAL_ERROR))
    return ended_answer(run)


def _parameters(parameters: tuple[FlowParameter, ...]) -> str:
    """Write parameters in a line; their names and defaults are the web's, or of who has recorded them."""
    words = (" (secret)" if one.secret else f"={one_line(one.default or '')!r}" for one in parameters)
    written = (f"{one.name}{what}" for one, what in zip(parameters, words, strict=True))
    return f"Parameters: {', '.join(written) or 'none'}."


def _framed(lines: list[str]) -> str:
    return framed("\n".join(lines), secrets.token_hex(BOUNDARY_BYTES))


def _tool(name: str, run: Any, title: str, annotations: ToolAnnotations, plain: frozenset[str]) -> BuiltinTool[Any]:
    return BuiltinTool(REGISTERED[name], run, title=title, plain=plain, toolset=Toolset.FLOWS, annotations=annotations)


FLOW_TOOLS: Mapping[str, BuiltinTool[Any]] = by_name(
    _tool("record_flow", _record, "Record a flow", _KEEP, frozenset({"name", "sessionId"})),
    _tool("list_flows", _list, "List flows", ToolAnnotations(read_only_hint=True), frozenset()),
    _tool("replay_flow", _replay, "Replay a flow", _ACT, frozenset({"flowId", "sessionId"})),
)
"""The tools, by their names."""

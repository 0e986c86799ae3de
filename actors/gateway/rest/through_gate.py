"""Endpoints that are tools: what they ask goes through the gate, and is answered as a call of a tool is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, cast

import msgspec
from msgspec import Struct
from starlette.responses import Response

from actors.gateway.app_context import AppContext
from actors.gateway.http import HttpStatusError, answer, of_field
from actors.gateway.http_input import IDEMPOTENCY_KEY
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Addressed
from actors.gateway.tool_calls import ClientCall, call_tool
from protocol.faults import FaultError
from protocol.policy import ToolOutcome, ToolStatus
from protocol.tools.registry import TOOLS
from protocol.tools.tool import Surface

GATE_INSIDE: Final = frozenset({409, 500, 502, 503, 504, 507})
"""What a call of a tool may fail with beside what its own endpoint says."""

_CALL_ID: Final = "id"
"""The field that the gate names where another call has the same key."""

Run = Callable[[AppContext, RequestContext, Any], Awaitable[Response]]


def calling(tool: str, **of_path: str) -> Run:
    """Return what answers an endpoint by a tool: with its body, and the params that are arguments (`id="sourceId"`)."""

    async def run(app: AppContext, request: RequestContext, arguments: Any) -> Response:
        given = {of_path.get(name, name): value for name, value in _given(arguments).items()}
        return await called(app, request, tool, given)

    return naming(run, {argument: name for name, argument in of_path.items()})


def naming(run: Run, names: Mapping[str, str]) -> Run:
    """Return the same answer to an endpoint, whose errors name fields as its requests do: `names` by the inner ones."""

    async def named(app: AppContext, request: RequestContext, arguments: Any) -> Response:
        try:
            return await run(app, request, arguments)
        except FaultError as error:
            if (field := names.get(error.fault.field or "")) is None:
                raise
            raise of_field(error, field) from None

    return named


async def called(
    app: AppContext, request: RequestContext, tool: str, arguments: dict[str, Any], *, by_hand: bool = False
) -> Response:
    """Answer with what came of a call: 202 with its approval where it waits."""
    key = request.idempotency_key
    call = ClientCall(name=tool, arguments=arguments, surface=Surface.REST, key=key, by_hand=by_hand)
    try:
        return outcome_response(await call_tool(app, request, call))
    except FaultError as error:
        if error.fault.field == _CALL_ID and request.idempotency_key:
            failure = msgspec.structs.replace(error.fault, field=IDEMPOTENCY_KEY)
            raise HttpStatusError(failure, HTTPStatus.CONFLICT) from None
        raise


def outcome_response(outcome: ToolOutcome) -> Response:
    """Return the answer to a call of a tool."""
    if outcome.status is not ToolStatus.PENDING:
        return answer(outcome)
    where = {} if outcome.approval is None else {"Location": f"/api/approvals/{outcome.approval.id}"}
    return answer(outcome, HTTPStatus.ACCEPTED, where)


def tool_endpoint(tool: str, **more: Any) -> dict[str, Any]:
    """Return what the endpoints of tools have in common, by the tool that stands behind one."""
    row = TOOLS[tool]
    errors = more.pop("errors", frozenset[int]())
    about = f"This is the tool `{row.name}`, which the policy decides about: 202 where it waits for an approval."
    return {
        "scope": row.scope,
        "keyed": True,
        "answer": ToolOutcome,
        "accepted": ToolOutcome,
        "errors": GATE_INSIDE | errors,
        "about": f"{more.pop('about', '')} {about}".strip(),
        **more,
    }


def _given(arguments: Any) -> dict[str, Any]:
    """Return what was asked, the params of the path and the body together."""
    if isinstance(arguments, Addressed):
        addressed = cast("Addressed[object, object]", arguments)
        return _fields(addressed.params) | _fields(addressed.body)
    return _fields(arguments)


def _fields(given: Any) -> dict[str, Any]:
    return msgspec.to_builtins(given) if isinstance(given, Struct) else dict(given or {})

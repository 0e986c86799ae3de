"""integration.invoke: another program is told to do something (003 "App-level primitives")."""

from __future__ import annotations

from typing import Any, Final

import anyio
from msgspec import UnsetType

from actors.runner.tools.context import ToolDependencies, failed
from protocol.documents import Content, Document, WebObservationSummary, untrusted
from protocol.faults import Code, FaultError, fault
from protocol.integrations import Delivery, DeliveryState
from protocol.policy import RunTool, ToolErrorCode, ToolResult, ToolStatus
from protocol.tools.app import InvokeIntegration

WAIT_S: Final = 45.0
"""How long a call waits for the other program; it is told all the same."""


async def invoke(context: ToolDependencies, request: RunTool, arguments: InvokeIntegration) -> ToolResult:
    """Have a program do something, once for each key, and return what came of it so far."""
    key = request.id if isinstance(arguments.idempotency_key, UnsetType) else arguments.idempotency_key
    try:
        delivery = await context.integrations.notify(
            request.caller, arguments.integration, arguments.operation, arguments.payload, key
        )
    except FaultError as error:
        if error.fault.code is not Code.VALIDATION_INVALID_REQUEST:
            raise
        return failed(request, ToolErrorCode.INVALID_ARGUMENTS, error.fault)
    left_s = anyio.current_effective_deadline() - anyio.current_time()
    return result_of(request, await context.integrations.settled(delivery, min(WAIT_S, left_s * 0.8)))


def result_of(request: RunTool, delivery: Delivery) -> ToolResult:
    """Return how a delivery stands; what the other program has answered is a document that nobody need believe."""
    if delivery.state is DeliveryState.DEAD:
        why = delivery.error or fault(Code.INTERNAL_UNAVAILABLE)
        return failed(request, ToolErrorCode.RUNTIME_UNAVAILABLE, why)
    payload: dict[str, Any] = {
        "deliveryId": delivery.id,
        "integration": delivery.integration,
        "operation": delivery.operation,
        "idempotencyKey": delivery.idempotency_key,
        "state": delivery.state.value,
    }
    if delivery.http_status is not None:
        payload["httpStatus"] = delivery.http_status
    answer: Content = WebObservationSummary(
        url=f"weft://deliveries/{delivery.id}", title=f"Answer of {delivery.integration}", markdown=delivery.answer
    )
    documents: tuple[Document[Content], ...] = (untrusted(delivery.id, answer),) if delivery.answer else ()
    return ToolResult(tool_call_id=request.id, status=ToolStatus.OK, payload=payload, documents=documents)

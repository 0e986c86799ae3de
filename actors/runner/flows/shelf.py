"""Keeps the flows of callers: each under a key that only its caller's name leads to."""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import Final

from msgspec import Struct

from bus import Bus
from bus.clock import now_ms
from bus.stores import KeyTable
from protocol.browsers.operations import ListTabs, Operation, RecordSteps
from protocol.browsers.results import Done, StepsRecorded, Tabs
from protocol.browsers.sessions import AskBrowser
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.flows import (
    FLOW_BYTES,
    FLOW_PREFIX,
    MAX_FLOWS,
    AskFlow,
    Flow,
    FlowDraft,
    FlowForgotten,
    FlowList,
    FlowRecording,
    FlowSummary,
    KeepFlow,
    KeptRecording,
    ListFlows,
    RecordFlow,
)
from protocol.subjects import BROWSER

MAX_FLOW_BYTES: Final = 700_000
"""The JSON of a flow: sealed, it has to fit into one message of NATS (1 MiB)."""


class FlowShelf(Struct, frozen=True):
    """The flows of all callers, and what begins and ends their recording."""

    bus: Bus
    table: KeyTable[Flow]

    async def record(self, request: RecordFlow) -> FlowRecording:
        """Begin to record a session.

        Raises:
            FaultError: SESSION_NOT_FOUND; there is no browser, or no room in it.
        """
        session = request.session
        await self._browser(request, RecordSteps(session_id=session, what="begin"), at_need=request.at_need)
        tabs = await self._browser(request, ListTabs(session_id=session))
        active = tabs.active_tab_id if isinstance(tabs, Tabs) else None
        url = next((one.url for one in tabs.tabs if one.tab == active), "") if isinstance(tabs, Tabs) else ""
        return FlowRecording(session_id=session, url=url)

    async def keep(self, request: KeepFlow) -> KeptRecording:
        """End a recording, and keep it as a flow if it has a name.

        Raises:
            FaultError: VALIDATION_UNKNOWN_FLOW, nothing is recorded; VALIDATION_INVALID_REQUEST, there was nothing to
                record; CONFIG_STORAGE_FULL.
        """
        if request.name is None:
            await self._browser(request, RecordSteps(session_id=request.session, what="forget"))
            return KeptRecording()
        await self._check_room(request.caller)
        done = await self._browser(request, RecordSteps(session_id=request.session, what="end"))
        draft = done.draft if isinstance(done, StepsRecorded) else None
        if draft is None:
            message = "Nothing is recorded in this session: begin with POST /api/flows/recordings."
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_FLOW, message, field="sessionId"))
        flow = _flow(draft, request.name)
        if len(encode(flow)) > MAX_FLOW_BYTES:
            raise FaultError(fault(Code.CONTENT_TOO_LARGE, "The flow is too long to be kept; record it in pieces."))
        await self.table.put(_key(request.caller, flow.flow_id), flow, revision=0)
        return KeptRecording(flow=flow)

    async def get(self, request: AskFlow) -> Flow:
        """Return a flow.

        Raises:
            FaultError: VALIDATION_UNKNOWN_FLOW, also for that of somebody else.
        """
        change = await self.table.get(_key(request.caller, request.flow_id))
        if change is None or change.value is None:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_FLOW, field="flowId"))
        return change.value

    async def listed(self, request: ListFlows) -> FlowList:
        """List the flows of a caller, the newest first."""
        flows = list[Flow]()
        for key in await self._keys(request.caller):
            change = await self.table.get(key)
            if change is not None and change.value is not None:
                flows.append(change.value)
        flows.sort(key=lambda one: one.created_at, reverse=True)
        return FlowList(flows=tuple(_summary(one) for one in flows))

    async def forget(self, request: AskFlow) -> FlowForgotten:
        """Forget a flow.

        Raises:
            FaultError: VALIDATION_UNKNOWN_FLOW, also for that of somebody else.
        """
        flow = await self.get(request)
        await self.table.delete(_key(request.caller, flow.flow_id))
        return FlowForgotten(flow_id=flow.flow_id)

    async def _check_room(self, caller: str) -> None:
        if len(await self._keys(caller)) >= MAX_FLOWS:
            message = f"You have {MAX_FLOWS} flows, which is all that may be kept: forget one first."
            raise FaultError(fault(Code.CONFIG_STORAGE_FULL, message))

    async def _keys(self, caller: str) -> list[str]:
        prefix = f"{_digest(caller)}."
        return sorted(one for one in await self.table.names() if one.startswith(prefix))

    async def _browser(self, request: RecordFlow | KeepFlow, operation: Operation, *, at_need: bool = False) -> Done:
        return (await self.bus.call(BROWSER, AskBrowser(do=operation, caller=request.caller, at_need=at_need))).done


def _flow(draft: FlowDraft, name: str) -> Flow:
    if not draft.url:
        raise _invalid("sessionId", "nothing was done in this session while it was recorded")
    if draft.full:
        raise FaultError(fault(Code.CONTENT_TOO_LARGE, "The flow has too many steps; record it in pieces."))
    return Flow(
        flow_id=FLOW_PREFIX + secrets.token_urlsafe(FLOW_BYTES),
        name=name,
        url=draft.url,
        created_at=now_ms(),
        steps=draft.steps,
        parameters=draft.parameters,
    )


def _summary(flow: Flow) -> FlowSummary:
    return FlowSummary(
        flow_id=flow.flow_id,
        name=flow.name,
        url=flow.url,
        created_at=flow.created_at,
        steps=len(flow.steps),
        parameters=flow.parameters,
    )


def _key(caller: str, flow_id: str) -> str:
    return f"{_digest(caller)}.{flow_id}"


def _digest(caller: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(caller.encode()).digest()).decode().rstrip("=")


def _invalid(field: str, message: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {message}", field=field))

"""The gate: decides about calls of tools, and alone has them run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from actors.actor import Actor, handles
from actors.policy.rules import decide
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.policy import (
    AnswerApproval,
    Approval,
    ApprovalList,
    AskApproval,
    Decision,
    FieldKind,
    ListApprovals,
    RunTool,
    ToolOutcome,
    ToolRequest,
    ToolStatus,
    Verb,
)
from protocol.subject_kinds import Journal, Subject
from protocol.tool_log import SEALED
from protocol.tools.registry import arguments_of, find


@dataclass
class Policy(Actor):
    """Decides about every call of a tool; it alone may say TOOL."""

    name: ClassVar[str] = "policy"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.TOOL, subjects.BROWSER_FIELD, subjects.APPROVAL_NEWS)
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.TOOL_CALLS,)
    purposes: ClassVar[tuple[str, ...]] = (SEALED,)

    @handles(subjects.POLICY_DECIDE, at_once=64)
    async def decide(self, request: ToolRequest) -> Decision:
        """Return what the gate says of a call.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when it is no call of a tool.
        """
        return decide(find(request.call.name, request.surface), request, FieldKind.UNKNOWN)

    @handles(subjects.POLICY_CALL, at_once=64)
    async def call(self, request: ToolRequest) -> ToolOutcome:
        """Have a tool run if it is allowed.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when it is no call of a tool.
        """
        try:
            tool, arguments = find(request.call.name, request.surface), arguments_of(request.call, request.surface)
        except ValueError as error:
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, str(error), field="arguments")) from None
        decision = decide(tool, request, FieldKind.UNKNOWN)
        if decision.decision is not Verb.ALLOW or tool.actor is None:
            return ToolOutcome(call_id=request.id, decision=decision, status=ToolStatus.DENIED)
        run = RunTool(
            id=request.id,
            name=tool.name,
            arguments=msgspec.to_builtins(arguments),
            caller=request.caller,
            local=request.local,
            conversation=request.conversation,
            session=request.context.session,
            tab=request.context.tab,
        )
        result = await self.bus.call(subjects.TOOL.at(actor=tool.actor), run)
        return ToolOutcome(call_id=request.id, decision=decision, status=result.status, result=result)

    @handles(subjects.APPROVAL_LIST, at_once=16)
    async def list(self, request: ListApprovals) -> ApprovalList:
        """List the approvals of a caller."""
        del request
        return ApprovalList(approvals=())

    @handles(subjects.APPROVAL_GET, at_once=16)
    async def get(self, request: AskApproval) -> Approval:
        """Return an approval."""
        del request
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))

    @handles(subjects.APPROVAL_ANSWER, at_once=16)
    async def answer(self, request: AnswerApproval) -> Approval:
        """Allow or deny what waits."""
        del request
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))

"""Approvals at the edge: list and look at them, and allow or deny what waits.

A call is its caller's to answer, and the owner's, or whoever else has a key with the scope `operate`; to all others
there is no such approval.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.request import RequestContext
from protocol.faults import Code, FaultError, fault
from protocol.policy import (
    AnswerApproval,
    Approval,
    ApprovalId,
    ApprovalList,
    AskApproval,
    ListApprovals,
    Remembered,
)
from protocol.subjects import APPROVAL_ANSWER, APPROVAL_GET, APPROVAL_LIST

Answer = Literal["allow", "deny"]


async def list_approvals(
    app: AppContext, request: RequestContext, *, pending: bool = False, limit: int = 50
) -> ApprovalList:
    """List approvals, the newest first; `pending`: those that wait alone."""
    question = ListApprovals(caller=whose(request), pending=pending, limit=limit)
    return await app.bus.call(APPROVAL_LIST, question, wait_ms=app.grace_ms)


async def get_approval(app: AppContext, request: RequestContext, name: str) -> Approval:
    """Return one approval.

    Raises:
        FaultError: VALIDATION_UNKNOWN_APPROVAL, also for one of somebody else.
    """
    question = AskApproval(id=known_id(name), caller=whose(request))
    return await app.bus.call(APPROVAL_GET, question, wait_ms=app.grace_ms)


async def answer_approval(
    app: AppContext, request: RequestContext, name: str, answer: Answer, remember: Remembered = Remembered.ONCE
) -> Approval:
    """Allow or deny what waits; the first answer counts, and an allowed call has run when this returns.

    Raises:
        FaultError: VALIDATION_UNKNOWN_APPROVAL, also for one of somebody else.
    """
    order = AnswerApproval(
        id=known_id(name), caller=whose(request), answer=answer, remember=remember, by=request.caller.name
    )
    return await app.bus.call(APPROVAL_ANSWER, order, wait_ms=app.grace_ms)


def whose(request: RequestContext) -> str | None:
    """Return whose approvals and deliveries the caller may see and answer; None: everybody's."""
    return None if Scope.OPERATE in request.caller.scopes else request.caller.name


def known_id(name: str) -> str:
    """Return an id that may be one.

    Raises:
        FaultError: VALIDATION_UNKNOWN_APPROVAL: what has another form is nobody's.
    """
    try:
        return msgspec.convert(name, ApprovalId)
    except msgspec.ValidationError:
        raise FaultError(fault(Code.VALIDATION_UNKNOWN_APPROVAL, field="id")) from None

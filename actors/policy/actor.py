"""The gate: decides about calls of tools, alone has them run, and keeps what waits for a person."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any, ClassVar, Final

import anyio
import structlog
from msgspec import structs

from actors.actor import Actor, handles, subscribes
from actors.policy.call_log import CallBook, CallLog, expired
from actors.policy.evidence import GateCall, element_of
from actors.policy.executor import Executor, failed
from actors.policy.gate import CATCH_UP_S, REMEMBERED, Gate, digest_of, run_of, understood
from actors.policy_file import own_policy, read_policy, shipped_policy, watched_policy
from actors.settings import Settings
from bus.clock import now_ms
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.policy import (
    AnswerApproval,
    Approval,
    ApprovalList,
    ApprovalState,
    AskApproval,
    Decision,
    ListApprovals,
    Reason,
    Remembered,
    RunTool,
    ToolOutcome,
    ToolRequest,
    ToolResult,
    ToolStatus,
    Verb,
)
from protocol.replicas import ReplicaDrained, ReplicaGone
from protocol.subject_kinds import Journal, Subject
from protocol.tool_log import (
    SEALED,
    CallAnswered,
    CallHistory,
    CallStage,
    approval_of,
    call_of,
)

log = structlog.stdlib.get_logger()

APPROVAL_NOT_ENDED = "approval_not_ended"

SWEEP_S: Final = 1.0
"""How often it is looked whether an approval has waited too long."""


@dataclass
class Policy(Actor):
    """Decides about every call of a tool; it alone may say TOOL."""

    name: ClassVar[str] = "policy"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.TOOL, subjects.BROWSER_FIELD, subjects.APPROVAL_NEWS)
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.TOOL_CALLS,)
    purposes: ClassVar[tuple[str, ...]] = (SEALED,)

    _gate: Gate = field(init=False, repr=False)
    _log: CallLog = field(init=False, repr=False)
    _book: CallBook = field(init=False, repr=False)
    _executor: Executor = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Read the shipped rules."""
        shipped_policy()

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Read the operator's policy file."""
        read_policy(own_policy(settings), needed=bool(settings.policy_file))

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Read the rules and the journal, and go on with what was begun."""
        bus = self.bus
        if bus.seal is None:
            msg = "the gate seals what it has run"
            raise ValueError(msg)
        rules = watched_policy(self.settings)
        networks = tuple(ip_network(one, strict=False) for one in self.settings.allow_private)
        journal = await bus.journal(subjects.TOOL_CALLS)
        self._log, self._book = CallLog(journal, bus.seal), CallBook()
        self._gate = Gate(rules=rules, networks=networks, log=self._log, book=self._book, bus=bus)
        await self._book.load(journal)
        async with rules.open(), anyio.create_task_group() as tasks:
            self._executor = Executor(bus, self._log, self._book, tasks, self.settings.restart_grace_ms)
            for history in self._running():
                self._executor.settle_later(history)
            tasks.start_soon(self._book.follow, journal)
            tasks.start_soon(self._sweep)
            yield
            tasks.cancel_scope.cancel()

    @handles(subjects.POLICY_DECIDE, at_once=64)
    async def decide(self, request: ToolRequest) -> Decision:
        """Return what the gate says of a call that somebody else does.

        Raises:
            FaultError: ELEMENT_NOT_FOUND and the like, when nobody can say what it is about.
        """
        call = understood(request)
        if isinstance(call, Decision):
            return call
        decision, gathered = await self._gate.decide(call, await element_of(self.bus, call))
        if decision.decision is Verb.DENY:
            await self._log.append(None, self._gate.line(call, decision, gathered))
        return decision

    @handles(subjects.POLICY_CALL, at_once=64)
    async def call(self, request: ToolRequest) -> ToolOutcome:
        """Have a tool run if it is allowed; what is asked about waits. The same id is one call, however often it comes.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when another call has that id, or the edge does it itself; the
                journal is away.
        """
        call = understood(request)
        if isinstance(call, Decision):
            return ToolOutcome(call_id=request.id, decision=call, status=ToolStatus.DENIED)
        if call.tool.actor is None:
            message = f"{call.tool.name} is no tool that the gate has run: the edge does it for its caller."
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="name"))
        if (known := await self._log.read(request.id)) is not None:
            return await self._outcome(_same_call(known, call))
        try:
            element = await element_of(self.bus, call)
        except FaultError as error:
            return _without_element(call, error)
        decision, gathered = await self._gate.decide(call, element)
        line = self._gate.line(call, decision, gathered)
        history = await self._log.append(None, line)
        if history is None:
            known = await self._log.read(request.id)
            if known is None:
                message = "This id was that of a call which is kept no longer: take another one."
                raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="id"))
            return await self._outcome(_same_call(known, call))
        if (approval := history.approval(line.at)) is not None:
            await self.bus.tell(subjects.APPROVAL_NEWS, approval)
        return await self._outcome(history, run_of(call, decision))

    @handles(subjects.APPROVAL_LIST, at_once=16)
    async def list(self, request: ListApprovals) -> ApprovalList:
        """List the approvals of a caller."""
        await self._book.caught_up(self._log.journal, CATCH_UP_S)
        now = now_ms()
        approvals = (
            approval
            for history in self._book.questions()
            if request.caller in {None, history.decided.caller}
            and (approval := history.approval(now)) is not None
            and not (request.pending and approval.state is not ApprovalState.PENDING)
        )
        return ApprovalList(approvals=tuple(one for one, _ in zip(approvals, range(request.limit), strict=False)))

    @handles(subjects.APPROVAL_GET, at_once=16)
    async def get(self, request: AskApproval) -> Approval:
        """Return an approval.

        Raises:
            FaultError: VALIDATION_UNKNOWN_APPROVAL.
        """
        history = await self._asked_about(request.id, request.caller)
        result = await self._log.result(history.decided.call) if history.stage is CallStage.ENDED else None
        return _approval(history, result)

    @handles(subjects.APPROVAL_ANSWER, at_once=64)
    async def answer(self, request: AnswerApproval) -> Approval:
        """Allow or deny what waits; the first answer counts, and an allowed call has run when this returns.

        Raises:
            FaultError: VALIDATION_UNKNOWN_APPROVAL.
        """
        history = await self._asked_about(request.id, request.caller)
        if history.stage is CallStage.WAITING:
            answered = await self._log.append(history, _answered(history, request, self.bus.replica, now_ms()))
            history = answered or await self._asked_about(request.id, request.caller)
            if answered is not None and (approval := history.approval(now_ms())) is not None:
                await self.bus.tell(subjects.APPROVAL_NEWS, approval)
        if history.stage in {CallStage.RUNNING, CallStage.ENDED}:
            return _approval(history, await self._executor.settle(history))
        return _approval(history)

    @subscribes(subjects.REPLICA_GONE, at_once=4)
    async def on_gone(self, gone: ReplicaGone) -> None:
        """Go on with what a replica that died has left undone."""
        self._take_over(gone.replica)

    @subscribes(subjects.REPLICA_DRAINED.at(actor="policy"), at_once=4)
    async def on_drained(self, drained: ReplicaDrained) -> None:
        """Go on with what a replica could not finish in time."""
        self._take_over(drained.replica)

    def _take_over(self, replica: str) -> None:
        for history in self._running():
            if history.replica == replica:
                self._executor.settle_later(history)

    def _running(self) -> Iterator[CallHistory]:
        yield from [one for one in self._book.calls.values() if one.stage is CallStage.RUNNING]

    async def _outcome(self, history: CallHistory, run: RunTool | None = None) -> ToolOutcome:
        """Return what has come of a call; one that runs is waited for."""
        decided, approval = history.decided, history.approval(now_ms())
        outcome = ToolOutcome(
            call_id=decided.call, decision=decided.decision, status=ToolStatus.DENIED, approval=approval
        )
        if history.stage is CallStage.REFUSED or (approval is not None and approval.state is ApprovalState.EXPIRED):
            return outcome
        if history.stage is CallStage.WAITING:
            return structs.replace(outcome, status=ToolStatus.PENDING)
        result = await self._executor.settle(history, run)
        return structs.replace(outcome, status=result.status, result=result)

    async def _asked_about(self, approval: str, caller: str | None) -> CallHistory:
        history = await self._log.read(call_of(approval))
        if history is None or history.decided.question is None or caller not in {None, history.decided.caller}:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_APPROVAL))
        return history

    async def _sweep(self) -> None:
        """Have what nobody answers in time end as denied."""
        while True:
            await anyio.sleep(SWEEP_S)
            now = now_ms()
            for history in [one for one in self._book.questions() if expired(one, now)]:
                silence = AnswerApproval(id=approval_of(history.decided.call), caller=None, answer="deny")
                try:
                    ended = await self._log.append(history, _answered(history, silence, "", now))
                    if ended is not None and (approval := ended.approval(now)) is not None:
                        await self.bus.tell(subjects.APPROVAL_NEWS, approval)
                except FaultError as error:
                    log.warning(APPROVAL_NOT_ENDED, call=history.decided.call, code=error.fault.code)


def _approval(history: CallHistory, result: ToolResult | None = None) -> Approval:
    approval = history.approval(now_ms(), result)
    if approval is None:
        raise FaultError(fault(Code.VALIDATION_UNKNOWN_APPROVAL))
    return approval


def _same_call(known: CallHistory, call: GateCall) -> CallHistory:
    if known.decided.digest != digest_of(call):
        message = "Another call has this id: an id, or an Idempotency-Key, stands for one call with its arguments."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="id"))
    return known


def _without_element(call: GateCall, error: FaultError) -> ToolOutcome:
    """Return the outcome of a call of which nobody can say what it is about: it is not run."""
    decision = Decision(decision=Verb.DENY, reason_code=Reason.FIELD_UNKNOWN, why=error.fault.message)
    result = failed(call.request.id, error.fault, call.tool.name)
    return ToolOutcome(call_id=call.request.id, decision=decision, status=result.status, result=result)


def _answered(history: CallHistory, request: AnswerApproval, replica: str, now: int) -> CallAnswered:
    """Return the line of an answer; one that comes too late says so, and one for more than the call may not count."""
    decided = history.decided
    state = ApprovalState.ALLOWED if request.answer == "allow" else ApprovalState.DENIED
    if expired(history, now):
        state = ApprovalState.EXPIRED
    again = decided.decision.reason_code in REMEMBERED and not decided.decision.tainted
    return CallAnswered(
        call=decided.call,
        at=now,
        tool=decided.tool,
        conversation=decided.conversation,
        state=state,
        by="" if state is ApprovalState.EXPIRED else request.by,
        remember=request.remember if again and state is ApprovalState.ALLOWED else Remembered.ONCE,
        replica=replica if state is ApprovalState.ALLOWED else "",
    )

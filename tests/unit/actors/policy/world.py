"""Gates on a bus in memory, among tools that note what they are asked and a browser that says what its elements are."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import anyio
from anyio.abc import TaskStatus
from msgspec.structs import replace

from actors.actor import grant_of, handlers
from actors.policy.actor import Policy
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.access import Scope
from protocol.faults import Code, FaultError, fault
from protocol.packets import ToolCall
from protocol.policy import (
    AnswerApproval,
    Approval,
    ApprovalList,
    ApprovalState,
    AskApproval,
    AskField,
    Decision,
    FieldFacts,
    ListApprovals,
    Reason,
    RunTool,
    ToolContext,
    ToolOutcome,
    ToolRequest,
    ToolResult,
    ToolStatus,
    Verb,
)
from protocol.tool_log import ApprovalQuestion, CallDecided, approval_of, call_topic
from protocol.tools.browser import PLAYWRIGHT
from protocol.tools.tool import Surface

KEY = new_key()
ME = "somebody"
SESSION = "sess_0123456789abcdefghijkl"
PAGE = "https://shop.example/basket"
TEST_S = 90.0
_NUMBERS = count(1)


def call_id() -> str:
    """Return an id that no other call has."""
    return f"call_{next(_NUMBERS):020d}"


def asks(name: str, arguments: dict[str, Any] | None = None, **more: Any) -> ToolRequest:
    """Return a proposal of a model of ours, for a caller who may do everything."""
    values: dict[str, Any] = {
        "id": call_id(),
        "call": ToolCall(name=name, arguments=arguments or {}),
        "surface": Surface.LLMCP,
        "caller": ME,
        "proposed": True,
        "scopes": tuple(Scope),
        "conversation": "c-1",
        "context": ToolContext(session=SESSION, tab=1),
    }
    return ToolRequest(**{**values, **more})


def click(element: str = "buy", **more: Any) -> ToolRequest:
    """Return a proposal to click."""
    return asks("browser.click", {"handleId": f"laika-{element}"}, **more)


@dataclass
class World:
    """What the gates do: `runs` are the calls that reached a tool, and `elements` what the browser shows."""

    broker: Broker
    asker: Bus
    settings: Settings
    runs: list[RunTool] = field(default_factory=list[RunTool])
    elements: dict[str, FieldFacts] = field(default_factory=dict[str, FieldFacts])
    news: list[Approval] = field(default_factory=list[Approval])
    hold: anyio.Event | None = None
    failure: Code | None = None
    done: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])

    async def run(self, request: RunTool) -> ToolResult:
        """Do what a tool does: once for each call, however often it is asked."""
        self.runs.append(request)
        if self.hold is not None:
            await self.hold.wait()
        if self.failure is not None:
            raise FaultError(fault(self.failure))
        result = ToolResult(tool_call_id=request.id, status=ToolStatus.OK, payload={"did": request.name})
        return self.done.setdefault(request.id, result)

    async def element(self, request: AskField) -> FieldFacts:
        """Say what an element is."""
        facts = self.elements.get(request.element_id or "focus")
        if facts is None:
            raise FaultError(fault(Code.ELEMENT_NOT_FOUND))
        return facts

    async def note(self, approval: Approval) -> None:
        """Note what is told."""
        self.news.append(approval)

    async def call(self, request: ToolRequest) -> ToolOutcome:
        """Have a tool run."""
        return await self.asker.call(subjects.POLICY_CALL, request)

    async def answer(self, approval: Approval | None, answer: Any = "allow", **more: Any) -> Approval:
        """Answer what waits."""
        assert approval is not None
        values: dict[str, Any] = {"id": approval.id, "caller": ME, "answer": answer, "by": "me"}
        return await self.asker.call(subjects.APPROVAL_ANSWER, AnswerApproval(**{**values, **more}))

    async def write_expired(self, request: ToolRequest) -> Approval:
        """Write down that a call has waited for longer than it may."""
        line = CallDecided(
            call=request.id,
            at=1,
            tool="click",
            caller=request.caller,
            surface=request.surface,
            decision=Decision(decision=Verb.ASK, reason_code=Reason.ASSIST_REQUIRES_APPROVAL),
            digest="",
            question=ApprovalQuestion(words="Click", effect="", expires_at=2),
        )
        journal = await self.asker.journal(subjects.TOOL_CALLS)
        await journal.append(call_topic(request.id), line)
        found = await self.asker.call(
            subjects.APPROVAL_GET, AskApproval(id=approval_of(request.id), caller=request.caller)
        )
        assert found.state is ApprovalState.EXPIRED
        return found

    async def approvals(self, caller: str | None = ME, *, pending: bool = False) -> tuple[Approval, ...]:
        """List approvals."""
        found: ApprovalList = await self.asker.call(
            subjects.APPROVAL_LIST, ListApprovals(caller=caller, pending=pending)
        )
        return found.approvals

    @asynccontextmanager
    async def policy(self, replica: str) -> AsyncGenerator[None]:
        """Run one more gate."""
        transport = self.broker.connect("policy", grant_of(Policy))
        try:
            async with Bus(transport, "policy", replica).running() as bus:
                bus.seal = Seal.of(KEY)
                await bus.open_discovery()
                actor = Policy(bus=bus, settings=self.settings)
                async with actor.open():
                    for handler in handlers(Policy):
                        await bus.serve(handler.subject, getattr(actor, handler.method), at_once=actor.room(handler))
                    yield
        finally:
            with anyio.CancelScope(shield=True):
                await transport.close()

    @asynccontextmanager
    async def doomed(self, replica: str) -> AsyncGenerator[anyio.CancelScope]:
        """Run a gate that is gone at once when the scope is cancelled."""
        async with anyio.create_task_group() as tasks:
            scope = anyio.CancelScope()

            async def live(*, task_status: TaskStatus[None]) -> None:
                with scope:
                    await _live(self, replica, task_status=task_status)

            await tasks.start(live)
            yield scope
            tasks.cancel_scope.cancel()


async def _live(world: World, replica: str, *, task_status: TaskStatus[None]) -> None:
    async with world.policy(replica):
        task_status.started()
        await anyio.sleep_forever()


@asynccontextmanager
async def world(replicas: Sequence[str] = ("p1",), **settings: Any) -> AsyncGenerator[World]:
    """Run some gates among tools and a browser that are not real."""
    with anyio.fail_after(TEST_S):
        async with (
            Broker() as broker,
            Bus(broker.connect("tools"), "tools", "t1").running() as tools,
            Bus(broker.connect("asker"), "asker", "a1").running() as asker,
        ):
            asker.seal = Seal.of(KEY)
            made = World(broker, asker, Settings(**settings))
            made.elements["buy"] = button()
            for actor in ("runner", PLAYWRIGHT):
                await tools.serve(subjects.TOOL.at(actor=actor), made.run, at_once=32)
            await tools.serve(subjects.BROWSER_FIELD, made.element, at_once=32)
            await asker.serve(subjects.APPROVAL_NEWS, made.note, at_once=1)
            async with anyio.create_task_group() as tasks:
                for replica in replicas:
                    await tasks.start(_live, made, replica)
                yield made
                tasks.cancel_scope.cancel()


def button(**facts: Any) -> FieldFacts:
    """Return a button of a shop."""
    element = FieldFacts(page_url=PAGE, url=PAGE, tag="button", type="submit", label="Buy now", digest="d-1")
    return replace(element, **facts)


def text_field(**facts: Any) -> FieldFacts:
    """Return a field for a search."""
    return replace(button(tag="input", type="text", name="q", label="Search products"), **facts)

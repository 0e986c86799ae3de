"""The suite's tools that go on as tasks, and the tasks that come of them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup
from msgspec import UNSET

from protocol.offers.offer import AskOffer, CallTool
from protocol.offers.results import (
    Acknowledged,
    InputRequest,
    InputRequired,
    OfferedResult,
    OfferedTask,
    Refused,
    TaskStatus,
)
from tests.conformance.asking import INVALID_PARAMS, elicit
from tests.conformance.tools import said

TASKS = "io.modelcontextprotocol/tasks"
INTERNAL_ERROR = -32603

TTL_MS = 60_000
POLL_MS = 100

_NAME = {"name": {"type": "string"}}


class BrokenError(Exception):
    """A tool could not even be run."""


def _now_ms() -> int:
    return round(time.time() * 1_000)


@dataclass(eq=False)
class Running:
    """A task of the fixture."""

    caller: str
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    status: TaskStatus = TaskStatus.WORKING
    created: int = field(default_factory=_now_ms)
    updated: int = field(default_factory=_now_ms)
    result: OfferedResult | None = None
    error: Refused | None = None
    wanted: dict[str, InputRequest] = field(default_factory=dict[str, InputRequest])
    given: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    answered: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.status not in (TaskStatus.WORKING, TaskStatus.INPUT_REQUIRED)

    def told(self) -> OfferedTask:
        """Say how it stands."""
        return OfferedTask(
            id=self.id,
            status=self.status,
            created=self.created,
            updated=self.updated,
            ttl_ms=TTL_MS,
            poll_ms=POLL_MS,
            result=UNSET if self.result is None else self.result,
            error=UNSET if self.error is None else self.error,
            requests=self.wanted if self.status is TaskStatus.INPUT_REQUIRED else UNSET,
        )

    def become(self, status: TaskStatus) -> None:
        """Stand differently, unless it has ended."""
        if not self.over:
            self.status, self.updated = status, _now_ms()

    async def ask(self, requests: dict[str, InputRequest]) -> dict[str, dict[str, Any]]:
        """Wait until all of this is answered."""
        self.wanted = dict(requests)
        self.become(TaskStatus.INPUT_REQUIRED)
        await self.answered.wait()
        return self.given

    def take(self, responses: dict[str, dict[str, Any]]) -> None:
        """Take answers to what was asked for."""
        taken = self.wanted.keys() & responses.keys()
        self.given |= {name: responses[name] for name in taken}
        self.wanted = {name: request for name, request in self.wanted.items() if name not in taken}
        if taken and not self.wanted:
            self.become(TaskStatus.WORKING)
            self.answered.set()


Work = Callable[[Running], Awaitable[OfferedResult]]
Told = Callable[[Running], Awaitable[None]]


@dataclass
class Tasks:
    """The tasks that are known; `told` is called when one stands differently."""

    group: TaskGroup
    told: Told
    known: dict[str, Running] = field(default_factory=dict[str, Running])

    async def call(self, name: str, asked: AskOffer) -> OfferedTask | OfferedResult | InputRequired:
        """Answer a call of a tool that may become a task."""
        given = asked.do.arguments if isinstance(asked.do, CallTool) else {}
        match name:
            case "slow_compute":
                seconds = float(given.get("seconds", 0))
                if TASKS not in (asked.capabilities.get("extensions") or {}):
                    await anyio.sleep(seconds)
                    return said(f"Computed for {seconds:g} s")
                return self._start(asked, lambda _: _compute(seconds))
            case "confirm_delete":
                return self._start(asked, lambda task: _confirm(task, str(given.get("filename"))))
            case "test_tool_with_task":
                if "user_name" not in asked.responses:
                    return InputRequired(requests={"user_name": elicit("What is your name?", _NAME)}, state="asked")
                return self._start(asked, lambda _: _greet(asked.responses["user_name"]))
            case _:
                return self._start(asked, _JOBS[name])

    def find(self, task_id: str, caller: str) -> Running | Refused:
        """Find a task of a caller."""
        task = self.known.get(task_id)
        if task is None or task.caller != caller:
            return Refused(code=INVALID_PARAMS, message="There is no such task")
        return task

    async def update(self, task: Running, responses: dict[str, dict[str, Any]]) -> Acknowledged:
        """Return a task what it asked for."""
        task.take(responses)
        await self.told(task)
        return Acknowledged()

    async def cancel(self, task: Running) -> Acknowledged:
        """End a task."""
        task.become(TaskStatus.CANCELLED)
        task.scope.cancel()
        await self.told(task)
        return Acknowledged()

    def _start(self, asked: AskOffer, work: Work) -> OfferedTask:
        task = Running(asked.caller)
        self.known[task.id] = task
        self.group.start_soon(self._run, task, work)
        return task.told()

    async def _run(self, task: Running, work: Work) -> None:
        with task.scope:
            try:
                result = await work(task)
            except BrokenError as error:
                task.error = Refused(code=INTERNAL_ERROR, message=str(error))
                task.become(TaskStatus.FAILED)
            else:
                task.result = result
                task.become(TaskStatus.COMPLETED)
            await self.told(task)


async def _compute(seconds: float) -> OfferedResult:
    await anyio.sleep(seconds)
    return said(f"Computed for {seconds:g} s")


async def _confirm(task: Running, filename: str) -> OfferedResult:
    given = await task.ask({"confirm": elicit(f"Delete {filename}?", {"confirm": {"type": "boolean"}})})
    return said(f"Told to: {given}")


async def _fail(_task: Running) -> OfferedResult:
    await anyio.sleep(0.2)
    return said("This job fails", is_error=True)


async def _break(_task: Running) -> OfferedResult:
    await anyio.sleep(0.2)
    msg = "This job cannot be run"
    raise BrokenError(msg)


async def _ask_twice(task: Running) -> OfferedResult:
    form = {"name": {"type": "string"}, "confirm": {"type": "boolean"}}
    given = await task.ask({"first": elicit("First", form), "second": elicit("Second", form)})
    return said(f"Told: {given}")


async def _greet(answer: dict[str, Any]) -> OfferedResult:
    await anyio.sleep(0.2)
    return said(f"Hello! You said: {answer}")


_JOBS: dict[str, Work] = {"failing_job": _fail, "protocol_error_job": _break, "multi_input": _ask_twice}
TOOLS = frozenset({"slow_compute", "confirm_delete", "test_tool_with_task", *_JOBS})

"""Has calls run that are allowed, each once: by the replica that has it in hand, or another when that is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import anyio
import structlog
from anyio.abc import TaskGroup
from msgspec import UNSET, UnsetType, structs

from actors.policy.call_log import CallBook, CallLog
from bus import Bus
from bus.clock import now_ms
from bus.context import remaining_ms
from bus.errors import StorageFullError
from protocol.faults import Category, Code, Fault, FaultError, fault
from protocol.policy import RunTool, ToolErrorCode, ToolResult, ToolStatus
from protocol.subjects import APPROVAL_NEWS, MAX_TOOL_MS, TOOL
from protocol.tool_log import CallEnded, CallHistory, CallStage, CallTaken
from protocol.tools.registry import TOOLS

log = structlog.stdlib.get_logger()

CALL_TAKEN_OVER = "tool_call_taken_over"
CALL_NOT_ENDED = "tool_call_not_ended"

MAX_ATTEMPTS: Final = 5
"""How many replicas may have a call in hand: where all of them die, the call is the cause."""

LOOK_S: Final = 1.0
"""How often it is looked whether the replica that has a call in hand is still there."""

ALIVE_MS: Final = 1_000
"""How long a replica may take to say that it is there."""

MARGIN_MS: Final = 1_000
"""What a call has left, at least, when its tool has to be done: to be written down, and told."""


@dataclass(eq=False)
class _InHand:
    """A call that is being run here, and what came of it; None where that could not be written down.

    `full`: nor can it be until there is room, so that nobody waits for it.
    """

    over: anyio.Event = field(default_factory=anyio.Event)
    result: ToolResult | None = None
    full: StorageFullError | None = None


@dataclass
class Executor:
    """Runs the calls that this replica has in hand; `tasks` is where they run on when nobody waits any more."""

    bus: Bus
    log: CallLog
    book: CallBook
    tasks: TaskGroup
    grace_ms: int = 0
    """How long a call waits for a replica that is being started anew."""

    _in_hand: dict[str, _InHand] = field(default_factory=dict[str, _InHand])

    async def settle(self, history: CallHistory, run: RunTool | None = None) -> ToolResult:
        """Return what came of a call that is allowed, when it has run, whoever runs it.

        `run` is what has to be done of a call that was never begun; of others the journal knows it.

        Raises:
            FaultError: the journal is away.
        """
        call = history.decided.call
        while history.stage is CallStage.RUNNING:
            news = self.book.news
            if history.replica == self.bus.replica:
                hand = self._begin(history, run)
                await hand.over.wait()
                if hand.full is not None:
                    raise hand.full
                if hand.result is not None:
                    return hand.result
                run = None
            elif not await self._alive(history.replica):
                history = await self._take_over(history)
                continue
            elif (history := await self.log.read(call) or history).stage is CallStage.RUNNING:
                with anyio.move_on_after(LOOK_S):
                    await news.wait()
            history = await self.log.read(call) or history
        gone = fault(Code.EXECUTION_ERROR, "It has run, and what came of it is kept no longer.")
        return await self.log.result(call) or failed(call, gone, history.decided.tool)

    def settle_later(self, history: CallHistory) -> None:
        """Settle a call that nobody waits for."""
        self.tasks.start_soon(self._settle_quietly, history)

    async def _settle_quietly(self, history: CallHistory) -> None:
        try:
            await self.settle(history)
        except FaultError as error:
            log.warning(CALL_NOT_ENDED, call=history.decided.call, code=error.fault.code)

    async def _alive(self, replica: str) -> bool:
        live = await self.bus.replicas(ALIVE_MS, enough=lambda heard: any(one.replica == replica for one in heard))
        return any(one.replica == replica for one in live)

    async def _take_over(self, history: CallHistory) -> CallHistory:
        decided = history.decided
        taken = CallTaken(
            call=decided.call,
            at=now_ms(),
            tool=decided.tool,
            conversation=decided.conversation,
            replica=self.bus.replica,
        )
        current = await self.log.append(history, taken)
        if current is None:
            return await self.log.read(decided.call) or history
        log.info(CALL_TAKEN_OVER, call=decided.call, replica=history.replica)
        return current

    def _begin(self, history: CallHistory, run: RunTool | None) -> _InHand:
        call = history.decided.call
        if call not in self._in_hand:
            self._in_hand[call] = _InHand()
            self.tasks.start_soon(self._run, history, self._in_hand[call], _limit_ms(), run)
        return self._in_hand[call]

    async def _run(self, history: CallHistory, hand: _InHand, limit_ms: int, run: RunTool | None) -> None:
        decided = history.decided
        try:
            if run is not None:
                result = await self.run(run, limit_ms)
            else:
                result = await self.log.result(decided.call) or await self._result(history, limit_ms)
            await self._write_down(history, result)
            hand.result = result
        except FaultError as error:
            log.warning(CALL_NOT_ENDED, call=decided.call, code=error.fault.code)
            hand.full = error if isinstance(error, StorageFullError) else None
        finally:
            del self._in_hand[decided.call]
            hand.over.set()

    async def _write_down(self, history: CallHistory, result: ToolResult) -> None:
        decided, at = history.decided, now_ms()
        await self.log.keep_result(history, result, at)
        ended = CallEnded(
            call=decided.call,
            at=at,
            tool=decided.tool,
            conversation=decided.conversation,
            status=result.status,
            code=None if isinstance(result.code, UnsetType) else result.code,
        )
        over = await self.log.append(history, ended)
        if over is not None and (approval := over.approval(at)) is not None:
            await self.bus.tell(APPROVAL_NEWS, approval)

    async def _result(self, history: CallHistory, limit_ms: int) -> ToolResult:
        decided = history.decided
        run = self.log.run_of(decided)
        if run is None or history.attempts > MAX_ATTEMPTS:
            message = "It was begun, and cannot be gone on with: look at what is there, and call the tool again."
            return failed(decided.call, fault(Code.EXECUTION_ERROR, message), decided.tool)
        return await self.run(run, limit_ms)

    async def run(self, run: RunTool, limit_ms: int) -> ToolResult:
        """Have a tool run; what comes to nothing is a result, too."""
        actor = TOOLS[run.name].actor or ""
        try:
            result = await self.bus.call(TOOL.at(actor=actor), run, timeout_ms=limit_ms, wait_ms=self.grace_ms)
        except FaultError as error:
            return failed(run.id, error.fault, run.name)
        return structs.replace(result, tool_call_id=run.id)


def _limit_ms() -> int:
    left = remaining_ms()
    most = MAX_TOOL_MS - MARGIN_MS
    return most if left is None else max(min(left - MARGIN_MS, most), MARGIN_MS)


def failed(call: str, failure: Fault, tool: str) -> ToolResult:
    """Return the result of a call that came to nothing, with the code that 003 has for it."""
    cancelled = failure.code is Code.INTERNAL_CANCELLED
    return ToolResult(
        tool_call_id=call,
        status=ToolStatus.CANCELLED if cancelled else ToolStatus.ERROR,
        code=error_code(failure, tool),
        fault=failure,
    )


def error_code(failure: Fault, tool: str) -> ToolErrorCode | UnsetType:
    """Return the code of 003 for a fault, by what has failed; some have none."""
    if (code := _BY_CODE.get(failure.code)) is not None:
        return code
    if failure.category is Category.VALIDATION:
        return ToolErrorCode.INVALID_ARGUMENTS
    if failure.category is Category.INTERNAL:
        return ToolErrorCode.RUNTIME_UNAVAILABLE
    return _BY_TOOL.get(tool, UNSET)


_BY_CODE: Final[Mapping[Code, ToolErrorCode]] = MappingProxyType(
    {
        Code.ELEMENT_NOT_FOUND: ToolErrorCode.STALE_HANDLE,
        Code.SESSION_NOT_FOUND: ToolErrorCode.NO_ACTIVE_TAB,
        Code.BROWSER_UNAVAILABLE: ToolErrorCode.RUNTIME_UNAVAILABLE,
        Code.CONFIG_TIER_NOT_DEPLOYED: ToolErrorCode.RUNTIME_UNAVAILABLE,
        Code.ARTIFACT_NOT_FOUND: ToolErrorCode.NOT_FOUND,
        Code.ARTIFACT_EXPIRED: ToolErrorCode.NOT_FOUND,
        Code.SECURITY_URL_BLOCKED: ToolErrorCode.INVALID_URL,
        Code.SECURITY_ADDRESS_BLOCKED: ToolErrorCode.INVALID_URL,
    }
)
_BY_TOOL: Final[Mapping[str, ToolErrorCode]] = MappingProxyType(
    {
        "navigate": ToolErrorCode.NAVIGATION_FAILED,
        "create_tab": ToolErrorCode.OPEN_TAB_FAILED,
        "go_back": ToolErrorCode.BACK_FAILED,
        "go_forward": ToolErrorCode.FORWARD_FAILED,
        "refresh": ToolErrorCode.REFRESH_FAILED,
        "search": ToolErrorCode.SEARCH_FAILED,
        "source.capture": ToolErrorCode.NAVIGATION_FAILED,
        "source.refresh": ToolErrorCode.NAVIGATION_FAILED,
        "click": ToolErrorCode.NOT_INTERACTABLE,
        "type_text": ToolErrorCode.NOT_INTERACTABLE,
        "set_value": ToolErrorCode.NOT_INTERACTABLE,
        "select_option": ToolErrorCode.NOT_INTERACTABLE,
    }
)
"""The code of what a tool does, where nothing better is known."""

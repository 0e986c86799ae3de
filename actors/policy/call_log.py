"""The journal of tool calls as the gate uses it: a call is changed only by who has read its last line."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Final, TypeVar

import anyio
import msgspec
import structlog
from msgspec import Struct, structs

from bus.errors import LineTooLargeError
from bus.outages import wait_out
from bus.seal import Seal, UnsealError
from bus.stores import JournalLine, JournalLog
from protocol.policy import ApprovalState, Remembered, RunTool, ToolResult
from protocol.tool_log import (
    CALLS,
    SEALED,
    CallDecided,
    CallHistory,
    CallResult,
    CallStage,
    IllegalLineError,
    ToolLine,
    call_topic,
    fold,
    result_topic,
)

log = structlog.stdlib.get_logger()

LINE_PASSED_OVER = "tool_line_passed_over"
RESULT_TOO_LARGE = "tool_result_too_large"

JOURNAL_S: Final = 30.0
"""How long the journal may be away."""

MOST_ANSWERED: Final = 2_000
"""Approvals that are remembered, the newest."""

T = TypeVar("T")


class CallLog(Struct, frozen=True):
    """The calls of the journal; every method waits while the bus is away, for `JOURNAL_S` at most.

    What is run, and what came of it, is sealed once more by `seal`, for the gate alone.
    """

    journal: JournalLog[ToolLine]
    seal: Seal

    async def read(self, call: str) -> CallHistory | None:
        """Return a call as it stands.

        Raises:
            TransportError: the journal is away.
        """
        return await wait_out(lambda: self._folded(call), JOURNAL_S)

    async def append(self, history: CallHistory | None, line: ToolLine) -> CallHistory | None:
        """Write the next line of a call, and return the call after it; None where another line came before.

        Raises:
            TransportError: the journal is away.
        """

        async def write() -> CallHistory | None:
            try:
                last = 0 if history is None else history.last
                sequence = await self.journal.append(call_topic(line.call), line, last=last)
            except ValueError:
                return None
            return fold(history, sequence, line)

        return await wait_out(write, JOURNAL_S)

    async def keep_result(self, history: CallHistory, result: ToolResult, at: int) -> None:
        """Write what came of a call, unless that was done; one that is too large is kept without what it has read.

        Raises:
            TransportError: the journal is away.
        """
        decided = history.decided
        sealed = self._sealed(msgspec.json.encode(result), f"result {decided.call}")
        line = CallResult(call=decided.call, at=at, tool=decided.tool, conversation=decided.conversation, result=sealed)

        async def write() -> None:
            with suppress(ValueError):
                await self.journal.append(result_topic(line.call), line, last=0)

        try:
            await wait_out(write, JOURNAL_S)
        except LineTooLargeError:
            log.warning(RESULT_TOO_LARGE, call=line.call)
            short = structs.replace(result, payload={"truncated": True}, documents=())
            await self.keep_result(history, short, at)

    async def result(self, call: str) -> ToolResult | None:
        """Return what came of a call.

        Raises:
            TransportError: the journal is away.
        """
        line = await wait_out(lambda: self.journal.last(result_topic(call)), JOURNAL_S)
        if line is None or not isinstance(line.value, CallResult):
            return None
        return self._opened(line.value.result, f"result {call}", ToolResult)

    def sealed_run(self, run: RunTool) -> bytes:
        """Seal what is to be run."""
        return self._sealed(msgspec.json.encode(run), f"run {run.id}")

    def run_of(self, decided: CallDecided) -> RunTool | None:
        """Return what is to be run; None where it was sealed with another key."""
        return self._opened(decided.run, f"run {decided.call}", RunTool)

    def _sealed(self, value: bytes, place: str) -> bytes:
        return self.seal.seal(value, f"{SEALED} {place}")

    def _opened(self, sealed: bytes, place: str, kind: type[T]) -> T | None:
        try:
            return msgspec.json.decode(self.seal.unseal(sealed, f"{SEALED} {place}"), type=kind)
        except (UnsealError, msgspec.DecodeError):
            return None

    async def _folded(self, call: str) -> CallHistory | None:
        history: CallHistory | None = None
        async with aclosing(self.journal.read(call_topic(call))) as lines:
            async for line in lines:
                try:
                    history = fold(history, line.sequence, line.value)
                except IllegalLineError as error:
                    # The journal keeps neither everything nor for ever: what is left of such a call is none.
                    log.debug(LINE_PASSED_OVER, call=call, reason=str(error))
                    return None
        return history


class Likeness(Struct, frozen=True, kw_only=True):
    """What calls have in common that one answer counts for."""

    caller: str
    tool: str
    conversation: str
    site: str

    def covered_by(self, former: CallDecided, remember: Remembered) -> bool:
        """Return whether an answer for a former call counts for this one."""
        if (former.caller, former.tool) != (self.caller, self.tool):
            return False
        if remember is Remembered.SITE:
            return bool(self.site) and former.site == self.site
        return bool(self.conversation) and former.conversation == self.conversation


@dataclass
class CallBook:
    """What this replica has read of all calls: those that are not over, and those that somebody was asked about.

    `sequence` is how far it has read; `news` is set, and another event, whenever it has read a line.
    """

    calls: dict[str, CallHistory] = field(default_factory=dict[str, CallHistory])
    sequence: int = 0
    news: anyio.Event = field(default_factory=anyio.Event)

    async def load(self, journal: JournalLog[ToolLine]) -> None:
        """Read what is there.

        Raises:
            TransportError: the journal is away.
        """
        end = await journal.end()
        async with aclosing(journal.read(CALLS)) as lines:
            async for line in lines:
                self.note(line)
        self.sequence = max(self.sequence, end)

    async def follow(self, journal: JournalLog[ToolLine]) -> None:
        """Read on, for ever."""
        async with journal.follow(self.sequence, "calls") as lines:
            async for line in lines:
                self.note(line)
                self.news.set()
                self.news = anyio.Event()

    async def caught_up(self, journal: JournalLog[ToolLine], within_s: float) -> None:
        """Wait until all is read that is written by now, at most so long.

        Raises:
            TransportError: the journal is away.
        """
        end = await journal.end()
        with anyio.move_on_after(within_s):
            while self.sequence < end:
                await self.news.wait()

    def note(self, line: JournalLine[ToolLine]) -> None:
        """Take one line in."""
        self.sequence = max(self.sequence, line.sequence)
        call, known = line.value.call, self.calls.get(line.value.call)
        if isinstance(line.value, CallResult) or (known is not None and line.sequence <= known.last):
            return
        try:
            history = fold(known, line.sequence, line.value)
        except IllegalLineError as error:
            log.debug(LINE_PASSED_OVER, call=call, reason=str(error))
            return
        over = history.stage in {CallStage.ENDED, CallStage.REFUSED}
        if over and history.decided.question is None:
            self.calls.pop(call, None)
        else:
            self.calls[call] = history
        self._forget()

    def questions(self) -> Iterable[CallHistory]:
        """Return the calls that somebody was asked about, the newest first."""
        return sorted(
            (one for one in self.calls.values() if one.decided.question is not None), key=lambda one: -one.decided.at
        )

    def granted(self, likeness: Likeness, since: int) -> bool:
        """Return whether the caller has allowed such calls for this conversation or site, after a time (ms)."""
        return any(
            history.grants
            and history.answered is not None
            and history.answered.at >= since
            and likeness.covered_by(history.decided, history.answered.remember)
            for history in self.calls.values()
        )

    def _forget(self) -> None:
        if len(self.calls) <= 2 * MOST_ANSWERED:
            return
        over = [call for call, one in self.calls.items() if one.stage in {CallStage.ENDED, CallStage.REFUSED}]
        for call in over[:-MOST_ANSWERED]:
            del self.calls[call]


def expired(history: CallHistory, now: int) -> bool:
    """Return whether nobody has answered in time."""
    approval = history.approval(now)
    return history.stage is CallStage.WAITING and approval is not None and approval.state is ApprovalState.EXPIRED

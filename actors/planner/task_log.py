"""The lines of one task as long as nobody else writes any: each is written only behind the last one that was read."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import structlog

from bus import Bus
from bus.outages import wait_out
from bus.stores import JournalLog
from protocol.acting.chats import ChatLine
from protocol.acting.task_fold import IllegalTaskLineError, fold_task
from protocol.acting.tasks import TaskBegun, TaskLine, TaskState, task_topic
from protocol.faults import Code, FaultError, fault
from protocol.subjects import TASKS

log = structlog.stdlib.get_logger()

TASK_LINE_PASSED_OVER = "task_line_passed_over"

JOURNAL_S: Final = 20.0
"""How long the journal may be away."""

GONE_ON: Final = "Somebody else goes on with this task at the same time. Ask again when that is over."
OTHER_TASK: Final = "This task was begun with another goal: take another id for another task."


@dataclass(kw_only=True)
class TaskLog:
    """One task: `known` is how it stands (None: it was not begun), `sequence` that of its last line."""

    task: str
    journal: JournalLog[TaskLine | ChatLine]
    known: TaskState | None = None
    sequence: int = 0

    @classmethod
    async def opened(cls, bus: Bus, task: str, caller: str) -> TaskLog:
        """Read how a task stands.

        Raises:
            FaultError: VALIDATION_UNKNOWN_TASK, where it is somebody else's; the journal is away.
        """
        opened = cls(task=task, journal=await bus.journal(TASKS))
        await wait_out(opened._read, JOURNAL_S)
        if opened.known is not None and opened.known.caller != caller:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_TASK))
        return opened

    @property
    def state(self) -> TaskState:
        """How the task stands.

        Raises:
            FaultError: VALIDATION_UNKNOWN_TASK, where it was not begun.
        """
        if self.known is None:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_TASK))
        return self.known

    async def write(self, line: TaskLine) -> TaskState:
        """Write a line behind those that were read, and return how the task stands after it.

        Raises:
            FaultError: INTERNAL_BUSY, where somebody else has written one; the journal is away.
            IllegalTaskLineError: the task does not go on like that.
        """
        state = fold_task(self.known, line)
        await wait_out(lambda: self._append(line), JOURNAL_S)
        self.known = state
        return state

    async def begin(self, line: TaskBegun) -> TaskState:
        """Begin the task, unless it was.

        Raises:
            FaultError: it was begun with another goal; somebody else begins it; the journal is away.
        """
        if self.known is None:
            return await self.write(line)
        if (self.known.goal, self.known.surface) != (line.goal, line.surface):
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, OTHER_TASK, field="task"))
        return self.known

    async def _append(self, line: TaskLine) -> None:
        topic = task_topic(self.task)
        try:
            self.sequence = await self.journal.append(topic, line, last=self.sequence)
        except ValueError:
            # Where the connection broke while it was written, the last line is this one.
            last = await self.journal.last(topic)
            if last is None or last.value != line:
                raise FaultError(fault(Code.INTERNAL_BUSY, GONE_ON)) from None
            self.sequence = last.sequence

    async def _read(self) -> None:
        self.known, self.sequence = None, 0
        async with aclosing(self.journal.read(task_topic(self.task))) as lines:
            async for line in lines:
                self.sequence = line.sequence
                if not isinstance(line.value, TaskLine):
                    continue
                try:
                    self.known = fold_task(self.known, line.value)
                except IllegalTaskLineError as error:
                    # What is left of a task whose first lines are kept no longer is none.
                    log.debug(TASK_LINE_PASSED_OVER, task=self.task, reason=str(error))

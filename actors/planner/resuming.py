"""Lets a task go on that waits for its user: what he says becomes part of it, its secrets sealed."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.task_log import TaskLog
from actors.planner.values import moved, opened_values, sealed_values
from bus.clock import now_ms
from bus.seal import Seal
from protocol.acting.tasks import ActingStatus, TaskResumed, TaskState
from protocol.faults import Code, FaultError, fault

DOES_NOT_WAIT: Final = "This task waits for nobody: ask how it stands, or let it go on by asking for it again."

_YES: Final = re.compile(
    r"\s*(?:y|yes|yep|yeah|ok|okay|sure|allow(?:ed)?|go ahead|do it|please do|ja|oui|s[ií]|sim)\b(?!.*\bnot\b)",
    re.IGNORECASE,
)


async def resume_task(log: TaskLog, seal: Seal | None, words: str) -> TaskState:
    """Write down that a task goes on, and what its user has said.

    Raises:
        FaultError: it waits for nobody, or is over; somebody else goes on with it.
    """
    state = log.state
    if state.status.final:
        raise FaultError(fault(Code.VALIDATION_TASK_OVER))
    if state.status is not ActingStatus.NEEDS_USER_INPUT:
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, DOES_NOT_WAIT, field="task"))
    values = opened_values(seal, log.task, state.given)
    clean, kept = moved(" ".join(words.split()), values)
    line = TaskResumed(
        task=log.task,
        at=now_ms(),
        words=clean,
        allows=bool(state.permission) and _YES.match(words) is not None,
        given=sealed_values(seal, log.task, kept) if kept != values else b"",
    )
    return await log.write(line)

"""The journal of tool calls: what was asked, decided, answered and done, and what the lines of a call come to.

A call has the topic `call.<id>`, its result `result.<id>`. Who is allowed to run it writes that down before it runs,
each line only after the last one that its writer has read: so one replica has a call in hand, whoever dies.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from msgspec import Struct, structs

from protocol.policy import (
    APPROVAL_PREFIX,
    CALL_PREFIX,
    Approval,
    ApprovalState,
    CallId,
    Decision,
    Remembered,
    ToolErrorCode,
    ToolResult,
    ToolStatus,
    Verb,
)
from protocol.tools.tool import Surface

CALLS: Final = "call.>"
"""The topics of all calls, without their results."""

SEALED: Final = "tool.call"
"""The purpose of the gate's own key: what is run, and what came of it, is for no other reader of the journal."""


def call_topic(call: str) -> str:
    """Return the topic of a call."""
    return f"call.{call}"


def result_topic(call: str) -> str:
    """Return the topic of what came of a call."""
    return f"result.{call}"


def approval_of(call: str) -> str:
    """Return the id of the approval that a call waits for."""
    return APPROVAL_PREFIX + call.removeprefix(CALL_PREFIX)


def call_of(approval: str) -> str:
    """Return the call that waits for an approval."""
    return CALL_PREFIX + approval.removeprefix(APPROVAL_PREFIX)


class _Line(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line"):
    """A line about a call; `at` in ms since the epoch."""

    call: CallId
    at: int
    tool: str
    conversation: str = ""


class ApprovalQuestion(Struct, frozen=True, kw_only=True):
    """What a person is asked: what would be done, what that changes, and until when an answer counts (ms)."""

    words: str
    effect: str
    expires_at: int


class CallDecided(_Line, frozen=True, kw_only=True, omit_defaults=True, tag="decided"):
    """A call was asked for, and decided about; the first line of each.

    `arguments` are for people: without what is secret. `digest` tells whether another call has the same id. `run` is
    the RunTool, sealed for the gate; `replica` has it in hand where it is allowed, `question` is asked where it waits.
    """

    caller: str
    surface: Surface
    decision: Decision
    digest: str
    proposed: bool = False
    by_hand: bool = False
    arguments: dict[str, Any] = {}
    site: str = ""
    run: bytes = b""
    replica: str = ""
    question: ApprovalQuestion | None = None


class CallAnswered(_Line, frozen=True, kw_only=True, omit_defaults=True, tag="answered"):
    """Somebody has answered, or nobody has in time; `replica` has it in hand where it is allowed."""

    state: ApprovalState
    by: str = ""
    remember: Remembered = Remembered.ONCE
    replica: str = ""


class CallTaken(_Line, frozen=True, kw_only=True, omit_defaults=True, tag="taken"):
    """Another replica goes on with it, because the one that had it in hand is gone."""

    replica: str


class CallEnded(_Line, frozen=True, kw_only=True, omit_defaults=True, tag="ended"):
    """It has run: how that went; what came of it stands under its result."""

    status: ToolStatus
    code: ToolErrorCode | None = None


class CallResult(_Line, frozen=True, kw_only=True, omit_defaults=True, tag="result"):
    """What came of a call: the ToolResult, sealed for the gate."""

    result: bytes


ToolLine = CallDecided | CallAnswered | CallTaken | CallEnded | CallResult
"""A line of TOOL_CALLS."""


class CallStage(StrEnum):
    """How far a call is; the last two are final."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    REFUSED = "refused"


class CallHistory(Struct, frozen=True, kw_only=True):
    """A call after some of its lines.

    `replica` has it in hand, `attempts` tells how many have had it, `last` is the sequence of its last line.
    """

    decided: CallDecided
    stage: CallStage
    last: int
    replica: str = ""
    attempts: int = 1
    answered: CallAnswered | None = None
    ended: CallEnded | None = None

    @property
    def grants(self) -> bool:
        """Whether its answer counts for more than this call."""
        answer = self.answered
        return (
            answer is not None
            and answer.state is ApprovalState.ALLOWED
            and answer.remember is not Remembered.ONCE
            and not self.decided.decision.tainted
        )

    def approval(self, now: int, result: ToolResult | None = None) -> Approval | None:
        """Return the approval that the call waits for, or has waited for, as it stands at a time (ms)."""
        decided, answered = self.decided, self.answered
        if decided.question is None:
            return None
        state = ApprovalState.PENDING if answered is None else answered.state
        if state is ApprovalState.PENDING and now >= decided.question.expires_at:
            state = ApprovalState.EXPIRED
        return Approval(
            id=approval_of(decided.call),
            call_id=decided.call,
            caller=decided.caller,
            tool=decided.tool,
            arguments=decided.arguments,
            words=decided.question.words,
            decision=decided.decision,
            effect=decided.question.effect,
            state=state,
            created_at=decided.at,
            expires_at=decided.question.expires_at,
            conversation=decided.conversation,
            site=decided.site,
            answered_at=answered.at if answered else None,
            answered_by=answered.by if answered else "",
            remember=answered.remember if answered else Remembered.ONCE,
            result=result,
        )


class IllegalLineError(ValueError):
    """No history of a call goes on like that."""


_BY_VERB: Final = {Verb.ALLOW: CallStage.RUNNING, Verb.ASK: CallStage.WAITING, Verb.DENY: CallStage.REFUSED}


def fold(history: CallHistory | None, sequence: int, line: ToolLine) -> CallHistory:
    """Return a call after one more line.

    Raises:
        IllegalLineError: no history of a call goes on like that.
    """
    stage = None if history is None else history.stage
    match line:
        case CallDecided() if history is None:
            return CallHistory(
                decided=line, stage=_BY_VERB[line.decision.decision], last=sequence, replica=line.replica
            )
        case CallAnswered() if history is not None and stage is CallStage.WAITING:
            allowed = line.state is ApprovalState.ALLOWED
            return structs.replace(
                history,
                answered=line,
                stage=CallStage.RUNNING if allowed else CallStage.REFUSED,
                replica=line.replica,
                last=sequence,
            )
        case CallTaken() if history is not None and stage is CallStage.RUNNING:
            return structs.replace(history, replica=line.replica, attempts=history.attempts + 1, last=sequence)
        case CallEnded() if history is not None and stage is CallStage.RUNNING:
            return structs.replace(history, ended=line, stage=CallStage.ENDED, last=sequence)
        case _:
            msg = f"{type(line).__name__} after {stage}"
            raise IllegalLineError(msg)

"""What the lines of a call come to: one decision, one answer where it waits, one end where it runs, nothing after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.policy import ApprovalState, Decision, Reason, Remembered, ToolStatus, Verb
from protocol.tool_log import (
    ApprovalQuestion,
    CallAnswered,
    CallDecided,
    CallEnded,
    CallHistory,
    CallResult,
    CallStage,
    CallTaken,
    IllegalLineError,
    ToolLine,
    approval_of,
    call_of,
    fold,
)
from protocol.tools.tool import Surface

CALL = "call_0123456789abcdef"


def decided(verb: Verb) -> CallDecided:
    """Return the first line of a call."""
    return CallDecided(
        call=CALL,
        at=5,
        tool="click",
        caller="me",
        surface=Surface.LLMCP,
        decision=Decision(decision=verb, reason_code=Reason.ASSIST_REQUIRES_APPROVAL),
        digest="",
        replica="p1",
        question=ApprovalQuestion(words="Click", effect="", expires_at=10) if verb is Verb.ASK else None,
    )


def answered(state: ApprovalState, remember: Remembered = Remembered.ONCE) -> CallAnswered:
    """Return an answer."""
    return CallAnswered(call=CALL, at=6, tool="click", state=state, by="me", replica="p2", remember=remember)


TAKEN = CallTaken(call=CALL, at=7, tool="click", replica="p3")
ENDED = CallEnded(call=CALL, at=8, tool="click", status=ToolStatus.OK)
RESULT = CallResult(call=CALL, at=8, tool="click", result=b"")
LINES: list[ToolLine] = [*map(decided, Verb), *map(answered, ApprovalState), TAKEN, ENDED, RESULT]


def history(*lines: ToolLine) -> CallHistory:
    """Return a call after some lines."""
    found: CallHistory | None = None
    for sequence, line in enumerate(lines, 1):
        found = fold(found, sequence, line)
    assert found is not None
    return found


def test_a_call_that_was_allowed_runs_until_it_has_ended() -> None:
    ended = history(decided(Verb.ASK), answered(ApprovalState.ALLOWED), TAKEN, ENDED)

    assert (ended.stage, ended.replica, ended.attempts, ended.last) == (CallStage.ENDED, "p3", 2, 4)
    approval = ended.approval(100)
    assert approval is not None
    assert (approval.state, approval.answered_by, approval.id) == (ApprovalState.ALLOWED, "me", approval_of(CALL))
    assert call_of(approval.id) == CALL


@pytest.mark.parametrize(("now", "state"), [(9, ApprovalState.PENDING), (10, ApprovalState.EXPIRED)])
def test_what_waits_expires(now: int, state: ApprovalState) -> None:
    approval = history(decided(Verb.ASK)).approval(now)

    assert approval is not None
    assert approval.state is state


@pytest.mark.parametrize("remember", Remembered)
@pytest.mark.parametrize("state", [ApprovalState.ALLOWED, ApprovalState.DENIED])
def test_an_allowing_answer_alone_counts_for_more(remember: Remembered, state: ApprovalState) -> None:
    call = history(decided(Verb.ASK), answered(state, remember))

    assert call.grants is (state is ApprovalState.ALLOWED and remember is not Remembered.ONCE)


@given(st.lists(st.sampled_from(LINES), max_size=8))
def test_no_history_goes_on_after_its_end(lines: list[ToolLine]) -> None:
    call: CallHistory | None = None
    for sequence, line in enumerate(lines, 1):
        over = call is not None and call.stage in {CallStage.ENDED, CallStage.REFUSED}
        try:
            call = fold(call, sequence, line)
        except IllegalLineError:
            continue
        assert not over
        assert not isinstance(line, CallResult)
        assert call.last == sequence
        assert call.stage is not CallStage.ENDED or isinstance(line, CallEnded)
        assert call.stage is not CallStage.RUNNING or call.replica

"""What a client hears of a call that is denied, waits or comes to nothing; and what its user is asked."""

from __future__ import annotations

import pytest

from actors.gateway.mcp.elicitation import answer_of, form
from actors.gateway.request import GivenAnswer
from actors.gateway.tool_calls import call_id, denied, failed, list_tools, read_call, waiting
from protocol.browsers import operations as do
from protocol.faults import Code, FaultError, fault
from protocol.policy import (
    Approval,
    ApprovalState,
    Decision,
    Reason,
    Remembered,
    ToolErrorCode,
    ToolOutcome,
    ToolResult,
    ToolStatus,
    Verb,
)
from protocol.tools.registry import TOOLS

CALL = "call_0123456789abcdef"
DENIED = Decision(
    decision=Verb.DENY,
    reason_code=Reason.SENSITIVE_FIELD_BLOCKED,
    why="The field is for a password.",
    rule="mine, line 3",
)


def approval(conversation: str = "", site: str = "") -> Approval:
    return Approval(
        id="apv_0123456789abcdef",
        call_id=CALL,
        tool="click",
        arguments={},
        words="Click “Buy”",
        decision=Decision(decision=Verb.ASK, reason_code=Reason.ASSIST_REQUIRES_APPROVAL),
        effect="Something is ordered.",
        state=ApprovalState.PENDING,
        created_at=1,
        expires_at=2,
        conversation=conversation,
        site=site,
    )


def test_every_tool_is_listed_once_with_its_names_and_its_schema() -> None:
    listed = list_tools()

    assert [one.name for one in listed.tools] == list(TOOLS)
    assert listed.tool_schema_version == 1
    assert {one.names["mcp"] for one in listed.tools if "." in one.names["mcp"]} == set()
    assert all(one.schema["type"] == "object" for one in listed.tools)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("browser.click", {"handleId": "laika-7"}),
        ("click", {"element_id": "7"}),
        ("browser_click", {"element_id": "7"}),
    ],
)
def test_a_tool_is_called_by_what_any_surface_calls_it(name: str, arguments: dict[str, str]) -> None:
    tool, given = read_call(name, arguments)

    assert (tool.name, given) == ("click", do.Click(element_id="7"))


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("shell.exec", {}, "name"),
        ("collection.create", {}, "title"),
        ("type_text", {"element_id": "1", "text": "", "sealed": "AAAA"}, "sealed"),
        ("upload_file", {"element_id": "1", "filePath": "/a", "stored": "upload-1"}, "stored"),
        ("click", {"element_id": "1", "tool": "navigate"}, "tool"),
    ],
)
def test_what_is_no_call_is_refused_with_the_field(name: str, arguments: dict[str, str], field: str) -> None:
    with pytest.raises(FaultError) as caught:
        read_call(name, arguments)

    assert (caught.value.fault.code, field in str(caught.value.fault.field)) == (Code.VALIDATION_INVALID_REQUEST, True)


def test_the_same_key_of_a_caller_is_the_same_call_and_nobody_elses() -> None:
    assert call_id("a", "k") == call_id("a", "k") != call_id("b", "k")
    assert call_id("a") != call_id("a")


def test_a_denial_says_why_and_what_to_do_instead() -> None:
    failure = denied("type_text", DENIED)

    assert failure.code is Code.SECURITY_POLICY_DENIED
    assert failure.message == (
        "type_text is not allowed: The field is for a password. (rule mine, line 3) [sensitive_field_blocked]"
    )
    assert failure.context is not None
    assert (failure.context.tool, failure.context.reason_code) == ("type_text", "sensitive_field_blocked")
    assert failure.actions[0].parameters == {"templateId": "login_keep_session"}
    lacking = Decision(decision=Verb.DENY, reason_code=Reason.SCOPE_MISSING)
    assert denied("click", lacking).code is Code.AUTH_INSUFFICIENT_SCOPE


def test_what_waits_names_its_approval_and_what_failed_the_code_of_003() -> None:
    waits = waiting("click", approval().decision, approval()).context
    result = ToolResult(
        tool_call_id=CALL,
        status=ToolStatus.ERROR,
        code=ToolErrorCode.STALE_HANDLE,
        fault=fault(Code.ELEMENT_NOT_FOUND),
    )
    ended = failed(ToolOutcome(call_id=CALL, decision=DENIED, status=ToolStatus.ERROR, result=result))

    assert waits is not None
    assert waits.approval_id == "apv_0123456789abcdef"
    assert ended.context is not None
    assert (ended.code, ended.context.tool_code) == (Code.ELEMENT_NOT_FOUND, "STALE_HANDLE")


def test_a_user_is_asked_for_what_the_answer_can_count() -> None:
    (alone,) = form(approval())["requestedSchema"]["properties"].values()
    (both,) = form(approval(conversation="c", site="shop.example"))["requestedSchema"]["properties"].values()

    assert alone["enum"] == ["once", "deny"]
    assert both["enum"] == ["once", "conversation", "site", "deny"]
    assert both["enumNames"][2] == "Allow it on shop.example from now on"


@pytest.mark.parametrize(
    ("action", "content", "given"),
    [
        ("accept", {"answer": "once"}, GivenAnswer("allow")),
        ("accept", {"answer": "site"}, GivenAnswer("allow", Remembered.SITE)),
        ("accept", {"answer": "deny"}, GivenAnswer("deny")),
        ("accept", {"answer": "always"}, None),
        ("accept", {}, None),
        ("accept", None, None),
        ("decline", None, GivenAnswer("deny")),
        ("cancel", {"answer": "once"}, None),
    ],
)
def test_nothing_is_allowed_that_was_not_chosen(action: str, content: object, given: GivenAnswer | None) -> None:
    assert answer_of(action, content) == given

"""The gate at work: what is allowed runs once, what is asked about waits, and nothing else happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from msgspec.structs import replace

from protocol import subjects
from protocol.access import Scope
from protocol.faults import Code, FaultError
from protocol.policy import (
    Approval,
    ApprovalState,
    AskApproval,
    Reason,
    Remembered,
    ToolContext,
    ToolErrorCode,
    ToolOutcome,
    ToolStatus,
    Verb,
)
from protocol.tool_log import CallDecided
from protocol.tools.tool import Surface
from tests.unit.actors.policy.world import SESSION, World, asks, button, call_id, click, text_field, world

CALCULATE = ("app.calculate", {"expression": "1+1"})


async def until(here: World, runs: int) -> None:
    """Wait until so many calls have reached a tool."""
    while len(here.runs) < runs:
        await anyio.sleep(0.005)


async def test_an_allowed_call_runs_once_however_often_it_is_asked_for() -> None:
    async with world(("p1", "p2")) as here:
        request = asks(*CALCULATE)
        outcomes: list[ToolOutcome] = []

        async def ask() -> None:
            outcomes.append(await here.call(request))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask)
        again = await here.call(request)

        assert [one.id for one in here.runs] == [request.id]
        assert {one.status for one in outcomes} == {ToolStatus.OK}
        assert all(one.result == again.result for one in outcomes)


async def test_an_id_stands_for_one_call_of_one_caller() -> None:
    async with world() as here:
        request = asks(*CALCULATE)
        await here.call(request)

        for other in (replace(request, caller="another"), asks("app.calculate", {"expression": "2"}, id=request.id)):
            with pytest.raises(FaultError) as caught:
                await here.call(other)
            assert caught.value.fault.code is Code.VALIDATION_INVALID_REQUEST


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [("shell.exec", {}, Reason.UNKNOWN_TOOL), ("app.calculate", {"formula": "1"}, Reason.INVALID_ARGUMENTS)],
)
async def test_what_is_no_call_of_a_tool_is_denied(name: str, arguments: dict[str, Any], reason: Reason) -> None:
    async with world() as here:
        outcome = await here.call(asks(name, arguments))

        assert (outcome.status, outcome.decision.reason_code, here.runs) == (ToolStatus.DENIED, reason, [])


async def test_what_is_asked_about_waits_and_runs_when_it_is_allowed() -> None:
    async with world(("p1", "p2")) as here:
        request = click()
        outcome = await here.call(request)
        assert outcome.status is ToolStatus.PENDING
        assert outcome.decision.reason_code is Reason.ASSIST_REQUIRES_APPROVAL
        assert here.runs == []
        [waiting] = await here.approvals(pending=True)
        assert waiting == outcome.approval
        assert "Buy now" in waiting.words
        assert waiting.site == "shop.example"

        allowed = await here.answer(waiting)

        assert (allowed.state, allowed.answered_by) == (ApprovalState.ALLOWED, "me")
        assert allowed.result is not None
        assert allowed.result.status is ToolStatus.OK
        [run] = here.runs
        assert (run.name, run.session, run.tab, run.expects) == ("click", SESSION, 1, "d-1")
        assert (await here.call(request)).result == allowed.result
        assert await here.approvals(pending=True) == ()
        found = await here.asker.call(subjects.APPROVAL_GET, AskApproval(id=waiting.id, caller=None))
        assert found.result == allowed.result
        assert [one.state for one in here.news][:2] == [ApprovalState.PENDING, ApprovalState.ALLOWED]


async def test_of_two_answers_the_first_counts_and_nothing_runs_twice() -> None:
    async with world(("p1", "p2")) as here:
        waiting = (await here.call(click())).approval
        answers: list[Approval] = []

        async def answer(words: str) -> None:
            answers.append(await here.answer(waiting, words))

        async with anyio.create_task_group() as tasks:
            for words in ("allow", "deny", "allow", "deny"):
                tasks.start_soon(answer, words)

        states = {one.state for one in answers}
        assert len(states) == 1
        assert len(here.runs) == (1 if states == {ApprovalState.ALLOWED} else 0)
        assert len({repr(one.result) for one in answers}) == 1


async def test_a_denied_call_never_runs() -> None:
    async with world() as here:
        request = click()
        waiting = (await here.call(request)).approval

        assert (await here.answer(waiting, "deny")).state is ApprovalState.DENIED
        assert (await here.answer(waiting, "allow")).state is ApprovalState.DENIED
        assert (await here.call(request)).status is ToolStatus.DENIED
        assert here.runs == []


async def test_a_stranger_finds_no_approval() -> None:
    async with world() as here:
        waiting = (await here.call(click())).approval
        assert await here.approvals("another") == ()

        with pytest.raises(FaultError) as caught:
            await here.answer(waiting, caller="another")

        assert caught.value.fault.code is Code.VALIDATION_UNKNOWN_APPROVAL
        assert len(await here.approvals(None)) == 1


async def test_silence_is_a_deny(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("[approvals]\nlifetime_s = 10\n")
    async with world(data_dir=tmp_path) as here:
        waiting = (await here.call(click())).approval
        assert waiting is not None
        assert waiting.expires_at == waiting.created_at + 10_000
        silent = await here.write_expired(click())

        while not any(one.state is ApprovalState.EXPIRED for one in here.news):
            await anyio.sleep(0.01)
        late = await here.answer(silent)

        assert late.state is ApprovalState.EXPIRED
        assert [one.id for one in await here.approvals(pending=True)] == [waiting.id]
        assert here.runs == []


async def test_what_the_edge_does_itself_the_gate_has_nobody_run() -> None:
    async with world() as here:
        with pytest.raises(FaultError) as caught:
            await here.call(asks("batch_browse", {"urls": ["https://a.example/"]}, surface=Surface.MCP, proposed=False))

        assert caught.value.fault.field == "name"


@pytest.mark.parametrize("remember", [Remembered.CONVERSATION, Remembered.SITE])
async def test_an_answer_may_count_for_more_than_one_call(remember: Remembered) -> None:
    async with world(("p1", "p2")) as here:
        await here.answer((await here.call(click())).approval, remember=remember)

        again = await here.call(click())
        assert (again.status, again.decision.reason_code) == (ToolStatus.OK, Reason.GRANTED)
        elsewhere = click(conversation="c-2")
        asked = (await here.call(elsewhere)).status
        assert asked is (ToolStatus.PENDING if remember is Remembered.CONVERSATION else ToolStatus.OK)
        assert (await here.call(click(caller="another"))).status is ToolStatus.PENDING
        assert (await here.call(asks("browser.back"))).status is ToolStatus.PENDING


async def test_an_answer_for_one_call_counts_for_that_alone() -> None:
    async with world() as here:
        await here.answer((await here.call(click())).approval)

        assert (await here.call(click())).status is ToolStatus.PENDING


async def test_nothing_secret_is_typed_by_a_model_or_by_a_client_of_mcp() -> None:
    async with world() as here:
        here.elements["pw"] = text_field(type="password", name="password", label="Password")
        proposal = asks("browser.type", {"handleId": "laika-pw", "text": "hunter2"})
        by_mcp = asks("type_text", {"element_id": "pw", "text": "hunter2"}, surface=Surface.MCP, proposed=False)

        for request in (proposal, by_mcp):
            outcome = await here.call(request)
            assert (outcome.status, outcome.decision.reason_code) == (
                ToolStatus.DENIED,
                Reason.SENSITIVE_FIELD_BLOCKED,
            )
        assert here.runs == []


async def test_a_dialog_that_asks_for_a_secret_gets_no_words() -> None:
    async with world() as here:
        here.elements["focus"] = text_field(label="Please enter your password")
        by_mcp = {"surface": Surface.MCP, "proposed": False}

        told = await here.call(asks("handle_dialog", {"action": "accept", "text": "hunter2"}, **by_mcp))
        dismissed = await here.call(asks("handle_dialog", {"action": "dismiss"}, **by_mcp))

        assert told.decision.reason_code is Reason.SENSITIVE_FIELD_BLOCKED
        assert dismissed.status is ToolStatus.OK


async def test_a_client_of_mcp_has_allowed_its_own_clicks_and_not_what_leaves() -> None:
    async with world() as here:
        clicked = await here.call(asks("click", {"element_id": "buy"}, surface=Surface.MCP, proposed=False))
        payload: dict[str, Any] = {"integration": "crm", "operation": "add", "payload": {}}
        sent = await here.call(asks("integration_invoke", payload, surface=Surface.MCP, proposed=False))
        by_rest = await here.call(asks("integration.invoke", payload, surface=Surface.REST, proposed=False))

        assert (clicked.status, clicked.decision.reason_code) == (ToolStatus.OK, Reason.CALLER_PREAPPROVED)
        assert (sent.status, sent.decision.reason_code) == (ToolStatus.PENDING, Reason.SHARE_REQUIRES_APPROVAL)
        assert by_rest.status is ToolStatus.OK


async def test_an_element_that_is_gone_is_stale_and_nothing_runs() -> None:
    async with world() as here:
        outcome = await here.call(click("gone"))

        assert outcome.status is ToolStatus.ERROR
        assert outcome.result is not None
        assert outcome.result.code is ToolErrorCode.STALE_HANDLE
        assert here.runs == []
        with pytest.raises(FaultError):
            await here.asker.call(subjects.POLICY_DECIDE, click("gone"))


async def test_the_page_counts_although_no_element_is_named(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[[sites]]\nhosts = ["*.shop.example"]\nmode = "observe"\n')
    async with world(data_dir=tmp_path) as here:
        here.elements["focus"] = button(tag="body", type="", label="")
        script = asks("execute_javascript", {"script": "1"}, surface=Surface.MCP, proposed=False, local=True)

        assert (await here.call(script)).decision.reason_code is Reason.OPERATOR_RULE
        here.elements["focus"] = button(page_url="https://other.example/", tag="body")
        assert (await here.call(replace(script, id=call_id()))).status is ToolStatus.OK
        assert (await here.asker.call(subjects.POLICY_DECIDE, click())).reason_code is Reason.OPERATOR_RULE


async def test_a_key_without_the_scope_is_denied() -> None:
    async with world() as here:
        outcome = await here.call(asks(*CALCULATE, scopes=(Scope.RUNS,)))

        assert (outcome.status, outcome.decision.reason_code) == (ToolStatus.DENIED, Reason.SCOPE_MISSING)


async def test_a_tool_that_fails_is_a_result_with_a_code_and_the_fault() -> None:
    async with world() as here:
        here.failure = Code.HTTP_NOT_FOUND
        outcome = await here.call(asks("search", {"query": "tides"}))

        assert outcome.result is not None
        assert (outcome.status, outcome.result.code) == (ToolStatus.ERROR, ToolErrorCode.SEARCH_FAILED)
        assert outcome.result.fault is not None
        assert outcome.result.fault.code is Code.HTTP_NOT_FOUND


async def test_a_gate_that_dies_while_a_tool_runs_leaves_the_call_to_another() -> None:
    async with world(()) as here:
        here.hold = anyio.Event()
        request = asks(*CALCULATE)
        async with here.doomed("p1") as first, anyio.create_task_group() as tasks:

            async def ask() -> None:
                with anyio.move_on_after(20):
                    await here.call(request)

            tasks.start_soon(ask)
            await until(here, 1)
            first.cancel()
            here.hold.set()
            async with here.policy("p2"):
                outcome = await here.call(request)
                assert outcome.status is ToolStatus.OK
                tasks.cancel_scope.cancel()

        assert {one.id for one in here.runs} == {request.id}
        assert len(here.done) == 1


async def test_a_gate_that_starts_goes_on_with_what_was_begun_and_allowed() -> None:
    async with world(()) as here:
        here.hold = anyio.Event()
        async with here.doomed("p1") as first, anyio.create_task_group() as tasks:
            waiting = (await here.call(click())).approval

            async def allow() -> None:
                with anyio.move_on_after(20):
                    await here.answer(waiting)

            tasks.start_soon(allow)
            await until(here, 1)
            first.cancel()
            tasks.cancel_scope.cancel()
        here.hold.set()
        async with here.policy("p2"):
            await until(here, 2)
            while (found := (await here.approvals())[0]).result is None and not here.done:
                await anyio.sleep(0.01)

        assert found.state is ApprovalState.ALLOWED
        assert len(here.done) == 1


async def test_a_caller_who_leaves_does_not_stop_what_was_begun() -> None:
    async with world() as here:
        here.hold = anyio.Event()
        request = asks(*CALCULATE)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here.call, request)
            await until(here, 1)
            tasks.cancel_scope.cancel()
        here.hold.set()

        outcome = await here.call(request)

        assert outcome.status is ToolStatus.OK
        assert len(here.runs) == 1


async def test_without_a_session_nothing_is_known_of_the_element_and_a_person_is_asked() -> None:
    async with world() as here:
        outcome = await here.call(click(context=ToolContext()))

        assert outcome.decision.decision is Verb.ASK


async def test_what_is_written_down_of_a_call_holds_no_secret() -> None:
    async with world() as here:
        here.elements["pw"] = text_field(type="password", name="password", label="Password")
        secret = "hunter2-very-secret"
        token = "sk-live-0123456789abcdefABCDEF"
        typed = asks("type_text", {"element_id": "pw", "text": secret}, surface=Surface.REST, proposed=False)
        payload: dict[str, Any] = {
            "integration": "crm",
            "operation": "add",
            "payload": {"password": secret, "note": f"see {token}"},
        }
        assert (await here.call(typed)).status is ToolStatus.OK
        assert (await here.call(asks("integration.invoke", payload))).status is ToolStatus.PENDING
        by_mcp = asks("type_text", {"element_id": "pw", "text": secret}, surface=Surface.MCP, proposed=False)
        await here.asker.call(subjects.POLICY_DECIDE, by_mcp)

        journal = await here.asker.journal(subjects.TOOL_CALLS)
        lines = [line.value async for line in journal.read()]

        written = msgspec.json.encode(lines).decode()
        assert secret not in written
        assert token not in written
        assert "[19 characters]" in written
        denied = [one for one in lines if isinstance(one, CallDecided) and one.decision.decision is Verb.DENY]
        assert [one.call for one in denied] == [by_mcp.id]
        kept = [one.run for one in lines if isinstance(one, CallDecided)]
        assert [bool(run) for run in kept] == [False, True, False]


async def test_a_call_with_very_much_in_it_runs_and_is_noted_by_its_length() -> None:
    async with world() as here:
        sources = [{"type": "note", "text": "x" * 60_000} for _ in range(10)]
        request = asks("collection.add_sources", {"collectionId": "col_1", "sources": sources})

        assert (await here.call(request)).status is ToolStatus.OK

        line = await (await here.asker.journal(subjects.TOOL_CALLS)).at(1)
        assert line is not None
        assert isinstance(line.value, CallDecided)
        assert (line.value.run, len(msgspec.json.encode(line.value)) < 100_000) == (b"", True)
        assert len(here.runs[0].arguments["sources"]) == 10

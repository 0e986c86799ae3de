"""Runs at the edge, as both ways in ask for them."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import anyio
import msgspec
import pytest
from msgspec.structs import replace

from actors.gateway import runs
from actors.gateway.access.caller import STDIO, Caller
from actors.gateway.app_context import AppContext
from actors.gateway.errors import (
    RUNTIME_CODES,
    RunFault,
    error_code,
    http_status,
    run_fault_of,
    run_fault_text,
    to_run_fault,
)
from actors.gateway.request import RequestContext, watching
from protocol.actions import Action
from protocol.browsers.results import ErrorCode
from protocol.faults import Code, FaultError, fault
from protocol.replicas import Progress
from protocol.runs.requests import AskRun, FollowRun, ListRuns, ReadArtifact, RunOptions, inputs_of
from protocol.runs.responses import ArtifactChunk, CancelAnswer, RunList, RuntimeLimits, RuntimeProfile, TemplateList
from protocol.runs.states import MAX_INPUT_BYTES, Mode, RunStatus, TrustLevel
from protocol.subjects import (
    ARTIFACT_READ,
    RUN_CANCEL,
    RUN_CREATE,
    RUN_FOLLOW,
    RUN_GET,
    RUN_LIST,
    RUN_TEMPLATES,
)
from protocol.tools.runs import ArtifactRequest, RunRequest, RunsRequest
from tests.requirements import requirement
from tests.unit.actors.gateway.run_data import (
    ACCEPTED,
    ARTIFACT_ID,
    ASKED,
    BATCH,
    DONE,
    RUN_ID,
    RUNNING,
    TEMPLATE,
    TEMPLATES,
    WAITED,
    RunBus,
    news,
)

TEST_S = 90
SOMEONE = RequestContext(caller=Caller("someone"))
OWNER = RequestContext(caller=STDIO)
GRACE_MS = 1_500
CANCELED = CancelAnswer(cancel_requested=True, current_status=RunStatus.RUNNING)
SECRET = "open sesame"


def app(bus: RunBus) -> AppContext:
    return AppContext(bus=bus, grace_ms=GRACE_MS, version="1.2.3")


def arguments(**fields: Any) -> RunRequest:
    return msgspec.convert(ASKED | fields, RunRequest)


async def refused(asking: Any) -> Code:
    with pytest.raises(FaultError) as caught:
        await asking
    return caught.value.fault.code


async def test_a_run_is_asked_for_with_inputs_that_nobody_on_the_way_can_read() -> None:
    bus = RunBus({RUN_CREATE: ACCEPTED})
    asked = arguments(inputs={"password": SECRET}, options={"mode": "async", "timeoutMs": 5}, idempotencyKey="k")

    told = await runs.create(app(bus), SOMEONE, asked)

    ((call, order, _, wait_ms),) = bus.calls
    assert (told, call, wait_ms) == (ACCEPTED, RUN_CREATE, GRACE_MS)
    assert (order.caller, order.local, order.template_id, order.idempotency_key) == ("someone", False, BATCH, "k")
    assert order.options == RunOptions(timeout_ms=5, mode=Mode.ASYNC)
    assert SECRET.encode() not in msgspec.json.encode(order)
    assert bus.seal is not None
    assert msgspec.json.decode(bus.seal.unseal(order.inputs, inputs_of(order.run_id))) == {"password": SECRET}


@requirement("002.9.trust-level")
async def test_a_run_has_the_trust_level_of_its_connection() -> None:
    bus = RunBus({RUN_CREATE: ACCEPTED, RUN_TEMPLATES: TEMPLATES})

    await runs.create(app(bus), SOMEONE, arguments())
    await runs.create(app(bus), OWNER, arguments())
    told = await runs.profile(app(bus), OWNER)

    assert [order.local for order in bus.every(RUN_CREATE)] == [False, True]
    assert told == RuntimeProfile(
        runtime_version="1.2.3", limits=RuntimeLimits(), trust_level=TrustLevel.LOCAL, artifact_ttl_ms=86_400_000
    )


async def test_no_two_runs_have_one_id() -> None:
    bus = RunBus({RUN_CREATE: ACCEPTED})

    for _ in range(3):
        await runs.create(app(bus), SOMEONE, arguments())

    assert len({order.run_id for order in bus.every(RUN_CREATE)}) == 3


async def test_a_gateway_without_the_key_takes_no_inputs() -> None:
    bus = RunBus({RUN_CREATE: ACCEPTED})
    bus.seal = None

    assert await refused(runs.create(app(bus), SOMEONE, arguments())) is Code.CONFIG_INVALID
    assert bus.calls == []


async def test_inputs_that_fit_into_no_message_are_refused() -> None:
    bus = RunBus({RUN_CREATE: ACCEPTED})

    with pytest.raises(FaultError) as caught:
        await runs.create(app(bus), SOMEONE, arguments(inputs={"text": "x" * MAX_INPUT_BYTES}))

    assert (caught.value.fault.code, caught.value.fault.field) == (Code.VALIDATION_INVALID_REQUEST, "inputs")


@pytest.mark.parametrize("given", ["", "run_123", "run_" + "A" * 21 + ".", "run_" + "A" * 22 + "\n", "x" * 150])
async def test_an_id_that_nobody_was_given_is_answered_like_an_unknown_one(given: str) -> None:
    bus = RunBus({})

    told = [
        await refused(runs.get(app(bus), SOMEONE, given)),
        await refused(runs.cancel(app(bus), SOMEONE, given)),
        await refused(runs.resume(app(bus), SOMEONE, given, runs.ResumeRequest())),
        await refused(anext(runs.follow(app(bus), SOMEONE, given))),
        await refused(runs.artifact(app(bus), SOMEONE, ArtifactRequest(artifact_id=given))),
        await refused(runs.create(app(bus), SOMEONE, arguments(templateId=given + "!"))),
    ]

    assert told == [Code.RUN_NOT_FOUND] * 4 + [Code.ARTIFACT_NOT_FOUND, Code.TEMPLATE_NOT_FOUND]
    assert bus.calls == []


async def test_whatever_is_asked_is_asked_for_the_caller() -> None:
    chunk = ArtifactChunk(artifact_id=ARTIFACT_ID, mime_type="text/csv", size=3, data=b"a,b", complete=True)
    listed = RunList(runs=(), total=0)
    bus = RunBus({RUN_GET: DONE, RUN_CANCEL: CANCELED, RUN_LIST: listed, ARTIFACT_READ: chunk, RUN_CREATE: ACCEPTED})

    assert await runs.get(app(bus), SOMEONE, RUN_ID) == DONE
    assert await runs.cancel(app(bus), SOMEONE, RUN_ID) == CANCELED
    assert await runs.list_runs(app(bus), SOMEONE, RunsRequest(status=RunStatus.RUNNING, limit=5)) == listed
    assert await runs.artifact(app(bus), SOMEONE, ArtifactRequest(artifact_id=ARTIFACT_ID, limit=10**9)) == chunk
    assert await runs.resume(app(bus), SOMEONE, RUN_ID, runs.ResumeRequest(inputs={"password": SECRET})) == ACCEPTED

    mine = AskRun(run_id=RUN_ID, caller="someone")
    assert [args for _, args, _, _ in bus.calls[:-1]] == [
        mine,
        mine,
        ListRuns(caller="someone", status=RunStatus.RUNNING, limit=5),
        ReadArtifact(artifact_id=ARTIFACT_ID, caller="someone", limit=runs.MAX_CHUNK_BYTES),
    ]
    (order,) = bus.every(RUN_CREATE)
    assert (order.resume, order.caller, order.template_id) == (RUN_ID, "someone", "")
    assert order.run_id != RUN_ID


async def test_the_templates_are_told_as_they_are() -> None:
    assert await runs.templates(app(RunBus({RUN_TEMPLATES: TEMPLATES}))) == TemplateList(templates=(TEMPLATE,))


# -- waiting -----------------------------------------------------------------------------------------------------------


@requirement("002.4.runs")
async def test_what_goes_on_alone_is_waited_for_by_nobody() -> None:
    bus = RunBus({RUN_CREATE: ACCEPTED})

    assert await runs.run(app(bus), SOMEONE, arguments()) == ACCEPTED

    assert len(bus.calls) == 1


@requirement("002.4.runs")
async def test_what_is_waited_for_tells_how_far_it_is_and_then_what_came_of_it() -> None:
    bus = RunBus({RUN_CREATE: WAITED, RUN_FOLLOW: [news(1, 2), news(), news(3, run=DONE)], RUN_GET: DONE})
    heard = list[Progress]()

    async def hear(progress: Progress) -> None:
        heard.append(progress)
        await anyio.lowlevel.checkpoint()

    at = app(bus)
    with anyio.fail_after(TEST_S):
        async with watching(at.watchers, hear) as watcher:
            told = await runs.run(at, SOMEONE.watched_by(watcher), arguments())

    assert told == DONE
    assert [asked.after for asked in bus.every(RUN_FOLLOW)] == [0, 2, 2]
    assert [(one.done, one.total, one.message) for one in heard] == [
        (8, 20, "running: 8 of 20 steps"),
        (8, 20, "running: 8 of 20 steps"),
        (20, 20, "succeeded: 20 of 20 steps"),
    ]


@pytest.mark.parametrize(
    "code", [Code.INTERNAL_UNAVAILABLE, Code.INTERNAL_DISCONNECTED, Code.INTERNAL_BUSY, Code.INTERNAL_DEADLINE]
)
async def test_who_tells_of_runs_may_be_restarted_meanwhile(code: Code) -> None:
    away = FaultError(fault(code))
    bus = RunBus({RUN_CREATE: WAITED, RUN_FOLLOW: [news(1), away, away, news(2, run=DONE)], RUN_GET: DONE})

    with anyio.fail_after(TEST_S):
        assert await runs.run(app(bus), SOMEONE, arguments()) == DONE


async def test_a_repeat_that_is_waited_for_is_told_as_one() -> None:
    again = msgspec.structs.replace(WAITED, deduplicated=True)
    bus = RunBus({RUN_CREATE: again, RUN_FOLLOW: [news(3, run=DONE)], RUN_GET: DONE})
    with anyio.fail_after(TEST_S):
        told = await runs.run(app(bus), SOMEONE, arguments(idempotencyKey="k"))

    assert told == msgspec.structs.replace(DONE, deduplicated=True)


async def test_a_wait_that_is_over_before_the_run_tells_how_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "QUEUE_MARGIN_MS", 0)
    bus = RunBus({RUN_CREATE: WAITED, RUN_FOLLOW: [news(1)], RUN_GET: RUNNING})

    with anyio.fail_after(TEST_S):
        assert await runs.run(app(bus), SOMEONE, arguments(options={"timeoutMs": 20})) == RUNNING


@pytest.mark.parametrize(
    ("key", "closing", "canceled"), [(None, False, True), ("k", False, False), (None, True, False)]
)
async def test_who_leaves_without_a_name_for_the_run_cancels_it_and_a_gateway_that_stops_does_not(
    key: str | None,
    closing: bool,  # noqa: FBT001
    canceled: bool,  # noqa: FBT001
) -> None:
    bus = RunBus({RUN_CREATE: WAITED, RUN_CANCEL: CANCELED})
    named = {} if key is None else {"idempotencyKey": key}
    here = app(bus)

    with anyio.fail_after(TEST_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runs.run, here, SOMEONE, arguments(**named))
            while not bus.every(RUN_FOLLOW):
                await anyio.lowlevel.checkpoint()
            if closing:
                here.closing.set()
            tasks.cancel_scope.cancel()

    (order,) = bus.every(RUN_CREATE)
    assert bus.every(RUN_CANCEL) == ([AskRun(run_id=order.run_id, caller="someone")] if canceled else [])


async def test_a_run_is_followed_from_an_event_on_to_its_last() -> None:
    many = replace(news(5, run=DONE), events=news(5).events)
    bus = RunBus({RUN_FOLLOW: [news(4), many, news(6, run=DONE)]})

    with anyio.fail_after(TEST_S):
        async with aclosing(runs.follow(app(bus), SOMEONE, RUN_ID, 3)) as told:
            heard = [one async for one in told]

    assert [one.events[-1].id for one in heard] == [4, 5, 6]
    assert bus.every(RUN_FOLLOW) == [
        FollowRun(run_id=RUN_ID, caller="someone", after=after, wait_ms=20_000) for after in (3, 4, 5)
    ]


async def test_who_follows_is_told_when_nobody_tells_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "FOLLOW_PATIENCE_MS", 0)
    away = FaultError(fault(Code.INTERNAL_UNAVAILABLE))

    told = await refused(anext(runs.follow(app(RunBus({RUN_FOLLOW: away})), SOMEONE, RUN_ID)))

    assert told is Code.INTERNAL_UNAVAILABLE


# -- errors ------------------------------------------------------------------------------------------------------------


@requirement("002.7.errors")
@pytest.mark.parametrize("code", sorted(RUNTIME_CODES))
def test_an_error_of_a_run_has_the_form_of_the_contract(code: Code) -> None:
    error = to_run_fault(fault(code, field="templateId"), run_id=RUN_ID)
    told = msgspec.to_builtins(error)

    assert (told["errorCode"], told["code"]) == (code.value, code.value)
    assert told["error"]
    assert told["recoverHint"]
    assert told["details"] == {"runId": RUN_ID, "field": "templateId"}
    assert msgspec.convert(told, RunFault) == error


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (Code.VALIDATION_INVALID_REQUEST, ErrorCode.INVALID_PARAMETER),
        (Code.SESSION_NOT_FOUND, ErrorCode.SESSION_NOT_FOUND),
        (Code.INTERNAL_DEADLINE, ErrorCode.EXECUTION_ERROR),
        (Code.INTERNAL_UNAVAILABLE, ErrorCode.EXECUTION_ERROR),
        (Code.AUTH_INSUFFICIENT_SCOPE, ErrorCode.EXECUTION_ERROR),
    ],
)
def test_every_other_error_has_the_code_of_the_tool_layer(code: Code, told: ErrorCode) -> None:
    assert error_code(code) == told.value


def test_an_error_tells_what_the_call_has_named_where_that_is_text() -> None:
    error = run_fault_of(fault(Code.RUN_NOT_FOUND), {"runId": "x" * 500, "artifactId": 7, "templateId": BATCH})

    assert msgspec.to_builtins(error.details) == {"runId": "x" * 200, "templateId": BATCH}


def test_an_error_in_words_says_what_to_do() -> None:
    way_out = Action(action="less", description="Ask for less.", tool_to_use="get_task_run")
    error = to_run_fault(fault(Code.RUN_TIMEOUT, "Too\nlate.", field="options.timeoutMs", actions=(way_out,)))

    assert run_fault_text(error).splitlines() == [
        "Too late. [RUN_TIMEOUT; trying again may help]",
        "Argument at fault: options.timeoutMs",
        "Ask for less.",
        "Next: get_task_run",
    ]


@pytest.mark.parametrize(
    ("code", "status"), [(Code.RUN_NOT_FOUND, 404), (Code.ARTIFACT_EXPIRED, 410), (Code.TRUST_LEVEL_NOT_ALLOWED, 403)]
)
def test_errors_of_runs_have_statuses_of_their_own(code: Code, status: int) -> None:
    assert http_status(fault(code)) == status

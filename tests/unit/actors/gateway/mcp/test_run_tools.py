"""The seven tools of runs as a client has them: what is asked of the bus, and what comes back in words and as data."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import jsonschema
import msgspec
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ResourceLink, TextContent, TextResourceContents
from msgspec import UNSET
from msgspec.structs import replace

from actors.gateway.access.caller import EVERY_SCOPE, Caller, Scope
from actors.gateway.app_context import AppContext
from actors.gateway.errors import RUNTIME_CODES
from actors.gateway.mcp.resources import ARTIFACT, MAX_ARTIFACT_BYTES
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS, Toolset
from actors.gateway.request import RequestContext
from protocol.faults import Code, FaultError, fault
from protocol.runs.requests import ReadArtifact
from protocol.runs.responses import ArtifactChunk, CancelAnswer, RunList, RunProgress, RunSummary
from protocol.runs.states import RunStatus, TrustLevel
from protocol.subjects import ARTIFACT_READ, RUN_CANCEL, RUN_CREATE, RUN_FOLLOW, RUN_GET, RUN_LIST, RUN_TEMPLATES
from tests.requirements import requirement
from tests.unit.actors.gateway.run_data import (
    ACCEPTED,
    ARTIFACT_ID,
    ASKED,
    BATCH,
    CREATED,
    DONE,
    EVIL,
    FAILED,
    RUN_ID,
    RUNNING,
    TEMPLATES,
    WAITED,
    RunBus,
    news,
)

TEST_S = 240.0
MAX_BYTES = 20_000
NAMES = [
    "list_task_templates",
    "run_task_template",
    "get_task_run",
    "cancel_task_run",
    "get_artifact",
    "list_task_runs",
    "get_runtime_profile",
]
NAMED = {"runId": RUN_ID}
SUMMARY = RunSummary(
    run_id=RUN_ID,
    template_id=BATCH,
    status=RunStatus.RUNNING,
    created_at=CREATED,
    updated_at=CREATED + 5_230,
    progress=RunProgress(total_steps=20, done_steps=8),
)


@asynccontextmanager
async def connected(
    bus: RunBus,
    who: Caller = Caller("someone"),  # noqa: B008 - frozen
    toolsets: frozenset[Toolset] = DEFAULT_TOOLSETS,
) -> AsyncGenerator[Client]:
    app, request = AppContext(bus=bus, grace_ms=0, version="1.2.3"), RequestContext(caller=who, toolsets=toolsets)
    with anyio.fail_after(TEST_S):
        async with Client(make_server(app, request=request)) as client:
            yield client


async def called(bus: RunBus, tool: str, arguments: dict[str, Any] | None = None) -> CallToolResult:
    async with connected(bus) as client:
        return await client.call_tool(tool, arguments or {})


def words(result: CallToolResult) -> str:
    (text,) = (one.text for one in result.content if isinstance(one, TextContent))
    assert len(text.encode()) <= MAX_BYTES
    return text


def as_json(told: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(told))


def outside(text: str) -> str:
    """Return what of a text stands outside of the frame of the web's words."""
    before, _, rest = text.partition("<<<untrusted-web-content")
    return before + rest.partition("end-of-untrusted-web-content>>>")[2]


@requirement("002.2.runtime")
async def test_the_seven_tools_are_there_beside_all_others() -> None:
    runs = [name for name, entry in TOOLS.items() if entry.toolset is Toolset.RUNS]

    assert runs == NAMES
    assert {TOOLS[name].scope for name in NAMES} == {Scope.RUNS}


async def test_a_client_of_other_tools_sees_none_of_them() -> None:
    async with connected(RunBus({}), toolsets=DEFAULT_TOOLSETS - {Toolset.RUNS}) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("get_task_run", NAMED)

    assert not set(listed) & set(NAMES)


async def test_a_key_without_the_scope_runs_nothing() -> None:
    async with connected(RunBus({}), Caller("someone", EVERY_SCOPE - {Scope.RUNS})) as client:
        told = await client.call_tool("run_task_template", ASKED)
        with pytest.raises(MCPError, match="scope runs"):
            await client.read_resource(ARTIFACT + ARTIFACT_ID)

    assert told.is_error
    assert told.structured_content is not None
    assert told.structured_content["code"] == Code.AUTH_INSUFFICIENT_SCOPE.value


@requirement("002.3.templates")
async def test_templates_are_listed_with_what_they_take() -> None:
    told = await called(RunBus({RUN_TEMPLATES: TEMPLATES}), "list_task_templates")

    assert told.structured_content == {"templates": as_json(TEMPLATES.templates), "schemaVersion": "1.0"}
    assert f"{BATCH} 1.0.0" in words(told)
    assert '"required":["urls"]' in words(told)


@requirement("002.2.runtime")
async def test_the_profile_is_nested_as_the_contract_has_it() -> None:
    told = await called(RunBus({RUN_TEMPLATES: TEMPLATES}), "get_runtime_profile")

    assert told.structured_content == {
        "runtimeVersion": "1.2.3",
        "limits": {"maxConcurrentRuns": 5, "maxRunTimeoutMs": 900_000, "maxArtifactInlineBytes": 262_144},
        "trustLevel": TrustLevel.REMOTE.value,
        "artifactTtlMs": 86_400_000,
        "pollIntervalMs": 2_000,
        "schemaVersion": "1.0",
    }
    assert "5 runs at once" in words(told)


@requirement("002.4.runs")
async def test_a_run_in_the_background_is_told_by_its_id_and_how_to_go_on() -> None:
    told = await called(RunBus({RUN_CREATE: ACCEPTED}), "run_task_template", ASKED)

    assert not told.is_error
    assert told.structured_content is not None
    assert {name: told.structured_content[name] for name in ("runId", "status", "createdAt")} == {
        "runId": RUN_ID,
        "status": "queued",
        "createdAt": CREATED,
    }
    assert f"get_task_run with runId {RUN_ID}" in words(told)


@requirement("002.4.runs")
async def test_a_run_that_is_waited_for_is_told_as_when_it_is_asked_for() -> None:
    bus = RunBus({RUN_CREATE: WAITED, RUN_FOLLOW: [news(1, run=DONE)], RUN_GET: DONE})

    waited, asked = await called(bus, "run_task_template", ASKED), await called(bus, "get_task_run", NAMED)

    assert waited.structured_content == asked.structured_content == as_json(DONE)
    assert not waited.is_error
    text = words(waited)
    assert "succeeded, 20 of 20 steps" in text
    assert "Summary: total 2, succeeded 2, failed 0." in text
    assert f"get_artifact with artifactId {ARTIFACT_ID}" in text
    assert EVIL in text
    assert EVIL not in outside(text)
    (link,) = (one for one in waited.content if isinstance(one, ResourceLink))
    assert (str(link.uri), link.size, link.mime_type) == (ARTIFACT + ARTIFACT_ID, 12_043, "application/json")


async def test_a_run_under_way_says_when_to_ask_again() -> None:
    told = words(await called(RunBus({RUN_GET: replace(RUNNING, cancel_requested=True)}), "get_task_run", NAMED))

    assert told.splitlines() == [
        f"Run {RUN_ID} of {BATCH}: running, 8 of 20 steps, 5.2 s.",
        "It is to stop before its next step.",
        f"Ask again in 2 s: get_task_run with runId {RUN_ID}.",
    ]


@requirement("002.7.errors")
async def test_a_run_that_came_to_nothing_is_an_error_of_who_waited_and_none_of_who_asks() -> None:
    bus = RunBus({RUN_CREATE: WAITED, RUN_FOLLOW: [news(1, run=FAILED)], RUN_GET: FAILED})

    waited, asked = await called(bus, "run_task_template", ASKED), await called(bus, "get_task_run", NAMED)

    assert (waited.is_error, asked.is_error) == (True, False)
    assert waited.structured_content == asked.structured_content
    assert waited.structured_content is not None
    core = {name: waited.structured_content[name] for name in ("error", "errorCode", "recoverHint", "details")}
    assert core == {
        "error": "A step of the run failed.",
        "errorCode": "STEP_EXECUTION_FAILED",
        "recoverHint": FAILED.recover_hint,
        "details": {"runId": RUN_ID, "failedStep": "navigate", "stepErrorCode": "NAVIGATION_TIMEOUT"},
    }
    assert "It failed at navigate with NAVIGATION_TIMEOUT." in words(waited)


@pytest.mark.parametrize("rows", [1, 10, 1_000])
@pytest.mark.parametrize("content", ["Words of looms. " * 400, "織機" * 2_000])
async def test_a_long_result_fits_into_an_answer_and_every_row_has_its_share(rows: int, content: str) -> None:
    items = [
        {"index": index, "url": f"https://example.com/{index}", "success": True, "title": EVIL, "content": content}
        for index in range(rows)
    ]
    run = replace(DONE, result={"summary": {"total": rows}, "items": items}, result_truncated=True)

    text = words(await called(RunBus({RUN_GET: run}), "get_task_run", NAMED))

    assert "The result is shortened" in text
    assert text.count("https://example.com/") >= min(rows, 50)
    assert EVIL not in outside(text)


RESULTS: list[Any] = [UNSET, None, "words", 7, [1], {}, {"items": []}, {"diffs": [None, 7, {"a": {}}]}]


@pytest.mark.parametrize("result", RESULTS)
async def test_every_form_of_a_result_has_words(result: Any) -> None:
    assert words(await called(RunBus({RUN_GET: replace(DONE, result=result)}), "get_task_run", NAMED))


@requirement("002.4.runs")
async def test_runs_are_listed_with_the_way_to_the_next_ones() -> None:
    bus = RunBus({RUN_LIST: RunList(runs=(SUMMARY,), total=3)})

    told = await called(bus, "list_task_runs", {"status": "running", "templateId": BATCH, "limit": 1, "offset": 1})

    assert told.structured_content == {
        "runs": [msgspec.to_builtins(SUMMARY)],
        "total": 3,
        "offset": 0,
        "schemaVersion": "1.0",
    }
    assert "Runs 2 to 2 of 3" in words(told)
    assert "the same call with offset 2" in words(told)
    (asked,) = bus.every(RUN_LIST)
    assert (asked.status, asked.limit, asked.offset, asked.caller) == (RunStatus.RUNNING, 1, 1, "someone")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (CancelAnswer(cancel_requested=True, current_status=RunStatus.RUNNING), "the step in hand is finished first"),
        (CancelAnswer(cancel_requested=True, current_status=RunStatus.CANCELED), "The run is canceled."),
        (CancelAnswer(cancel_requested=False, current_status=RunStatus.FAILED), "was over already, as failed"),
    ],
)
async def test_a_run_is_cancelled_before_its_next_step(answer: CancelAnswer, said: str) -> None:
    told = await called(RunBus({RUN_CANCEL: answer}), "cancel_task_run", NAMED)

    assert told.structured_content == msgspec.to_builtins(answer)
    assert said in words(told)


# -- artifacts ---------------------------------------------------------------------------------------------------------


def file_of(data: bytes) -> Any:
    """Answer as the keeper does, for a file with these bytes."""

    def read(asked: ReadArtifact) -> ArtifactChunk:
        piece = data[asked.offset : asked.offset + min(asked.limit, 262_144)]
        whole = len(piece) == len(data)
        return ArtifactChunk(
            artifact_id=asked.artifact_id,
            mime_type="text/csv",
            size=len(data),
            data=piece,
            complete=asked.offset + len(piece) == len(data),
            offset=UNSET if whole else asked.offset,
            bytes_returned=UNSET if whole else len(piece),
        )

    return read


@requirement("002.5.artifacts")
async def test_a_small_file_comes_at_once_and_a_large_one_in_pieces() -> None:
    small, large = RunBus({ARTIFACT_READ: file_of(b"a,b\n")}), RunBus({ARTIFACT_READ: file_of(EVIL.encode() * 9_000)})
    named = {"artifactId": ARTIFACT_ID}

    one, first = await called(small, "get_artifact", named), await called(large, "get_artifact", named)

    told = {"artifactId": ARTIFACT_ID, "mimeType": "text/csv", "schemaVersion": "1.0"}
    assert one.structured_content == {
        **told,
        "size": 4,
        "data": base64.b64encode(b"a,b\n").decode(),
        "complete": True,
    }
    assert first.structured_content is not None
    assert {name: value for name, value in first.structured_content.items() if name != "data"} == {
        **told,
        "size": len(EVIL) * 9_000,
        "complete": False,
        "offset": 0,
        "bytesReturned": 262_144,
    }
    assert "the same call with offset 262144" in words(first)
    assert EVIL not in outside(words(first))


@requirement("002.5.artifacts")
async def test_a_file_is_a_resource_too() -> None:
    data = b"loom,100\n" * 60_000
    async with connected(RunBus({ARTIFACT_READ: file_of(data)})) as client:
        (content,) = (await client.read_resource(ARTIFACT + ARTIFACT_ID)).contents

    assert isinstance(content, TextResourceContents)
    assert content.text.partition("untrusted-web-content")[2].partition("\n")[2].startswith(data.decode())
    assert content.mime_type == "text/markdown"


async def test_a_resource_that_is_too_large_names_the_tool_for_it() -> None:
    async with connected(RunBus({ARTIFACT_READ: file_of(b"x" * (MAX_ARTIFACT_BYTES + 1))})) as client:
        with pytest.raises(MCPError, match="get_artifact"):
            await client.read_resource(ARTIFACT + ARTIFACT_ID)


@requirement("002.5.artifacts")
@pytest.mark.parametrize("code", [Code.ARTIFACT_NOT_FOUND, Code.ARTIFACT_EXPIRED])
async def test_a_file_that_is_not_there_is_told_as_such(code: Code) -> None:
    bus = RunBus({ARTIFACT_READ: FaultError(fault(code))})
    told = await called(bus, "get_artifact", {"artifactId": ARTIFACT_ID})
    async with connected(bus) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(ARTIFACT + ARTIFACT_ID)

    assert told.structured_content is not None
    assert (told.structured_content["errorCode"], told.structured_content["details"]) == (
        code.value,
        {"artifactId": ARTIFACT_ID},
    )
    assert caught.value.error.data["code"] == code.value


# -- errors ------------------------------------------------------------------------------------------------------------


@requirement("002.7.errors")
@pytest.mark.parametrize("code", sorted(RUNTIME_CODES))
async def test_every_error_of_the_contract_reaches_the_client(code: Code) -> None:
    told = await called(RunBus({RUN_CREATE: FaultError(fault(code))}), "run_task_template", ASKED)

    assert told.is_error
    assert told.structured_content is not None
    assert told.structured_content["errorCode"] == code.value
    assert told.structured_content["recoverHint"] in words(told)
    assert told.structured_content["details"] == {"templateId": BATCH}
    whole = msgspec.json.schema(TOOLS["run_task_template"].render_error(fault(code), "", {})[1].__class__)
    jsonschema.validate(told.structured_content, whole)


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("run_task_template", {"templateId": BATCH}, "inputs"),
        ("run_task_template", {**ASKED, "inputs": []}, "inputs"),
        ("run_task_template", {**ASKED, "options": {"mode": "soon"}}, "options.mode"),
        ("run_task_template", {**ASKED, "options": {"timeoutMs": 0}}, "options.timeoutMs"),
        ("list_task_runs", {"limit": 0}, "limit"),
        ("list_task_runs", {"status": "gone"}, "status"),
        ("get_artifact", {"artifactId": ARTIFACT_ID, "offset": -1}, "offset"),
        ("get_task_run", {}, "runId"),
    ],
)
async def test_a_wrong_argument_is_named(tool: str, arguments: dict[str, Any], field: str) -> None:
    told = await called(RunBus({}), tool, arguments)

    assert told.is_error
    assert told.structured_content is not None
    assert told.structured_content["errorCode"] == "INVALID_PARAMETER"
    assert told.structured_content["details"]["field"] == field

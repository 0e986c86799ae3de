"""The examples of the contract of template runs, and what is really answered, against the published schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema
import msgspec
import pytest
from mcp import Client
from mcp.types import CallToolResult, Tool

from actors.gateway.mcp.tools.browser import BROWSER_TOOLS
from protocol.runs.states import RunStatus
from tests.flows.mcp_clients import Era, Transport, connected
from tests.flows.runs import BATCH, COMPARE, Runs
from tests.flows.system import System
from tests.requirements import requirement
from tests.site import Site

pytestmark = pytest.mark.nats

Example = Mapping[str, Any]

ASKED: tuple[tuple[str, Example], ...] = (
    ("get_runtime_profile", {}),
    ("list_task_templates", {}),
    (
        "run_task_template",
        {
            "templateId": "batch_extract_pages",
            "templateVersion": "1.0.0",
            "sessionId": "sess_" + "x" * 22,  # as long as one is
            "inputs": {"urls": ["https://example.com/a"]},
            "options": {"timeoutMs": 120_000, "mode": "auto"},
        },
    ),
    ("get_task_run", {"runId": "run_123"}),
    ("list_task_runs", {"status": "running", "templateId": "batch_extract_pages", "limit": 20, "offset": 0}),
    ("cancel_task_run", {"runId": "run_123"}),
    ("get_artifact", {"artifactId": "art_1", "offset": 0, "limit": 262_144}),
    ("get_artifact", {"artifactId": "art_2"}),
)
"""What the contract shows of questions (002 §2 to §5)."""

_RUN = {"runId": "run_123", "templateId": "batch_extract_pages"}

TOLD: tuple[tuple[str, Example], ...] = (
    (
        "RuntimeProfile",
        {
            "runtimeVersion": "0.2.0",
            "limits": {"maxConcurrentRuns": 5, "maxRunTimeoutMs": 900_000, "maxArtifactInlineBytes": 262_144},
        },
    ),
    (
        "TemplateList",
        {
            "templates": [
                {
                    "templateId": "batch_extract_pages",
                    "version": "1.0.0",
                    "name": "批量页面结构化采集",
                    "trustLevelSupport": ["local", "remote"],
                    "limits": {"maxUrls": 1_000, "maxConcurrency": 5},
                    "inputsSchema": {"type": "object"},
                    "outputsSchema": {"type": "object"},
                }
            ]
        },
    ),
    ("RunAccepted", {"runId": "run_123", "status": "queued", "createdAt": 1_739_145_600_000}),
    (
        "Run",
        {
            **_RUN,
            "status": "succeeded",
            "progress": {"totalSteps": 2, "doneSteps": 2},
            "metrics": {"elapsedMs": 3_200},
            "result": {
                "summary": {"total": 2, "succeeded": 2, "failed": 0},
                "items": [{"url": "https://example.com/a", "title": "Page A", "success": True}],
            },
        },
    ),
    (
        "Run",
        {
            **_RUN,
            "status": "running",
            "progress": {"totalSteps": 20, "doneSteps": 8},
            "metrics": {"elapsedMs": 5_230},
        },
    ),
    (
        "Run",
        {
            **_RUN,
            "status": "partial_success",
            "progress": {"totalSteps": 20, "doneSteps": 20},
            "metrics": {"elapsedMs": 18_022},
            "result": {"summary": {"total": 10, "succeeded": 9, "failed": 1}, "items": []},
            "artifacts": [{"artifactId": "art_1", "type": "json", "size": 12_043}],
        },
    ),
    (
        "RunList",
        {
            "runs": [
                {**_RUN, "status": "running", "createdAt": 1_739_145_600_000, "updatedAt": 1_739_145_605_230},
            ]
        },
    ),
    ("CancelAnswer", {"cancelRequested": True, "currentStatus": "running"}),
    (
        "ArtifactChunk",
        {"artifactId": "art_1", "mimeType": "application/json", "size": 1_024, "data": "e30=", "complete": True},
    ),
    (
        "ArtifactChunk",
        {
            "artifactId": "art_2",
            "mimeType": "text/csv",
            "size": 5_242_880,
            "data": "e30=",
            "offset": 0,
            "bytesReturned": 262_144,
            "complete": False,
        },
    ),
)
"""What it shows of answers, by the names that the published schemas have."""

SEVEN = {tool for tool, _ in ASKED}


async def _listed(client: Client) -> dict[str, Tool]:
    tools, cursor = dict[str, Tool](), None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools |= {tool.name: tool for tool in page.tools}
        cursor = page.next_cursor
        if cursor is None:
            return tools


@requirement("002.1.principles")
@requirement("002.11.compatibility")
@requirement("002.12.examples")
@requirement("002.13.versions")
async def test_the_examples_of_the_contract_conform_to_the_schemas_of_the_tools(weft: System) -> None:
    async with connected(weft) as client:
        tools = await _listed(client)

    assert set(tools) >= SEVEN | set(BROWSER_TOOLS)
    for name, example in ASKED:
        jsonschema.validate(example, tools[name].input_schema, jsonschema.Draft202012Validator)
    components = msgspec.json.decode(weft.http.get("/openapi.json").content)["components"]
    for name, example in TOLD:
        published = {"$ref": f"#/components/schemas/{name}", "components": components}
        jsonschema.validate(example, published, jsonschema.Draft202012Validator)
        assert set(example) <= set(components["schemas"][name]["properties"])


@requirement("002.4.runs")
@requirement("002.5.artifacts")
@pytest.mark.parametrize(("transport", "era"), [("http", "legacy"), ("http", "auto"), ("stdio", "auto")])
async def test_what_is_answered_conforms_too(weft: System, site: Site, transport: Transport, era: Era) -> None:
    urls = [site.url("/note/40000"), site.url("/status/404")]
    async with connected(weft, transport, era) as client:
        tools = await _listed(client)

        async def told(name: str, **arguments: Any) -> dict[str, Any]:
            return _told(await client.call_tool(name, arguments), tools[name])

        profile = await told("get_runtime_profile")
        templates = await told("list_task_templates")
        run = await told("run_task_template", templateId=BATCH, inputs={"urls": urls}, options={"mode": "sync"})
        again = await told("get_task_run", runId=run["runId"])
        listed = await told("list_task_runs", templateId=BATCH, limit=1)
        stopped = await told("cancel_task_run", runId=run["runId"])
        chunk = await told("get_artifact", artifactId=run["artifacts"][0]["artifactId"])

    assert profile["limits"]["maxConcurrentRuns"] == 5
    assert {one["templateId"] for one in templates["templates"]} >= {BATCH, COMPARE, "login_keep_session"}
    partial = {one["templateId"]: one["supportsPartialSuccess"] for one in templates["templates"]}
    assert partial == {BATCH: True, COMPARE: True, "login_keep_session": False}
    assert (run["status"], again) == (RunStatus.PARTIAL_SUCCESS, run)
    assert [one["runId"] for one in listed["runs"]] == [run["runId"]]
    assert stopped == {"cancelRequested": False, "currentStatus": "partial_success"}
    assert (chunk["complete"], chunk["size"]) == (True, run["artifacts"][0]["size"])


def _told(result: CallToolResult, tool: Tool) -> dict[str, Any]:
    data: dict[str, Any] | None = result.structured_content
    assert not result.is_error, result
    assert data is not None
    assert tool.output_schema is not None
    jsonschema.validate(data, tool.output_schema, jsonschema.Draft202012Validator)
    return data


@requirement("002.8.sessions")
@pytest.mark.browser
async def test_a_session_of_the_run_is_closed_and_one_of_the_caller_is_not(weft: System, site: Site) -> None:
    inputs = {"urls": [site.url("/panel?title=One"), site.url("/panel?title=Two")]}
    async with connected(weft) as client:
        mine = (await client.call_tool("create_session", {})).structured_content
        assert mine is not None
        own = Runs(weft).done(COMPARE, inputs)
        lent = await client.call_tool(
            "run_task_template",
            {"templateId": COMPARE, "inputs": inputs, "sessionId": mine["sessionId"], "options": {"mode": "sync"}},
        )
        gone = await client.call_tool("list_tabs", {"sessionId": own.session_id})
        kept = await client.call_tool("list_tabs", {"sessionId": mine["sessionId"]})
        await client.call_tool("close_session", {"sessionId": mine["sessionId"], "force": True})

    assert (own.status, lent.is_error) == (RunStatus.SUCCEEDED, False)
    assert own.session_id != mine["sessionId"]
    assert (gone.is_error, "SESSION_NOT_FOUND" in str(gone.content)) == (True, True)
    assert kept.structured_content is not None
    assert kept.structured_content.get("tabs", []) == []  # every tab of the run was closed (002 §8.6)

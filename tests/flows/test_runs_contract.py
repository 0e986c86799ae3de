"""The examples of the contract of template runs, and what is really answered, against the published schemas."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest
from mcp import Client
from mcp.types import CallToolResult, Tool

from actors.gateway.mcp.tools.browser import BROWSER_TOOLS
from protocol.runs.states import RunStatus
from tests.flows import contract_runs as contract
from tests.flows.mcp_clients import Era, Transport, connected
from tests.flows.runs import BATCH, COMPARE, Runs
from tests.flows.system import System
from tests.requirements import requirement
from tests.site import Site
from tests.support.scale import first

pytestmark = pytest.mark.nats

ANSWERS = (
    ("RuntimeProfile", contract.PROFILE),
    ("TemplateList", contract.TEMPLATES),
    ("RunAccepted", contract.ACCEPTED),
    ("Run", contract.SYNC),
    ("Run", contract.RUNNING),
    ("Run", contract.ENDED),
    ("RunList", contract.LISTED),
    ("CancelAnswer", contract.CANCELED),
    ("ArtifactChunk", contract.WHOLE),
    ("ArtifactChunk", contract.PIECE),
    ("RunFault", contract.FAULT),
)
"""What the contract shows of answers, by the names that they have in the published document."""


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
async def test_the_examples_of_the_contract_conform_to_what_is_published(weft: System) -> None:
    async with connected(weft) as client:
        tools = await _listed(client)
    components = msgspec.json.decode(weft.http.get("/openapi.json").content)["components"]

    assert set(tools) >= {tool for tool, _ in contract.REQUESTS} | set(BROWSER_TOOLS)
    for name, example in ANSWERS:
        published = {"$ref": f"#/components/schemas/{name}", "components": components}
        jsonschema.validate(example, published, jsonschema.Draft202012Validator)
        assert set(example) <= set(components["schemas"][name]["properties"])


@requirement("002.4.runs")
@requirement("002.5.artifacts")
@pytest.mark.parametrize(("transport", "era"), first(2, [("http", "legacy"), ("stdio", "auto"), ("http", "auto")]))
@pytest.mark.slow
async def test_what_is_answered_conforms_too(weft: System, site: Site, transport: Transport, era: Era) -> None:
    urls = [site.url("/note/45000"), site.url("/status/404")]
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
    assert partial == {
        BATCH: True,
        COMPARE: True,
        "login_keep_session": False,
        "crawl_site": True,
        "replay_flow": False,
    }
    assert (run["status"], again) == (RunStatus.PARTIAL_SUCCESS, run)
    assert [one["runId"] for one in listed["runs"]] == [run["runId"]]
    assert stopped == {"cancelRequested": False, "currentStatus": "partial_success", "schemaVersion": "1.0"}
    assert (chunk["complete"], chunk["size"]) == (True, run["artifacts"][0]["size"])


def _told(result: CallToolResult, tool: Tool) -> dict[str, Any]:
    data: dict[str, Any] | None = result.structured_content
    assert not result.is_error, result
    assert data is not None
    jsonschema.validate(data, tool.output_schema or {}, jsonschema.Draft202012Validator)
    return data


@requirement("002.8.sessions")
@pytest.mark.browser
@pytest.mark.slow
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

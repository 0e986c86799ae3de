"""Templates run by the seven tools, over each transport and in each era, against the whole system."""

from __future__ import annotations

import base64
import os
import signal
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import msgspec
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ResourceLink, TextResourceContents

from actors.gateway.errors import RunFault
from protocol.runs.states import ArtifactType
from tests.flows import contract_runs as contract
from tests.flows.mcp_clients import Era, Transport, connected, text_of
from tests.flows.runs import BATCH, COMPARE
from tests.flows.system import System, weft_up
from tests.requirements import requirement
from tests.site import Site
from tests.site.members import PASSWORD
from tests.support.scale import first

pytestmark = pytest.mark.nats

LIMIT_S = 240.0
MAX_BYTES = 20_000
LOGIN = "login_keep_session"
POLL_S = 0.15
NOBODYS = {"run": "run_" + "A" * 22, "artifact": "art_" + "A" * 22}

everywhere = pytest.mark.parametrize(
    ("transport", "era"), first(2, [("http", "legacy"), ("stdio", "auto"), ("http", "auto"), ("stdio", "legacy")])
)


@dataclass(frozen=True)
class Runner:
    """A client that runs templates."""

    client: Client

    async def answer(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """Call a tool, whatever comes of it."""
        result = await self.client.call_tool(tool, arguments)
        assert len(text_of(result).encode()) <= MAX_BYTES
        return result

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to succeed."""
        result = await self.answer(tool, **arguments)
        assert not result.is_error, (tool, text_of(result))
        return msgspec.convert(result.structured_content, dict[str, Any])

    async def refused(self, tool: str, /, **arguments: Any) -> RunFault:
        """Call a tool that has to fail."""
        result = await self.answer(tool, **arguments)
        assert result.is_error, (tool, text_of(result))
        return msgspec.convert(result.structured_content, RunFault)

    async def run(self, template: str, inputs: dict[str, Any], /, **options: Any) -> dict[str, Any]:
        """Run a template."""
        return await self.call("run_task_template", templateId=template, inputs=inputs, options=options)

    async def begun(self, template: str, inputs: dict[str, Any], /, **options: Any) -> str:
        """Begin a run, and give its id."""
        told = await self.run(template, inputs, mode="async", **options)
        assert contract.lacking(contract.ACCEPTED, told) == []
        return str(told["runId"])

    async def ended(self, run_id: str) -> dict[str, Any]:
        """Ask how a run stands until it is over."""
        while True:
            run = await self.call("get_task_run", runId=run_id)
            assert contract.lacking(contract.RUNNING, run) == []
            if run["status"] not in {"queued", "running"}:
                return run
            await anyio.sleep(POLL_S)

    async def file(self, artifact: dict[str, Any], limit: int | None = None) -> bytes:
        """Read a file piece by piece."""
        data, bound = b"", {} if limit is None else {"limit": limit}
        while True:
            chunk = await self.call("get_artifact", artifactId=artifact["artifactId"], offset=len(data), **bound)
            assert (
                contract.lacking(contract.WHOLE if chunk["complete"] else contract.PIECE, chunk | {"offset": 0}) == []
            )
            data += base64.b64decode(chunk["data"], validate=True)
            if chunk["complete"]:
                assert len(data) == chunk["size"] == artifact["size"]
                return data


def notes(site: Site, first: int, count: int, query: str = "") -> list[str]:
    """Return the addresses of some articles: each test has numbers of its own."""
    return [site.url(f"/note/{number}{query}") for number in range(first, first + count)]


FRAME = ("<<<untrusted-web-content", "end-of-untrusted-web-content>>>")


async def check_files(runner: Runner, run: dict[str, Any]) -> None:
    """Read each file of a run whole, in pieces and as a resource: it is the same."""
    assert run["artifacts"]
    for told in run["artifacts"]:
        data = await runner.file(told)
        assert await runner.file(told, limit=1_000) == data
        (content,) = (await runner.client.read_resource(f"weft://artifact/{told['artifactId']}")).contents
        assert isinstance(content, TextResourceContents)
        assert content.text.count("untrusted-web-content") == len(FRAME)
        begin, end = (content.text.index(word) for word in FRAME)
        assert begin < content.text.index(data.decode()) < end
        if told["type"] == ArtifactType.JSON.value and not run.get("resultTruncated"):
            assert msgspec.json.decode(data) == run["result"]


@requirement("002.12.acceptance")
@requirement("002.4.runs")
@everywhere
@pytest.mark.slow
async def test_a_batch_is_run_waited_for_or_not_and_leaves_its_files(
    weft: System, site: Site, transport: Transport, era: Era
) -> None:
    urls = notes(site, 40_000, 2)
    async with connected(weft, transport, era, LIMIT_S) as client:
        runner = Runner(client)
        sync = await runner.run(BATCH, {"urls": urls}, mode="sync", artifacts=["json", "csv", "markdown"])
        later = await runner.ended(await runner.begun(BATCH, {"urls": urls}))
        again = await runner.answer("get_task_run", runId=sync["runId"])
        await check_files(runner, sync)
        await check_files(runner, later)
        listed = await runner.call("list_task_runs", status="succeeded", templateId=BATCH, limit=2)
        over = await runner.call("cancel_task_run", runId=sync["runId"])

    assert [contract.lacking(contract.SYNC, run) for run in (sync, later)] == [[], []]
    assert contract.lacking(contract.ENDED, sync) == []
    assert (sync["status"], sync["result"]["summary"]["succeeded"]) == ("succeeded", 2)
    assert again.structured_content == sync
    links = [str(one.uri) for one in again.content if isinstance(one, ResourceLink)]
    assert links == [f"weft://artifact/{one['artifactId']}" for one in sync["artifacts"]]
    assert contract.lacking(contract.LISTED, listed) == []
    assert {run["runId"] for run in listed["runs"]} == {sync["runId"], later["runId"]}
    assert over == {"cancelRequested": False, "currentStatus": "succeeded", "schemaVersion": "1.0"}


@pytest.mark.full
@requirement("002.12.acceptance")
@pytest.mark.browser
@pytest.mark.parametrize(("transport", "era"), first(1, [("http", "auto"), ("stdio", "legacy")]))
@pytest.mark.slow
async def test_pages_are_compared_and_the_comparison_is_a_file(
    weft: System, site: Site, transport: Transport, era: Era
) -> None:
    async with connected(weft, transport, era, LIMIT_S) as client:
        runner = Runner(client)
        urls = [site.url("/article"), site.url("/text")]
        run = await runner.run(COMPARE, {"urls": urls}, mode="sync")
        later = await runner.ended(await runner.begun(COMPARE, {"urls": urls}))
        await check_files(runner, run)

    assert (run["status"], later["status"]) == ("succeeded", "succeeded")
    assert len(run["result"]["snapshots"]) == 2
    assert run["result"]["diffs"]


@pytest.mark.full
@requirement("002.9.trust-level")
@requirement("002.12.acceptance")
@pytest.mark.browser
@pytest.mark.slow
async def test_a_login_is_for_local_clients_and_its_session_goes_on(weft: System, site: Site) -> None:
    inputs = {
        "startUrl": site.url("/members/plain/login"),
        "credentials": {"username": "ada-mcp", "password": PASSWORD},
        "successIndicator": {"type": "selector", "value": "#hello"},
    }
    async with connected(weft, "http", limit_s=LIMIT_S) as client:
        far = await Runner(client).refused("run_task_template", templateId=LOGIN, inputs=inputs)
    async with connected(weft, "stdio", limit_s=LIMIT_S) as client:
        runner = Runner(client)
        told = await runner.answer("run_task_template", templateId=LOGIN, inputs=inputs)
        run = msgspec.convert(told.structured_content, dict[str, Any])
        await check_files(runner, run)
        tabs = await runner.call("list_tabs", sessionId=run["sessionId"])
        wrong = inputs | {"credentials": {"username": "ada-mcp", "password": "wrong"}}
        failed = await runner.answer("run_task_template", templateId=LOGIN, inputs=wrong)

    assert (far.error_code, far.details.template_id) == ("TRUST_LEVEL_NOT_ALLOWED", LOGIN)
    assert (run["status"], run["sessionPreserved"]) == ("succeeded", True), text_of(told)
    assert any("/members/plain/home" in tab["url"] for tab in tabs["tabs"])
    assert failed.is_error
    assert failed.structured_content is not None
    assert contract.lacking(contract.FAULT, failed.structured_content) == []
    assert failed.structured_content["errorCode"] == "STEP_EXECUTION_FAILED"
    assert PASSWORD not in text_of(told) + str(run)


@requirement("002.12.acceptance")
async def test_every_example_of_the_contract_is_what_the_schemas_say(weft: System) -> None:
    async with connected(weft) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        profile = await Runner(client).call("get_runtime_profile")
        templates = await Runner(client).call("list_task_templates")

    for name, example in contract.REQUESTS:
        jsonschema.validate(example, tools[name].input_schema)
    for name, example in contract.ANSWERS:
        jsonschema.validate(example, tools[name].output_schema or {})
    assert contract.lacking(contract.PROFILE, profile) == []
    assert contract.lacking(contract.TEMPLATES, templates) == []
    assert [one["templateId"] for one in templates["templates"]] == [BATCH, LOGIN, COMPARE, "crawl_site", "replay_flow"]
    batch = templates["templates"][0]
    jsonschema.validate(contract.REQUESTS[2][1]["inputs"], batch["inputsSchema"])
    jsonschema.validate(contract.SYNC["result"]["summary"], {"type": "object"})


# -- errors ------------------------------------------------------------------------------------------------------------


@requirement("002.7.errors")
async def test_the_errors_of_what_is_not_there(weft: System, site: Site) -> None:
    asked: dict[str, Any] = {"templateId": BATCH, "inputs": {"urls": notes(site, 41_000, 1)}}
    async with connected(weft) as client:
        runner = Runner(client)
        told = [
            await runner.refused("run_task_template", **asked | {"templateId": "weave"}),
            await runner.refused("run_task_template", **asked | {"templateVersion": "9.9.9"}),
            await runner.refused("run_task_template", **asked | {"inputs": {"urls": []}}),
            await runner.refused("get_task_run", runId=NOBODYS["run"]),
            await runner.refused("cancel_task_run", runId="run_123"),
            await runner.refused("get_artifact", artifactId=NOBODYS["artifact"]),
        ]

    assert [(one.error_code, bool(one.recover_hint)) for one in told] == [
        ("TEMPLATE_NOT_FOUND", True),
        ("TEMPLATE_VERSION_UNSUPPORTED", True),
        ("INVALID_PARAMETER", True),
        ("RUN_NOT_FOUND", True),
        ("RUN_NOT_FOUND", True),
        ("ARTIFACT_NOT_FOUND", True),
    ]
    assert told[2].details.field == "inputs.urls"
    assert (told[3].details.run_id, told[5].details.artifact_id) == (NOBODYS["run"], NOBODYS["artifact"])


@requirement("002.7.errors")
async def test_a_run_that_is_late_or_fails_is_an_error_of_who_waits_for_it(weft: System, site: Site) -> None:
    async with connected(weft, limit_s=LIMIT_S) as client:
        runner = Runner(client)
        slow = {"urls": notes(site, 41_100, 1, "?ms=20000")}
        late = await runner.answer(
            "run_task_template", templateId=BATCH, inputs=slow, options={"mode": "sync", "timeoutMs": 500}
        )
        dead = {"urls": [site.url("/status/404"), site.url("/status/500")]}
        failed = await runner.answer("run_task_template", templateId=BATCH, inputs=dead, options={"mode": "sync"})
        asked = await runner.call("get_task_run", runId=(failed.structured_content or {})["runId"])

    assert (late.is_error, failed.is_error) == (True, True)
    assert late.structured_content is not None
    assert (late.structured_content["status"], late.structured_content["errorCode"]) == ("failed", "RUN_TIMEOUT")
    assert contract.lacking(contract.FAULT, failed.structured_content) == []
    assert asked == failed.structured_content
    assert asked["errorCode"] == "STEP_EXECUTION_FAILED"
    assert asked["result"]["summary"]["failed"] == 2


@requirement("002.4.cancel")
@everywhere
@pytest.mark.slow
async def test_a_run_is_cancelled_before_its_next_step(
    weft: System, site: Site, transport: Transport, era: Era
) -> None:
    async with connected(weft, transport, era, LIMIT_S) as client:
        runner = Runner(client)
        urls = notes(site, 41_200, 40, "?ms=300")
        run_id = await runner.begun(BATCH, {"urls": urls, "concurrency": 1})
        told = await runner.call("cancel_task_run", runId=run_id)
        run = await runner.ended(run_id)

    assert contract.lacking(contract.CANCELED, told) == []
    assert told["cancelRequested"]
    assert (run["status"], run["errorCode"]) == ("canceled", "RUN_CANCELED")


@pytest.mark.full
@requirement("002.5.artifacts")
@pytest.mark.slow
async def test_a_file_is_gone_after_its_time(tmp_path: Path, site: Site) -> None:
    with weft_up(tmp_path, WEFT_ARTIFACT_TTL_MS="1") as short:
        async with connected(short, limit_s=LIMIT_S) as client:
            runner = Runner(client)
            run = await runner.run(BATCH, {"urls": notes(site, 41_300, 1)}, mode="sync")
            told = await runner.refused("get_artifact", artifactId=run["artifacts"][0]["artifactId"])

    assert told.error_code == "ARTIFACT_EXPIRED"


@pytest.mark.slow
async def test_what_is_of_another_key_is_answered_like_what_is_not_there(weft: System, site: Site) -> None:
    key = weft.run("keys", "add", "other-runs", "--scope", "runs").stdout.strip()
    async with connected(weft, limit_s=LIMIT_S) as client:
        run = await Runner(client).run(BATCH, {"urls": notes(site, 41_400, 1)}, mode="sync")
    artifact = run["artifacts"][0]["artifactId"]
    async with connected(weft, limit_s=LIMIT_S, key=key) as client:
        runner = Runner(client)
        told = [
            await runner.refused("get_task_run", runId=run["runId"]),
            await runner.refused("cancel_task_run", runId=run["runId"]),
            await runner.refused("get_artifact", artifactId=artifact),
        ]
        unknown = await runner.refused("get_task_run", runId=NOBODYS["run"])
        listed = await runner.call("list_task_runs")
        with pytest.raises(MCPError):
            await client.read_resource(f"weft://artifact/{artifact}")

    assert [one.error_code for one in told] == ["RUN_NOT_FOUND", "RUN_NOT_FOUND", "ARTIFACT_NOT_FOUND"]
    assert told[0].error == unknown.error
    assert listed == {"runs": [], "total": 0, "offset": 0, "schemaVersion": "1.0"}


# -- on the way --------------------------------------------------------------------------------------------------------


@everywhere
@pytest.mark.slow
async def test_who_waits_hears_of_every_step(weft: System, site: Site, transport: Transport, era: Era) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        await anyio.lowlevel.checkpoint()

    asked = {
        "templateId": BATCH,
        "inputs": {"urls": notes(site, 41_500, 4, "?ms=150"), "concurrency": 1},
        "options": {"mode": "sync"},
    }
    async with connected(weft, transport, era, LIMIT_S) as client:
        result = await client.call_tool("run_task_template", asked, progress_callback=heard)

    assert not result.is_error
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})
    assert told[-1][:2] == (4, 4)
    assert {total for _, total, _ in told} == {4}
    assert len(told) > 2


async def test_who_leaves_cancels_what_it_waits_for(weft: System, site: Site) -> None:
    urls = notes(site, 41_600, 40, "?ms=300")
    asked = {"templateId": BATCH, "inputs": {"urls": urls, "concurrency": 1}, "options": {"mode": "sync"}}
    async with connected(weft, limit_s=LIMIT_S) as client:
        runner = Runner(client)
        with anyio.move_on_after(LIMIT_S) as leaving:

            async def heard(progress: float, total: float | None, message: str | None) -> None:
                del progress, total, message
                leaving.cancel()
                await anyio.lowlevel.checkpoint()

            await client.call_tool("run_task_template", asked, progress_callback=heard)
        (last,) = (await runner.call("list_task_runs", limit=1))["runs"]
        run = await runner.ended(last["runId"])

    assert leaving.cancelled_caught
    assert run["status"] == "canceled"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    """Run a Weft whose actors may die."""
    with weft_up(tmp_path_factory.mktemp("own")) as system:
        yield system


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("actor", ["keeper", "runner"])
async def test_who_waits_notices_nothing_of_a_death(own: System, site: Site, actor: str) -> None:
    first = {"keeper": 41_900, "runner": 42_000}[actor]
    urls = notes(site, first, 12, "?ms=300")
    asked = {"templateId": BATCH, "inputs": {"urls": urls, "concurrency": 1}, "options": {"mode": "sync"}}
    killed: list[float] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        del total, message
        if progress >= 2 and not killed:
            killed.append(progress)
            pid = (await anyio.to_thread.run_sync(own.replica, actor))["pid"]
            os.kill(int(str(pid)), signal.SIGKILL)

    async with connected(own, limit_s=LIMIT_S) as client:
        result = await client.call_tool("run_task_template", asked, progress_callback=heard)

    assert killed
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    assert result.structured_content["result"]["summary"]["succeeded"] == 12

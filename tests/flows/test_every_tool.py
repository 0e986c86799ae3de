"""Every tool of 003 through the gate, on every surface: MCP with the official client, REST and the command line."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from protocol.tools.registry import TOOLS
from protocol.tools.tool import Surface
from tests.conftest import COUNTS
from tests.flows.mcp_clients import text_of
from tests.flows.system import CALL_S, System, refused, weft_up
from tests.requirements import requirement
from tests.support.recorder import Recorder, recording

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.timeout(240)]

ACTORS = "gateway,keeper,answerer,navigator,verifier,router,policy,runner,fetchers.intelligence,fetchers.playwright"
INTEGRATION = """[[integrations]]
name = "team-chat"
url = "{url}/hook"
operations = ["message.post"]
secret_variable = "INTEGRATION_SECRET_CHAT"
allow_private = ["127.0.0.0/8"]
"""
SECRET = "whsec_" + "dGhlIHNlY3JldCBvZiBhIHRlc3QgdGhhdCBuZWVkcyBvbmU="
PAGE = """<!doctype html><html lang="en"><head><title>Order a loom</title></head><body><main>
<h1>Order a loom</h1><p>A loom is a device that weaves cloth. It has a warp beam, a cloth beam and many heddles. The
shed is the opening between the threads of the warp, through which the shuttle carries the weft.</p>
<form action="/ordered"><label>Length <input name="length"></label>
<label>Wood <select name="wood"><option>ash</option><option>oak</option></select></label>
<button type="button">Count</button></form><p><a href="/other">Other looms</a></p></main></body></html>"""
NOTE = "A heddle is a loop of wire that holds one thread. The mill was opened on 3 March 1790."

Json = dict[str, Any]
Call = Callable[[str, Json], Awaitable[Json]]
EXPECTED = {tool.name for tool in TOOLS.values() if tool.actor == "runner"} | {
    tool.name for tool in TOOLS.values() if tool.name_on(Surface.LLMCP).startswith("browser.")
}
"""The tools of 003, by their own names."""


@dataclass
class Home:
    """A Weft with a site to read and a program to tell."""

    system: System
    web: Recorder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Generator[Home]:
    """Run a Weft whose operator allows one program."""
    folder: Path = tmp_path_factory.mktemp("tools")
    (folder / "data").mkdir()
    with recording(pages={"/order": PAGE, "/other": PAGE.replace("Order a", "Other")}) as web:
        (folder / "data" / "integrations.toml").write_text(INTEGRATION.format(url=web.origin))
        with weft_up(folder, "--actors", ACTORS, INTEGRATION_SECRET_CHAT=SECRET) as system:
            yield Home(system, web)


@dataclass
class Scenario:
    """Every tool once, in an order in which each finds what it needs; `call` is a surface."""

    call: Call
    web: Recorder
    handles: bool
    """Whether elements are named by handles, as 003 does, or by their ids, as 002 does."""

    used: set[str] = field(default_factory=set[str])

    async def do(self, tool: str, /, **arguments: Any) -> Json:
        """Call a tool by its own name; it has to succeed."""
        self.used.add(tool)
        return await self.call(tool, arguments)

    async def run(self) -> None:
        """Call them all."""
        await self.collect()
        await self.drive()
        assert self.used == EXPECTED

    async def collect(self) -> None:
        """Call those of the application."""
        assert (await self.do("app.calculate", expression="12 * (3 + 4)"))["result"] == "84"
        made = (await self.do("collection.create", title="Looms"))["collectionId"]
        note = {"type": "note", "text": NOTE, "title": "Heddles"}
        added = await self.do("collection.add_sources", collectionId=made, sources=[note])
        read = await self.do("source.capture", collectionId=made, url=f"{self.web.origin}/order")
        listed = await self.do("collection.list_sources", collectionId=made)
        assert {one["sourceId"] for one in (*added["sources"], read)} == {
            one.get("sourceId") or one.get("id") for one in listed["sources"]
        }
        assert (await self.do("source.refresh", sourceId=read["sourceId"]))["unchanged"]
        assert (await self.do("collection.watch", collectionId=made, every="1d"))["everyMs"] == 86_400_000
        assert "heddle" in json.dumps(await self.do("search", query="heddle", engine="local")).lower()
        assert len((await self.do("transform.list_types"))["types"]) == 8
        text = await self.do("transform.run", collectionId=made, type="outline")
        kept = (await self.do("artifact.save", title="Found", markdown="A *loom* weaves."))["artifactId"]
        assert "loom" in json.dumps(await self.do("artifact.open", artifactId=kept))
        shared = await self.do("artifact.share", artifactId=kept, format="markdown")
        assert shared["size"] > 0
        order = {"integration": "team-chat", "operation": "message.post", "payload": {"text": "The loom is ready."}}
        before = len(self.web.received)
        await self.do("integration.invoke", **order)
        assert [b"POST /hook" in one for one in self.web.received[before:]] == [True]
        await self.do("artifact.delete", artifactId=text["artifactId"])
        await self.do("source.delete", sourceId=read["sourceId"])
        await self.do("collection.delete", collectionId=made)

    async def drive(self) -> None:
        """Call those of the browser."""
        await self.do("create_tab", url=f"{self.web.origin}/order")
        await self.do("navigate", url=f"{self.web.origin}/other")
        await self.do("go_back")
        await self.do("go_forward")
        await self.do("refresh")
        seen = await self.do("observe_dom")
        ids = elements_of(seen)
        await self.do("type_text", **self.element(ids["Length"]), text="120")
        await self.do("select_option", **self.element(ids["Wood"]), value="oak")
        await self.do("click", **self.element(ids["Count"]))
        await self.do("scroll_by", deltaY=40)
        await self.do("get_selection_links")

    def element(self, name: str) -> Json:
        """Name an element as the surface does."""
        return {"handleId": f"laika-{name}"} if self.handles else {"element_id": name}


def elements_of(seen: Json) -> dict[str, str]:
    """Return the ids of what was observed by the labels."""
    found: dict[str, str] = {}
    unread: list[Any] = [seen]
    while unread:
        node = unread.pop()
        if isinstance(node, Mapping):
            branch = cast("Mapping[str, Any]", node)
            unread.extend(branch.values())
            if branch.get("handleId") and branch.get("label"):
                found.setdefault(branch["label"], branch["handleId"].removeprefix("laika-"))
        elif isinstance(node, list):
            unread.extend(cast("Iterable[Any]", node))
    return found


@requirement("003.tools.browser")
@requirement("003.tools.app")
@requirement("003.tools.collections")
async def test_over_rest(home: Home, record_property: Callable[[str, object], None]) -> None:
    async def call(tool: str, arguments: Json) -> Json:
        name = TOOLS[tool].name_on(Surface.LLMCP)
        answer = await anyio.to_thread.run_sync(lambda: home.system.http.post(f"/api/tools/{name}", json=arguments))
        assert answer.status_code == 200, (tool, answer.text)
        payload: Json = answer.json()["result"]["payload"]
        return payload

    scenario = Scenario(call, home.web, handles=True)
    await scenario.run()
    record_property(COUNTS, f"{len(scenario.used)} of {len(EXPECTED)} tools of 003 over REST")


@pytest.mark.full
async def test_on_the_command_line(home: Home, record_property: Callable[[str, object], None]) -> None:
    async def call(tool: str, arguments: Json) -> Json:
        done = await anyio.to_thread.run_sync(
            lambda: home.system.run("tool", tool.replace(".", "_"), json.dumps(arguments), "--json")
        )
        assert done.returncode == 0, (tool, done.stdout, done.stderr)
        payload: Json = json.loads(done.stdout)["result"]["payload"]
        return payload

    scenario = Scenario(call, home.web, handles=False)
    await scenario.run()
    record_property(COUNTS, f"{len(scenario.used)} of {len(EXPECTED)} tools of 003 on the command line")


async def test_over_mcp_where_the_user_is_asked(home: Home, record_property: Callable[[str, object], None]) -> None:
    asked: list[str] = []

    async def elicited(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        del context
        asked.append(params.message)
        return ElicitResult(action="accept", content={"answer": "once"})

    async with mcp_client(home.system, elicited) as client:

        async def call(tool: str, arguments: Json) -> Json:
            result = await client.call_tool(TOOLS[tool].name_on(Surface.MCP), arguments)
            assert not result.is_error, (tool, text_of(result))
            payload: Json = result.structured_content or {}
            return payload

        scenario = Scenario(call, home.web, handles=False)
        await scenario.run()
    assert any("team-chat" in one for one in asked)
    record_property(COUNTS, f"{len(scenario.used)} of {len(EXPECTED)} tools of 003 over MCP, {len(asked)} asked about")


async def test_what_waits_is_answered_over_rest_and_on_the_command_line(home: Home) -> None:
    system, order = home.system, {"integration": "team-chat", "operation": "message.post"}
    before = len(home.web.received)
    async with mcp_client(system) as client:
        first = waiting(await client.call_tool("integration_invoke", {**order, "payload": {"text": "one"}}))
        second = waiting(await client.call_tool("integration_invoke", {**order, "payload": {"text": "two"}}))
    listed = system.http.get("/api/approvals", params={"pending": True}).json()["approvals"]
    assert {first, second} <= {one["id"] for one in listed}
    assert len(home.web.received) == before

    key = system.http.post("/api/keys", json={"name": "stranger"}).json()["key"]
    theirs = {"Authorization": f"Bearer {key}"}
    foreign = system.http.post(f"/api/approvals/{first}", json={"answer": "allow"}, headers=theirs)
    assert (foreign.status_code, refused(foreign).code) == (404, "VALIDATION_UNKNOWN_APPROVAL")
    assert system.http.get("/api/approvals", headers=theirs).json()["approvals"] == []

    answered = system.http.post(f"/api/approvals/{first}", json={"answer": "allow"}).json()
    assert (answered["state"], answered["result"]["status"]) == ("allowed", "ok")
    denied = system.run("approvals", "deny", second, "--json")
    assert (denied.returncode, json.loads(denied.stdout)["state"]) == (0, "denied")
    late = system.http.post(f"/api/approvals/{second}", json={"answer": "allow"}).json()
    assert (late["state"], "result" in late) == ("denied", False)
    assert [b"POST /hook" in one for one in home.web.received[before:]] == [True]


def waiting(result: CallToolResult) -> str:
    """Return the approval that a refused call waits for."""
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["code"] == "SECURITY_APPROVAL_REQUIRED"
    name: str = result.structured_content["context"]["approvalId"]
    return name


@asynccontextmanager
async def mcp_client(system: System, elicited: ElicitationFnT | None = None) -> AsyncGenerator[Client]:
    """Connect the official client with the tools of 003; without `elicited` its user cannot be asked."""
    headers = {"Authorization": f"Bearer {system.key}"}
    address = f"{system.ready.mcp}?toolsets=core,browser,collections"
    with anyio.fail_after(CALL_S):
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=CALL_S) as http,
            Client(streamable_http_client(address, http_client=http), elicitation_callback=elicited) as client,
        ):
            yield client

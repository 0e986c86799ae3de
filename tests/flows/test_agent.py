"""Goals that a whole Weft reaches: by rule without any key, by a model through the gate, and once whoever dies."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitRequestParams, ElicitResult

from actors.gateway.http import EVENTS
from protocol.packets import ToolCall
from tests.flows.mcp_clients import text_of
from tests.flows.system import System, refused
from tests.requirements import requirement
from tests.support.behaving_model import ModelQuestion, ModelReply, behaving
from tests.support.recorder import Recorder, recording
from tests.support.system import RunningWeft, running_weft

pytestmark = [pytest.mark.nats, pytest.mark.slow]

NOTE = "# La Rance\n\nThe tidal power station of La Rance was opened in 1966. It holds 240 MW."
GOAL = "When was the tidal power station of La Rance opened?"
POST = "Post a message to the team chat: the loom is ready."
ACTORS = "gateway,keeper,answerer,navigator,verifier,router,policy,runner,fetchers.intelligence"
SECOND = 2
CALL_S = 240.0
TEST_S = 240.0
WEBHOOK = """[[integrations]]
name = "team-chat"
url = "{url}/hook"
operations = ["message.post"]
secret_variable = "INTEGRATION_SECRET_CHAT"
allow_private = ["127.0.0.0/8"]
"""
Json = dict[str, Any]


# -- without a key -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def collection(weft: System) -> str:
    """Keep a note in a collection of its own."""
    made = weft.http.post("/api/tools/collection.create", json={"title": "Tides"}).json()["result"]["payload"]
    name: str = made["collectionId"]
    source = {"type": "note", "title": "La Rance", "text": NOTE}
    added = weft.http.post("/api/tools/collection.add_sources", json={"collectionId": name, "sources": [source]})
    assert added.status_code == 200, added.text
    return name


def test_a_goal_is_answered_from_a_collection_without_any_step(weft: System, collection: str) -> None:
    result = weft.http.post("/api/agent", json={"goal": GOAL, "collection": collection, "localOnly": True}).json()

    assert (result["ended"], result["steps"], result["collectionId"]) == ("answered", [], collection)
    assert result["answer"]["citations"][0]["quote"] == "The tidal power station of La Rance was opened in 1966."
    assert result["answer"]["citations"][0]["sourceId"].startswith("src_")


def test_what_nobody_names_is_searched_for_in_what_was_kept(weft: System, collection: str) -> None:
    with weft.http.stream(
        "POST", "/api/agent", json={"goal": GOAL, "localOnly": True}, headers={"accept": EVENTS}
    ) as answer:
        lines = list(answer.iter_lines())

    data = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    told = [one["message"] for one in data if "message" in one]
    assert [one["tool"] for one in data[-1]["steps"]][:1] == ["search"]
    assert {"Step 1: search", "Step 1: search: ok"} <= set(told)
    assert (data[-1]["ended"], "1966" in data[-1]["answer"]["markdown"]) == ("answered", True), collection


def test_the_command_line_computes_and_shows_its_steps(weft: System) -> None:
    done = weft.run("ask", "--agent", "What is 12 × (3 + 4)?")
    log = weft.http.get("/api/conversations").json()["conversations"][0]
    events = weft.http.get(f"/api/conversations/{log['id']}").json()["events"]

    assert (done.returncode, "result: 84" in done.stdout) == (0, True), done.stderr
    assert "1. app.calculate" in done.stderr
    assert [(one["task"], one.get("toolResults", [{}])[0].get("status")) for one in events] == [
        ("agent.run", None),
        ("agent.step", None),
        ("agent.step", "ok"),
        ("agent.run", None),
    ]


@requirement("003.plan")
@pytest.mark.parametrize("path", ["/plan", "/api/plan"])
def test_a_plan_is_made_as_the_plan_server_does(weft: System, path: str) -> None:
    context: Json = {
        "origin": "https://example.com",
        "mode": "assist",
        "step": 0,
        "maxSteps": 6,
        "runId": "r-1",
        "tabs": [],
    }
    ask = partial(weft.http.post, path)

    (action,) = ask(json={"goal": "2 + 2", "context": context}).json()["actions"]
    assert (action["toolCall"]["name"], action["toolCall"]["arguments"]) == ("app.calculate", {"expression": "2 + 2"})
    assert action["policy"] == {"decision": "allow", "reasonCode": "calculate_allowed"} | {
        name: value for name, value in action["policy"].items() if name == "why"
    }
    (look,) = ask(json={"goal": "Find the cheapest loom", "context": context}).json()["actions"]
    assert (look["toolCall"]["name"], look["policy"]["reasonCode"]) == ("browser.observe_dom", "observe_allowed")
    assert refused(ask(json={"goal": " ", "context": context})).code == "VALIDATION_INVALID_REQUEST"
    assert ask(json={"goal": "2 + 2", "context": context | {"origin": "nowhere"}}).status_code == 400
    assert weft.http.get("/health").json()["success"] is True


# -- with a model ------------------------------------------------------------------------------------------------------


@dataclass
class Proposer:
    """A model that proposes a call whenever it is asked for one; before the second time something happens."""

    call: ToolCall
    on_second: Callable[[], None] | None = None
    asked: int = 0

    def behave(self, question: ModelQuestion) -> ModelReply:
        """Answer what a model is asked."""
        if "search" in question.tools:
            self.asked += 1
            if self.asked == SECOND and self.on_second is not None:
                self.on_second()
            return ModelReply(calls=[self.call])
        if question.schema == "cited_answer":
            answer = {"title": "", "markdown": "It is posted [1].", "citations": [1]}
            return ModelReply(data={"assistant": answer, "supported": True, "collect": []})
        return ModelReply(data={"tools": ["integration.invoke"]})


@dataclass(frozen=True)
class Bench:
    """A Weft with a model, and the program that it may tell to do something."""

    running: RunningWeft
    client: httpx2.AsyncClient
    model: Proposer
    hook: Recorder

    async def reach(self, goal: str, **more: Any) -> Json:
        answer = await self.client.post("/api/agent", json={"goal": goal, **more})
        assert answer.status_code == 200, answer.text
        result: Json = answer.json()
        return result

    @property
    def posted(self) -> int:
        return sum(one.startswith(b"POST") for one in self.hook.received)


@asynccontextmanager
async def bench(folder: Path, call: ToolCall) -> AsyncGenerator[Bench]:
    model = Proposer(call)
    with recording() as hook:
        folder.joinpath("integrations.toml").write_text(WEBHOOK.format(url=hook.origin))
        async with (
            behaving(model.behave) as server,
            running_weft(
                folder,
                ["--actors", ACTORS],
                OPENAI_COMPATIBLE_API_KEY="sk-planted",
                OPENAI_COMPATIBLE_BASE_URL=server.base_url,
                WEFT_MODEL_HOSTS=server.host,
                WEFT_INTEGRATIONS_FILE=str(folder / "integrations.toml"),
                INTEGRATION_SECRET_CHAT="c2VjcmV0LW9mLXRoZS1jaGF0LWhlcmU=",
            ) as running,
            running.client(CALL_S) as client,
        ):
            yield Bench(running, client, model, hook)


POSTING = ToolCall(
    name="integration.invoke",
    arguments={"integration": "team-chat", "operation": "message.post", "payload": {"text": "the loom is ready"}},
)


async def test_what_waits_for_an_approval_is_done_once_when_it_is_given(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with bench(tmp_path, POSTING) as here:
            first = await here.reach(POST)
            talk, approval = first["conversation"]["id"], first["steps"][0]["approval"]["id"]
            still = await here.reach(POST, conversation=talk)
            before = here.posted
            answers = [await allow(here, approval) for _ in range(2)]
            done = await here.reach(POST, conversation=talk)
            posted = here.posted

            async with connected_to(here) as client:
                result = await client.call_tool("agent", {"goal": POST})
            twice = here.posted

    assert [one["ended"] for one in (first, still, done)] == ["awaiting_approval", "awaiting_approval", "answered"]
    assert {one["steps"][0]["callId"] for one in (first, still, done)} == {first["steps"][0]["callId"]}
    assert "integration.invoke (model): ask, ok" in text_of(result)
    assert (before, posted, twice, answers) == (0, 1, 2, ["allowed", "allowed"])


async def allow(here: Bench, approval: str) -> str:
    answer = await here.client.post(f"/api/approvals/{approval}", json={"answer": "allow"})
    assert answer.status_code == 200, answer.text
    state: str = answer.json()["state"]
    return state


@asynccontextmanager
async def connected_to(here: Bench) -> AsyncGenerator[Any]:
    """Connect the official client, whose user allows what is asked."""

    async def allowed(context: Any, params: ElicitRequestParams) -> ElicitResult:
        del context
        (asked_for,) = params.model_dump()["requested_schema"]["properties"]
        return ElicitResult(action="accept", content={asked_for: "once"})

    headers = {"Authorization": f"Bearer {here.running.key}"}
    address = f"{here.running.ready.mcp}?toolsets=core,collections"
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=CALL_S) as http,
        Client(streamable_http_client(address, http_client=http), elicitation_callback=allowed) as client,
    ):
        yield client


@pytest.mark.full
async def test_an_answerer_that_dies_in_the_loop_has_nothing_done_twice(tmp_path: Path) -> None:
    creating = ToolCall(name="collection.create", arguments={"title": "Looms"})
    with anyio.fail_after(TEST_S):
        async with bench(tmp_path, creating) as here:
            talk = "c-1"

            answerer = next(one["pid"] for one in await here.running.replicas() if one["actor"] == "answerer")
            assert isinstance(answerer, int)
            here.model.on_second = partial(os.kill, answerer, signal.SIGKILL)
            result = await here.reach(GOAL, conversation=talk, tools=["collection.create"])
            log = (await here.client.get(f"/api/conversations/{talk}")).json()["events"]
            ran = here.running.log_text().count('"subject":"tool.runner"')

    assert ran == 1
    assert [(one["tool"], one["status"]) for one in result["steps"]] == [("collection.create", "ok")]
    assert [one["task"] for one in log if one["role"] == "user"] == ["agent.run"]

"""Models of a whole Weft: a real server is asked over a real socket, and its key is nowhere but there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.flows.system import run
from tests.site import serve_site
from tests.support.models import document, scripted
from tests.support.otlp import Seen, receiving
from tests.support.system import RunningWeft, running_weft, stop_process

pytestmark = [pytest.mark.nats, pytest.mark.slow]

TEST_S = 240.0
KEY = "sk-planted-9b1e44c07d"
PROVIDER = "openai-compatible"
ANSWER = {
    "model": "tiny-1",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 1},
}
REFUSED = {"error": {"message": f"wrong key {KEY}", "type": "invalid_api_key", "code": "invalid_api_key"}}


async def asked(running: RunningWeft, method: str, path: str, body: object = None) -> Any:
    """Ask over REST; nothing that is answered has the key in it."""
    async with running.client() as client:
        answer = await client.request(method, path, json=body)
    assert KEY not in answer.text
    assert answer.is_success, answer.text
    return answer.json()


async def route(running: RunningWeft) -> tuple[str, str]:
    """Return which model a tool goes to, as one of the replicas says, and why."""
    decision = await asked(running, "GET", "/router/route/browser_click")
    return decision["model"], decision["reason"]


@pytest.mark.full
async def test_a_server_of_the_operators_own_is_asked_and_its_key_is_known_to_nobody_else(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S), receiving() as receiver:
        async with (
            scripted(document(ANSWER), document(REFUSED, status=401)) as server,
            running_weft(
                tmp_path,
                ["--actors", "gateway,router=2"],
                OPENAI_COMPATIBLE_API_KEY=KEY,
                OPENAI_COMPATIBLE_BASE_URL=server.base_url,
                WEFT_MODEL_HOSTS=server.host,
                WEFT_MODEL_UNPRICED_CALLS="2",
                OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
            ) as running,
        ):
            listed = await asked(running, "GET", "/router/providers")
            config = await asked(running, "GET", "/router/config/browser_click")
            await asked(running, "PUT", "/router/overrides/browser_*", {"provider": PROVIDER, "model": "mine"})
            while {("mine", "optimized")} != {await route(running) for _ in range(10)}:
                await anyio.sleep(0.01)  # until both replicas have heard of it
            works = await asked(running, "POST", f"/router/providers/{PROVIDER}/test")
            refused = await asked(running, "POST", f"/router/providers/{PROVIDER}/test", {"model": "other"})
            async with running.client() as client:
                beyond = await client.post(f"/router/providers/{PROVIDER}/test")
            assert await stop_process(running.process) == 0

    available = [row["provider"] for row in listed["providers"] if row["available"]]
    assert (available, config["provider"], config["hasApiKey"]) == ([PROVIDER], PROVIDER, True)
    assert (works["works"], refused["works"]) == (True, False)
    assert (beyond.status_code, beyond.json()["code"]) == (429, "RATE_LIMIT_BUDGET")  # whichever replica was asked
    assert [(one.path, one.headers["authorization"], one.body["model"]) for one in server.asked] == [
        ("/v1/chat/completions", f"Bearer {KEY}", "default"),
        ("/v1/chat/completions", f"Bearer {KEY}", "other"),
    ]
    spans = {span.id: span for span in receiver.spans if span.name.startswith("chat ")}
    assert sorted(span.attributes["gen_ai.request.model"] for span in spans.values()) == ["default", "other"]
    assert [one.headers["traceparent"].split("-")[2] in spans for one in server.asked] == [True, True]
    everything = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()] + receiver.bodies
    assert [KEY.encode() in one for one in everything if KEY.encode() in one] == []


CITED: dict[str, Any] = {
    "assistant": {"title": "Weft", "markdown": "It answers.", "citations": [1]},
    "supported": True,
    "collect": [],
}
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.full
async def test_one_trace_leads_from_the_edge_through_pages_to_the_request_at_the_provider(tmp_path: Path) -> None:
    written = msgspec.json.encode(CITED).decode()
    message = {"role": "assistant", "content": written}
    cited = ANSWER | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    with anyio.fail_after(TEST_S), receiving() as receiver:
        async with (
            serve_site() as site,
            scripted(document(cited)) as server,
            running_weft(
                tmp_path,
                ["--actors", "gateway,navigator,fetchers.intelligence,verifier,answerer,router,keeper"],
                OPENAI_COMPATIBLE_API_KEY=KEY,
                OPENAI_COMPATIBLE_BASE_URL=server.base_url,
                WEFT_MODEL_HOSTS=server.host,
                OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
            ) as running,
        ):
            body = {"url": site.url("/article"), "question": "Through what does the shuttle carry the weft?"}
            async with running.client(TEST_S) as client:
                traced = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
                answer = (await client.post("/api/answer", json=body, headers=traced)).json()
            assert await stop_process(running.process) == 0

    spans = {span.id: span for span in receiver.of(TRACE)}
    (request,) = [span for span in spans.values() if span.name.startswith("chat ")]
    way = list[str]()
    span: Seen | None = request
    while span is not None:
        way.append(f"{span.service}: {span.name}")
        span = spans.get(span.parent)
    assert (answer["servedBy"]["provider"], answer["markdown"].startswith("It answers.")) == (PROVIDER, True)
    assert [one.headers["traceparent"] for one in server.asked] == [f"00-{TRACE}-{request.id}-01"]
    assert way == [
        "router: chat default",
        "router: process model.call",
        "answerer: send model.call",
        "answerer: process web.answer",
        "gateway: send web.answer",
        "gateway: POST /api/answer",
    ]
    assert {"navigator", "fetchers.intelligence", "verifier"} < {span.service for span in spans.values()}


def test_a_wrong_routing_file_keeps_weft_from_starting_and_its_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "routing.toml").write_text('[[routes]]\ntools = "web_*"\ncategory = "fast"\nmodel = "openai/x"\n')

    done = run(tmp_path, "up", "--actors", "gateway,router")

    assert done.returncode != 0
    assert f"{tmp_path / 'routing.toml'}, line 3: [[routes]] Invalid enum value 'fast'" in done.stderr

"""Summaries, answers and data of real pages, by a whole Weft that has no key of any provider: quotes that hold."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from actors.gateway.http import EVENTS
from tests.flows.mcp_clients import connected, text_of
from tests.flows.system import System, refused
from tests.requirements import requirement
from tests.site import Site
from tests.support.models import EVENTS_HEAD, event_bytes, events, scripted, silence_after
from tests.support.otlp import receiving
from tests.support.system import running_weft, stop_process

pytestmark = [pytest.mark.nats, pytest.mark.slow]

QUESTION = "Through what does the shuttle carry the weft?"
Json = dict[str, Any]


def flat(text: str) -> str:
    """Write a text in one line."""
    return " ".join(text.split())


def check_quotes(weft: System, url: str, citations: list[Json]) -> None:
    """Check that every quote stands in the page that is cited, word for word."""
    page = flat(weft.page(url).content.text)
    assert citations
    assert [one["quote"] for one in citations if flat(one["quote"]) not in page] == []
    assert {one["url"] for one in citations} == {url}


@pytest.fixture(scope="module")
def article(site: Site) -> str:
    return site.url("/article")


def test_without_any_key_an_answer_is_quoted_from_the_page(weft: System, article: str) -> None:
    answer = weft.http.post("/api/answer", json={"url": article, "question": QUESTION})
    told = answer.json()

    assert answer.status_code == 200, told
    check_quotes(weft, article, told["citations"])
    assert (told["supported"], told["servedBy"]["provider"], bool(told["servedBy"]["whyLocal"])) == (
        True,
        "local",
        True,
    )
    assert "the opening between them is the shed" in flat(told["citations"][0]["quote"])
    assert [(one["url"], one["tier"]) for one in told["sources"]] == [(article, "intelligence")]


def test_a_follow_up_is_the_next_turn_and_both_are_remembered(weft: System, article: str) -> None:
    first = weft.http.post("/api/summarize", json={"url": article}).json()
    talk = first["conversation"]["id"]
    second = weft.http.post("/api/answer", json={"url": article, "question": QUESTION, "conversation": talk}).json()
    log = weft.http.get(f"/api/conversations/{talk}").json()
    listed = weft.http.get("/api/conversations").json()["conversations"]

    check_quotes(weft, article, first["citations"])
    assert [one["conversation"] for one in (first, second)] == [{"id": talk, "turn": 1}, {"id": talk, "turn": 2}]
    assert [(one["turn"], one["role"], one["task"]) for one in log["events"]] == [
        (1, "user", "web.summarize"),
        (1, "assistant", "web.summarize"),
        (2, "user", "web.answer"),
        (2, "assistant", "web.answer"),
    ]
    assert (listed[0]["id"], listed[0]["turns"]) == (talk, 2)
    key = weft.http.post("/api/keys", json={"name": "stranger", "scopes": ["browse"]}).json()["key"]
    foreign = weft.http.get(f"/api/conversations/{talk}", headers={"Authorization": f"Bearer {key}"})
    assert (foreign.status_code, refused(foreign).code) == (404, "VALIDATION_UNKNOWN_CONVERSATION")


def test_data_is_found_where_the_page_has_it(weft: System, site: Site) -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "price": {"type": "number"}}}
    told = weft.http.post("/api/extract", json={"url": site.url("/article"), "schema": schema}).json()

    assert told["data"] == {"title": "How a loom is warped", "price": None}
    assert (bool(told["fields"]["/price"]["reason"]), told["servedBy"]["provider"]) == (True, "local")


@requirement("003.response.bodies")
def test_a_packet_of_the_contract_is_answered_by_one(weft: System, article: str) -> None:
    document: Json = {
        "doc_id": "doc:web:summary",
        "kind": "web.observation.summary.v1",
        "trust": "untrusted",
        "content": {
            "doc_type": "web.observation.summary.v1",
            "url": article,
            "title": "Example",
            "markdown": "# Example\n\nA reed has forty gaps. The cloth is as wide as the reed.",
        },
    }
    packet: Json = {
        "protocol": {"name": "laika.llmcp", "version": 1},
        "id": "req-1",
        "type": "request",
        "created_at": "2026-01-28T12:34:56.789Z",
        "conversation": {"id": "c-1", "turn": 1},
        "sender": {"role": "agent"},
        "input": {
            "user_message": {"id": "u-1", "text": "How many gaps has a reed?"},
            "task": {"name": "web.answer", "args": {}},
        },
        "context": {"documents": [document]},
    }

    told = weft.http.post("/api/llmcp", json=packet | {"output": {"format": "json"}}).json()
    words = weft.http.post("/api/llmcp", json=packet | {"output": {"format": "markdown"}})

    assert (told["type"], told["in_reply_to"], told["conversation"]) == (
        "response",
        {"request_id": "req-1"},
        {"id": "c-1", "turn": 1},
    )
    assert told["assistant"]["citations"][0]["quote"] == "A reed has forty gaps."
    assert (told["assistant"]["citations"][0]["doc_id"], told["tool_calls"]) == ("doc:web:summary", [])
    assert told["assistant"]["render"]["type"] == "doc"
    assert words.headers["content-type"] == "text/markdown; charset=utf-8"
    assert words.text.splitlines()[-1] == "---END CITATIONS---"


def test_a_model_that_nobody_has_is_an_error_with_a_way_out(weft: System, article: str) -> None:
    body = {"url": article, "provider": "openai", "model": "gpt-nothing"}
    error = refused(weft.http.post("/api/summarize", json=body))

    assert "weft providers" in json.dumps([action.description for action in error.recommended_actions])


def test_a_stream_ends_in_the_result(weft: System, article: str) -> None:
    with weft.http.stream(
        "POST", "/api/summarize", json={"url": article}, headers={"accept": "text/event-stream"}
    ) as it:
        names = [line.removeprefix("event: ") for line in it.iter_lines() if line.startswith("event: ")]

    assert (names[0], names[-1], "error" in names) == ("started", "result", False)


async def test_a_tool_frames_the_answer_and_gives_its_quotes(weft: System, article: str) -> None:
    async with connected(weft) as client:
        result = await client.call_tool("answer", {"urls": [article], "question": QUESTION})

    data = result.structured_content
    assert data is not None
    check_quotes(weft, article, data["citations"])
    inside = text_of(result).partition("<<<untrusted-web-content")[2].partition("end-of-untrusted-web-content>>>")[0]
    assert all(flat(one["quote"]) in flat(inside) for one in data["citations"])


def test_the_command_line_asks_the_same(weft: System, article: str) -> None:
    done = weft.run("ask", article, QUESTION, "--json")
    told = json.loads(done.stdout)
    summary = weft.run("summarize", article)

    assert (done.returncode, summary.returncode) == (0, 0), done.stderr + summary.stderr
    check_quotes(weft, article, told["citations"])
    assert summary.stdout.count(f'" {article}') >= 1
    assert "quoted from the pages" in summary.stderr


# -- with a model --------------------------------------------------------------------------------------------------

PIECES = ("The heddles lift ", "some threads [5].", "\n\nThe shed is painted in blue [99].")
SENTENCE = (
    "The heddles lift some threads and leave the others down; the opening between them is the shed, and through it the "
    "shuttle carries the weft from one side to the other."
)
ACTORS = ("gateway", "keeper", "answerer", "navigator", "verifier", "router", "fetchers.intelligence")
TEST_S = 240.0


def chunk(text: str, finish: str | None = None) -> Json:
    """Write one event of a stream of chat completions."""
    return {"model": "tiny-1", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


async def until_text(lines: AsyncIterator[str]) -> AsyncGenerator[str]:
    """Yield the lines of a stream as far as the first text."""
    async for line in lines:
        yield line
        if line == "event: text":
            return


async def test_what_a_model_writes_is_streamed_counted_traced_and_held_to_the_page(tmp_path: Path, site: Site) -> None:
    url, usage = site.url("/article"), {"prompt_tokens": 900, "completion_tokens": 12}
    streamed = events(*map(chunk, PIECES), chunk("", "stop"), {"model": "tiny-1", "choices": [], "usage": usage})
    with anyio.fail_after(TEST_S), receiving() as receiver:
        async with (
            scripted(streamed, silence_after(EVENTS_HEAD, *event_bytes([chunk("The ")]))) as server,
            running_weft(
                tmp_path,
                ["--actors", ",".join(ACTORS)],
                OPENAI_COMPATIBLE_API_KEY="sk-planted",
                OPENAI_COMPATIBLE_BASE_URL=server.base_url,
                WEFT_MODEL_HOSTS=server.host,
                OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
            ) as running,
        ):
            async with running.client() as client:
                asking = partial(client.stream, "POST", "/api/answer", headers={"accept": EVENTS})
                async with asking(json={"url": url, "question": QUESTION}) as answer:
                    lines = [line async for line in answer.aiter_lines()]
                figures = (await client.get("/metrics")).text
                async with asking(json={"url": url, "question": "Who leaves?"}) as answer:
                    assert [line async for line in until_text(answer.aiter_lines())][-1] == "event: text"
                await server.left.wait()  # who closes the stream ends the model's work, too
            assert await stop_process(running.process) == 0

    heard = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    data = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    texts = [one["text"] for name, one in zip(heard, data, strict=True) if name == "text"]
    result = data[-1]
    assert (heard[0], heard[-1]) == ("started", "result")
    told = tuple(texts[: len(PIECES)])  # what comes later than the result, which has it all, is lost
    assert told == PIECES[: len(told)]
    assert [one["quote"] for one in result["citations"]] == [SENTENCE]
    assert (result["supported"], result["unsupported"]) == (True, ["The shed is painted in blue"])
    assert (result["servedBy"]["provider"], result["servedBy"]["usage"]) == (
        "openai-compatible",
        {"input": 900, "output": 12},
    )
    assert 'weft_key_input_tokens_total{key="owner"} 900.0' in figures
    asked, _ = server.asked
    _, trace, parent, _ = asked.headers["traceparent"].split("-")
    spans = {span.id: span for span in receiver.spans if span.trace == trace}
    assert (asked.body["stream"], spans[parent].name) == (True, "chat default")
    assert {span.service for span in spans.values()} >= {*ACTORS} - {"keeper"}
    assert [span.name for span in spans.values() if span.parent not in spans] == ["POST /api/answer"]

"""Summaries, answers and data over REST: what is asked of the answerer, and what a client gets of its answer."""

from __future__ import annotations

from typing import Any, cast

import httpx2
import msgspec
import pytest
from msgspec import structs

from actors.gateway.answers import NO_SCOPE
from actors.gateway.edge import edge
from actors.gateway.http import EVENTS
from actors.gateway.mcp.replica_state import ReplicaState
from protocol.access import OWNER_NAME
from protocol.answers import (
    AnswerText,
    AskConversation,
    AskQuestion,
    ChatEvent,
    ConversationInfo,
    ConversationList,
    ConversationLog,
    ExtractData,
    ListConversations,
    Summarize,
    SummaryStyle,
)
from protocol.browse import BrowseOptions
from protocol.documents import Content, Document, WebObservationSummary, untrusted
from protocol.faults import Code, FaultError, fault
from protocol.models import ModelName, Provider
from protocol.packets import Conversation
from protocol.pages import BrowsePage
from protocol.replicas import Progress
from protocol.sessions import SessionHealth, SessionStatus
from protocol.subject_kinds import Call
from protocol.subjects import ANSWER, CONVERSATION_GET, EXTRACT, SUMMARIZE
from tests.requirements import requirement
from tests.unit.actors.gateway.answer_data import (
    ANSWERED,
    BLOCK,
    CITATION,
    CITED,
    EXTRACTED,
    MARKDOWN,
    QUOTED,
    SERVED,
    UNREAD,
)
from tests.unit.actors.gateway.rest.calling import Replying, client, error_of
from tests.unit.actors.gateway.rest.test_events import events
from tests.unit.actors.gateway_data import BASE, BEARER, FakeBus, settings
from tests.unit.actors.page_data import URL

SCHEMA = {"type": "object", "properties": {"parts": {"type": "array", "items": {"type": "string"}}}}
REPLIES = {SUMMARIZE.pattern: ANSWERED, ANSWER.pattern: ANSWERED, EXTRACT.pattern: EXTRACTED}
NOTE = untrusted("note-1", WebObservationSummary(url=URL, title="Looms", markdown="A loom has warp and weft."))
QUESTION = "What has a loom?"


def page(url: str = URL, **fields: Any) -> BrowsePage:
    return BrowsePage(url=url, reader=OWNER_NAME, **fields)


@pytest.mark.parametrize(
    ("path", "body", "call", "asked"),
    [
        (
            "/api/summarize",
            {"url": URL, "style": "bullets", "options": {"maxLatencyMs": 900}},
            SUMMARIZE,
            Summarize(
                pages=(page(options=BrowseOptions(max_latency_ms=900)),), caller=OWNER_NAME, style=SummaryStyle.BULLETS
            ),
        ),
        (
            "/api/answer",
            {"urls": [URL, URL, "https://b.example/"], "question": QUESTION, "localOnly": True},
            ANSWER,
            AskQuestion(
                pages=(page(obey_robots=True), page("https://b.example/", obey_robots=True)),
                caller=OWNER_NAME,
                local_only=True,
                question=QUESTION,
            ),
        ),
        (
            "/api/extract",
            {
                "documents": [msgspec.to_builtins(NOTE)],
                "schema": SCHEMA,
                "provider": "openai",
                "model": "gpt-4o-mini",
                "maxCostUsd": 0.5,
            },
            EXTRACT,
            ExtractData(
                documents=(cast("Document[Content]", NOTE),),
                caller=OWNER_NAME,
                pin=ModelName(provider=Provider.OPENAI, model="gpt-4o-mini"),
                max_cost_usd=0.5,
                schema=SCHEMA,
            ),
        ),
    ],
)
async def test_what_is_asked_reaches_the_answerer(path: str, body: object, call: Call[Any, Any], asked: Any) -> None:
    bus = Replying(REPLIES)
    async with client(bus) as http:
        answer = await http.post(path, json=body)

    ((made, told, _, wait_ms),) = bus.calls
    assert (answer.status_code, made, wait_ms) == (200, call, 1_500)
    assert msgspec.to_builtins(told) == msgspec.to_builtins(asked)


async def test_an_answer_has_its_citations_its_sources_and_who_gave_it() -> None:
    async with client(Replying(REPLIES)) as http:
        answer = await http.post("/api/answer", json={"url": URL, "question": QUESTION})

    told = answer.json()
    error = told["sources"][1].pop("error")
    assert told == {
        "title": "Looms",
        "markdown": MARKDOWN,
        "supported": True,
        "confidence": 0.75,
        "citations": [CITED],
        "sources": [
            {
                "docId": "page-1",
                "url": URL,
                "title": "Looms",
                "chars": 120,
                "confidence": 0.8,
                "tier": "intelligence",
            },
            {"docId": "page-2", "url": "https://gone.example/", "title": "", "chars": 0},
        ],
        "servedBy": {
            "provider": "openai",
            "model": "gpt-4o-mini",
            "requested": {"provider": "openai", "model": "gpt-4o-mini"},
            "reason": "default",
            "calls": 2,
            "usage": {"input": 900, "output": 80, "cacheRead": 100},
            "costUsd": 0.25,
        },
        "conversation": {"id": answer.headers["x-conversation-id"], "turn": 1},
        "unsupported": ["Looms are blue."],
        "collect": ["The history of looms"],
        "toolCalls": [{"name": "browser.navigate", "arguments": {"url": "https://b.example/"}}],
        "schemaVersion": "1.0",
    }
    assert (error["code"], error["schemaVersion"]) == ("HTTP_NOT_FOUND", "1.0")
    assert "Accept" in answer.headers["vary"]


async def test_no_password_of_an_address_is_told_back() -> None:
    url = "https://me:hunter2@gone.example/"
    told = structs.replace(ANSWERED, sources=(structs.replace(UNREAD, url=url),))
    async with client(Replying({SUMMARIZE.pattern: told})) as http:
        answer = await http.post("/api/summarize", json={"url": url})

    assert (answer.json()["sources"][0]["url"], "hunter2" in answer.text) == ("https://gone.example/", False)


async def test_data_comes_with_where_each_value_is_from() -> None:
    async with client(Replying(REPLIES)) as http:
        told = (await http.post("/api/extract", json={"url": URL, "schema": SCHEMA})).json()

    assert told["data"] == {"parts": ["warp", "weft"], "colour": None}
    assert told["fields"]["/parts/0"] == {"confidence": 0.9, "origin": "text", "citation": CITED}
    assert told["fields"]["/colour"] == {"confidence": 0.0, "reason": "The page names no colour."}
    assert told["servedBy"] == {"provider": "local", "whyLocal": "No provider has credentials."}


@requirement("003.output.markdown-mode")
@pytest.mark.parametrize(
    ("path", "more", "words"),
    [
        ("/api/summarize", {}, f"{MARKDOWN}\n\n{BLOCK}"),
        ("/api/answer", {"question": QUESTION}, f"{MARKDOWN}\n\n{BLOCK}"),
        (
            "/api/extract",
            {"schema": SCHEMA},
            '```json\n{\n  "parts": [\n    "warp",\n    "weft"\n  ],\n  "colour": null\n}\n```\n\n' + BLOCK,
        ),
    ],
)
async def test_as_markdown_there_are_the_words_and_a_block_of_citations(path: str, more: Any, words: str) -> None:
    async with client(Replying(REPLIES)) as http:
        answer = await http.post(path, json={"url": URL, "format": "markdown", **more})

    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert answer.text == words


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "urls"),
        ({"urls": []}, "urls"),
        ({"url": URL, "urls": [URL]}, "url"),
        ({"urls": [URL] * 21}, "urls"),
        ({"url": URL, "provider": "openai"}, "model"),
        ({"url": URL, "model": "gpt-4o-mini"}, "provider"),
        ({"url": URL, "provider": "nobody", "model": "x"}, "provider"),
        ({"url": URL, "provider": "openai", "model": "x", "localOnly": True}, "localOnly"),
        ({"url": URL, "style": "loud"}, "style"),
        ({"url": URL, "format": "html"}, "format"),
        ({"url": URL, "conversation": "a/b"}, "conversation"),
        ({"url": URL, "maxCostUsd": -1}, "maxCostUsd"),
        ({"url": URL, "options": {"forceTier": "playwright", "maxCostTier": "intelligence"}}, "options.forceTier"),
        ({"documents": [{**msgspec.to_builtins(NOTE), "trust": "trusted"}]}, "documents"),
    ],
)
async def test_what_contradicts_itself_is_refused_before_anybody_is_asked(body: dict[str, Any], field: str) -> None:
    bus = Replying(REPLIES)
    async with client(bus) as http:
        answer = await http.post("/api/summarize", json=body)

    error = error_of(answer)
    assert (answer.status_code, error.code, bus.calls) == (400, Code.VALIDATION_INVALID_REQUEST, [])
    assert str(error.field).startswith(field)


# -- who may have a model asked ------------------------------------------------------------------------------------


async def test_a_key_without_the_scope_models_gets_what_the_pages_say_and_why() -> None:
    bus = Replying({SUMMARIZE.pattern: structs.replace(ANSWERED, served_by=QUOTED)})
    async with client(bus) as http:
        key = (await http.post("/api/keys", json={"name": "reader"})).json()
        http.headers["authorization"] = f"Bearer {key['key']}"
        told = (await http.post("/api/summarize", json={"url": URL})).json()
        body = {"url": URL, "provider": "openai", "model": "gpt-4o-mini"}
        pinned = await http.post("/api/summarize", json=body)

    assert (key["scopes"], told["servedBy"]) == (
        ["browse", "sessions", "browser", "runs", "collections", "offers"],
        {"provider": "local", "whyLocal": NO_SCOPE},
    )
    ((_, asked, *_),) = bus.calls
    assert (asked.local_only, asked.caller) == (True, f"key-{key['id']}")
    assert (pinned.status_code, error_of(pinned).code) == (403, Code.AUTH_INSUFFICIENT_SCOPE)
    assert 'scope="models"' in pinned.headers["www-authenticate"]


async def test_what_models_cost_is_counted_for_the_key() -> None:
    async with client(Replying(REPLIES)) as http:
        for _ in range(2):
            await http.post("/api/summarize", json={"url": URL})
        usage = (await http.get("/v1/usage")).json()["data"]
        figures = (await http.get("/metrics")).text

    del usage["day"]
    assert usage == {
        "requests": 2,
        "errors": 0,
        "pages": {"intelligence": 2},
        "costUnits": 2,
        "modelCalls": 4,
        "inputTokens": 1_800,
        "outputTokens": 160,
        "modelCostUsd": 0.5,
    }
    assert 'weft_key_model_calls_total{key="owner"} 4.0' in figures
    assert 'weft_key_input_tokens_total{key="owner"} 1800.0' in figures
    assert 'weft_key_output_tokens_total{key="owner"} 160.0' in figures
    assert 'weft_key_model_cost_usd_total{key="owner"} 0.5' in figures


async def test_a_page_is_read_with_a_login_of_the_caller_alone() -> None:
    healthy = SessionStatus(domain="example.com", profile="work", health=SessionHealth.HEALTHY)
    bus = Replying({**REPLIES, "session.health": healthy})
    async with client(bus) as http:
        body = {"url": URL, "options": {"sessionProfile": "work"}}
        answer = await http.post("/api/summarize", json=body)
        key = (await http.post("/api/keys", json={"name": "reader", "scopes": ["browse"]})).json()["key"]
        refused = await http.post("/api/summarize", json=body, headers={"authorization": f"Bearer {key}"})

    asked = bus.calls[-1][1].pages[0]
    assert (answer.status_code, asked.caller, bool(asked.login)) == (200, OWNER_NAME, True)
    assert (refused.status_code, len(bus.calls)) == (403, 2)


async def test_a_page_that_is_not_to_be_had_is_told_of_with_the_next_call() -> None:
    async with client(FakeBus(FaultError(fault(Code.CONTENT_REQUIRES_JS)))) as http:
        answer = await http.post("/api/summarize", json={"url": URL, "options": {"maxCostTier": "intelligence"}})

    error = error_of(answer)
    assert (answer.status_code, error.code) == (502, Code.CONTENT_REQUIRES_JS)
    assert error.recommended_actions[0].parameters is not None
    assert error.recommended_actions[0].parameters["url"] == URL


@pytest.mark.parametrize(
    ("code", "more", "status", "action"),
    [
        (Code.CONFIG_NO_MODEL, {"provider": "openai", "model": "x"}, 409, "add_provider"),
        (Code.NETWORK_MODEL_FAILED, {}, 502, "answer_locally"),
        (Code.RATE_LIMIT_BUDGET, {}, 429, "answer_locally"),
    ],
)
async def test_a_model_that_is_not_to_be_had_is_told_of_with_a_way_out(
    code: Code, more: dict[str, str], status: int, action: str
) -> None:
    async with client(FakeBus(FaultError(fault(code)))) as http:
        answer = await http.post("/api/summarize", json={"url": URL, **more})

    assert (answer.status_code, error_of(answer).code) == (status, code)
    assert action in [one.action for one in error_of(answer).recommended_actions]


async def test_documents_without_words_are_the_mistake_of_who_sent_them() -> None:
    async with client(FakeBus(FaultError(fault(Code.CONTENT_EMPTY, "There is nothing to read.")))) as http:
        answer = await http.post("/api/summarize", json={"documents": [msgspec.to_builtins(NOTE)]})

    assert (answer.status_code, error_of(answer).field, error_of(answer).error) == (
        400,
        "documents",
        "There is nothing to read.",
    )


# -- conversations -------------------------------------------------------------------------------------------------


def said(turn: int, role: Any, **fields: Any) -> ChatEvent:
    return ChatEvent(
        id=f"chat_{turn}",
        at=turn,
        conversation="loom-1",
        turn=turn,
        caller=OWNER_NAME,
        role=role,
        task="web.answer",
        markdown="Words.",
        **fields,
    )


LOG = ConversationLog(
    id="loom-1",
    events=(said(1, "user"), said(1, "assistant", citations=(CITATION,), served_by=SERVED), said(2, "user")),
    model_runs=(),
)


async def test_a_follow_up_is_the_next_turn_of_its_conversation() -> None:
    bus = Replying({**REPLIES, CONVERSATION_GET.pattern: LOG})
    async with client(bus) as http:
        body = {"url": URL, "question": QUESTION, "conversation": "loom-1"}
        told = (await http.post("/api/answer", json=body)).json()

    assert told["conversation"] == {"id": "loom-1", "turn": 3}
    assert bus.calls[0][1] == AskConversation(caller=OWNER_NAME, id="loom-1")
    assert bus.conversations[-1] == Conversation(id="loom-1", turn=3)


async def test_own_conversations_are_listed_and_told() -> None:
    info = ConversationInfo(id="loom-1", started_at=1, updated_at=2, turns=2, task="web.answer", preview="What")
    listed = ConversationList(conversations=(info,), total=1)
    bus = Replying({"conversation.list": listed, CONVERSATION_GET.pattern: LOG})
    async with client(bus) as http:
        rows = (await http.get("/api/conversations?limit=5&offset=2")).json()
        told = (await http.get("/api/conversations/loom-1")).json()

    assert bus.calls[0][1] == ListConversations(caller=OWNER_NAME, limit=5, offset=2)
    assert msgspec.convert(rows, ConversationList) == listed
    assert [(one["turn"], one["role"]) for one in told["events"]] == [(1, "user"), (1, "assistant"), (2, "user")]
    assert (told["events"][1]["citations"], "caller" in told["events"][1]) == ([CITED], False)


async def test_a_conversation_of_nobody_is_not_there() -> None:
    nothing = fault(Code.VALIDATION_UNKNOWN_CONVERSATION)
    async with client(FakeBus(FaultError(nothing))) as http:
        answer = await http.get("/api/conversations/loom-2")

    assert answer.status_code == 404


# -- streams -------------------------------------------------------------------------------------------------------


class Writing(Replying):
    """Sends what it writes to the replica that waits, as an answerer does, before it answers."""

    def __init__(self, state: ReplicaState) -> None:
        super().__init__(REPLIES)
        self.state = state

    async def call(self, call: Call[Any, Any], args: Any, *, timeout_ms: int | None = None, wait_ms: int = 0) -> Any:
        watch = args.watch
        assert watch.replica == "here"
        self.state.watchers.deliver(Progress(token=watch.token, done=1, message="One page is read.", total=1))
        for index, (text, restarted) in enumerate([("Looms ", False), ("are", False), ("Looms have", True)]):
            self.state.watchers.deliver(AnswerText(token=watch.token, index=index, text=text, restarted=restarted))
        return await super().call(call, args, timeout_ms=timeout_ms, wait_ms=wait_ms)


async def test_what_a_model_writes_is_streamed_and_a_restart_is_marked() -> None:
    state = ReplicaState("here")
    async with edge(Writing(state), settings(), "1.2.3", state) as (app, _):
        transport = httpx2.ASGITransport(app)
        async with (
            httpx2.AsyncClient(transport=transport, base_url=BASE, headers={**BEARER, "accept": EVENTS}) as http,
            http.stream("POST", "/api/summarize", json={"url": URL}) as answer,
        ):
            heard = [event async for event in events(answer.aiter_lines())]

    assert [(one.name, one.data) for one in heard[1:-1]] == [
        ("progress", {"done": 1, "message": "One page is read.", "total": 1}),
        ("text", {"index": 0, "text": "Looms "}),
        ("text", {"index": 1, "text": "are"}),
        ("restarted", {"index": 2}),
        ("text", {"index": 2, "text": "Looms have"}),
    ]
    assert (heard[0].name, heard[-1].name, heard[-1].data["markdown"]) == ("started", "result", MARKDOWN)
    assert heard[0].data["conversationId"] == heard[-1].data["conversation"]["id"]

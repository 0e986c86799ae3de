"""LLMCP over REST: a request packet comes in, the response packet goes out, for what a client may ask."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx2
import msgspec
import pytest
from msgspec import UnsetType, structs

from actors.gateway.access.caller import Scope
from actors.gateway.answers import SourceDocument
from actors.gateway.rest.packets import EXAMPLE, PERMITTED, TASKS
from protocol import subjects
from protocol.access import OWNER_NAME
from protocol.agent import MadeText, MakeText, TransformType
from protocol.answers import AskQuestion, ExtractData, Summarize, SummaryStyle
from protocol.codec import decoder
from protocol.domains import AskDomain, DomainKnowledge
from protocol.faults import Code, FaultError, fault
from protocol.models import ModelName, Provider
from protocol.packets import Assistant, Conversation, Response
from protocol.pages import BrowsePage
from protocol.render import Doc, to_markdown
from protocol.sessions import ListSessions, NamedSession, SessionHealth, SessionList, SessionStatus
from protocol.subject_kinds import Call
from protocol.subjects import table
from protocol.tiers import RenderTier
from tests.requirements import requirement
from tests.unit.actors.gateway.answer_data import ANSWERED, BLOCK, CITATION, EXTRACTED, MARKDOWN, TREE
from tests.unit.actors.gateway.rest.calling import Replying, client, error_of
from tests.unit.actors.gateway_data import FakeBus, browsed
from tests.unit.actors.page_data import URL

KNOWN = DomainKnowledge(
    domain="example.com", known=False, start_tier=RenderTier.INTELLIGENCE, start_reason="nothing is known of the site"
)
STATUS = SessionStatus(domain="example.com", profile="me", health=SessionHealth.HEALTHY)
LOGIN = {"domain": "example.com", "profile": "me"}


def packet(task: str, args: object, **more: object) -> dict[str, Any]:
    return {**EXAMPLE, "input": {"task": {"name": task, "args": args}}, **more}


def response(answer: httpx2.Response, result: Any = Any) -> Response[Any]:
    """Read a response packet as an actor on the bus would."""
    read: Response[Any] = decoder(Response[result]).decode(answer.content)
    assert read.in_reply_to.request_id == EXAMPLE["id"]
    return read


@pytest.mark.parametrize(
    ("call", "args", "asked", "answer"),
    [
        (
            subjects.BROWSE,
            {"url": URL, "obey_robots": True},
            BrowsePage(url=URL, obey_robots=True, reader=OWNER_NAME),
            browsed(),
        ),
        (subjects.DOMAIN, {"domain": "example.com"}, AskDomain(domain="example.com"), KNOWN),
        (subjects.SESSION_LIST, {}, ListSessions(caller=OWNER_NAME), SessionList(sessions=(STATUS,))),
        (subjects.SESSION_HEALTH, LOGIN, NamedSession(domain="example.com", profile="me", caller=OWNER_NAME), STATUS),
        (subjects.SESSION_DELETE, LOGIN, NamedSession(domain="example.com", profile="me", caller=OWNER_NAME), STATUS),
        (subjects.SESSION_REFRESH, LOGIN, NamedSession(domain="example.com", profile="me", caller=OWNER_NAME), STATUS),
    ],
)
async def test_a_task_is_done_and_answered_by_a_packet(
    call: Call[Any, Any], args: Any, asked: Any, answer: Any
) -> None:
    bus = Replying({call.pattern: answer})
    async with client(bus) as http:
        answered = await http.post("/api/llmcp", json=packet(call.task, args))

    assert answered.status_code == 200
    assert [(made, told) for made, told, _, _ in bus.calls] == [(call, asked)]
    assert response(answered, call.answer).result == answer


async def test_the_conversation_goes_on_in_every_packet() -> None:
    bus = Replying({"web.domain": KNOWN})
    async with client(bus) as http:
        talk = {"id": "loom-7", "turn": 4}
        answer = await http.post("/api/llmcp", json=packet("web.domain", {"domain": "a.example"}, conversation=talk))

    assert bus.conversations == [Conversation(id="loom-7", turn=4)]
    assert response(answer).conversation == Conversation(id="loom-7", turn=4)


async def test_what_the_browse_allows_is_the_time_of_the_call() -> None:
    bus = Replying({"web.browse": browsed()})
    async with client(bus) as http:
        await http.post("/api/llmcp", json=packet("web.browse", {"url": URL, "options": {"maxLatencyMs": 900}}))

    assert [timeout_ms for _, _, timeout_ms, _ in bus.calls] == [900]


async def test_nobody_else_is_told_of_the_progress() -> None:
    bus = Replying({"web.browse": browsed()})
    watch = {"replica": "another", "token": "of somebody"}
    async with client(bus) as http:
        await http.post("/api/llmcp", json=packet("web.browse", {"url": URL, "watch": watch}))

    assert [asked.watch for _, asked, _, _ in bus.calls] == [None]


@pytest.mark.parametrize(
    ("told", "task", "args", "status"),
    [
        (fault(Code.HTTP_NOT_FOUND), "web.browse", {"url": URL}, 502),
        (fault(Code.INTERNAL_UNAVAILABLE), "web.domain", {"domain": "example.com"}, 503),
        (fault(Code.AUTH_MISSING_SESSION), "session.delete", LOGIN, 404),
        (fault(Code.AUTH_MISSING_SESSION), "web.browse", {"url": URL}, 502),
    ],
)
async def test_a_task_that_fails_is_answered_by_a_packet_with_the_fault(
    told: Any, task: str, args: object, status: int
) -> None:
    async with client(FakeBus(FaultError(told))) as http:
        answer = await http.post("/api/llmcp", json=packet(task, args))

    error = response(answer).error
    assert not isinstance(error, UnsetType)
    assert (answer.status_code, error.code) == (status, told.code)
    assert error.actions[-1].action == ("report_to_user" if task == "web.browse" else told.actions[-1].action)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({**EXAMPLE, "type": "response"}, "type"),
        ({name: value for name, value in EXAMPLE.items() if name != "type"}, "type"),
        ({**EXAMPLE, "protocol": {"name": "laika.llmcp", "version": 2}}, "protocol.version"),
        ({**EXAMPLE, "created_at": "2026-01-01T12:00:00"}, "created_at"),
        ({**EXAMPLE, "id": ""}, "id"),
        (packet("web.browse", {}), "input.task.args.url"),
        (packet("web.browse", {"url": URL, "options": {"nope": 1}}), "input.task.args.options.nope"),
        (packet("nothing.at.all", {}), "input.task.name"),
    ],
)
async def test_what_is_no_packet_is_refused(body: dict[str, Any], field: str) -> None:
    bus = FakeBus(browsed())
    async with client(bus) as http:
        answer = await http.post("/api/llmcp", json=body)

    error = error_of(answer)
    assert (answer.status_code, error.code, error.field) == (400, Code.VALIDATION_INVALID_REQUEST, field)
    assert bus.calls == []


async def test_what_a_packet_holds_beside_its_task_is_let_be() -> None:
    async with client(Replying({"web.domain": KNOWN})) as http:
        answer = await http.post("/api/llmcp", json=packet("web.domain", {"domain": "a.example"}, output={}, more=1))

    assert answer.status_code == 200


def _others() -> Iterable[str]:
    return sorted({entry.task for _, entry in table() if isinstance(entry, Call)} - set(TASKS))


@pytest.mark.parametrize("task", _others())
async def test_what_actors_say_to_each_other_is_not_for_clients(task: str) -> None:
    bus = FakeBus(browsed())
    async with client(bus) as http:
        answer = await http.post("/api/llmcp", json=packet(task, {"url": URL}))

    assert (answer.status_code, error_of(answer).field, bus.calls) == (400, "input.task.name", [])


@pytest.mark.parametrize(
    ("scopes", "task", "status"),
    [
        (["browse"], "web.domain", 200),
        (["browse"], "session.list", 403),
        (["sessions"], "session.list", 200),
        (["sessions"], "web.domain", 403),
        (["operate"], "session.list", 403),
        (["operate"], "web.domain", 403),
    ],
)
async def test_a_task_needs_its_own_scope(scopes: list[str], task: str, status: int) -> None:
    bus = Replying({"web.domain": KNOWN, "session.list": SessionList()})
    args: dict[str, str] = {"domain": "example.com"} if task == "web.domain" else {}
    async with client(bus) as http:
        made = (await http.post("/api/keys", json={"name": "loom", "scopes": scopes})).json()
        answer = await http.post(
            "/api/llmcp", json=packet(task, args), headers={"Authorization": f"Bearer {made['key']}"}
        )

    assert answer.status_code == status
    if status != 200:
        told = response(answer).error
        assert told == fault(Code.AUTH_INSUFFICIENT_SCOPE, getattr(told, "message", ""))
        assert "insufficient_scope" in answer.headers["www-authenticate"]


@pytest.mark.parametrize("task", ["web.browse", "web.preview"])
async def test_a_login_is_used_by_those_alone_who_may_look_after_them(task: str) -> None:
    bus = FakeBus(browsed())
    async with client(bus) as http:
        made = (await http.post("/api/keys", json={"name": "loom", "scopes": ["browse", "operate"]})).json()
        body = packet(task, {"url": URL, "options": {"sessionProfile": "work"}})
        answer = await http.post("/api/llmcp", json=body, headers={"Authorization": f"Bearer {made['key']}"})

    assert (answer.status_code, bus.calls) == (403, [])


def test_only_reading_and_logins_are_permitted() -> None:
    assert {one.scope for one in PERMITTED.values()} == {Scope.BROWSE, Scope.SESSIONS}
    assert subjects.SESSION_SAVE not in [one.call for one in PERMITTED.values()]


# -- answers from pages and documents (003 "Tasks") ----------------------------------------------------------------

NOTE: dict[str, Any] = {
    "doc_id": "doc:web:summary",
    "kind": "web.observation.summary.v1",
    "trust": "untrusted",
    "source": {"browser": "safari", "tab_id": "7"},
    "content": {
        "doc_type": "web.observation.summary.v1",
        "url": URL,
        "title": "Looms",
        "markdown": "# Looms\n\nA loom has warp and weft.",
        "signals": ["sparse_text"],
    },
}
SAID = {"id": "u-1", "text": "What has a loom?"}
SCHEMA = {"type": "object", "properties": {"parts": {"type": "array", "items": {"type": "string"}}}}
ANSWERS = {subjects.SUMMARIZE.pattern: ANSWERED, subjects.ANSWER.pattern: ANSWERED, subjects.EXTRACT.pattern: EXTRACTED}


def asking(task: str, args: object = None, **more: Any) -> dict[str, Any]:
    """Write a request packet as the seed has it."""
    return {
        **EXAMPLE,
        "conversation": {"id": "c-1", "turn": 3},
        "input": {"user_message": SAID, "task": {"name": task, "args": args or {}}},
        "context": {"documents": [NOTE]},
        **more,
    }


@requirement("003.request.input")
@pytest.mark.parametrize(
    ("task", "args", "asked"),
    [
        ("web.summarize", {"style": "detailed"}, Summarize(caller=OWNER_NAME, style=SummaryStyle.DETAILED)),
        ("web.answer", {}, AskQuestion(caller=OWNER_NAME, question="What has a loom?")),
        (
            "web.answer",
            {"question": "Which?", "urls": [URL], "local_only": True, "max_cost_usd": 0.5},
            AskQuestion(
                pages=(BrowsePage(url=URL, reader=OWNER_NAME),),
                caller=OWNER_NAME,
                question="Which?",
                local_only=True,
                max_cost_usd=0.5,
            ),
        ),
        (
            "web.extract",
            {"schema": SCHEMA, "provider": "openai", "model": "gpt-4o-mini"},
            ExtractData(
                caller=OWNER_NAME,
                schema=SCHEMA,
                instructions="What has a loom?",
                pin=ModelName(provider=Provider.OPENAI, model="gpt-4o-mini"),
            ),
        ),
    ],
)
async def test_an_answering_task_takes_the_documents_and_words_of_its_packet(
    task: str, args: object, asked: Any
) -> None:
    bus = Replying(ANSWERS)
    async with client(bus) as http:
        answer = await http.post("/api/llmcp", json=asking(task, args))

    ((call, told, *_),) = bus.calls
    assert (answer.status_code, call.task, bus.conversations) == (200, task, [Conversation(id="c-1", turn=3)])
    assert told == structs.replace(asked, documents=(msgspec.convert(NOTE, SourceDocument),))


@requirement("003.tasks")
async def test_a_transform_makes_a_text_of_the_documents_of_its_packet() -> None:
    assistant = Assistant(title="Timeline", markdown=MARKDOWN, citations=(CITATION,))
    made = MadeText(title="Timeline", assistant=assistant, sources=ANSWERED.sources, served_by=ANSWERED.served_by)
    bus = Replying({subjects.MAKE_TEXT.pattern: made})
    args = {"type": "timeline", "config": {"focus": "looms"}, "local_only": True}
    async with client(bus) as http:
        answer = await http.post("/api/llmcp", json=asking("transform.run", args))
        words = await http.post("/api/llmcp", json=asking("transform.run", args, output={"format": "markdown"}))
        without = await http.post("/api/llmcp", json=asking("transform.run", args, context={}))

    order = MakeText(
        type=TransformType.TIMELINE,
        documents=(msgspec.convert(NOTE, SourceDocument),),
        caller=OWNER_NAME,
        config={"focus": "looms"},
        local_only=True,
    )
    assert [told for _, told, *_ in bus.calls] == [order, order]
    assert response(answer).assistant == Assistant(title="Timeline", render=TREE, citations=(CITATION,))
    assert words.text.startswith(MARKDOWN.strip())
    assert (without.status_code, without.json()["error"]["field"]) == (400, "context.documents")


@requirement("003.response.bodies")
async def test_an_answer_is_a_packet_with_its_tree_its_citations_and_proposals() -> None:
    async with client(Replying(ANSWERS)) as http:
        answer = await http.post("/api/llmcp", json=asking("web.summarize"))

    packed, told = response(answer), answer.json()
    assert packed.assistant == Assistant(title="Looms", render=TREE, citations=(CITATION,))
    assert (packed.tool_calls, packed.sender.role, packed.conversation.turn) == (ANSWERED.tool_calls, "assistant", 3)
    assert set(told["assistant"]) == {"title", "render", "citations"}
    assert told["details"] == {
        name: value
        for name, value in msgspec.json.decode(msgspec.json.encode(ANSWERED), type=dict[str, Any]).items()
        if name not in ("assistant", "tool_calls")
    }


async def test_data_is_a_block_of_json_in_the_tree_and_whole_beside_it() -> None:
    async with client(Replying(ANSWERS)) as http:
        told = (await http.post("/api/llmcp", json=asking("web.extract", {"schema": SCHEMA}))).json()

    (block,) = told["assistant"]["render"]["children"]
    assert (block["type"], block["language"]) == ("code_block", "json")
    assert msgspec.json.decode(block["text"]) == told["details"]["data"] == EXTRACTED.data
    assert (told["assistant"]["citations"], told["tool_calls"]) == ([msgspec.to_builtins(CITATION)], [])


async def test_an_answer_without_a_tree_is_given_one() -> None:
    plain = structs.replace(ANSWERED, assistant=Assistant(markdown="One.\n\n*Two.*"))
    async with client(Replying({subjects.SUMMARIZE.pattern: plain})) as http:
        told = (await http.post("/api/llmcp", json=asking("web.summarize"))).json()

    assert [one["children"][0]["text"] for one in told["assistant"]["render"]["children"]] == ["One.", "*Two.*"]


async def test_an_answer_that_the_sources_do_not_give_says_what_to_read_next() -> None:
    absent = structs.replace(ANSWERED, supported=False, assistant=Assistant(markdown="Not said."))
    async with client(Replying({subjects.ANSWER.pattern: absent})) as http:
        packed = response(await http.post("/api/llmcp", json=asking("web.answer")))
        words = (await http.post("/api/llmcp", json=asking("web.answer", output={"format": "markdown"}))).text

    next_one = "To read next:\n\n- The history of looms"
    assert words == f"Not said.\n\n{next_one}\n"
    assert isinstance(packed.assistant, Assistant)
    assert isinstance(packed.assistant.render, Doc)
    assert to_markdown(packed.assistant.render) == f"Not said.\n\n{next_one}"


@requirement("003.output.markdown-mode")
async def test_as_markdown_an_answer_has_no_envelope() -> None:
    async with client(Replying(ANSWERS)) as http:
        answer = await http.post("/api/llmcp", json=asking("web.answer", output={"format": "markdown"}))

    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert answer.text == f"{MARKDOWN}\n\n{BLOCK}"


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (asking("web.answer", input={"task": {"name": "web.answer", "args": {}}}), 400, "input.user_message.text"),
        (asking("web.summarize", context={}), 400, "input.task.args.urls"),
        (asking("web.extract"), 400, "input.task.args.schema"),
        (asking("web.summarize", {"style": "loud"}), 400, "input.task.args.style"),
        (asking("web.summarize", context={"documents": [{**NOTE, "trust": "trusted"}]}), 400, "context.documents[0]"),
        (asking("web.summarize", context={"documents": [{**NOTE, "kind": "x"}]}), 400, "context.documents[0].kind"),
        (asking("web.summarize", output={"format": "html"}), 400, "output.format"),
    ],
)
async def test_what_is_no_answering_task_is_refused(body: dict[str, Any], status: int, field: str) -> None:
    bus = Replying(ANSWERS)
    async with client(bus) as http:
        answer = await http.post("/api/llmcp", json=body)

    told = answer.json()
    named = (told.get("error") if isinstance(told.get("error"), dict) else told)["field"]
    assert (answer.status_code, named, bus.calls) == (status, field, [])


@pytest.mark.parametrize(("scopes", "status"), [(["browse"], 200), (["operate", "models"], 403)])
async def test_an_answer_needs_the_scope_of_reading(scopes: list[str], status: int) -> None:
    bus = Replying(ANSWERS)
    async with client(bus) as http:
        made = (await http.post("/api/keys", json={"name": "loom", "scopes": scopes})).json()
        headers = {"Authorization": f"Bearer {made['key']}"}
        answer = await http.post("/api/llmcp", json=asking("web.summarize"), headers=headers)

    assert answer.status_code == status
    assert [asked.local_only for _, asked, *_ in bus.calls] == [True] * (status == 200)

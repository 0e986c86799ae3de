"""`weft summarize`, `ask`, `pull`, `conversations` and `routes`: what is asked, what is printed, how each ends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from msgspec import structs
from rich.console import Console

from actors.cli.answer_output import AnswerScreen
from actors.cli.answers import schema_of
from actors.cli.main import run
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
from protocol.browse import BrowseOptions, Freshness
from protocol.faults import Code, FaultError, fault
from protocol.models import ModelName, Provider
from protocol.pages import BrowsePage
from protocol.replicas import Progress
from protocol.routes import AskRoute, SetRoute, UnsetRoute
from protocol.subjects import (
    ANSWER,
    CONVERSATION_GET,
    CONVERSATION_LIST,
    EXTRACT,
    ROUTE,
    ROUTE_SET,
    ROUTE_UNSET,
    ROUTES,
    SUMMARIZE,
)
from protocol.tiers import RenderTier
from tests.unit.actors.cli.cli_data import FakeBus, connected_to
from tests.unit.actors.gateway.answer_data import ANSWERED, CITATION, EXTRACTED, MARKDOWN, QUOTE, QUOTED, READ, SERVED
from tests.unit.actors.gateway.rest.test_models import CHANGE, HAIKU, MINI, TABLE
from tests.unit.actors.gateway.run_data import RunBus
from tests.unit.actors.page_data import URL

Shown = pytest.CaptureFixture[str]
ALL_READ = structs.replace(ANSWERED, sources=(READ,))
UNSUPPORTED = structs.replace(ALL_READ, supported=False)


class AnsweringBus(RunBus):
    """A bus whose answerer writes before it answers; `handlers` hear the events, by pattern."""

    def __init__(self, answers: Any) -> None:
        super().__init__(answers)
        self.handlers: dict[str, Any] = {}

    async def serve(self, subject: Any, handler: Any, *, at_once: int) -> None:
        assert at_once == 1
        self.handlers[subject.pattern] = handler

    async def call(self, call: Any, args: Any, *, timeout_ms: int | None = None, wait_ms: int = 0) -> Any:
        if (watch := getattr(args, "watch", None)) is not None:
            hear = self.handlers[f"events.answer.text.{watch.replica}"]
            for index, text in enumerate(["Looms ", "are \x1b[2Jblue."]):
                await hear(AnswerText(token=watch.token, index=index, text=text))
        return await super().call(call, args, timeout_ms=timeout_ms, wait_ms=wait_ms)


def bus_of(monkeypatch: pytest.MonkeyPatch, answers: dict[Any, Any]) -> AnsweringBus:
    """Have a system run whose actors answer so."""
    bus = AnsweringBus(answers)
    monkeypatch.setenv("WEFT_NATS_URL", "nats://127.0.0.1:1")
    connected_to(monkeypatch, cast("FakeBus", bus))
    return bus


def page(url: str = URL, **fields: Any) -> BrowsePage:
    return BrowsePage(url=url, reader=OWNER_NAME, **fields)


# -- answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "call", "asked"),
    [
        (
            ["summarize", URL, "https://b.example/", "--style", "bullets", "--max-cost", "0.5"],
            SUMMARIZE,
            Summarize(
                pages=(page(obey_robots=True), page("https://b.example/", obey_robots=True)),
                style=SummaryStyle.BULLETS,
                max_cost_usd=0.5,
            ),
        ),
        (
            ["ask", URL, "What has a loom?", "--model", "openrouter/meta/llama-3", "--max-tier", "intelligence"],
            ANSWER,
            AskQuestion(
                pages=(page(options=BrowseOptions(max_cost_tier=RenderTier.INTELLIGENCE)),),
                question="What has a loom?",
                pin=ModelName(provider=Provider.OPENROUTER, model="meta/llama-3"),
            ),
        ),
        (
            [
                "pull",
                URL,
                "--fields",
                "name, prices:number[]",
                "--instructions",
                "In euros.",
                "--local",
                "--fresh",
                "cached",
            ],
            EXTRACT,
            ExtractData(
                pages=(page(options=BrowseOptions(freshness_requirement=Freshness.CACHED)),),
                schema=schema_of("name,prices:number[]"),
                instructions="In euros.",
                local_only=True,
            ),
        ),
    ],
)
def test_what_is_asked_reaches_the_answerer(
    monkeypatch: pytest.MonkeyPatch, words: list[str], call: Any, asked: Any
) -> None:
    bus = bus_of(monkeypatch, {SUMMARIZE: ALL_READ, ANSWER: ALL_READ, EXTRACT: EXTRACTED})

    assert run(words) == 0

    (told,) = bus.every(call)
    assert told == structs.replace(asked, caller="owner", watch=told.watch)


def test_in_a_pipe_there_are_the_words_and_quotes_and_beside_it_who_gave_them(
    monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    bus_of(monkeypatch, {ANSWER: ALL_READ})

    run(["ask", URL, "What has a loom?"])

    shown = capsys.readouterr()
    assert shown.out == f'{MARKDOWN}\n\n[1] "{QUOTE}" {URL}\n\nTo read next:\n- The history of looms\n'
    assert shown.err.startswith("openai/gpt-4o-mini, $0.2500 · confidence 0.75 · conversation ")


def test_on_a_terminal_marks_of_citations_are_plain(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    assistant = structs.replace(ANSWERED.assistant, markdown=r"It has a warp \[1\]. It sings \[unsupported\].")
    bus_of(monkeypatch, {ANSWER: structs.replace(ALL_READ, assistant=assistant)})

    run(["ask", URL, "What has a loom?"])

    first = capsys.readouterr().out.splitlines()[0]
    assert first.rstrip() == "It has a warp [1]. It sings [unsupported]."


def test_a_page_that_was_not_read_is_told_of(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    bus_of(monkeypatch, {SUMMARIZE: structs.replace(ANSWERED, served_by=QUOTED)})

    code = run(["summarize", URL, "https://gone.example/"])

    first, second = capsys.readouterr().err.splitlines()
    assert (code, first) == (4, "not read: https://gone.example/: The page does not exist. [HTTP_NOT_FOUND]")
    assert second.startswith("quoted from the pages: No provider has credentials. · confidence")


@pytest.mark.slow
def test_data_is_printed_as_it_is_and_with_json_where_it_is_from(
    monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    bus_of(monkeypatch, {EXTRACT: [EXTRACTED, EXTRACTED]})

    codes = [run(["pull", URL, "--fields", "parts:string[]"]), run(["pull", URL, "--fields", "parts", "--json"])]

    data, _, whole = capsys.readouterr().out.partition("}\n")
    assert (codes, json.loads(f"{data}}}")) == ([0, 0], EXTRACTED.data)
    assert json.loads(whole)["fields"]["/parts/0"]["citation"]["quote"] == QUOTE


@pytest.mark.parametrize(("outcome", "code"), [(ALL_READ, 0), (UNSUPPORTED, 4), (fault(Code.CONTENT_EMPTY), 1)])
def test_the_exit_code_tells_whether_the_pages_say_it(monkeypatch: pytest.MonkeyPatch, outcome: Any, code: int) -> None:
    bus_of(monkeypatch, {ANSWER: outcome if outcome in (ALL_READ, UNSUPPORTED) else FaultError(outcome)})

    assert run(["ask", URL, "What?", "--json"]) == code


def test_a_schema_is_read_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "object"}')
    bus = bus_of(monkeypatch, {EXTRACT: EXTRACTED})

    run(["pull", URL, "--schema", str(file)])

    assert bus.every(EXTRACT)[0].schema == {"type": "object"}


def test_fields_are_a_schema() -> None:
    assert schema_of("name,price:number,on:date,links:url[]") == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "price": {"type": "number"},
            "on": {"type": "string", "format": "date"},
            "links": {"type": "array", "items": {"type": "string", "format": "uri"}},
        },
    }


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["ask", URL], 2, "name a page and a question"),
        (["ask", URL, "What", "is", "it?"], 2, "'What' is no page: write the question in quotes"),
        (["ask", URL, "  "], 1, "question: it has no words"),
        (["pull", URL], 2, "--schema FILE or by --fields"),
        (["pull", URL, "--schema", "a", "--fields", "b"], 2, "--schema FILE or by --fields"),
        (["pull", URL, "--schema", "/nowhere.json"], 1, "/nowhere.json: No such file"),
        (["pull", URL, "--fields", "a:money"], 1, "perhaps one of string, number"),
        (["ask", URL, "What?", "--model", "opeani/x"], 1, "Did you mean openai?"),
        (["ask", URL, "What?", "--model", "gpt-4o"], 1, "a model is named PROVIDER/MODEL"),
        (["ask", URL, "What?", "--model", "openai"], 1, "openai/MODEL"),
        (["ask", URL, "What?", "--conversation", "a/b"], 1, "conversation"),
        (["ask", URL, "What?", "--local", "--model", "openai/x"], 1, "no model is asked"),
        (["ask", *[f"{URL}/{number}" for number in range(21)], "What?"], 1, "urls"),
        (["routes", "set", "a*b", "openai/x"], 1, "one star at the end"),
        (["routes", "set", "a", "nobody/x"], 1, "there is no provider 'nobody'"),
    ],
)
def test_what_is_wrong_is_said_before_anybody_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: Shown, words: list[str], code: int, said: str
) -> None:
    bus = bus_of(monkeypatch, {})

    assert (run(words), bus.calls) == (code, [])
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_nothing_of_an_answer_commands_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    evil = "\x1b]0;owned\x07"
    assistant = structs.replace(
        ANSWERED.assistant, markdown=f"a{evil}", citations=(structs.replace(CITATION, quote=f"q{evil}"),)
    )
    answered = structs.replace(ANSWERED, assistant=assistant, collect=(f"c{evil}",))
    bus_of(monkeypatch, {ANSWER: [answered, answered]})

    run(["ask", URL, "What?"])
    run(["ask", URL, "What?", "--json"])

    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err


# -- conversations ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_conversations_are_listed_and_shown(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    info = ConversationInfo(id="loom-1", started_at=1, updated_at=2, turns=1, task="web.answer", preview="What has it?")
    event = ChatEvent(
        id="chat_" + "a" * 16,
        at=1,
        conversation="loom-1",
        turn=1,
        caller="owner",
        role="assistant",
        task="web.answer",
        markdown=MARKDOWN,
        citations=(CITATION,),
        served_by=SERVED,
    )
    bus = bus_of(
        monkeypatch,
        {
            CONVERSATION_LIST: ConversationList(conversations=(info,), total=1),
            CONVERSATION_GET: [ConversationLog(id="loom-1", events=(event,), model_runs=())] * 2,
        },
    )

    run(["conversations", "--limit", "3"])
    listed = capsys.readouterr().out
    run(["conversations", "loom-1"])
    log = capsys.readouterr().out
    run(["conversations", "loom-1", "--json"])

    assert bus.every(CONVERSATION_LIST) == [ListConversations(caller="owner", limit=3)]
    assert bus.every(CONVERSATION_GET) == [AskConversation(caller="owner", id="loom-1")] * 2
    assert listed.splitlines()[1].split()[:2] == ["loom-1", "1"]
    assert log.splitlines() == [
        "1. assistant (web.answer) by openai/gpt-4o-mini",
        MARKDOWN,
        f'[1] "{QUOTE}" {URL}',
        "",
    ]
    assert json.loads(capsys.readouterr().out)["events"][0]["citations"][0]["docId"] == "page-1"


# -- routes ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_routes_are_listed_set_and_unset(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    bus = bus_of(monkeypatch, {ROUTES: TABLE, ROUTE_SET: CHANGE, ROUTE_UNSET: CHANGE, ROUTE: CHANGE})

    run(["routes"])
    listed = capsys.readouterr()
    run(["routes", "set", "browser_tab_*", "openai/gpt-4o-mini"])
    run(["routes", "unset", "browser_tab_*"])
    changed = capsys.readouterr().out
    run(["routes", "why", "browser_tab_new"])
    why = capsys.readouterr().out

    assert bus.every(ROUTE_SET) == [SetRoute(pattern="browser_tab_*", name=MINI)]
    assert bus.every(ROUTE_UNSET) == [UnsetRoute(pattern="browser_tab_*")]
    assert bus.every(ROUTE) == [AskRoute(tool="browser_tab_new")]
    assert listed.out.splitlines()[1].split() == ["browser_click", f"anthropic/{HAIKU.model}", "simple", "table"]
    assert listed.err == "Providers that can be asked: anthropic\n"
    assert changed == f"browser_tab_* goes to anthropic/{HAIKU.model} (default).\n" * 2
    assert why.splitlines()[0] == f"anthropic/{HAIKU.model} (default)"
    assert why.splitlines()[2].split(maxsplit=4) == ["openai/gpt-4o-mini", "3", "50%", "0.10000", "no credentials"]


def test_what_is_listed_is_json_for_programs(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    bus_of(monkeypatch, {ROUTES: TABLE})

    run(["routes", "--json"])

    assert msgspec.json.decode(capsys.readouterr().out, type=type(TABLE)) == TABLE


async def test_what_is_written_is_shown_meanwhile_and_a_restart_clears_it() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=40, height=6, color_system=None)
    screen = AnswerScreen()

    await screen.on_progress(Progress(token="t", done=1, message="One page is read."))
    pieces = [("Looms are \x1b[2Jblue.", False), ("Looms have\n\nwarp ", True), ("and\nweft [1].", False)]
    for index, (text, restarted) in enumerate(pieces):
        await screen.on_text(AnswerText(token="t", index=index, text=text, restarted=restarted))
    with console.capture() as capture:
        console.print(screen)

    assert [line.rstrip() for line in capture.get().splitlines()] == ["One page is read. ...", "warp and", "weft [1]."]

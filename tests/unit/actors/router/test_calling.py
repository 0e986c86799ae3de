"""A call of a model: who answers it, what is tried before, what is written down, and what is told meanwhile."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import anyio
import msgspec
import pytest
from msgspec import UNSET, structs

from actors.router import tries
from actors.router.provider import Capabilities, ModelCompletion, ModelRequest, Write
from protocol import subjects
from protocol.faults import Code
from protocol.models import (
    CallErrorKind,
    CallOutcome,
    ImagePart,
    ModelAnswer,
    ModelAttempt,
    ModelCalled,
    ModelJudged,
    ModelMessage,
    ModelText,
    OutputSchema,
    Provider,
    RouteReason,
    TokenUsage,
    ToolDefinition,
    ToolUsePart,
)
from protocol.replicas import Watch
from protocol.routing import model_name
from tests.unit.actors.router.world import KEY, WATCH, Say, World, call, fails, routing, says

K = CallErrorKind
ANTHROPIC, OPENAI, OLLAMA = Provider.ANTHROPIC, Provider.OPENAI, Provider.OLLAMA
SONNET, GPT = model_name("anthropic/claude-sonnet-4-5-20250929"), model_name("openai/gpt-4o")
SCHEMA = OutputSchema(
    name="answer", schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back off in no time."""
    monkeypatch.setattr(tries, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(tries, "LONGEST_PAUSE_S", 0.002)


def plain(answer: ModelAnswer) -> ModelAnswer:
    """Return an answer without what differs each time."""
    attempts = tuple(structs.replace(one, latency_ms=0, waited_ms=0) for one in answer.attempts)
    return structs.replace(answer, call_id="", latency_ms=0, attempts=attempts)


async def test_an_answer_says_who_was_asked_who_answered_why_and_what_it_cost() -> None:
    async with routing({ANTHROPIC: [says("Because.", model="claude-sonnet-4-5-20250929-v2")]}) as world:
        answer = await world.ask(text=f"Why? api_key={KEY}", caller="ann", run="r", conversation="c")
        (line,) = await world.lines()

    served = structs.replace(SONNET, model="claude-sonnet-4-5-20250929-v2")
    assert plain(answer) == ModelAnswer(
        call_id="",
        text="Because.",
        requested=SONNET,
        served=served,
        reason=RouteReason.FALLBACK,
        finish="stop",
        usage=TokenUsage(input=1_000, output=100),
        cost_usd=0.0045,
        attempts=(ModelAttempt(name=SONNET, latency_ms=0),),
    )
    assert isinstance(line, ModelCalled)
    messages = call(text=f"Why? api_key={KEY}").messages
    assert structs.replace(line, at=0, latency_ms=0) == ModelCalled(
        call_id=answer.call_id,
        at=0,
        tool="web_answer",
        provider=ANTHROPIC,
        model=SONNET.model,
        success=True,
        latency_ms=0,
        reason=RouteReason.FALLBACK,
        cost_usd=0.0045,
        usage=TokenUsage(input=1_000, output=100),
        conversation="c",
        caller="ann",
        run="r",
        digest=hashlib.sha256(msgspec.json.encode(messages)).hexdigest(),
        asked_preview="Why? api_key=[redacted]",
        answer_preview="Because.",
    )


@pytest.mark.parametrize(
    ("kind", "tried"),
    [
        (K.RATE_LIMIT, 1),
        (K.OVERLOADED, 3),
        (K.TIMEOUT, 1),
        (K.NETWORK, 3),
        (K.AUTH, 1),
        (K.QUOTA, 1),
        (K.UNSUPPORTED, 1),
        (K.MALFORMED, 2),
    ],
)
async def test_who_fails_is_asked_again_as_its_error_says_and_then_another_is(kind: K, tried: int) -> None:
    async with routing({ANTHROPIC: [fails(kind)], OPENAI: [says("Yes.")]}) as world:
        first = await world.ask()
        again = await world.ask()
        written = [line for line in await world.lines() if isinstance(line, ModelCalled)]

    failure = ModelAttempt(name=SONNET, latency_ms=0, error=kind, message=f"it failed: {kind}")
    assert plain(first).attempts == (*[failure] * tried, ModelAttempt(name=GPT, latency_ms=0))
    assert (first.requested, first.served, first.reason) == (SONNET, GPT, RouteReason.FALLBACK)
    left_alone = kind not in (K.UNSUPPORTED, K.MALFORMED)
    assert again.requested == (GPT if left_alone else SONNET)
    lines = [(line.model, line.success, line.error_kind) for line in written]
    assert lines[: tried + 1] == [*[(SONNET.model, False, kind)] * tried, (GPT.model, True, None)]


async def test_a_short_delay_that_a_provider_asks_for_is_waited_out() -> None:
    async with routing(
        {ANTHROPIC: [fails(K.RATE_LIMIT, retry_after_ms=20), says("Yes.")], OPENAI: [says("No.")]}
    ) as world:
        answer = await world.ask()

    assert (answer.text, [one.error for one in answer.attempts]) == ("Yes.", [K.RATE_LIMIT, None])
    assert answer.attempts[1].waited_ms >= 20


async def test_a_long_delay_leaves_that_model_alone_and_its_provider_not() -> None:
    async with routing({ANTHROPIC: [fails(K.RATE_LIMIT, retry_after_ms=60_000), says("Yes.")]}) as world:
        failed = await world.refused(subjects.CALL_MODEL, call())
        refused = await world.refused(subjects.CALL_MODEL, call())
        other = await world.ask("browser_click")

    assert (failed.code, refused.code) == (Code.NETWORK_MODEL_FAILED,) * 2
    assert 55_000 < (refused.retry_after_ms or 0) <= 60_000
    assert other.served == model_name("anthropic/claude-haiku-4-5-20251001")


async def test_a_refusal_is_an_answer_and_nobody_less_strict_is_looked_for() -> None:
    async with routing({ANTHROPIC: [says("", finish="refused"), fails(K.REFUSED)], OPENAI: [says("Yes.")]}) as world:
        told, raised = await world.ask(), await world.ask(output=SCHEMA)
        kinds = [line.error_kind for line in await world.lines() if isinstance(line, ModelCalled)]

        assert (told.finish, raised.finish, raised.data) == ("refused", "refused", UNSET)
        assert (kinds, world.count(OPENAI)) == ([K.REFUSED, K.REFUSED], 0)


async def test_data_match_the_schema_whatever_the_first_tries_say() -> None:
    async with routing({ANTHROPIC: [says("no"), says("no"), says("n: 1"), says('{"n": 1}')]}) as world:
        answer = await world.ask(output=SCHEMA)
        wrong = await world.refused(
            subjects.CALL_MODEL, call(output=OutputSchema(name="answer", schema={"type": "nothing"}))
        )

    assert (answer.data, answer.structured, answer.usage.input) == ({"n": 1}, "prompt", 4_000)
    assert (wrong.code, wrong.field) == (Code.VALIDATION_INVALID_REQUEST, "schema")


async def test_a_proposed_call_of_a_tool_is_returned_and_nothing_is_done() -> None:
    proposed = ToolUsePart(id="1", name="open", arguments={"url": "https://a.example"})
    offered = ToolDefinition(name="open", description="Opens a page.", parameters={"type": "object"})
    async with routing({ANTHROPIC: [says("", finish="tool_calls", tool_calls=(proposed,))]}) as world:
        answer = await world.ask(tools=(offered,))

    assert (answer.finish, answer.tool_calls) == ("tool_calls", (proposed,))


async def test_what_a_request_needs_is_looked_at_before_who_is_cheap() -> None:
    image = ModelMessage(role="user", parts=(ImagePart(media_type="image/png", data=b"png"),))
    blind = {ANTHROPIC: Capabilities(images=False, tools=False)}
    offered = ToolDefinition(name="open", description="", parameters={"type": "object"})
    async with routing({ANTHROPIC: [says("blind")], OPENAI: [says("seeing")]}, blind) as world:
        pictures = await world.bus.call(subjects.CALL_MODEL, structs.replace(call(), messages=(image,)))
        tools = await world.ask(tools=(offered,))

        assert (pictures.text, tools.text, world.count(ANTHROPIC)) == ("seeing", "seeing", 0)


# -- what is streamed --------------------------------------------------------------------------------------------------


async def streamed(*models: Say) -> tuple[ModelAnswer, list[ModelText]]:
    """Ask with a watch; return the answer and what was told."""
    first, *rest = models
    async with routing({ANTHROPIC: [first], OPENAI: rest}) as world:
        answer = await world.ask(watch=WATCH)
        await anyio.wait_all_tasks_blocked()
        return answer, world.texts


def piece(index: int, text: str, *, restarted: bool = False) -> ModelText:
    return ModelText(token="t1", index=index, text=text, restarted=restarted)


async def test_a_stream_that_breaks_before_its_first_word_is_never_heard_of() -> None:
    answer, texts = await streamed(fails(K.TIMEOUT), says("one two"))

    assert (answer.served, texts) == (GPT, [piece(0, "one"), piece(1, "two")])


async def test_a_stream_that_breaks_later_begins_anew_and_says_so() -> None:
    answer, texts = await streamed(fails(K.TIMEOUT, after="wrong"), says("one two"))

    assert answer.text == "one two"
    assert texts == [piece(0, "wrong"), piece(1, "one", restarted=True), piece(2, "two")]


@pytest.mark.slow
async def test_a_hundred_streams_at_once_stay_in_order() -> None:
    words = [str(number) for number in range(30)]
    heard: dict[str, list[ModelText]] = {f"t{number}": [] for number in range(100)}

    async def slowly(_: ModelRequest, write: Write | None) -> ModelCompletion:
        assert write is not None
        for word in words:
            await write(word)
            await anyio.lowlevel.checkpoint()
        return ModelCompletion(text=" ".join(words), finish="stop", usage=TokenUsage(), model="m")

    async with routing({OLLAMA: [slowly]}, {OLLAMA: Capabilities(local=True)}) as world:

        async def one(token: str) -> None:
            await world.ask(watch=Watch(replica="a1", token=token))

        async with anyio.create_task_group() as tasks:
            for token in heard:
                tasks.start_soon(one, token)
        await anyio.wait_all_tasks_blocked()
        for text in world.texts:
            heard[text.token].append(text)

    assert all([text.index for text in texts] == list(range(30)) for texts in heard.values())
    assert all([text.text for text in texts] == words for texts in heard.values())


async def test_a_caller_who_leaves_ends_the_request_at_the_provider() -> None:
    asked, ended = anyio.Event(), anyio.Event()

    async def for_ever(_: ModelRequest, _write: Write | None) -> ModelCompletion:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    async with routing({ANTHROPIC: [for_ever]}) as world:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.ask)
            await asked.wait()
            tasks.cancel_scope.cancel()
        await ended.wait()
        await anyio.wait_all_tasks_blocked()
        (line,) = await world.lines()

    assert isinstance(line, ModelCalled)
    assert (line.success, line.error_kind) == (False, K.CANCELLED)


# -- who is asked ------------------------------------------------------------------------------------------------------


async def test_without_any_provider_it_is_said_what_to_set() -> None:
    async with routing({}) as world:
        fault = await world.refused(subjects.CALL_MODEL, call())

    assert (fault.code, fault.retryable) == (Code.CONFIG_NO_MODEL, False)
    told = " ".join(action.description for action in fault.actions)
    assert all(word in told for word in ("ANTHROPIC_API_KEY", "weft providers add", "need no model"))


async def test_a_pinned_model_is_asked_or_nobody() -> None:
    async with routing({ANTHROPIC: [says("Yes.")], OPENAI: [fails(K.TIMEOUT)]}) as world:
        failed = await world.refused(subjects.CALL_MODEL, call(pin=GPT))
        absent = await world.refused(subjects.CALL_MODEL, call(pin=model_name("google/gemini-2.5-pro")))
        other = await world.ask(pin=model_name("anthropic/claude-x"))

        assert (failed.code, absent.code, absent.field) == (Code.NETWORK_MODEL_FAILED, Code.CONFIG_NO_MODEL, "model")
        assert "google/gemini-2.5-pro cannot be asked: it has no credentials" in absent.message
        assert (other.requested, world.count(ANTHROPIC)) == (model_name("anthropic/claude-x"), 1)


async def test_a_conversation_of_a_caller_keeps_to_who_has_answered_it_until_that_fails() -> None:
    models: dict[Provider, list[Say]] = {
        ANTHROPIC: [fails(K.UNSUPPORTED), says("a")],
        OPENAI: [says("o"), says("o"), fails(K.UNSUPPORTED), says("o")],
    }
    async with routing(models) as world:
        callers = ["ann", "ben", "ann", "ann", "ann"]
        served = [(await world.ask(conversation="c", caller=caller)).served.provider for caller in callers]
        apart = (await world.ask(conversation="d", caller="ann")).served.provider

    assert served == [OPENAI, ANTHROPIC, OPENAI, ANTHROPIC, ANTHROPIC]
    assert apart == ANTHROPIC


# -- what it may cost --------------------------------------------------------------------------------------------------


async def test_a_call_that_may_cost_more_than_is_left_goes_to_who_costs_nothing_or_to_nobody() -> None:
    local = {OLLAMA: Capabilities(local=True)}
    async with routing({ANTHROPIC: [says("a")], OLLAMA: [says("o")]}, local, {"model_day_cents": 2}) as world:
        answers = [await world.ask(max_tokens=1_100) for _ in range(3)]
        bounded = await world.ask(max_tokens=1_100, max_cost_usd=0.001)

    assert [(one.served.provider, one.cost_usd) for one in answers] == [
        (ANTHROPIC, 0.0045),
        (OLLAMA, 0.0),
        (OLLAMA, 0.0),
    ]
    assert bounded.served.provider is OLLAMA


@pytest.mark.parametrize("field", ["model_run_cents", "model_key_day_cents", "model_day_cents"])
async def test_a_budget_that_is_spent_is_a_refusal_with_the_way_out(field: str) -> None:
    async with routing({ANTHROPIC: [says("a")]}, settings={"model_day_cents": 0, field: 2}) as world:
        await world.ask(caller="ann", run="r", max_tokens=1_100)
        fault = await world.refused(subjects.CALL_MODEL, call(caller="ann", run="r", max_tokens=1_100))

        assert (fault.code, world.count(ANTHROPIC)) == (Code.RATE_LIMIT_BUDGET, 1)
        assert field in fault.message
        assert [action.action for action in fault.actions][:2] == ["answer_locally", "raise_budget"]


async def test_a_price_that_is_not_known_is_none_and_such_calls_are_counted() -> None:
    async with routing({OLLAMA: [says("o")]}, settings={"model_unpriced_calls": 1, "model_day_cents": 1}) as world:
        answer = await world.ask()
        fault = await world.refused(subjects.CALL_MODEL, call())

    assert (answer.cost_usd, fault.code) == (None, Code.RATE_LIMIT_BUDGET)


# -- what checks find --------------------------------------------------------------------------------------------------


async def test_what_a_check_finds_of_an_answer_is_written_down_once_by_who_gave_it() -> None:
    async with routing({ANTHROPIC: [says("a")]}) as world:
        answer = await world.ask("web.answer")
        for call_id in (answer.call_id, answer.call_id, "call_of_nobody"):
            await world.bus.tell(subjects.CALL_OUTCOME, CallOutcome(call_id=call_id, tool="web.answer", verified=True))
        await until(world, lambda lines: len(lines) >= 2)
        await anyio.wait_all_tasks_blocked()
        _, *judged = await world.lines()

    (line,) = judged
    assert isinstance(line, ModelJudged)
    assert structs.replace(line, at=0) == ModelJudged(call_id=answer.call_id, at=0, tool="web.answer", verified=True)


async def until(world: World, happened: Callable[[list[object]], bool]) -> None:
    while not happened(list(await world.lines())):
        await anyio.sleep(0.002)

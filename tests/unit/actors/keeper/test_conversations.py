"""What was said in conversations: told to those whose they are, as long as the journals have it, sealed on the disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from actors.keeper.conversations import MAX_EVENTS
from protocol import subjects
from protocol.answers import (
    AskConversation,
    ChatEvent,
    ConversationInfo,
    ConversationList,
    ConversationLog,
    DocumentDigest,
    ListConversations,
    ModelRun,
    ServedBy,
    conversation_topic,
)
from protocol.faults import Code, FaultError, fault
from protocol.models import CallErrorKind, CallLine, ModelCalled, ModelJudged, Provider, RouteReason, TokenUsage
from protocol.packets import Citation, ToolCall
from tests.requirements import requirement
from tests.unit.actors.keeper.ledger_data import ME, NOW, YOU, World, world

TALK = "0b4c8a52-6b0e-4f6c-9c3e-0a8b3f5d1e77"
OTHER = "any words: of a client\u2026"
QUESTION = "What does  it cost?"
ANSWER = "It costs **12 euros**."


def event(number: int, conversation: str = TALK, **other: Any) -> ChatEvent:
    told: dict[str, Any] = {
        "caller": ME,
        "turn": number // 2,
        "role": "assistant" if number % 2 else "user",
        "task": "web.answer",
        "markdown": ANSWER if number % 2 else QUESTION,
        **other,
    }
    return ChatEvent(id=f"chat_{number:022d}", at=NOW + number, conversation=conversation, **told)


def answer(number: int, **other: Any) -> ChatEvent:
    """Return an answer with everything that is kept of one."""
    return event(
        number,
        citations=(Citation(doc_id="doc_1", url="https://shop.example/", quote="12 euros"),),
        tool_calls=(ToolCall(name="browser.open_tab", arguments={"url": "https://shop.example/2"}),),
        documents=(DocumentDigest(doc_id="doc_1", url="https://shop.example/", digest="ab" * 32, chars=900),),
        served_by=ServedBy(provider="openai", model="m", calls=1, usage=TokenUsage(input=9, output=3), cost_usd=0.5),
        **other,
    )


def called(name: str, conversation: str = TALK, **other: Any) -> ModelCalled:
    told: dict[str, Any] = {"caller": ME, "success": True, "tool": "web_answer", "model": "m", **other}
    return ModelCalled(
        call_id=name,
        at=NOW,
        provider=Provider.OPENAI,
        latency_ms=80,
        reason=RouteReason.DEFAULT,
        conversation=conversation,
        asked_preview="What does it",
        answer_preview="It costs",
        **told,
    )


def judged(name: str, *, verified: bool) -> ModelJudged:
    return ModelJudged(call_id=name, at=NOW, tool="web_answer", verified=verified)


async def say(place: World, *lines: ChatEvent | CallLine) -> None:
    """Write lines as the answerer and the router do."""
    chat = await place.asking.bus.journal(subjects.CONVERSATIONS)
    calls = await place.asking.bus.journal(subjects.MODEL_CALLS)
    for line in lines:
        if isinstance(line, ChatEvent):
            await chat.append(conversation_topic(line.caller, line.conversation), line)
        else:
            await calls.append("web_answer", line)


async def get(place: World, conversation: str = TALK, caller: str = ME) -> ConversationLog:
    return await place.asking.bus.call(subjects.CONVERSATION_GET, AskConversation(caller=caller, id=conversation))


async def page(place: World, caller: str = ME, **other: int) -> ConversationList:
    return await place.asking.bus.call(subjects.CONVERSATION_LIST, ListConversations(caller=caller, **other))


@requirement("003.storage.schema")
async def test_a_conversation_is_told_whole_with_the_calls_that_it_took(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        said = (event(0), answer(1, collection="col_1"), event(2), event(3, fault=fault(Code.NETWORK_TIMEOUT)))
        failed = called("c1", success=False, error_kind=CallErrorKind.RATE_LIMIT)
        served = called("c1", model="n", usage=TokenUsage(input=9, output=3, cache_read=4), cost_usd=0.0125)
        await say(place, *said, failed, served, judged("c1", verified=True), called("c2", conversation=""))

        log = await get(place)

        run = ModelRun(
            call_id="c1",
            at=NOW,
            tool="web_answer",
            provider="openai",
            model="m",
            success=False,
            latency_ms=80,
            error="rate_limit",
            request_preview="What does it",
            response_preview="It costs",
        )
        assert (log.id, log.events) == (TALK, said)
        assert log.model_runs == (
            run,
            ModelRun(
                call_id="c1",
                at=NOW,
                tool="web_answer",
                provider="openai",
                model="n",
                success=True,
                latency_ms=80,
                usage=TokenUsage(input=9, output=3, cache_read=4),
                cost_usd=0.0125,
                verified=True,
                request_preview="What does it",
                response_preview="It costs",
            ),
        )


async def test_conversations_are_listed_by_what_was_last_said_in_them(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await say(place, event(0), event(4, OTHER, task="web.summarize", markdown="x" * 1_000), event(1), event(2))
        first, whole = await page(place, limit=1), await page(place)

        talk = ConversationInfo(
            id=TALK, started_at=NOW, updated_at=NOW + 2, turns=2, task="web.answer", preview="What does it cost?"
        )
        other = ConversationInfo(
            id=OTHER, started_at=NOW + 4, updated_at=NOW + 4, turns=1, task="web.summarize", preview="x" * 160
        )
        assert (first.conversations, first.total) == ((talk,), 2)
        assert (whole.conversations, whole.total) == ((talk, other), 2)
        assert (await page(place, offset=1)).conversations == (other,)


async def test_nobody_is_told_of_the_conversations_of_others(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        mine, yours = event(0), event(2, caller=YOU, markdown="Mine has the same id.")
        await say(place, mine, called("c1"), yours, called("c2", caller=YOU), event(4, OTHER))

        assert (await get(place)).events == (mine,)
        assert [run.call_id for run in (await get(place)).model_runs] == ["c1"]
        assert (await get(place, caller=YOU)).events == (yours,)
        assert [run.call_id for run in (await get(place, caller=YOU)).model_runs] == ["c2"]
        assert (await page(place, YOU)).total == 1
        with pytest.raises(FaultError, match="VALIDATION_UNKNOWN_CONVERSATION"):
            await get(place, OTHER, YOU)


@pytest.mark.slow
async def test_a_file_of_another_key_is_made_again(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await say(place, event(0), called("c1"))
        async with place.keeper():
            before = await get(place)
        with closing(sqlite3.connect(place.folder / "keeper" / "keeper-0.sqlite")) as connection:
            connection.execute("UPDATE chat_events SET content = zeroblob(100)")
            connection.commit()
        async with place.keeper():
            with pytest.raises(FaultError, match="INTERNAL_UNAVAILABLE"):
                await get(place)
            with anyio.fail_after(90):
                while True:
                    try:
                        assert await get(place) == before
                        break
                    except FaultError:
                        await anyio.sleep(0.01)


async def test_what_the_journals_have_no_longer_is_forgotten(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await say(place, event(0), event(1), called("c1"), called("c2"))
        async with place.keeper():
            assert len((await get(place)).model_runs) == 2
        del place.broker.journals[subjects.CONVERSATIONS.name].held[:1]
        del place.broker.journals[subjects.MODEL_CALLS.name].held[:2]
        async with place.keeper():
            while len((log := await get(place)).events) + len(log.model_runs) > 1:
                await anyio.sleep(0.005)

        assert (log.events, log.model_runs) == ((event(1),), ())


async def test_an_event_that_was_written_twice_counts_once_and_an_early_check_not_at_all(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await say(place, event(0), replace(event(0), markdown="again"), judged("c1", verified=False), called("c1"))

        log = await get(place)

        assert (log.events, [run.verified for run in log.model_runs]) == ((event(0),), [UNSET])


async def test_of_a_long_conversation_the_end_is_told(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await say(place, *(event(number) for number in range(MAX_EVENTS + 2)))

        assert [one.at - NOW for one in (await get(place)).events] == list(range(2, MAX_EVENTS + 2))


async def test_nothing_that_was_said_lies_open_on_the_disk(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        async with place.keeper():
            await say(place, event(0), answer(1), called("c1"))
            await get(place)
            written = b"".join(path.read_bytes() for path in place.files())
        written += b"".join(path.read_bytes() for path in place.files())

        assert TALK.encode() in written
        assert not [word for word in (b"12 euros", b"shop.example", b"It costs", b"cost?") if word in written]

"""Chat sessions of clients: written once whoever repeats what, and told to those whose they are (001 §2, §3.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.planner.interacting.chats import ChatLog, SaidByAssistant, SaidByUser
from protocol import subjects
from protocol.acting.chats import (
    AskMessages,
    ChangeChat,
    ChatList,
    ChatMessageAdded,
    ChatMessages,
    ChatStatus,
    ListChats,
    OpenChat,
)
from protocol.faults import Code, FaultError
from tests.requirements import requirement
from tests.unit.actors.keeper.ledger_data import ME, NOW, YOU, World, world

CHAT = "59adf5f0-cddb-42dd-a20d-658ac57278fd"
OTHER = "59adf5f0-cddb-42dd-a20d-658ac57278fe"
TASK = "e49abedb-f50c-45d2-bf81-62662b6a038e"
QUERY = "Search for looms"
URL = "https://www.shop.co.uk/start"


async def chat_log(place: World, heard: list[ChatMessageAdded] | None = None) -> ChatLog:
    async def on_message(message: ChatMessageAdded) -> None:
        if heard is not None:
            heard.append(message)

    clock = iter(range(NOW, NOW + 10_000))
    return ChatLog(await place.asking.bus.journal(subjects.TASKS), lambda: next(clock), on_message)


def words(session: str = CHAT, caller: str = ME, **other: Any) -> SaidByUser:
    given: dict[str, Any] = {"words": QUERY, "url": URL, **other}
    return SaidByUser(session=session, caller=caller, task=TASK, **given)


def reply(name: str, session: str = CHAT, **other: Any) -> SaidByAssistant:
    given: dict[str, Any] = {"words": "I click it.", "action": "click(6)", "payload": {"name": "click"}, **other}
    return SaidByAssistant(session=session, caller=ME, task=TASK, name=name, **given)


async def chats(place: World, caller: str = ME, **other: Any) -> ChatList:
    return await place.asking.bus.call(subjects.CHAT_LIST, ListChats(caller=caller, **other))


async def messages(place: World, session: str = CHAT, caller: str = ME, **other: Any) -> ChatMessages:
    return await place.asking.bus.call(subjects.CHAT_MESSAGES, AskMessages(session=session, caller=caller, **other))


@requirement("001.2.sessions")
async def test_a_round_that_comes_twice_is_written_once_and_told_in_order(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        heard: list[ChatMessageAdded] = []
        log = await chat_log(place, heard)

        for _ in range(2):
            await log.ask(words())
            await log.answer(reply("1"))
        await log.ask(words(url="https://other.example/", result="failure", failure={"code": "STALE"}))
        await log.answer(reply("2", words="Done.", action="finish()", payload=None, ended="completed"))

        kept, page = await messages(place), await chats(place)
        shown = [(one.number, one.role, one.content, one.action, one.status) for one in kept.messages]
        assert shown == [
            (0, "user", QUERY, "", ""),
            (1, "assistant", "I click it.", "click(6)", "failure"),
            (2, "assistant", "Done.", "finish()", "success"),
        ]
        assert (kept.total, kept.exists, kept.messages[1].error) == (3, True, {"code": "STALE"})
        assert [one.number for one in heard] == [0, 1, 2]
        (info,) = page.sessions
        assert (info.title, info.domain, info.url) == (
            f"shop.co.uk: {QUERY}",
            "other.example",
            "https://other.example/",
        )
        assert (info.initial_url, info.initial_domain, info.renamed) == (URL, "shop.co.uk", False)
        assert (info.status, info.messages, page.total) == (ChatStatus.COMPLETED, 3, 1)


async def test_messages_are_those_after_a_time_and_the_last_ones(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        log = await chat_log(place)
        await log.ask(words())
        for number in range(4):
            await log.answer(reply(str(number)))
        everything = (await messages(place)).messages

        last = await messages(place, limit=2)
        after = await messages(place, since=everything[2].at)

        assert [one.number for one in last.messages] == [3, 4]
        assert [one.number for one in after.messages] == [3, 4]
        assert (last.total, after.total) == (5, 5)


async def test_a_session_is_its_callers_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        log = await chat_log(place)
        await log.ask(words())

        with pytest.raises(FaultError) as refused:
            await log.ask(words(caller=YOU))
        with pytest.raises(FaultError) as not_changed:
            await log.change(ChangeChat(session=CHAT, caller=YOU, title="Mine"))
        others = await messages(place, caller=YOU)

        assert refused.value.fault.code == not_changed.value.fault.code == Code.AUTH_INSUFFICIENT_SCOPE
        assert (others.messages, others.exists, (await chats(place, YOU)).total) == ((), False, 0)


async def test_sessions_are_opened_once_renamed_and_archived(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        log = await chat_log(place)
        opening = OpenChat(session=CHAT, caller=ME, url=URL, query=QUERY)
        created = [(await log.open(opening)).created for _ in range(2)]
        await log.open(OpenChat(session=OTHER, caller=ME, domain="localhost", tab_id=7))

        renamed = await log.change(ChangeChat(session=CHAT, caller=ME, title="Looms"))
        moved = await log.ask(words(url="https://other.example/", words="Something else"))
        listed = await chats(place)
        by_domain = await chats(place, domain="localhost")
        await log.change(ChangeChat(session=CHAT, caller=ME, archive=True))

        assert created == [True, False]
        assert (renamed.title, renamed.renamed) == ("Looms", True)
        assert moved is not None
        assert moved.info.title == "Looms"
        assert [one.session for one in listed.sessions] == [CHAT, OTHER]
        assert [(one.session, one.tab_id) for one in by_domain.sessions] == [(OTHER, 7)]
        assert [one.session for one in (await chats(place)).sessions] == [OTHER]
        assert [one.session for one in (await chats(place, status=ChatStatus.ARCHIVED)).sessions] == [CHAT]
        with pytest.raises(FaultError) as archived:
            await log.open(opening)
        assert archived.value.fault.code == Code.VALIDATION_CHAT_ARCHIVED
        assert await log.usable(OTHER, ME) == OTHER
        after = await log.usable(CHAT, ME)
        assert after != CHAT
        assert after == await log.usable(CHAT, ME)


async def test_an_unknown_session_has_no_messages(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        assert await messages(place) == ChatMessages(messages=(), total=0, exists=False)
        with pytest.raises(FaultError) as unknown:
            await (await chat_log(place)).change(ChangeChat(session=CHAT, caller=ME, archive=True))
        assert unknown.value.fault.code == Code.VALIDATION_UNKNOWN_CHAT

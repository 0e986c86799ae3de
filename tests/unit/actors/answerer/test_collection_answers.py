"""Answers from a collection: each citation stands, the sources that suit are covered, and each one's age is told."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from actors.answerer.actor import Answerer
from actors.answerer.citable_source import citable
from actors.answerer.citations import find
from actors.answerer.source import AnswerSource
from actors.keeper.actor import Keeper
from actors.runner.actor import Runner
from bus.context import conversation
from protocol import subjects
from protocol.answers import LOCAL, Answered, AskQuestion, Summarize
from protocol.faults import Code, FaultError
from protocol.models import CallModel, ModelAnswer, RouteReason, TokenUsage
from protocol.packets import Conversation
from protocol.render import Doc, to_markdown
from tests.support.collecting import ME, YOU, Collecting, alone
from tests.support.scale import sized
from tests.unit.actors.answerer.world import MODEL, Prompt

QUESTION = "When was the tidal station of Avonmouth opened?"
HARBOURS = ("Avonmouth", "Barmouth", "Cromarty", "Dunbar", "Exmouth", "Falmouth", "Girvan", "Harwich", "Ilfracombe")


def note(number: int) -> dict[str, str]:
    harbour = f"{HARBOURS[number % len(HARBOURS)]}" + (f" {number}" if number >= len(HARBOURS) else "")
    text = (
        f"# {harbour}\n\nThe tidal station of {harbour} was opened in {1900 + number % 120}.\n"
        f"It holds {100 + number} MW, and {number + 3} people work there.\n\nIts barrage is {500 + number} m long.\n"
    )
    return {"type": "note", "title": harbour, "text": text}


@asynccontextmanager
async def answering(
    folder: Path, notes: list[dict[str, str]], model: Callable[[Prompt], Any] | None = None
) -> AsyncGenerator[tuple[Collecting, str, list[Prompt]]]:
    prompts = list[Prompt]()

    async def call(request: CallModel) -> ModelAnswer:
        assert model is not None
        prompts.append(Prompt(request))
        return ModelAnswer(
            call_id=f"call_{len(prompts)}",
            text="",
            data=model(prompts[-1]),
            requested=MODEL,
            served=MODEL,
            reason=RouteReason.DEFAULT,
            finish="stop",
            usage=TokenUsage(input=100, output=10),
        )

    with anyio.fail_after(90):
        async with alone(folder) as world, world.replica(Keeper, "k1"), world.replica(Runner, "r1"):
            if model is not None:
                await world.bus.serve(subjects.CALL_MODEL, call, at_once=4)
            collection = await world.create("Stations")
            await world.tool("collection.add_sources", collectionId=collection, sources=notes)
            async with world.replica(Answerer, "n1"):
                yield world, collection, prompts


def said(*claims: tuple[str, int]) -> dict[str, Any]:
    markdown = " ".join(f"{claim} [{number}]." for claim, number in claims)
    assistant = {"title": "", "markdown": markdown, "citations": [number for _, number in claims]}
    return {"assistant": assistant, "supported": True, "collect": []}


def words_of(answered: Answered) -> str:
    assert isinstance(answered.assistant.render, Doc)
    return to_markdown(answered.assistant.render)


def stand(answered: Answered, notes: list[dict[str, str]]) -> bool:
    """Return whether each citation stands in some source of that title, word for word."""
    titles = {one.source_id: one.title for one in answered.sources}
    texts = {one["title"]: one["text"] for one in notes}
    return all(
        isinstance(one.quote, str)
        and isinstance(one.source_id, str)
        and find(one.quote, citable(AnswerSource(doc_id="d", url="", title="", markdown=texts[titles[one.source_id]])))
        for one in answered.assistant.citations
    )


@pytest.mark.slow
async def test_a_large_collection_is_answered_with_every_citation_verified(tmp_path: Path) -> None:
    count = sized(30, 200)
    notes = [note(number) for number in range(count)]
    async with answering(tmp_path, notes) as (world, collection, _):
        for number in range(0, count, max(count // 10, 1)):
            harbour = notes[number]["title"]
            question = AskQuestion(
                question=f"How long is the barrage of {harbour}?", collection=collection, caller=ME, local_only=True
            )
            answered = await world.bus.call(subjects.ANSWER, question)

            assert answered.supported, harbour
            assert f"{500 + number} m" in words_of(answered)
            assert stand(answered, notes)
            assert all(one.source_id and one.captured_at for one in answered.sources)


async def test_what_a_model_leaves_out_is_asked_for_once_more(tmp_path: Path) -> None:
    notes = [
        {"type": "note", "title": "One", "text": "The tidal station of Avonmouth was opened in 1912 by a duke."},
        {
            "type": "note",
            "title": "Two",
            "text": "A later book says that the tidal station of Avonmouth opened in 1913.",
        },
        {"type": "note", "title": "Three", "text": "Cromarty has a firth, and no station."},
    ]

    def model(prompt: Prompt) -> Any:
        first = ("It was opened in 1912", prompt.number("opened in 1912"))
        if "left out these documents" not in prompt.words:
            return said(first)
        return said(first, ("A book says 1913", prompt.number("opened in 1913")))

    async with answering(tmp_path, notes, model) as (world, collection, prompts):
        with conversation(Conversation(id="c-1", turn=1)):
            request = AskQuestion(question=QUESTION, collection=collection, caller=ME)
            answered = await world.bus.call(subjects.ANSWER, request)
        journal = await world.bus.journal(subjects.CONVERSATIONS)
        events = [line.value async for line in journal.read()]

    assert words_of(answered) == "It was opened in 1912 [1]. A book says 1913 [2]."
    assert len({one.source_id for one in answered.assistant.citations}) == 2
    assert stand(answered, notes)
    assert len(prompts) == 2
    assert answered.served_by.calls == 2
    assert [(one.role, one.collection) for one in events] == [("user", collection), ("assistant", collection)]


@pytest.mark.slow
async def test_what_a_model_leaves_out_twice_stays_out(tmp_path: Path) -> None:
    notes = [note(0), {"type": "note", "title": "Two", "text": "The tidal station of Avonmouth was opened by a duke."}]

    def model(prompt: Prompt) -> Any:
        return said(("It was opened in 1900", prompt.number("opened in 1900")))

    async with answering(tmp_path, notes, model) as (world, collection, prompts):
        request = AskQuestion(question=QUESTION, collection=collection, caller=ME)
        answered = await world.bus.call(subjects.ANSWER, request)

    assert words_of(answered) == "It was opened in 1900 [1]."
    assert (len(prompts), answered.served_by.calls) == (2, 2)


async def test_without_a_model_each_source_that_answers_is_quoted(tmp_path: Path) -> None:
    notes = [
        {"type": "note", "title": "One", "text": "The tidal station of Avonmouth was opened in 1912."},
        {"type": "note", "title": "Two", "text": "In 1913 the tidal station of Avonmouth was opened, a book says."},
        {"type": "note", "title": "Three", "text": "Avonmouth's tidal station was opened in 1914, says another."},
    ]
    async with answering(tmp_path, notes) as (world, collection, _):
        request = AskQuestion(question=QUESTION, collection=collection, caller=ME, local_only=True)
        answered = await world.bus.call(subjects.ANSWER, request)
        summary = await world.bus.call(subjects.SUMMARIZE, Summarize(collection=collection, caller=ME, local_only=True))

    assert {one.source_id for one in answered.assistant.citations} == {one.source_id for one in answered.sources}
    assert answered.served_by.provider == LOCAL
    assert stand(summary, notes)
    assert len(summary.assistant.citations) == 3


async def test_a_collection_of_somebody_else_is_unknown(tmp_path: Path) -> None:
    async with answering(tmp_path, [note(0)]) as (world, collection, _):
        request = AskQuestion(question=QUESTION, collection=collection, caller=YOU, local_only=True)
        with pytest.raises(FaultError) as caught:
            await world.bus.call(subjects.ANSWER, request)

    found = caught.value.fault
    assert (found.code, found.field) == (Code.VALIDATION_UNKNOWN_COLLECTION, "collection")

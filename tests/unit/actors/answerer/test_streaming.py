"""Of what a model writes the words for the reader are passed on as they come, whatever form they come in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from actors.answerer.streaming import AnswerRelay, MarkdownBeforeCitations, MarkdownOfJson, ModelStreams
from protocol.answers import AnswerText
from protocol.models import ModelText
from protocol.replicas import Watch
from protocol.subjects import Event

A = TypeVar("A")


@dataclass
class FakePublisher:
    told: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])

    async def tell(self, event: Event[A], args: A) -> None:
        self.told.append((event.pattern, args))


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(places)]


@given(st.text(), st.lists(st.integers(0, 5_000)), st.booleans())
def test_the_markdown_of_json_is_read_however_it_is_cut(words: str, cuts: list[int], ascii_only: bool) -> None:  # noqa: FBT001 - hypothesis fills it
    answer = {"assistant": {"title": '"markdown": no', "markdown": words, "citations": [1]}, "supported": True}
    reading = MarkdownOfJson()

    read = "".join(reading.feed(piece) for piece in pieces(json.dumps(answer, ensure_ascii=ascii_only), cuts))

    assert read == words


@given(st.text(alphabet="-CITAONS ab\n"), st.lists(st.integers(0, 500)))
def test_markdown_is_read_up_to_its_citations(words: str, cuts: list[int]) -> None:
    reading = MarkdownBeforeCitations()
    text = f"{words}\n---CITATIONS---\n{{}}\n---END CITATIONS---"

    read = "".join(reading.feed(piece) for piece in pieces(text, cuts))

    assert read == text[: text.index("---CITATIONS---")]


async def test_a_restart_is_passed_on_and_what_came_before_is_forgotten() -> None:
    bus = FakePublisher()
    relay = AnswerRelay(bus, Watch(replica="gateway-1", token="t"))
    streams = ModelStreams("answerer-1")

    with streams.listening(relay, MarkdownOfJson) as watch:
        assert watch is not None
        assert watch.replica == "answerer-1"
        await streams.on_text(ModelText(token=watch.token, index=0, text='{"markdown": "Lo'))
        await streams.on_text(ModelText(token=watch.token, index=1, text='{"mark', restarted=True))
        await streams.on_text(ModelText(token=watch.token, index=2, text='down":"High."}'))
        await streams.on_text(ModelText(token="of another call", index=0, text='{"markdown": "Lo'))
    await streams.on_text(ModelText(token=watch.token, index=3, text="late"))
    await relay.replace("In the words of the page.")

    assert bus.told == [
        ("events.answer.text.gateway-1", AnswerText(token="t", index=0, text="Lo")),
        ("events.answer.text.gateway-1", AnswerText(token="t", index=1, text="", restarted=True)),
        ("events.answer.text.gateway-1", AnswerText(token="t", index=2, text="High.")),
        (
            "events.answer.text.gateway-1",
            AnswerText(token="t", index=3, text="In the words of the page.", restarted=True),
        ),
    ]


async def test_without_a_watcher_nothing_is_told() -> None:
    bus = FakePublisher()
    relay = AnswerRelay(bus, None)

    with ModelStreams("answerer-1").listening(relay, MarkdownOfJson) as watch:
        assert watch is None
    await relay.write("High.")
    await relay.report("Reading")

    assert bus.told == []

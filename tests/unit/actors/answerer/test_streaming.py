"""Of what a model writes the words for the reader are passed on as they come, whatever form they come in."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from actors.answerer.streaming import AnswerRelay, ModelStreams, ReaderWords
from protocol.answers import AnswerText
from protocol.models import ModelText
from protocol.replicas import Watch
from protocol.subject_kinds import Event

A = TypeVar("A")


@dataclass
class FakePublisher:
    told: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])

    async def tell(self, event: Event[A], args: A) -> None:
        self.told.append((event.pattern, args))


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(places)]


@given(
    st.text(alphabet="-CINOT SUPRED ab\n"),
    st.sampled_from(["---CITATIONS---", "---NOT SUPPORTED---"]),
    st.lists(st.integers(0, 500)),
)
def test_words_are_read_up_to_the_block_behind_them(words: str, block: str, cuts: list[int]) -> None:
    reading = ReaderWords()
    text = f"{words}\n{block}\n{{}}"

    read = "".join(reading.feed(piece) for piece in pieces(text, cuts))

    assert read == text[: text.index(block)]


@given(st.lists(st.integers(0, 100)))
def test_thoughts_are_not_for_the_reader(cuts: list[int]) -> None:
    reading = ReaderWords()
    text = "<think>a <b> ---CITATIONS---</think>One.<think></think> Two <thin air>.\n---CITATIONS---\n<think>b</think>c"

    read = "".join(reading.feed(piece) for piece in pieces(text, cuts))

    assert read == "One. Two <thin air>.\n"


async def test_a_restart_is_passed_on_and_what_came_before_is_forgotten() -> None:
    bus = FakePublisher()
    relay = AnswerRelay(bus, Watch(replica="gateway-1", token="t"))
    streams = ModelStreams("answerer-1")

    with streams.listening(relay) as watch:
        assert watch is not None
        assert watch.replica == "answerer-1"
        await streams.on_text(ModelText(token=watch.token, index=0, text="Lo"))
        await streams.on_text(ModelText(token=watch.token, index=1, text="Hi", restarted=True))
        await streams.on_text(ModelText(token=watch.token, index=2, text="gh.\n---NOT SUPP"))
        await streams.on_text(ModelText(token="of another call", index=0, text="Lo"))
    await streams.on_text(ModelText(token=watch.token, index=3, text="late"))
    await relay.replace("In the words of the page.")

    assert bus.told == [
        ("events.answer.text.gateway-1", AnswerText(token="t", index=0, text="Lo")),
        ("events.answer.text.gateway-1", AnswerText(token="t", index=1, text="Hi", restarted=True)),
        ("events.answer.text.gateway-1", AnswerText(token="t", index=2, text="gh.\n")),
        (
            "events.answer.text.gateway-1",
            AnswerText(token="t", index=3, text="In the words of the page.", restarted=True),
        ),
    ]


async def test_without_a_watcher_nothing_is_told() -> None:
    bus = FakePublisher()
    relay = AnswerRelay(bus, None)

    with ModelStreams("answerer-1").listening(relay) as watch:
        assert watch is None
    await relay.write("High.")
    await relay.report("Reading")

    assert bus.told == []

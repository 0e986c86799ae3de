"""Everything is given to a model to read, in parts that fit; only what is far too much is read in short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from splintr import Tokenizer

from actors.answerer.packing import MAX_PARTS, SourceExcerpt, line_tokens, numbered, pack, picked, shortened, tokens_of
from tests.requirements import requirement
from tests.unit.actors.answerer.sources import TIDAL, evidence

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")


def numbers(excerpts: tuple[SourceExcerpt, ...]) -> list[int]:
    return [line.number for excerpt in excerpts for line in excerpt.lines]


def sources(*counts: int) -> tuple[SourceExcerpt, ...]:
    """Make sources of so many sentences, the words of each its own."""
    texts = [
        "\n\n".join(f"Sentence {place} of {NAMES[source]} tells of thing{place}." for place in range(count))
        for source, count in enumerate(counts)
    ]
    return numbered([evidence(text, f"doc_{index}") for index, text in enumerate(texts)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "The first large station was built at La Rance, Brittany, in 1966.",
        TIDAL,
        "潮汐能是可再生能源。朗斯潮汐电站建于1966年。它的装机容量为240兆瓦。",
        "Das Gezeitenkraftwerk Rance wurde 1966 eröffnet. Es liegt an der Mündung des Flusses.",
        "Приливная электростанция построена в 1966 году.",
        "{'a': [1, 2, 3], 'b': {'c': None}} | 12.5 | 17.25 | 3,141,592 |",
        "",
    ],
)
@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_an_estimate_is_hardly_ever_too_low(text: str, encoding: str) -> None:
    tokens = len(Tokenizer.from_pretrained(encoding).encode(text))

    assert 0.9 * tokens <= tokens_of(text) <= 4.5 * tokens


def test_what_fits_is_one_part() -> None:
    excerpts = sources(3, 2)

    assert pack(excerpts, "", 1_000) == (excerpts,)
    assert numbers(excerpts) == [1, 2, 3, 4, 5]


@requirement("003.document.chunk")
@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(100, 400))
def test_all_is_read_in_its_order_and_in_parts_that_fit(counts: list[int], window: int) -> None:
    excerpts = sources(*counts)

    parts = pack(excerpts, "thing1", window)

    if sum(one.tokens for one in excerpts) <= window * MAX_PARTS:
        assert [number for part in parts for number in numbers(part)] == numbers(excerpts)
    assert all(sum(one.tokens for one in part) <= window for part in parts)


@requirement("003.document.packing")
def test_of_too_much_the_most_relevant_sources_are_whole_and_the_rest_in_short() -> None:
    excerpts = sources(300, 300, 300)

    parts = pack(excerpts, "What does gamma say?", 600)

    kept = {one.evidence.source.doc_id: 0 for one in excerpts}
    for part in parts:
        for one in part:
            kept[one.evidence.source.doc_id] += len(one.lines)
    assert kept["doc_2"] == 300
    assert 0 < kept["doc_1"] < 100
    assert 0 < kept["doc_0"] < 100
    assert not any(one.whole for part in parts for one in part if one.evidence.source.doc_id != "doc_2")


def test_in_short_the_words_of_the_question_count_and_the_order_stays() -> None:
    excerpts = sources(200)

    (short,) = shortened(excerpts, "thing150, thing7 and thing90?", 8 * line_tokens(excerpts[0].lines[0]))

    assert {8, 91, 151} <= set(numbers((short,)))
    assert numbers((short,)) == sorted(numbers((short,)))
    assert short.tokens <= 8 * line_tokens(excerpts[0].lines[0])


def test_what_is_picked_keeps_its_numbers() -> None:
    excerpts = sources(3, 2, 2)

    left = picked(excerpts, frozenset({2, 6, 7}))

    assert (numbers(left), [one.whole for one in left]) == ([2, 6, 7], [False, True])

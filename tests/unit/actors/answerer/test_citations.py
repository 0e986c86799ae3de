"""A citation leaves only with words that stand in the source that it names."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from actors.answerer.citable_source import citable
from actors.answerer.citations import CHOSEN, MIN_CONFIDENCE, Cited, chosen, verified
from actors.answerer.source import AnswerSource
from protocol.packets import Citation, Locator
from scripts.calibrate_citations import cases, quality
from tests.requirements import requirement
from tests.support.scale import sized
from tests.unit.actors.answerer.sources import TIDAL, URL, evidence

FIRST = "The first large station was built at La Rance, Brittany, in 1966."
LARGEST = "It holds 240 MW — “the largest” for 45 years."


def quoted(quote: str, doc_id: str = "doc_1") -> str | None:
    found = verified(Citation(doc_id=doc_id, quote=quote), [evidence()])
    return None if found is None else str(found.citation.quote)


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        (FIRST, FIRST),
        ("was built at La Rance", "was built at La Rance"),
        ("  was  BUILT at\nLa Rance ", "was built at La Rance"),
        ('240 MW - "the largest" for', "240 MW — “the largest” for"),
        ("The station's barrage", "The station’s barrage"),
        ("was built at **La Rance**, Brittany", "was built at La Rance, Brittany"),
        ("See [the list](https://tides.example/list)", "See the list"),
        ("1966. It holds", "1966. It holds"),
        ("he first large statio", "The first large station"),
        ("The first large station … in 1966", FIRST.removesuffix(".")),
        ("The first large station [...] 45 years.", f"{FIRST} {LARGEST}"),
        ("| Sihwa | South Korea | 254 MW |", "Sihwa South Korea 254 MW"),
        # What is much alike becomes the sentence of the page.
        ("The first large tidal station was build at La Rance in Brittany in 1966", FIRST),
        ("It holds 240 MW the largest for fourty 45 years", LARGEST),
    ],
)
@requirement("003.citation.shape")
def test_a_quote_is_found_and_given_in_the_words_of_the_page(quote: str, words: str) -> None:
    assert quoted(quote) == words


@pytest.mark.parametrize(
    "quote",
    [
        "A hundred thousand people live in Brittany.",
        "It holds 250 MW - the largest for 45 years.",
        "The first large station was built at La Rance, Brittany, in 1996.",
        "Opponents said that it would harm the estuary.",
        "The station ... was built in France ... by the moon",
        "in 1966 ... The first large station",
        "a",
        "",
        " … ",
        "x" * 5_000,
    ],
)
def test_what_the_page_does_not_say_is_no_quote(quote: str) -> None:
    assert quoted(quote) is None


def test_a_citation_of_what_is_unknown_is_none() -> None:
    sources = [evidence(), evidence("Something else.", "doc_2")]

    assert quoted(FIRST, "doc_9") is None
    assert verified(Citation(doc_id="doc_2", quote=FIRST), sources) is None
    assert verified(Citation(doc_id="doc_1", source_id="src_1", quote=FIRST), sources) is None
    assert verified(Citation(doc_id="doc_1"), sources) is None


def test_address_locator_and_confidence_are_never_the_models() -> None:
    lie = Citation(
        doc_id="doc_1",
        url="https://evil.example/",
        quote="the largest",
        locator=Locator(type="text_fragment", value="evil"),
        confidence=1.0,
    )

    found = verified(lie, [evidence()])

    assert found is not None
    assert found.citation == Citation(
        doc_id="doc_1",
        url=URL,
        quote="the largest",
        locator=Locator(type="text_fragment", value="the%20largest"),
        confidence=0.6,
    )


def test_a_sentence_that_was_chosen_is_cited_whole() -> None:
    source = evidence()

    found = chosen(source, source.text.sentences[1])

    directive = "The%20first%20large%20station%20was%20built%20at%20La%20Rance%2C%20Brittany%2C%20in%201966."
    locator = Locator(type="text_fragment", value=directive)
    citation = Citation(doc_id="doc_1", url=URL, quote=FIRST, locator=locator, confidence=CHOSEN)
    assert found == Cited(citation=citation, figures=frozenset({"1966", "240", "45"}))


def test_a_chunk_is_cited_by_its_own_id_and_a_source_by_both() -> None:
    chunks = ("One is here.", "Two is there.")
    source = AnswerSource(doc_id="c1", source_id="src_1", url="", title="", markdown="\n\n".join(chunks))
    joined = citable(source, (("c1", chunks[0]), ("c2", chunks[1])))

    found = verified(Citation(doc_id="c1", quote="Two is there"), [joined])

    assert found is not None
    cited = found.citation
    assert (cited.doc_id, cited.source_id, cited.url) == ("c2", "src_1", UNSET)


PASSAGES = """
The mill at Norrby ground rye from 1742 until the river was dammed. Its wheel, six metres high, was sold to a museum
in Uppsala. The miller, Karl Lind, kept a diary of prices that historians still use.

Bees find their way home by the sun and by landmarks. In 1973 Karl von Frisch shared a Nobel Prize for what he read
from their dances. A colony does not survive a winter without twenty kilograms of honey.

Copper was smelted on the island of Cyprus four thousand years ago. Ships took it to Egypt and Syria, where it was
mixed with tin from the east. The slag heaps near Skouriotissa are as high as a house of five storeys.

The tram returned to Nantes in 1985, after an absence of 27 years. Other French cities followed, among them Grenoble
and Strasbourg. Few of the new lines have been closed since, and none of them was replaced by buses.

Glass is neither a liquid nor a crystal. Old window panes are thicker at the bottom because glaziers set them so, as
measurements at Leeds have shown. At room temperature it does not flow in any time that could be measured.

Every lighthouse in Brittany has a rhythm of its own. The one at Créac'h can be seen from sixty kilometres, and has
guided ships past Ushant since 1863. Its last keeper, Jean Malgorn, left the tower in December 2010.
"""


def test_confidence_tells_what_is_worn_from_what_is_false() -> None:
    found = list(cases(PASSAGES.strip().split("\n\n"), random.Random(2)))

    measured = quality(found)

    assert len(found) > 100
    assert measured.kept >= 0.95
    assert measured.false_kept <= 0.05
    assert measured.brier <= 0.04


@given(st.data())
def test_whatever_is_quoted_leaves_word_for_word(data: st.DataObject) -> None:
    source = evidence()
    text = source.text.text
    start = data.draw(st.integers(0, len(text) - 1))
    cut = text[start : start + data.draw(st.integers(1, 200))]
    noise = data.draw(st.lists(st.tuples(st.integers(0, max(len(cut) - 1, 0)), st.characters()), max_size=6))
    for place, character in noise:
        cut = cut[:place] + character + cut[place + 1 :]

    found = verified(Citation(doc_id="doc_1", quote=cut), [source])

    if found is not None:
        assert str(found.citation.quote) in text.replace("\n", " ")
        assert isinstance(found.citation.confidence, float)
        assert found.citation.confidence >= MIN_CONFIDENCE


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_large_source_is_looked_through_in_no_time() -> None:
    large = evidence("\n\n".join(TIDAL.replace("1966", str(year)) for year in range(sized(2_000, 10_000))))

    found = verified(Citation(doc_id="doc_1", quote="The first large station is built at La Rance in 1999"), [large])

    assert found is not None
    assert found.citation.quote == FIRST.replace("1966", "1999")


def test_a_quote_out_of_a_word_without_end_stays_as_short_as_it_is() -> None:
    endless = evidence("a" * 300_000)

    found = verified(Citation(doc_id="doc_1", quote="a" * 600), [endless])

    assert found is not None
    assert found.citation.quote == "a" * 600

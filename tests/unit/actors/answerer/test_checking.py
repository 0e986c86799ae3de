"""What a model writes is held to the sources: its marks become citations, or its claims are said to be unsupported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.answerer.checking import MAX_MARKDOWN_CHARS, NOT_SAID, Checked, DraftAnswer, by_number, check, in_markdown
from actors.answerer.model_output import read_model_output
from actors.answerer.packing import numbered
from actors.answerer.prompts import WrittenAnswer, WrittenAssistant
from protocol.packets import Assistant, Citation
from protocol.render import Doc, to_markdown
from tests.requirements import requirement
from tests.unit.actors.answerer.sources import URL, evidence

SOURCE = evidence()
FIRST, LARGEST = SOURCE.text.sentences[1].text, SOURCE.text.sentences[2].text


def by_numbers(markdown: str, *citations: int, supported: bool = True, collect: tuple[str, ...] = ()) -> Checked:
    assistant = WrittenAssistant(markdown=markdown, citations=citations)
    answer = WrittenAnswer(assistant=assistant, supported=supported, collect=collect)
    return check(by_number(answer, numbered([SOURCE])), [SOURCE], "When was it built?")


def text_of(found: Checked) -> str:
    assert isinstance(found.assistant.render, Doc)
    return to_markdown(found.assistant.render).replace("\\", "")


def quotes_of(found: Checked) -> list[str]:
    return [str(one.quote) for one in found.assistant.citations]


def test_marks_of_sentences_become_numbers_of_citations() -> None:
    found = by_numbers("It holds 240 MW [3]. It was built in 1966 [2][3] at La Rance, [2-3].", 2, 3)

    assert text_of(found) == "It holds 240 MW [1]. It was built in 1966 [2][1] at La Rance, [2][1]."
    assert quotes_of(found) == [LARGEST, FIRST]
    assert (found.supported, found.held, found.unsupported, found.confidence) == (True, True, (), 0.97)


@pytest.mark.parametrize(
    "mark", ["[2, 3]", "[2;3]", "[2-3]", "[2 \u2013 3]", "\u30102\u3011[3]", " [2] [3] ", "[3-2]", "[3-3][2]"]
)
def test_marks_are_read_as_models_write_them(mark: str) -> None:
    assert set(quotes_of(by_numbers(f"It was built in 1966{mark}."))) == {FIRST, LARGEST}


@pytest.mark.parametrize("text", ["[2](https://a.example)", "[two]", "2", "[]", "[-2]", "[1234567]"])
def test_what_is_no_mark_cites_nothing(text: str) -> None:
    assert quotes_of(by_numbers(f"It was built {text}.")) == []


def test_a_mark_that_no_sentence_has_leaves_its_claim_unsupported() -> None:
    found = by_numbers("It was built in 1966 [2]. The moon pays [77].", 2, 77)

    assert text_of(found) == "It was built in 1966 [1]. The moon pays [unsupported]."
    assert (quotes_of(found), found.unsupported) == ([FIRST], ("The moon pays",))
    assert (found.supported, found.held, found.confidence) == (True, False, 0.485)


def test_a_figure_behind_the_last_mark_is_held_to_the_sources_though_no_sentence_ends_there() -> None:
    found = by_numbers("It was built in 1966 [2] and cost the town 4711 dollars", 2)

    assert text_of(found) == "It was built in 1966 [1] and cost the town 4711 dollars [unsupported]"
    assert found.unsupported == ("and cost the town 4711 dollars",)
    assert by_numbers("It was built in 1966 [2] (since 1966 at La Rance)", 2).unsupported == ()


def test_a_claim_without_a_mark_is_unsupported_where_others_have_one() -> None:
    found = by_numbers(
        "# The dam\n\nIt was built early. In 1966 [2]. The shed is painted blue.\n\nIn short:\n- It holds 240 MW\n"
        "over the year [3].\n- It is loved by all.\n\nYes."
    )

    assert found.unsupported == ("The shed is painted blue.", "It is loved by all.")
    assert text_of(found) == (
        "# The dam\n\nIt was built early. In 1966 [1]. The shed is painted blue. [unsupported]\n\nIn short:\n\n"
        "- It holds 240 MW over the year [2].\n- It is loved by all. [unsupported]\n\nYes."
    )


def test_a_figure_that_no_source_has_is_not_carried_by_a_citation() -> None:
    found = by_numbers("- It holds 240 MW [3].\n- It serves 100,000 people [3].\n- It holds 2 boats [3].")

    assert (
        text_of(found) == "- It holds 240 MW [1].\n- It serves 100,000 people [unsupported].\n- It holds 2 boats [1]."
    )
    assert (found.unsupported, found.held) == (("It serves 100,000 people",), False)


def test_a_figure_counts_where_it_is_cited_not_anywhere_in_the_source() -> None:
    near, far = by_numbers("La Rance has 750 m [4]."), by_numbers("La Rance has 254 MW [2].")

    assert (near.supported, near.unsupported) == (True, ())
    assert (far.supported, far.unsupported, far.assistant.citations) == (False, ("La Rance has 254 MW",), ())


def test_an_answer_without_any_citation_is_not_supported() -> None:
    found = by_numbers("The moon pays for it.")

    assert (found.supported, found.held, found.confidence, found.assistant.citations) == (False, False, 0.0, ())


@pytest.mark.parametrize(("markdown", "text"), [("It does not say so.", "It does not say so."), (" ", NOT_SAID)])
def test_a_model_may_say_that_the_sources_do_not(markdown: str, text: str) -> None:
    found = by_numbers(markdown, supported=False, collect=("the\nlist", "b", "c", "d", "e", "f" * 900))

    assert (text_of(found), found.supported) == (text, False)
    assert found.collect == ("the list", "b", "c", "d", "e")


def test_code_keeps_its_brackets() -> None:
    found = by_numbers("It is so [2].\n\n```\na[77]\n```", 2)

    assert text_of(found) == "It is so [1].\n\n```\na[77]\n```"


def test_quotes_count_from_one_and_what_is_invented_is_told() -> None:
    answer = Assistant(
        markdown="Built in 1966 [1]. It sings [2].",
        citations=(
            Citation(doc_id="doc_1", quote="built at La Rance"),
            Citation(doc_id="doc_1", quote="It sings at night."),
            Citation(doc_id="doc_1", quote="It dances by day."),
            Citation(doc_id="doc_7", quote="built at La Rance"),
        ),
    )

    found = check(in_markdown(answer, numbered([SOURCE]), [SOURCE]), [SOURCE], "")

    assert text_of(found) == "Built in 1966 [1]. It sings [unsupported]."
    assert quotes_of(found) == ["built at La Rance"]
    assert found.unsupported == ("It sings", "It dances by day.", "built at La Rance")


def test_markdown_is_marked_by_numbers_of_sentences_and_may_say_that_nothing_is_said() -> None:
    answer = Assistant(markdown="It holds 240 MW [3].")
    absent = Assistant(markdown="Nothing is said.\n\n---NOT SUPPORTED---\n- a list of stations\nthe costs\n")

    found, missing = (check(in_markdown(one, numbered([SOURCE]), [SOURCE]), [SOURCE], "") for one in (answer, absent))

    assert (text_of(found), quotes_of(found), found.supported) == ("It holds 240 MW [1].", [LARGEST], True)
    assert (text_of(missing), missing.supported) == ("Nothing is said.", False)
    assert missing.collect == ("a list of stations", "the costs")


def test_links_lead_to_the_sources_alone_and_html_is_text() -> None:
    markdown = (
        "[list](https://tides.example/list) [here](https://tides.example/power) [evil](https://evil.example/?q=1966) "
        "![p](https://evil.example/p.png) [s](javascript:alert(1)) <img src=x onerror=alert(1)>"
    )

    found = check(DraftAnswer(markdown=markdown, cited={}), [SOURCE], "")

    assert text_of(found) == (
        "[list](<https://tides.example/list>) [here](<https://tides.example/power>) evil p [s](javascript:alert(1)) "
        "<img src=x onerror=alert(1)>"
    )
    assert isinstance(found.assistant.render, Doc)
    assert "\\<img src=x onerror=alert(1)\\>" in to_markdown(found.assistant.render)


def test_a_page_that_was_read_badly_makes_its_answer_less_sure() -> None:
    doubtful = evidence(confidence=0.5)
    written = by_number(
        WrittenAnswer(assistant=WrittenAssistant(markdown="1966 [2]", citations=()), supported=True, collect=()),
        numbered([doubtful]),
    )

    assert check(written, [doubtful], "").confidence == 0.485


HOSTILE = {
    "blanks": " " * 100_000,
    "lines": "\n" * 100_000,
    "brackets": "![" * 50_000,
    "marks": "[1]" * 30_000,
    "numbers": "[1," * 30_000,
    "rows": "|a|b|\n|-|-|\n" + "|1|2|\n" * 15_000,
    "quotes": "> " * 50_000,
}


@pytest.mark.slow
@requirement("003.output.caps")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_checked_in_no_time(name: str) -> None:
    draft = in_markdown(Assistant(markdown=HOSTILE[name]), numbered([SOURCE]), [SOURCE])

    assert len(text_of(check(draft, [SOURCE], ""))) <= 5 * MAX_MARKDOWN_CHARS


QUOTED = [
    f'{{"doc_id": "{doc_id}", "quote": "{quote}"}}' for doc_id in ("doc_1", "x") for quote in (FIRST, "It sings.")
]
PIECES = (
    *(FIRST, LARGEST, "It sings at night.", "750 m", "1889", "[2]", "[99]", "[1]", ". ", " ", "\n", "```"),
    *("---CITATIONS---", "---END CITATIONS---", "---NOT SUPPORTED---", "<think>", "</think>"),
    *('{"assistant": {"markdown": "', '"}}', *QUOTED),
)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=9), max_size=40))
def test_whatever_a_model_writes_only_words_of_the_source_are_cited(written: list[str]) -> None:
    output = read_model_output("".join(written), tools=False)

    checked = check(in_markdown(output.assistant, numbered([SOURCE]), [SOURCE]), [SOURCE], "")

    text = SOURCE.text.text.replace("\n", " ")
    assert all(quote in text for quote in quotes_of(checked))
    assert all((one.doc_id, one.url) == ("doc_1", URL) for one in checked.assistant.citations)
    assert checked.supported <= bool(checked.assistant.citations)

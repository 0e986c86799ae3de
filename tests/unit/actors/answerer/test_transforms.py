"""Texts of collections: what they quote without a model, what of a model's is kept, and what each claim is held to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.answerer.citations import find
from actors.answerer.claims import marks_of
from actors.answerer.transforms.content import to_text
from actors.answerer.transforms.making import LOCAL_FORMS
from actors.answerer.transforms.material import materials
from actors.answerer.transforms.timelines import dates_of
from protocol import subjects
from protocol.agent import MadeText, MakeText, TransformType
from protocol.answers import LOCAL, SourceRead
from protocol.documents import CollectionEntry, CollectionIndex, CollectionSource, Content, Document, untrusted
from protocol.faults import Code
from protocol.models import CallOutcome
from protocol.texts import MAX_TEXT_CHARS, config_of
from tests.requirements import requirement
from tests.support.scale import first
from tests.unit.actors.answerer.sources import evidence
from tests.unit.actors.answerer.world import Prompt, answering

AT = datetime(2026, 3, 1, tzinfo=UTC)

RANCE = """# La Rance

Tidal power is a form of hydropower that converts the energy of tides into electricity.
The first large station was built at **La Rance**, Brittany, in 1966. It took 45 years until a larger one was built.

- **Country**: France
- **Power**: 240 MW
- Opened: 26 November 1966

## Parts

A barrage is a dam across an estuary. Turbines stand in 24 openings of the barrage.

| Term | Meaning |
|---|---|
| Head | the height between the two levels of water |
"""

SIHWA = """# Sihwa Lake

- **Land**: Südkorea
- Country: South Korea
- Power: 254 MW
- Opened: 3 August 2011

The Sihwa Lake station is the largest tidal power station in the world. The sea wall was built in 1994.
Die Anlage wurde am 3. August 2011 eröffnet. © 2024 [The lake](https://evil.example/) `x` <b>bold</b> | pipe

## What is a lagoon?

It is a body of water behind a wall, cut off from the sea.
"""

TEXTS = {"src_rance": ("La Rance", RANCE), "src_sihwa": ("Sihwa Lake", SIHWA)}


def documents(texts: dict[str, tuple[str, str]] = TEXTS) -> tuple[Document[Content], ...]:
    entries = tuple(
        CollectionEntry(source_id=name, url=f"https://tides.example/{name}", title=title, captured_at=AT)
        for name, (title, _) in texts.items()
    )
    index: Document[Any] = untrusted(
        "doc:index", CollectionIndex(collection_id="col_1", title="Tides", sources=entries)
    )
    sources: Iterator[Document[Any]] = (
        untrusted(
            f"doc:{entry.source_id}",
            CollectionSource(
                collection_id="col_1",
                source_id=entry.source_id,
                url=entry.url,
                title=entry.title,
                captured_at=AT,
                markdown=texts[entry.source_id][1],
            ),
        )
        for entry in entries
    )
    return (index, *sources)


async def made(kind: TransformType, model: Any = None, **config: Any) -> tuple[MadeText, list[CallOutcome]]:
    async with answering(model=model) as world:
        request = MakeText(type=kind, documents=documents(), caller="anna", config=config, local_only=model is None)
        return await world.ask(subjects.MAKE_TEXT, request), world.outcomes


def words_of(text: MadeText) -> str:
    assert isinstance(text.assistant.markdown, str)
    return text.assistant.markdown


def all_stand(text: MadeText) -> bool:
    """Return whether each citation stands in the source that it names, word for word."""
    sources = {name: evidence(markdown, f"doc:{name}") for name, (_, markdown) in TEXTS.items()}
    return all(
        isinstance(one.quote, str)
        and isinstance(one.source_id, str)
        and find(one.quote, sources[one.source_id]) is not None
        for one in text.assistant.citations
    )


@requirement("003.tasks")
@pytest.mark.parametrize("kind", TransformType)
async def test_each_type_quotes_what_stands_in_the_sources(kind: TransformType) -> None:
    text, _ = await made(kind)

    assert text.assistant.citations
    assert all_stand(text)
    assert text.served_by.provider == LOCAL
    assert "](https://evil.example" not in words_of(text)
    assert text.sources[0] == SourceRead(
        doc_id="doc:src_rance",
        url="https://tides.example/src_rance",
        title="La Rance",
        chars=len(RANCE),
        source_id="src_rance",
        captured_at=1_772_323_200_000,
    )


async def test_a_timeline_is_in_the_order_of_time_and_as_exact_as_the_sources() -> None:
    text, _ = await made(TransformType.TIMELINE)

    assert text.title == "Timeline: Tides"
    assert words_of(text) == (
        "- **1966:** The first large station was built at La Rance, Brittany, in 1966. [1]\n"
        "- **1966-11-26:** Opened: 26 November 1966 [2]\n"
        "- **1994:** The sea wall was built in 1994. [3]\n"
        "- **2011-08-03:** Opened: 3 August 2011 [4]\n"
        "- **2011-08-03:** Die Anlage wurde am 3. August 2011 eröffnet. [5]"
    )


async def test_a_timeline_is_bounded_by_dates_and_a_focus() -> None:
    since, _ = await made(TransformType.TIMELINE, since="1990", until="2011-07")
    focus, _ = await made(TransformType.TIMELINE, focus="sea wall")

    assert words_of(since) == words_of(focus) == "- **1994:** The sea wall was built in 1994. [1]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On 3 March 2011 it shook; in 2012 it reopened.", ["2011-03-03", "2012"]),
        ("Am 5. Oktober 1999 wurde das Werk eröffnet.", ["1999-10-05"]),
        ("2011年3月11日、東日本大震災が発生した。", ["2011-03-11"]),
        ("Le 14 juillet 1789, la Bastille est prise.", ["1789-07-14"]),
        ("El 12 de octubre de 1492 llegó a tierra.", ["1492-10-12"]),
        ("12 октября 1917 года началась революция.", ["1917-10-12"]),
        ("(1842–1901) was a writer.", ["1842"]),
        ("1966: the station opens.", ["1966"]),
        ("In March 2020 it began.", ["2020-03"]),
        ("It was dreamt of in the 1880s.", ["1880s"]),
        ("The price is $1999, and 2000 people work there at 1500 MW.", []),
        ("Call 2024-555-1234, version 2021.4, model 1080p.", []),
        ("On 31 February 2020 nothing happened.", []),
    ],
)
def test_dates_are_read_of_sentences_of_many_languages(text: str, expected: list[str]) -> None:
    assert list(dates_of(text)) == expected


async def test_a_comparison_is_a_table_of_the_fields_that_sources_have_in_common() -> None:
    text, _ = await made(TransformType.COMPARISON)

    assert words_of(text).split("\n") == [
        "|  | La Rance | Sihwa Lake |",
        "| --- | --- | --- |",
        "| Country | France [1] | Südkorea [2] |",
        "| Power | 240 MW [3] | 254 MW [4] |",
        "| Opened | 26 November 1966 [5] | 3 August 2011 [6] |",
    ]


async def test_a_comparison_reads_tables_and_cites_the_row_of_a_value() -> None:
    rows = "| Model | Weight | Price |\n|---|---|---|\n| Alpha | 12 kg | {1} |\n| Beta | 9 kg | 5 € |\n"
    table = f"# {{0}}\n\nIt holds 12 kg.\n\n{rows}"
    texts = {name: (name, table.format(name, price)) for name, price in (("src_1", "20 €"), ("src_2", "22 €"))}
    async with answering() as world:
        request = MakeText(type=TransformType.COMPARISON, documents=documents(texts), caller="anna", local_only=True)
        text = await world.ask(subjects.MAKE_TEXT, request)

    assert words_of(text).split("\n")[2:4] == [
        "| Alpha Weight | 12 kg [1] | 12 kg [2] |",
        "| Alpha Price | 20 € [1] | 22 € [2] |",
    ]
    assert [one.quote for one in text.assistant.citations][:2] == ["Alpha 12 kg 20 €", "Alpha 12 kg 22 €"]


async def test_a_comparison_has_the_fields_that_are_wanted() -> None:
    text, _ = await made(TransformType.COMPARISON, fields=["Power", "Colour"])

    assert words_of(text).split("\n")[2:] == ["| Power | 240 MW [1] | 254 MW [2] |"]


async def test_cards_are_what_is_defined_and_gaps_come_after() -> None:
    text, _ = await made(TransformType.FLASHCARDS)

    terms = [line.partition(". ")[2] for line in words_of(text).split("\n") if line.startswith("### ")]
    assert terms[:5] == ["Tidal power", "barrage", "Head", "Sihwa Lake station", "lagoon"]
    assert "The first large station was built at La Rance, Brittany, in \\_\\_\\_\\_\\_." in terms


async def test_a_quiz_has_one_right_answer_among_those_of_others() -> None:
    text, _ = await made(TransformType.QUIZ, count=2, choices=3)

    lines = words_of(text).split("\n")
    assert (
        lines[0] == "### 1. \\_\\_\\_\\_\\_ is a form of hydropower that converts the energy of tides into electricity."
    )
    assert sum(line.startswith("- ") for line in lines) == 6
    assert lines[-2].endswith("Tidal power [1]")


async def test_an_outline_has_the_headings_with_what_stands_below_them() -> None:
    text, _ = await made(TransformType.OUTLINE)

    assert words_of(text).split("\n")[:3] == [
        "- La Rance [1]",
        "  - Parts [2]",
        "    - A barrage is a dam across an estuary. [3]",
    ]


@pytest.mark.parametrize("kind", first(2, TransformType))
def test_what_is_made_of_many_sources_is_no_longer_than_a_text_may_be(kind: TransformType) -> None:
    sources = [
        evidence(f"# Station {number}\n\n" + RANCE, f"doc_{number}", f"https://tides.example/{number}")
        for number in range(200)
    ]
    content = LOCAL_FORMS[kind](materials(sources), config_of(kind, {}))
    text = to_text(content, [(one.source.doc_id, one.source.title) for one in sources])

    assert len(marks_of(text)) <= 1_500
    assert len(text) <= MAX_TEXT_CHARS


PIECES = (
    *(
        "# ",
        "## What is ",
        "- **",
        "**: ",
        "**",
        " is a ",
        " — это ",
        "は、",
        "とは",
        "Opened: ",
        "\n",
        "\n\n",
        "| ",
        " |",
        "|---|",
    ),
    *(
        "\n|---|---|\n",
        ": ",
        "1966",
        " in 1966",
        "3 March 2011",
        "2011年3月11日",
        "240 MW",
        "_____",
        "[1]",
        "\\",
        "`",
        "```\n",
        "<b>",
        ".",
    ),
    *(
        "tide",
        "Tidal Power",
        "the sea wall",
        "a body of water behind a wall, cut off from the sea. ",
        "Was sind Wellen?",
        "§",
        "é",
    ),
)


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), min_size=1, max_size=3),
    st.sampled_from(TransformType),
)
def test_whatever_sources_look_like_what_is_cited_stands_in_them(texts: list[str], kind: TransformType) -> None:
    sources = [evidence(text, f"doc_{number}") for number, text in enumerate(texts)]
    content = LOCAL_FORMS[kind](materials(sources), config_of(kind, {}))
    marks = marks_of(to_text(content, [(one.source.doc_id, one.source.title) for one in sources]))

    assert set(marks) <= set(range(1, 1 + sum(len(one.text.sentences) for one in sources)))


async def test_the_config_is_held_to_its_keys() -> None:
    async with answering() as world:
        request = MakeText(type=TransformType.QUIZ, documents=documents(), caller="anna", config={"coutn": 3})
        fault = await world.fault_of(subjects.MAKE_TEXT, request)

    assert fault.code is Code.VALIDATION_INVALID_REQUEST
    assert "coutn" in fault.message


async def test_where_sources_say_nothing_of_it_that_is_said() -> None:
    texts = {"src_1": ("Calm", "There is nothing here but calm water and some wind.")}
    async with answering() as world:
        request = MakeText(type=TransformType.TIMELINE, documents=documents(texts), caller="anna", local_only=True)
        fault = await world.fault_of(subjects.MAKE_TEXT, request)

    assert (fault.code, fault.message) == (Code.CONTENT_EMPTY, "No sentence of the sources names a date.")
    assert [one.action for one in fault.actions] == ["report_to_user"]


async def test_a_model_fills_in_what_its_sentences_bear_out() -> None:
    def model(prompt: Prompt) -> dict[str, Any]:
        built, wall = prompt.number("The first large station"), prompt.number("The sea wall")
        events: list[dict[str, Any]] = [
            {"date": "1994", "text": "A sea wall was built.", "sentences": [wall]},
            {"date": "1966", "text": "The first one opened with 999 MW.", "sentences": [built]},
            {"date": "1966", "text": "The first large [one](https://evil.example).", "sentences": [built]},
            {"date": "1889", "text": "It was dreamt of.", "sentences": [built]},
            {"date": "1970", "text": "Nobody says so.", "sentences": []},
            {"date": "soon", "text": "It will be built.", "sentences": [wall]},
        ]
        return {"events": events}

    text, outcomes = await made(TransformType.TIMELINE, model)

    assert words_of(text) == (
        "- **1966:** The first large \\[one\\](https://evil.example). [1]\n- **1994:** A sea wall was built. [2]"
    )
    assert all_stand(text)
    assert text.served_by.provider == "openai"
    assert len(text.unsupported) == 4
    assert [(one.tool, one.verified) for one in outcomes] == [("transform_timeline", False)]


@pytest.mark.parametrize("answer", [{"events": []}, {"other": 1}, "words"])
async def test_where_nothing_of_a_model_holds_the_sources_are_quoted(answer: Any) -> None:
    def model(_: Prompt) -> Any:
        return answer

    text, _ = await made(TransformType.TIMELINE, model)

    assert text.served_by.provider == LOCAL
    assert words_of(text).startswith("- **1966:** The first large station was built")


@pytest.mark.parametrize("kind", TransformType)
async def test_a_model_that_invents_everything_leaves_the_quotes_alone(kind: TransformType) -> None:
    def liar(prompt: Prompt) -> Any:
        assert prompt.request.output is not None
        assert prompt.request.tool == f"transform_{kind.value}"
        return invented(prompt.request.output.schema)

    text, _ = await made(kind, liar)

    assert all_stand(text)
    assert "4711" not in words_of(text)


def invented(schema: dict[str, Any]) -> Any:
    match schema["type"]:
        case "object":
            return {name: invented(each) for name, each in schema["properties"].items()}
        case "array":
            return [10_000_000] if schema["items"]["type"] == "integer" else [invented(schema["items"])]
        case "integer":
            return 0
        case _:
            return "It sings 4711 songs."

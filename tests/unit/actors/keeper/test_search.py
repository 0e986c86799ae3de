"""Searching what was captured, kept and read: found by the caller whose it is, and by nobody in the file."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import pytest

from actors.keeper.search_terms import query_terms, terms_of
from protocol import subjects
from protocol.collection_views import PackCollection, PackedCollection
from protocol.collections import (
    CollectionCreated,
    CollectionDeleted,
    CollectionLine,
    SourceAdded,
    SourceCaptured,
    SourceDeleted,
    SourceKind,
    TextAsked,
    TextDeleted,
    collection_topic,
    source_topic,
    text_topic,
)
from protocol.documents import CollectionIndex, CollectionSource
from protocol.faults import FaultError
from protocol.search import Passages, SearchPassages
from protocol.visits import VISIT_PREFIX, KeptVisit, visit_topic
from tests.unit.actors.keeper.ledger_data import ME, NOW, YOU, World, world

FARM, CITY = "col_farm", "col_city"


def captured(source: str, markdown: str, *, collection: str = FARM, title: str = "", **other: Any) -> SourceCaptured:
    told: dict[str, Any] = {"caller": ME, "version": 1, **other}
    own: dict[str, Any] = {"collection": collection, "title": title, "markdown": markdown}
    digest = f"{source} {told['version']}"
    return SourceCaptured(at=NOW, job="job_1", source=source, url=address(source), content_hash=digest, **own, **told)


def address(source: str) -> str:
    return f"https://site.example/{source}"


def note(source: str, markdown: str) -> SourceAdded:
    return SourceAdded(
        caller=ME, at=NOW, collection=CITY, source=source, kind=SourceKind.NOTE, title="Note", markdown=markdown
    )


def topic(line: CollectionLine) -> str:
    match line:
        case SourceCaptured():
            return source_topic(line.collection, line.source)
        case TextAsked() | TextDeleted():
            return text_topic(line.artifact)
        case _:
            return collection_topic(line.collection)


async def write(here: World, *lines: CollectionLine) -> None:
    """Write lines, and before the first of a collection or a source how that came to be."""
    journal = await here.asking.bus.journal(subjects.COLLECTIONS)
    for line in lines:
        own: dict[str, Any] = {"caller": line.caller, "at": NOW, "collection": line.collection}
        if line.collection and await journal.last(collection_topic(line.collection)) is None:
            await journal.append(collection_topic(line.collection), CollectionCreated(title="Animals", **own))
        if isinstance(line, SourceCaptured) and line.version == 1:
            url = address(line.source)
            added = SourceAdded(source=line.source, kind=SourceKind.URL, url=url, normalized_url=url, **own)
            await journal.append(collection_topic(line.collection), added)
        await journal.append(topic(line), line)


async def search(here: World, query: str, caller: str = ME, **other: Any) -> Passages:
    return await here.asking.bus.call(subjects.PASSAGES, SearchPassages(caller=caller, query=query, **other))


async def sources(here: World, query: str, caller: str = ME, **other: Any) -> list[str]:
    found = await search(here, query, caller, **other)
    return [one.source_id or one.artifact_id or one.url for one in found.passages]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Three horses were running.", "horse"),
        ("Three horses were running.", "run"),
        ("Boxes that are falling", "box fall"),
        ("She makes bread in a bakery", "making BAKERIES"),
        ("Crème brûlée", "creme brulee"),
        ("Die Straße nach Köln", "strasse koln"),
        ("東京都の天気予報", "天気"),
        ("東京都の天気予報", "都"),
        ("서울에서 만나요", "서울"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "width"),
        ("Цены на молоко", "МОЛОКО"),
        ("ISO 9001:2015", "iso 9001"),
    ],
)
def test_a_query_has_the_terms_of_a_text(text: str, query: str) -> None:
    wanted = query_terms(query)

    assert wanted
    assert set(wanted) <= set(terms_of(text))


async def test_the_best_passage_is_first(tmp_path: Path) -> None:
    async with world(tmp_path) as here, here.keeper():
        await write(
            here,
            captured("src_1", "# Horses\n\nA horse eats hay and oats."),
            captured("src_2", "Cows eat grass. A neighbour of theirs is a horse.\n\nThey give milk."),
            captured("src_3", "The pig sleeps."),
            note("src_4", "Ask the horse dealer for a price."),
        )

        found = await search(here, "what does a horse eat?")

        assert [one.source_id for one in found.passages] == ["src_1", "src_2", "src_4"]
        assert found.indexed == 4
        first = found.passages[0]
        assert (first.url, first.text, first.kind) == (
            "https://site.example/src_1",
            "A horse eats hay and oats.",
            "source",
        )
        assert await sources(here, "horse", collection=CITY) == ["src_4"]
        assert await sources(here, "unheard") == []


async def test_nobody_finds_what_is_not_his(tmp_path: Path) -> None:
    async with world(tmp_path) as here, here.keeper():
        await write(
            here,
            captured("src_1", "A horse eats hay."),
            captured("src_2", "A horse sleeps.", caller=YOU, collection="col_yours"),
        )

        assert await sources(here, "horse") == ["src_1"]
        assert await sources(here, "horse", YOU) == ["src_2"]
        assert await sources(here, "horse", YOU, collection=FARM) == []
        assert await sources(here, "hay", YOU) == []


async def test_what_is_read_anew_or_deleted_is_found_no_more(tmp_path: Path) -> None:
    async with world(tmp_path) as here, here.keeper():
        await write(
            here,
            captured("src_1", "A horse eats hay."),
            captured("src_2", "The donkey."),
            captured("src_3", "The cow.", collection=CITY),
            TextAsked(caller=ME, at=NOW, artifact="art_1", type="text", title="Mine", markdown="Of goats."),
        )
        assert await sources(here, "goat") == ["art_1"]

        await write(
            here,
            captured("src_1", "A mule eats hay.", version=2),
            captured("src_1", "", version=3, unchanged=True),
            SourceDeleted(caller=ME, at=NOW, collection=FARM, source="src_2"),
            CollectionDeleted(caller=ME, at=NOW, collection=CITY),
            TextDeleted(caller=ME, at=NOW, artifact="art_1"),
        )

        await write(here, captured("src_2", "The donkey, late.", version=2))

        assert await sources(here, "horse donkey cow goat") == []
        assert await sources(here, "mule") == ["src_1"]


async def test_pages_that_were_read_are_found_by_whoever_read_them(tmp_path: Path) -> None:
    async with world(tmp_path) as here, here.keeper():
        await read_page(here, "A horse.", "A mule.")

        assert await sources(here, "mule") == ["https://site.example/"]
        assert await sources(here, "horse") == []
        assert await sources(here, "mule", YOU) == []

        await read_page(here, "A donkey.")

        assert await sources(here, "donkey") == ["https://site.example/"]
        assert await sources(here, "horse mule") == []


async def read_page(here: World, *texts: str) -> None:
    """Have a page read with one text after the other, and wait until the last is found."""
    journal, url = await here.asking.bus.journal(subjects.PAGE_VISITS), "https://site.example/"
    for text in texts:
        name, words = VISIT_PREFIX + secrets.token_urlsafe(16), f"{text} It says more of what it is about. " * 3
        page = KeptVisit(id=name, caller=ME, at=NOW, url=url, took_ms=1, final_url=url, title="Animals", markdown=words)
        await journal.append(visit_topic(name), page)
    while not await sources(here, texts[-1]):
        pass


async def test_a_source_has_few_passages_of_many(tmp_path: Path) -> None:
    sections = "\n\n".join(f"## Part {number}\n\n{'A horse eats hay. ' * 12}" for number in range(9))
    async with world(tmp_path) as here, here.keeper():
        await write(here, captured("src_1", sections), captured("src_2", f"horse {'of course ' * 400}"))

        assert await sources(here, "horse") == ["src_1"] * 3 + ["src_2"]
        assert await sources(here, "horse", per_source=1, limit=2) == ["src_1", "src_2"]


async def test_no_word_lies_in_the_open(tmp_path: Path) -> None:
    async with world(tmp_path) as here, here.keeper():
        await write(here, captured("src_1", "A Wolpertinger eats hay.", title="Bestiary"))
        assert await sources(here, "wolpertinger bestiary") == ["src_1"]

        written = b"".join(path.read_bytes().lower() for path in here.files())

        assert not [word for word in (b"wolpertinger", b"bestiary", b"hay") if word in written]


# -- packing -----------------------------------------------------------------------------------------------------------


async def pack(here: World, question: str = "", caller: str = ME, **other: Any) -> PackedCollection:
    asked = PackCollection(caller=caller, collection=FARM, question=question, **other)
    return await here.asking.bus.call(subjects.COLLECTION_PACK, asked)


def words(packed: PackedCollection) -> dict[str, str]:
    return {one.doc_id: one.content.markdown for one in packed.documents if isinstance(one.content, CollectionSource)}


LONG = "\n\n".join(
    f"## Year {year}\n\nIn {year} the farm had {year - 1900} cows. {'So it was. ' * 30}" for year in range(1950, 1970)
)


async def test_what_suits_a_question_best_is_packed_first(tmp_path: Path) -> None:
    async with world(tmp_path) as here, here.keeper():
        await write(
            here,
            captured("src_1", "The pig sleeps.", title="Pigs"),
            captured("src_2", "A horse eats hay.", title="Horses"),
            SourceAdded(caller=ME, at=NOW, collection=FARM, source="src_3", kind=SourceKind.NOTE, markdown="My horse."),
        )

        packed = await pack(here, "What does a horse eat?")

        index = packed.documents[0].content
        assert isinstance(index, CollectionIndex)
        assert [one.source_id for one in index.sources] == ["src_2", "src_3", "src_1"]
        assert words(packed) == {"src_2": "A horse eats hay.", "src_3": "My horse.", "src_1": "The pig sleeps."}
        assert [(one.source_id, one.whole, one.score > 0) for one in packed.packed] == [
            ("src_2", True, True),
            ("src_3", True, True),
            ("src_1", True, False),
        ]
        assert list(words(await pack(here, "horse", leave_out=("src_2",)))) == ["src_3", "src_1"]
        assert list(words(await pack(here, "horse", only=("src:2",)))) == ["src_2"]
        assert (await pack(here)).hash == packed.hash
        with pytest.raises(FaultError, match="VALIDATION_UNKNOWN_COLLECTION"):
            await pack(here, caller=YOU)


async def test_where_there_is_little_room_the_passages_that_suit_are_given(tmp_path: Path) -> None:
    async with world(tmp_path) as here, here.keeper():
        await write(here, *(captured(f"src_{number}", LONG, title=f"Farm {number}") for number in range(1, 9)))

        packed = await pack(here, "How many cows in 1963?", max_chars=6_000, per_source_chars=1_500)

        found = words(packed)
        assert "In 1963 the farm had 63 cows" in found["src_1"]
        assert max(map(len, found.values())) <= 1_500
        assert sum(map(len, found.values())) <= 6_000
        assert len(found) > 4
        assert not any(one.whole for one in packed.packed)


async def test_without_a_question_each_source_has_its_share(tmp_path: Path) -> None:
    async with world(tmp_path) as here, here.keeper():
        await write(here, *(captured(f"src_{number}", LONG) for number in range(1, 5)), captured("src_5", "Short."))

        found = words(await pack(here, max_chars=8_000))

        assert list(found) == ["src_1", "src_2", "src_3", "src_4", "src_5"]
        assert found["src_5"] == "Short."
        assert all(text.startswith("## Year 1950") for name, text in found.items() if name != "src_5")
        assert sum(map(len, found.values())) <= 8_000

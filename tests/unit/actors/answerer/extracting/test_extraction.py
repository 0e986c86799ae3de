"""Data by a schema: from self-made pages of many kinds, by rule alone, each value with words that stand in its page."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest

from actors.answerer.extracting.evidence import SourceEvidence
from actors.answerer.extracting.extraction import ExtractedData, extract
from actors.answerer.source import Source
from actors.extraction.evidence.json_values import Json
from protocol.answers import ExtractData, FieldOrigin
from tests.support.extract_pages import gold, leaves, names, source, source_of

LEAST_RIGHT = 0.95


async def by_rule(schema: dict[str, Any], *sources: Source) -> ExtractedData:
    return await extract(ExtractData(schema=schema), sources, None)


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def rows(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": record(**properties)}


TEXT, NUMBER = {"type": "string"}, {"type": "number"}


async def test_the_fields_of_self_made_pages_are_right_and_none_is_made_up() -> None:
    right, asked, invented, uncited = 0, 0, list[str](), list[str]()
    for name in names():
        expected, text = dict(leaves(gold(name).data)), SourceEvidence(source(name))
        result = await by_rule(gold(name).schema, text.source)
        found = dict(leaves(result.data))
        asked += len(expected)
        right += sum(at in found and found[at] == value for at, value in expected.items())
        for at, value in found.items():
            citation = result.fields[at].citation
            if value is None:
                assert result.fields[at].reason
            elif expected.get(at) is None:
                invented.append(f"{name}{at}: {value}")
            elif citation is None or not text.stands(str(citation.quote)):
                uncited.append(f"{name}{at}: {value}")

    assert (invented, uncited) == ([], [])
    assert right >= LEAST_RIGHT * asked, f"{right} of {asked}"


@pytest.mark.parametrize("name", names())
async def test_data_match_their_schema_where_null_may_stand_for_what_is_absent(name: str) -> None:
    result = await by_rule(gold(name).schema, source(name))

    jsonschema.validate(result.data, msgspec.convert(with_nulls(gold(name).schema), dict[str, Any]))


def with_nulls(schema: Json) -> Json:
    """Return a schema in which any leaf may be null."""
    if isinstance(schema, list):
        return [with_nulls(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    wider = {name: with_nulls(each) for name, each in schema.items()}
    match schema:
        case {"enum": list() as choices}:
            wider["enum"] = [*choices, None]
        case {"type": "string" | "number" | "integer" | "boolean" as kind}:
            wider["type"] = [kind, "null"]
        case _:
            pass
    return wider


async def test_hidden_text_and_instructions_on_a_page_are_no_data() -> None:
    result = await by_rule(gold("job-injected").schema, source("job-injected"))

    assert "evil" not in repr(result).lower()
    assert (result.data["company"], result.data["salary"]) == (None, None)


async def test_a_value_says_where_it_comes_from() -> None:
    page = source_of(
        "<main><h1>Hut</h1><p>A hut on the ridge, with a stove.</p><p>Beds: 36</p><p>Phone: +43 5555 120</p></main>"
    )

    result = await by_rule(record(beds={"type": "integer"}, owner=TEXT), page)

    beds = result.fields["/beds"]
    assert result.data == {"beds": 36, "owner": None}
    assert (beds.origin, beds.citation and beds.citation.quote, beds.citation and beds.citation.doc_id) == (
        FieldOrigin.KEY_VALUE,
        "Beds: 36",
        "page",
    )
    assert (result.fields["/owner"].origin, result.fields["/owner"].reason) == (
        None,
        "nothing in the sources is labelled so",
    )


async def test_rows_of_several_pages_follow_each_other_each_once() -> None:
    def listing(*cells: tuple[str, str]) -> Source:
        body = "".join(f"<tr><td>{name}<td>{price}</tr>" for name, price in cells)
        html = (
            f"<main><h1>Yarn</h1><p>All yarns are spun here.</p><table><tr><th>Name<th>Price</tr>{body}</table></main>"
        )
        return source_of(html, doc_id=f"from {cells[0][0]}")

    first = listing(("Wool", "12.50 €"), ("Silk", "30 €"))
    second = listing(("Silk", "30 €"), ("Hemp", "8 €"), ("Total", "50 €"))
    result = await by_rule(rows(name=TEXT, price=NUMBER), first, second)

    assert result.data == [{"name": "Wool", "price": 12.5}, {"name": "Silk", "price": 30}, {"name": "Hemp", "price": 8}]
    cited = result.fields["/2/price"].citation
    assert cited is not None
    assert (cited.doc_id, cited.quote) == ("from Silk", "Hemp 8 €")


async def test_an_array_is_cut_where_it_says_so_itself() -> None:
    result = await by_rule({"maxItems": 2} | rows(name=TEXT, city=TEXT, phone=TEXT), source("directory-clinics-pl"))

    assert [row["city"] for row in result.data] == ["Borowo", "Sosnowa"]
    assert result.fields[""].reason.startswith("2 of 3 rows")


async def test_what_a_source_does_not_list_is_an_empty_array_with_the_reason() -> None:
    result = await by_rule(record(wines=rows(grape=TEXT, vintage=NUMBER)), source("directory-huts"))

    assert result.data == {"wines": []}
    assert list(result.fields) == ["/wines"]


async def test_markdown_alone_is_enough() -> None:
    markdown = (
        "## Data\n\n| Boat | Length |\n| --- | --- |\n| Halcyon | 12.4 m |\n| Blue Ox | 9 m |\n\n**Harbour:** Malmby"
    )
    page = Source(doc_id="note", url="", title="Boats", markdown=markdown)

    result = await by_rule(record(harbour=TEXT, boats=rows(boat=TEXT, length=NUMBER)), page)

    assert result.data == {
        "harbour": "Malmby",
        "boats": [{"boat": "Halcyon", "length": 12.4}, {"boat": "Blue Ox", "length": 9}],
    }

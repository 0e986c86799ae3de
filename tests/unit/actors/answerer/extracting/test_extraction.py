"""Data by a schema: from self-made pages of many kinds, by rule alone, each value with words that stand in its page."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import anyio
import jsonschema
import msgspec
import pytest

from actors.answerer.extracting.evidence import SourceEvidence
from actors.answerer.extracting.extraction import ExtractedData, extract
from actors.answerer.source import AnswerSource
from actors.extraction.evidence.json_values import Json
from protocol.answers import ExtractData, FieldOrigin
from protocol.documents import ExtractedTable
from tests.support.extract_pages import gold, leaves, names, source, source_of

LEAST_RIGHT = 0.95


async def by_rule(schema: dict[str, Any], *sources: AnswerSource) -> ExtractedData:
    return await extract(ExtractData(schema=schema), sources, None)


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def rows(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": record(**properties)}


TEXT, NUMBER = {"type": "string"}, {"type": "number"}


@cache
def of_page(name: str) -> tuple[SourceEvidence, ExtractedData]:
    text = SourceEvidence(source(name))
    return text, anyio.run(partial(by_rule, gold(name).schema, text.source))


@pytest.mark.parametrize("name", names())
def test_nothing_is_made_up(name: str) -> None:
    (text, result), expected = of_page(name), dict(leaves(gold(name).data))

    given = [(at, value) for at, value in leaves(result.data) if value is not None]
    cited = [
        (at, value) for at, value in given if (found := result.fields[at].citation) and text.stands(str(found.quote))
    ]
    assert [(at, value) for at, value in given if expected.get(at) is None] == []
    assert cited == given
    assert all(result.fields[at].reason for at, value in leaves(result.data) if value is None)
    jsonschema.validate(result.data, msgspec.convert(with_nulls(gold(name).schema), dict[str, Any]))


def test_most_fields_are_right() -> None:
    expected = {f"{name}{at}": value for name in names() for at, value in leaves(gold(name).data)}
    given = {f"{name}{at}": value for name in names() for at, value in leaves(of_page(name)[1].data)}

    wrong = [at for at, value in expected.items() if at not in given or given[at] != value]
    assert len(wrong) <= (1 - LEAST_RIGHT) * len(expected), wrong


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
    def listing(*cells: tuple[str, str]) -> AnswerSource:
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
    assert result.fields[""].reason.startswith("2 of about 3 rows")


TIMETABLE = """<main><h1>Ferries</h1><p>Ferries between the two piers, all year round.</p><table>
<thead><tr><th rowspan=2>Boat<th colspan=2>North Pier<th colspan=2>South Pier<th rowspan=2>Remarks</tr>
<tr><th>Dep.<th>Gate<th>Arr.<th>Gate</tr></thead>
<tbody><tr><td>Heron<td>06:10<td>3<td>06:40<td>1<td>daily</tr><tr><td>Egret<td>07:10<td>2<td>07:40<td>1<td></tr></tbody>
<tfoot><tr><td colspan=6>B = bicycles are taken</tr></tfoot></table></main>"""


async def test_a_column_is_known_by_its_own_words_beside_those_of_its_group() -> None:
    page = source_of(TIMETABLE)

    short = await by_rule(record(boats=rows(boat=TEXT, dep=TEXT, arr=TEXT)), page)
    long = await by_rule(record(boats=rows(boat=TEXT, departure=TEXT, arrival=TEXT, gate=TEXT)), page)

    heron = {"boat": "Heron", "dep": "06:10", "arr": "06:40"}
    assert short.data["boats"] == [heron, {"boat": "Egret", "dep": "07:10", "arr": "07:40"}]
    assert [row["arrival"] for row in long.data["boats"]] == ["06:40", "07:40"]
    assert [row["gate"] for row in long.data["boats"]] == [None, None]  # of which pier, nobody knows
    assert long.confidence < short.confidence


async def test_a_time_of_day_is_no_date() -> None:
    items = "".join(
        f"<li><a href='/{name}'><h3>{name}</h3></a><span class=date>{when}</span><span class=hall>{hall}</span></li>"
        for name, when, hall in [("Choir", "19:30", "East"), ("Waltz", "20:00", "West"), ("Brass", "18:00", "North")]
    )
    page = source_of(f"<main><h1>This week</h1><p>What is played in the halls.</p><ul>{items}</ul></main>")

    with_hall = await by_rule(record(concerts=rows(name=TEXT, date=TEXT, hall=TEXT)), page)
    without = await by_rule(record(concerts=rows(name=TEXT, date=TEXT)), page)

    assert with_hall.data["concerts"][0] == {"name": "Choir", "date": None, "hall": "East"}
    assert with_hall.fields["/concerts/0/date"].reason == "the page gives a time of day alone: 19:30"
    assert without.fields["/concerts"].reason.endswith("the page gives a time of day alone: 19:30)")


async def test_of_two_columns_of_one_meaning_that_of_the_very_name_counts() -> None:
    people = (("Ada Reed", "Miller"), ("Jo Marsh", "Weaver"))
    body = "".join(f"<tr><td>{title}<td>{name}<td>Elm</tr>" for name, title in people)
    page = source_of(
        f"<main><h1>Staff</h1><p>Who works here.</p><table><tr><th>Title<th>Name<th>City</tr>{body}</table></main>"
    )

    result = await by_rule(rows(name=TEXT, title=TEXT, city=TEXT), page)

    assert result.data[0] == {"name": "Ada Reed", "title": "Miller", "city": "Elm"}
    assert result.confidence > 0.9


async def test_what_a_source_does_not_list_is_an_empty_array_with_the_reason() -> None:
    result = await by_rule(record(wines=rows(grape=TEXT, vintage=NUMBER)), source("directory-huts"))

    assert result.data == {"wines": []}
    assert list(result.fields) == ["/wines"]


async def test_markdown_alone_is_enough() -> None:
    markdown = (
        "## Data\n\n| Boat | Length |\n| --- | --- |\n| Halcyon | 12.4 m |\n| Blue Ox | 9 m |\n\n**Harbour:** Malmby"
    )
    page = AnswerSource(doc_id="note", url="", title="Boats", markdown=markdown)

    result = await by_rule(record(harbour=TEXT, boats=rows(boat=TEXT, length=NUMBER)), page)

    assert result.data == {
        "harbour": "Malmby",
        "boats": [{"boat": "Halcyon", "length": 12.4}, {"boat": "Blue Ox", "length": 9}],
    }


@pytest.mark.parametrize("headers", [(), ("Weight",), ("a", "b", "c")])
async def test_a_table_with_other_headers_than_columns_is_read_by_its_rows(headers: tuple[str, ...]) -> None:
    table = ExtractedTable(headers=headers, rows=(("Weight", "3 kg"),))
    page = AnswerSource(doc_id="note", url="", title="Looms", markdown="Looms.", tables=(table,))

    result = await by_rule(record(weight=TEXT), page)

    assert result.data == {"weight": "3 kg"}


async def test_a_day_and_its_time_are_one_moment_whatever_they_stand_beside() -> None:
    page = source_of(
        "<main><h1>Choir</h1><p>Forty voices sing of the sea.</p>"
        "<dl><dt>Datum<dd>9. Mai 2026<dt>Uhrzeit<dd>19.30 bis 21.00 Uhr</dl></main>"
    )
    moment = {"type": "string", "format": "date-time"}

    result = await by_rule(record(startDate=moment, endDate=moment), page)

    assert result.data == {"startDate": "2026-05-09T19:30:00", "endDate": "2026-05-09T21:00:00"}


async def test_sentences_speak_only_of_what_their_page_is_about() -> None:
    hut = "<main><h1>Hut</h1><p>The hut has 36 beds and lies at 2,140 m.</p><p>Phone: +43 5555 120</p></main>"
    news = "<main><h1>Prices rise</h1><p>A hotel with 36 beds is for sale. It cost 2 million euros.</p></main>"
    schema = record(beds={"type": "integer"}, phone=TEXT, owner=TEXT, city=TEXT)

    assert (await by_rule(schema, source_of(hut))).data["beds"] == 36
    assert (await by_rule(schema, source_of(news))).data["beds"] is None


async def test_all_links_and_addresses_of_a_page_are_an_array_of_their_form() -> None:
    page = source_of(
        "<main><h1>Boats</h1><p>Ask <a href='mailto:ada@boats.example'>ada@boats.example</a> or bo@boats.example.</p>"
        "<p><a href='/oars'>The oars</a>, <a href='https://sails.example/'>sails</a>, <a href='/oars'>oars</a></main>"
    )
    schema = record(
        links={"type": "array", "items": {"type": "string", "format": "uri"}},
        emails={"type": "array", "items": {"type": "string", "format": "email"}},
    )

    result = await by_rule(schema, page)

    assert result.data == {
        "links": ["https://site.example/oars", "https://sails.example/"],
        "emails": ["ada@boats.example", "bo@boats.example"],
    }


@pytest.mark.parametrize(
    "said",
    [
        "The power loom was first built in 1785 and refined over 47 years. A visit takes 40 minutes, on 6 days.",
        "Der Webstuhl wurde 1785 gebaut und 47 Jahre lang verbessert. Ein Kurs dauert 3 Tage zu 40 Minuten.",
        "Le métier fut construit en 1785 et servit 47 ans. La visite dure 40 minutes, 6 jours par semaine.",
        "El telar fue construido en 1785 y se usó 47 años. El envío tarda 5 días, y la visita dura 40 minutos.",
        "织机始建于1785年，之后的47年里多次修缮。参观需要40分钟，每周开放6天。成立时间：1998年5月20日",
    ],
)
async def test_how_long_something_lasts_is_no_value_of_a_field_called_like_the_unit(said: str) -> None:
    page = source_of(f"<main><h1>1801</h1><p>{said}</p><p>47 years</p><p>Day 3</p><p>Date: 8 avril 2026</p></main>")
    counts = (
        "year",
        "years",
        "days",
        "minutes",
        "jahre",
        "tage",
        "minuten",
        "ans",
        "jours",
        "dias",
        "分钟",
        "天",
        "年",
    )
    schema = record(**{name: {"type": "integer"} for name in counts})

    assert (await by_rule(schema, page)).data == dict.fromkeys(counts)


async def test_a_name_in_ascii_is_that_of_a_label_with_umlauts_and_what_has_a_label_leaves_the_rest_of_its_line() -> (
    None
):
    page = source_of(
        "<title>Hohe Wand</title><main><h1>Hohe Wand</h1><p>Höhenmeter: 720</p><p>Level: easy</p>"
        "<p>Write to <a href='mailto:ada@site.example'>ada@site.example</a> or call +44 1524 555 0101.</p></main>"
    )
    schema = record(hoehenmeter=NUMBER, author=TEXT, email=TEXT, phone=TEXT)

    assert (await by_rule(schema, page)).data == {
        "hoehenmeter": 720,
        "author": None,
        "email": "ada@site.example",
        "phone": "+44 1524 555 0101",
    }

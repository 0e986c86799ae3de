"""Shapes of tables as pages of the web have them, each rebuilt small."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from actors.extraction.select.tables import tables
from protocol.documents import ExtractedTable
from tests.support.whole_page import parsed, whole


def read(body: str) -> list[ExtractedTable]:
    page = parsed(body)
    return [table for table, _ in tables(page, whole(page))]


def table(headers: tuple[str, ...], *rows: tuple[str, ...], caption: str = "") -> ExtractedTable:
    return ExtractedTable(headers=headers, rows=rows, caption=caption or UNSET)


MET = {
    "a section right below the header": (
        "<table><tr><th>Task<th>Command<tr><th colspan=2>Looking<tr><td>list<td>ls<tr><td>find<td>grep</table>",
        table(("Task", "Command"), ("Looking", "Looking"), ("list", "ls"), ("find", "grep")),
    ),
    "an unmarked header with years": (
        (
            "<table><tr><td>Result in millions<td>2023<td>2024<tr><td>Sales<td>1,016.9<td>6.2<tr><td>Costs"
            "<td>-11<td>NM</table>"
        ),
        table(("Result in millions", "2023", "2024"), ("Sales", "1,016.9", "6.2"), ("Costs", "-11", "NM")),
    ),
    "names in bold below an unmarked header": (
        (
            "<table><tr><td><b>Shoe</b><td>Score<td>Price<tr><td><b>Trail</b><td>9.6<td>$165<tr><td><b>Road</b>"
            "<td>9<td>$150"
            "</table>"
        ),
        table(("Shoe", "Score", "Price"), ("Trail", "9.6", "$165"), ("Road", "9", "$150")),
    ),
    "an unmarked header above a section": (
        "<table><tr><td>Mon<td>Tue<td>Wed<tr><td colspan=3>Start<tr><td>rest<td>run<td>rest</table>",
        table(("Mon", "Tue", "Wed"), ("Start", "Start", "Start"), ("rest", "run", "rest")),
    ),
    "ranges of prices below an unmarked header": (
        (
            "<table><tr><td><b>Tool</b><td>Cost<td>Space<tr><td><b>Band</b><td>$30 - $70<td>none<tr><td><b>Mat</b>"
            "<td>$20 – $50<td>little</table>"
        ),
        table(("Tool", "Cost", "Space"), ("Band", "$30 - $70", "none"), ("Mat", "$20 – $50", "little")),
    ),
    "a box of facts under a title and a picture": (
        (
            "<table class=infobox><tr><th colspan=2>Loomsoft</th><tr><td colspan=2><a href=p>"
            "<img alt='Loomsoft logo.svg'></a>"
            "<tr><th>Developer<td>Weavers Ltd<tr><th>First release<td>March 2020<sup><a href='#n1'>[1]</a>"
            "</sup></table>"
        ),
        table(("", ""), ("Developer", "Weavers Ltd"), ("First release", "March 2020"), caption="Loomsoft"),
    ),
    "keys marked as headers in a table said to be presentation": (
        "<table role=presentation><tr><th>Brand<td>Acme<tr><th>Colour<td>black</table>",
        table(("", ""), ("Brand", "Acme"), ("Colour", "black")),
    ),
    "a header with one column more than the rows": (
        (
            "<table><thead><tr><th>Topic<th class=posters><th>Replies<th>Views</thead>"
            "<tr><td>Knots<td>6<td>900<tr><td>Dyes<td>2<td>80</table>"
        ),
        table(("Topic", "Replies", "Views"), ("Knots", "6", "900"), ("Dyes", "2", "80")),
    ),
    "a plain title over the whole width": (
        "<table><tr><td colspan=3>Most active<tr><th>Name<th>Posts<th>Since<tr><td>Ada<td>12<td>2019</table>",
        table(("Name", "Posts", "Since"), ("Ada", "12", "2019"), caption="Most active"),
    ),
    "a caption and a title": (
        "<table><caption>Mills</caption><tr><th colspan=2>By river<tr><th>River<th>Mills<tr><td>Lys<td>4</table>",
        table(("River", "Mills"), ("Lys", "4"), caption="Mills By river"),
    ),
    "keys that end with a colon": (
        "<table><tr><td>Tel:<td>012 34<tr><td>Mail：<td>a@b.example</table>",
        table(("", ""), ("Tel:", "012 34"), ("Mail：", "a@b.example")),
    ),
    "keys in bold": (
        "<table><tr><td><strong>Theme</strong><td>Survival<tr><td><strong>Players</strong><td>1-6</table>",
        table(("", ""), ("Theme", "Survival"), ("Players", "1-6")),
    ),
    "keys with a button for help, and two values": (
        "<table><tr><th>Speed <button>i</button><td>32 km/h<td>20 mph<tr><th>Weight<td>21 kg<td>47 lb</table>",
        table(("", "", ""), ("Speed i", "32 km/h", "20 mph"), ("Weight", "21 kg", "47 lb")),
    ),
    "specifications that nothing marks": (
        "<table><tr><td>Movement<td>Automatic<tr><td>Jewels<td>25<tr><td>Strap<td>22mm</table>",
        table(("", ""), ("Movement", "Automatic"), ("Jewels", "25"), ("Strap", "22mm")),
    ),
    "a matrix of colours without words": (
        (
            "<table><tr><td><td>Draft<td>Review<tr><td>Map<td class=red><td class=green><tr><td>Sound"
            "<td class=red><td></table>"
        ),
        table(("", "Draft", "Review"), ("Map", "", ""), ("Sound", "", "")),
    ),
    "prose beside dates": (
        (
            f"<table><tr><td>13.03.<td>{'You know how to plan. ' * 20}<tr><td>20.03.<td>{'You can search. ' * 20}"
            "<tr><td>27.03.<td>You write.</table>"
        ),
        table(
            ("", ""),
            ("13.03.", ("You know how to plan. " * 20).strip()),
            ("20.03.", ("You can search. " * 20).strip()),
            ("27.03.", "You write."),
        ),
    ),
    "pictures that stand for words": (
        (
            "<table><tr><th>Paper<th>Accepted<tr><td>Passport<td><img src=c.png alt=Yes><tr><td>Card<td><i role=img "
            "aria-label=No></i></table>"
        ),
        table(("Paper", "Accepted"), ("Passport", "Yes"), ("Card", "No")),
    ),
    "what a link does, named by a drawing of no picture": (
        (
            "<table><tr><th>Vote<th>Story<tr><td><a href=/up><span title=upvote></span></a><td>Looms"
            "<tr><td><a href=/up><span title=upvote></span></a><td>Yarn</table>"
        ),
        table(("Vote", "Story"), ("", "Looms"), ("", "Yarn")),
    ),
    "one key for several rows": (
        "<table><tr><th>Port<td>Left<tr><th rowspan=2>Radio<td>2.4 GHz<tr><td>5 GHz</table>",
        table(("", ""), ("Port", "Left"), ("Radio", "2.4 GHz"), ("Radio", "5 GHz")),
    ),
    "the header once more in the foot": (
        "<table><thead><tr><th>Year<th>Winner</thead><tr><td>1901<td>Ada<tfoot><tr><th>Year<th>Winner</tfoot></table>",
        table(("Year", "Winner"), ("1901", "Ada")),
    ),
    "the header once more amid the rows": (
        "<table><tr><th>Pos<th>Player<tr><td>1<td>Ada<tr><th>Pos<th>Player<tr><td>2<td>Bo</table>",
        table(("Pos", "Player"), ("1", "Ada"), ("2", "Bo")),
    ),
    "names of columns in every cell, for narrow screens": (
        (
            "<table><tr><th>Item<th>Price<tr><td><b>Item</b> Reed<td><b>Price:</b> 4<tr><td><b>Item</b> Frame"
            "<td><b>Price:</b> 5"
            "</table>"
        ),
        table(("Item", "Price"), ("Reed", "4"), ("Frame", "5")),
    ),
    "a grid of ARIA": (
        (
            "<div role=table aria-label=Basket><div role=rowgroup><div role=row><span role=columnheader>Item</span>"
            "<span role=columnheader>Sum</span></div></div><div role=row><span role=cell>Reed</span>"
            "<span role=cell>4</span>"
            "</div><div role=row><span role=cell aria-colspan=2>none</span></div></div>"
        ),
        table(("Item", "Sum"), ("Reed", "4"), ("none", "none"), caption="Basket"),
    ),
    "a small table inside of a cell": (
        "<table><tr><th>Loom<th>Sizes<tr><td>A<td><table><tr><td>10<td>20</table><tr><td>B<td>30</table>",
        table(("Loom", "Sizes"), ("A", "10 20"), ("B", "30")),
    ),
    "columns and rows that only make room": (
        (
            "<table><tr><th>Item<td>&nbsp;<th>Sum<tr><td colspan=3><hr><tr><td>Reed<td>&nbsp;<td>4<tr><td>Pin"
            "<td><td>1</table>"
        ),
        table(("Item", "Sum"), ("Reed", "4"), ("Pin", "1")),
    ),
    "columns that only spans make": (
        (
            "<table><thead><tr><th colspan=2>Group<th colspan=2>Cases<th>P</thead><tr><td colspan=2>All"
            "<td colspan=2>9<td>.1"
            "<tr><td>&nbsp;<td>Men<td colspan=2>5<td></table>"
        ),
        table(("Group", "Group", "Cases", "P"), ("All", "All", "9", ".1"), ("", "Men", "5", "")),
    ),
    "powers, indices and footnotes": (
        (
            "<table><tr><th>Name<th>Size<tr><td>CO<sub>2</sub><sup><a href='#f'>2</a></sup><td>10<sup>6"
            "</sup> m<sup>2</sup>"
            "<tr><td>1<sup>st</sup><sup>*</sup><td>3</table>"
        ),
        table(("Name", "Size"), ("CO₂", "10⁶ m²"), ("1st", "3")),
    ),
    "a header by its class": (
        "<table><tr class=table-header><td>Name<td>Role<tr><td>Ada<td>weaver<tr><td>Bo<td>dyer</table>",
        table(("Name", "Role"), ("Ada", "weaver"), ("Bo", "dyer")),
    ),
    "all rows in the head": (
        "<table><thead><tr><th>Name<th>Role<tr><td>Ada<td>weaver<tr><td>Bo<td>dyer</thead></table>",
        table(("Name", "Role"), ("Ada", "weaver"), ("Bo", "dyer")),
    ),
    "all cells headers": (
        "<table><tr><th>a<th>b<tr><th>1<th>2<tr><th>3<th>4</table>",
        table(("a", "b"), ("1", "2"), ("3", "4")),
    ),
    "a head for every section": (
        (
            "<table><thead><tr><th>Stage<th>Time</thead><tbody><tr><td>one<td>3:10</tbody><thead><tr><th>Final"
            "<th>Time</thead>"
            "<tbody><tr><td>two<td>2:50</tbody></table>"
        ),
        table(("Stage", "Time"), ("one", "3:10"), ("Final", "Time"), ("two", "2:50")),
    ),
    "a key without value in the first row": (
        "<table><tr><th>Motto<td><tr><th>Town<td>Gent</table>",
        table(("", ""), ("Motto", ""), ("Town", "Gent")),
    ),
    "a cell with lines, a list and what a click shows": (
        (
            "<table><tr><th>Plan<th>Holds<tr><td>Basic<td><ul><li>loom<li>yarn</ul><details><summary>More</summary>reed"
            "</details><tr><td>Large<td>all</table>"
        ),
        table(("Plan", "Holds"), ("Basic", "loom yarn More reed"), ("Large", "all")),
    ),
    "broken spans": (
        "<table><tr><th>a<th>b<tr><td colspan=x>1<td rowspan=-2>2<tr><td colspan='1%'>3<td rowspan=''>4</table>",
        table(("a", "b"), ("1", "2"), ("3", "4")),
    ),
}


@pytest.mark.parametrize("name", MET)
def test_tables_as_met(name: str) -> None:
    body, expected = MET[name]

    assert read(body) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<table><tr><td>one column<tr><td>only</table>", id="one column"),
        pytest.param("<table><tr><td>one<td>row</table>", id="one row"),
        pytest.param("<table role=presentation><tr><td>a<td>b<tr><td>1<td>2</table>", id="said to be presentation"),
        pytest.param("<table></table>", id="empty"),
        pytest.param("<table><tr><td>Name*<td><input name=n><tr><td>Mail<td><input name=m></table>", id="a form"),
        pytest.param(
            "<table><tr><td><a href=a>Alabama</a><td><a href=b>Alaska</a><tr><td><a href=c>Arizona</a><td>"
            "<a href=d>Arkansas</a></table>",
            id="links",
        ),
        pytest.param(
            "<table><tr><th>M<th>T<th>W<th>T<th>F<th>S<th>S<tr><td colspan=5><td>01<td>02"
            "<tr><td>03<td>04<td>05<td>06<td>07<td>08<td>09</table>",
            id="a calendar",
        ),
        pytest.param(
            "<table><tr><td data-line-number=1><td>import this<tr><td data-line-number=2><td>print()</table>",
            id="lines of code",
        ),
        pytest.param(
            f"<table><tr><td>{'Left. ' * 60}<td>{'Right. ' * 60}<tr><td>a<td>b</table>", id="prose in columns"
        ),
        pytest.param("<table><tr><td><h2>One</h2><p>x<td><h2>Two</h2><p>y<tr><td>a<td>b</table>", id="blocks"),
    ],
)
def test_layout_is_no_table(body: str) -> None:
    assert read(body) == []


def test_a_calendar_with_events_is_a_table() -> None:
    days = "<tr><td>1<td>2<td>3<td>4<td>5<td>6<td>7" * 2
    (table,) = read(
        f"<table><tr><th>M<th>T<th>W<th>T<th>F<th>S<th>S<tr><td>8<td>9 Jazz night in the Blue Room, 19:30{days}</table>"
    )

    assert table.headers == ("M", "T", "W", "T", "F", "S", "S")
    assert table.rows[0][1] == "9 Jazz night in the Blue Room, 19:30"

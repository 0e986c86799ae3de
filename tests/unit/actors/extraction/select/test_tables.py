"""Data tables as grids without spans, and tables that are none."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from actors.extraction.select.table_rows import MAX_COLUMNS, MAX_ROWS, MAX_SLOTS, HeaderMark
from actors.extraction.select.tables import MAX_CELL_CHARS, data_table, tables
from protocol.confidence import Source
from protocol.documents import ExtractedTable
from tests.support.whole_page import parsed, whole


def read(body: str) -> list[ExtractedTable]:
    page = parsed(body)
    return [table for table, _ in tables(page, whole(page))]


def table(headers: tuple[str, ...], *rows: tuple[str, ...], caption: str = "") -> ExtractedTable:
    return ExtractedTable(headers=headers, rows=rows, caption=caption or UNSET)


TRICKY = {
    "a header of two rows": (
        (
            "<table><thead><tr><th rowspan=2>Loom<th colspan=2>Warp<tr><th>Threads<th>Weight</thead>"
            "<tbody><tr><td>A1<td>400<td>12 kg<tr><td>B2<td>380<td>11 kg</table>"
        ),
        table(("Loom", "Warp Threads", "Warp Weight"), ("A1", "400", "12 kg"), ("B2", "380", "11 kg")),
    ),
    "spans that cross": (
        (
            "<table><tr><th>a<th>b<th>c<tr><td rowspan=2>1<td colspan=2>2<tr><td>3<td rowspan=2>4<tr>"
            "<td colspan=2>5</table>"
        ),
        table(("a", "b", "c"), ("1", "2", "2"), ("1", "3", "4"), ("5", "5", "4")),
    ),
    "a rowspan of 0 reaches to the end of its group": (
        (
            "<table><thead><tr><th>Day<th>Shift</thead><tbody><tr><td rowspan=0>Monday<td>early<tr><td>late"
            "<tr><td>night"
            "<tbody><tr><td>Tuesday<td>early</table>"
        ),
        table(("Day", "Shift"), ("Monday", "early"), ("Monday", "late"), ("Monday", "night"), ("Tuesday", "early")),
    ),
    "nested in a layout": (
        (
            "<table><tr><td>Menu<td><table><tr><th>Dye<th>Colour<tr><td>madder<td>red<tr><td>woad<td>blue</table>"
            "<tr><td>Imprint<td>Contact</table>"
        ),
        table(("Dye", "Colour"), ("madder", "red"), ("woad", "blue")),
    ),
    "keys in the first column, and no header": (
        "<table><tr><th>Width<td>140 cm<tr><th>Fibre<td>linen<tr><th>Made in<td>Gent</table>",
        table(("", ""), ("Width", "140 cm"), ("Fibre", "linen"), ("Made in", "Gent")),
    ),
    "a colspan of 1000": (
        "<table><tr><th>Part<th>Price<tr><td colspan=1000>Frames<tr><td>oak<td>90<tr><td>ash<td>75</table>",
        table(("Part", "Price"), ("Frames", "Frames"), ("oak", "90"), ("ash", "75")),
    ),
    "a foot before the bodies": (
        (
            "<table><thead><tr><th>Item<th>Sum</thead><tfoot><tr><td>Total<td>9</tfoot>"
            "<tbody><tr><td>Reed<td>4<tr><td>Heddle<td>5</table>"
        ),
        table(("Item", "Sum"), ("Reed", "4"), ("Heddle", "5"), ("Total", "9")),
    ),
    "text that nobody sees": (
        (
            "<table><tr><th>Yarn<th>Stock<tr><td>wool<td><span style='display:none'>0007</span>7"
            "<tr style='display:none'><td>secret<td>0<tr><td>si&#8203;lk&#173;y<td>2<script>track()</script></table>"
        ),
        table(("Yarn", "Stock"), ("wool", "7"), ("silky", "2")),
    ),
    "a header in bold": (
        "<table><tr><td><b>Weaver</b><td><p><strong>Town</strong></p><tr><td>Ada<td>Lyon<tr><td>Bo<td>Oslo</table>",
        table(("Weaver", "Town"), ("Ada", "Lyon"), ("Bo", "Oslo")),
    ),
    "cells that nobody closed": (
        (
            "<TABLE><TR><TH>Year<TH>Metres<TR><TD>1801<TD>120<BR>(about)<TR><TD>1802<TD><P>150<P>or more<TR>"
            "<TD>1803</TABLE>"
        ),
        table(("Year", "Metres"), ("1801", "120 (about)"), ("1802", "150 or more"), ("1803", "")),
    ),
    "an empty corner": (
        "<table><tr><td></td><th>Mon<th>Tue<tr><th>Open<td>9<td>10<tr><th>Closed<td>17<td>18</table>",
        table(("", "Mon", "Tue"), ("Open", "9", "10"), ("Closed", "17", "18")),
    ),
    "a rowspan beyond its group": (
        "<table><tr><th>Set<th>Piece<tbody><tr><td rowspan=9>One<td>a<tr><td>b<tbody><tr><td>Two<td>c</table>",
        table(("Set", "Piece"), ("One", "a"), ("One", "b"), ("Two", "c")),
    ),
}


@pytest.mark.parametrize("name", TRICKY)
def test_tricky_tables(name: str) -> None:
    body, expected = TRICKY[name]

    assert read(body) == [expected]


@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("<table><thead><tr><td>a<td>b</thead><tr><td>1<td>2</table>", Source.SELECTOR_MATCH),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", Source.SELECTOR_MATCH),
        ("<table><tr><th>a<td>1<tr><th>b<td>2</table>", Source.SELECTOR_MATCH),
        ("<table><tr><td><b>a</b><td><b>b</b><tr><td>x<td>y</table>", Source.HEURISTIC),
        ("<table><tr><td>a<td>b<tr><td>1<td>2</table>", Source.HEURISTIC),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", Source.HEURISTIC),
    ],
)
def test_a_table_is_as_sure_as_its_headers(body: str, source: Source) -> None:
    page = parsed(body)

    ((_, sure),) = tables(page, whole(page))

    assert sure.source is source


def test_tables_outside_of_the_main_content_are_left_out() -> None:
    page = parsed("<main><p>words</p></main><table><tr><th>a<th>b<tr><td>1<td>2</table>")

    assert tables(page, whole(page, "main")) == []


def test_a_long_table_comes_whole() -> None:
    rows = tuple((str(number), f"row {number}") for number in range(1_000))
    body = "".join(f"<tr><td>{number}<td>{text}" for number, text in rows)

    assert read(f"<table><tr><th>No<th>Text{body}</table>") == [table(("No", "Text"), *rows)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<tr><td>1<td>2" * 30_000, id="rows"),
        pytest.param("<tr><td>1<td>2" + "<td>x" * 30_000, id="cells"),
        pytest.param("<tr><td colspan=1000000 rowspan=1000000>1<td>2" * 2_000, id="spans"),
        pytest.param("<tr>" + "<td rowspan=65000 colspan=3>x" * 90, id="rows of spans"),
        pytest.param("".join(f"<tr><td colspan={n}>1<td colspan={1000 - n}>2" for n in range(1, 1_000)), id="shifts"),
    ],
)
def test_a_hostile_table_is_bounded(body: str) -> None:
    (found,) = read(f"<table><tr><th>a<th>b{body}</table>")

    assert len(found.headers) <= MAX_COLUMNS
    assert len(found.rows) <= MAX_ROWS
    assert len(found.headers) * len(found.rows) <= MAX_SLOTS


def test_a_cell_is_bounded() -> None:
    ((found,),) = (read(f"<table><tr><th>a<th>b<tr><td>1<td>{'long ' * 1_000}</table>"),)

    assert [len(cell) for cell in found.rows[0]] == [1, MAX_CELL_CHARS]


def test_tables_within_tables_within_tables_are_bounded() -> None:
    nested = "<table><tr><th>a<th>b<tr><td>1<td>" * 2_000

    assert len(read(nested)) <= 21


def test_a_grid_gives_the_cells_themselves() -> None:
    page = parsed(
        "<table><caption>Looms</caption><tr><th>Name<th>Parts<tr><td rowspan=2><a href=/a>A</a><td>reed<tr>"
        "<td>pin</table>"
    )
    (element,) = page.root.select("table")

    found = data_table(element, page.hidden)

    assert found is not None
    name, parts, first, reed, pin = page.root.select("th,td")
    assert found.rows == ((name, parts), (first, reed), (first, pin))
    assert found.texts == (("Name", "Parts"), ("A", "reed"), ("A", "pin"))
    assert (found.header_rows, found.headers, found.caption, found.mark) == (
        1,
        ("Name", "Parts"),
        "Looms",
        HeaderMark.CELLS,
    )


def test_a_layout_has_no_grid() -> None:
    page = parsed("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>")
    (element,) = page.root.select("table")

    assert data_table(element, page.hidden) is None

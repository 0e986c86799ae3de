"""Data tables, and those that are none."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from actors.fetchers.extract import dom
from actors.fetchers.extract.tables import tables
from protocol.confidence import Source, confidence
from protocol.documents import ExtractedTable

SURE, GUESS = confidence(Source.SELECTOR_MATCH), confidence(Source.HEURISTIC)


def read(html: str) -> list[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]]:
    found, _ = tables(dom.parse(html))
    return [(table.headers, table.rows) for table in found]


def test_a_table_with_everything() -> None:
    html = (
        "<table><caption>Threads <b>of</b> 2025</caption><tfoot><tr><td>sum<td>3</tfoot>"
        "<thead><tr><th>Name<th>Count</thead><tbody><tr><td>warp<td>1<tr><td>weft<td>2</tbody></table>"
    )
    rows = (("warp", "1"), ("weft", "2"), ("sum", "3"))

    expected = ExtractedTable(headers=("Name", "Count"), rows=rows, caption="Threads of 2025")
    assert tables(dom.parse(html)) == ((expected,), (SURE,))


def test_without_headers_the_first_row_is_a_guess() -> None:
    html = "<table><tr><td>a<td>b<tr><td>1<td>2</table>"

    expected = ExtractedTable(headers=("a", "b"), rows=(("1", "2"),), caption=UNSET)
    assert tables(dom.parse(html)) == ((expected,), (GUESS,))


@pytest.mark.parametrize(
    ("html", "headers", "rows"),
    [
        ("<tr><th>a<th>b<tr><td colspan=2>x<tr><td>1<td>2", ("a", "b"), (("x", "x"), ("1", "2"))),
        ("<tr><th>a<th>b<tr><td rowspan=2>x<td>1<tr><td>2", ("a", "b"), (("x", "1"), ("x", "2"))),
        ("<tr><th>a<th>b<tr><td>1<td rowspan=9>y<tr><td>2", ("a", "b"), (("1", "y"), ("2", "y"))),
        (
            "<thead><tr><th colspan=2>size<tr><th>w<th>h</thead><tr><td>1<td>2",
            ("size w", "size h"),
            (("1", "2"),),
        ),
        ("<tr><th>a<th>b<tr><td>1", ("a", "b"), (("1", ""),)),
        ("<tr><th>a<th>b<tr><td>1<br>2<td><p>x</p><p>y</p>", ("a", "b"), (("1 2", "x y"),)),
        ("<tr><th>a<th>b<tr><td colspan=x>1<td rowspan=-2>2", ("a", "b"), (("1", "2"),)),
    ],
)
def test_spans_and_headers(html: str, headers: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
    assert read(f"<table>{html}</table>") == [(headers, rows)]


def test_a_span_is_bounded() -> None:
    ((headers, rows),) = read("<table><tr><th>a<th>b<tr><td colspan=1000000 rowspan=1000000>x<tr><td>y</table>")

    assert (len(headers), len(rows)) == (60, 2)


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>one column<tr><td>only</table>",
        "<table><tr><td>one<td>row</table>",
        "<table role=presentation><tr><td>a<td>b<tr><td>1<td>2</table>",
        "<table></table>",
    ],
)
def test_layout_is_no_table(html: str) -> None:
    assert read(html) == []


def test_the_inner_of_two_tables_is_read() -> None:
    inner = "<table><tr><th>a<th>b<tr><td>1<td>2</table>"

    assert read(f"<table><tr><td>{inner}<td>x<tr><td>y<td>z</table>") == [(("a", "b"), (("1", "2"),))]

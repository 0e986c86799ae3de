"""Tables are plain grids, short where they are long, and only where they hold data."""

from __future__ import annotations

import pytest

from tests.unit.actors.extraction.write.pages import markdown

LONG = "<table><tr><th>n<th>m</tr>" + "".join(f"<tr><td>{n}<td>x{n}</tr>" for n in range(1000)) + "</table>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<table><caption>c</caption><tr><th>a<th>b<tr><td>1<td>2</table>",
            "c\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<table><tr><th>a<th>b<tr><td>1|2<td>3<br>4</table>", "| a | b |\n| --- | --- |\n| 1\\|2 | 3 4 |"),
        (
            "<table><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3</table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 1 | 3 |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td><a href=/x>1</a><td><b>2</b></table>",
            "| a | b |\n| --- | --- |\n| [1](https://example.org/x) | **2** |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td>1<td><ul><li>2<li>3</ul></table>",
            "| a | b |\n| --- | --- |\n| 1 | * 2 * 3 |",
        ),
        ("<table><tr><td><p>a</p><p>b</p></td></tr></table>", "a\n\nb"),
        ("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>", "a\n\nb\n\nc\n\nd"),
    ],
)
def test_a_table_is_a_grid_of_its_data(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_of_a_long_table_the_first_rows_are_shown_and_all_counted() -> None:
    lines = markdown(LONG).split("\n")

    assert lines[:3] == ["| n | m |", "| --- | --- |", "| 0 | x0 |"]
    assert lines[-3:] == ["| 19 | x19 |", "", "*(1,000 rows; the first 20 are shown)*"]
    assert len(lines) == 24

"""Tables are plain grids with all of their rows, and only where they hold data."""

from __future__ import annotations

import pytest

from tests.unit.actors.extraction.write.pages import markdown, written

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
        (
            (
                "<table><tr><th>a<th>b<th>c<tr><td>1<td><i class='fa fa-check'></i><td><svg><title>not included</title>"
                "</svg><tr><td>2<td><i class='icon-x'></i><td><input type=checkbox checked></table>"
            ),
            "| a | b | c |\n| --- | --- | --- |\n| 1 | \u2713 | not included |\n| 2 | \u2717 | \u2713 |",
        ),
        ("<table><tr><td><p>a</p><p>b</p></td></tr></table>", "a\n\nb"),
        ("<table role=presentation><tr><td>a<td>b<tr><td>c<td><p>d</table>", "a b\n\nc\n\nd"),
        (
            "<table role=none><tr><td>1.<td><td><a href=/x>a</a> (b)<tr><td colspan=2><td>c</table>",
            "1\\. [a](https://example.org/x) (b)\n\nc",
        ),
    ],
)
def test_a_table_is_a_grid_of_its_data(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_a_long_table_is_written_with_all_of_its_rows() -> None:
    lines = markdown(LONG).split("\n")

    assert lines[:3] == ["| n | m |", "| --- | --- |", "| 0 | x0 |"]
    assert lines[-1] == "| 999 | x999 |"
    assert len(lines) == 1002


def test_the_later_rows_of_a_very_long_table_are_read_as_the_first_are() -> None:
    rows = "".join(
        f"<tr{' hidden' if n == 1998 else ''}><td>{n}<td><a href='/p/{n}'>x{n}</a><td><td>{n}<br>EUR"
        f"<td><a href='/{n}'>more</a>"
        for n in range(2_000)
    )
    body = f"<p>before</p><table><thead><tr><th>n<th>m<th>none<th>sum<th>link</thead><tbody>{rows}</table><p>after</p>"

    lines = written(body).markdown.split("\n")

    assert lines[2:4] == ["| n | m | none | sum | link |", "| --- | --- | --- | --- | --- |"]
    assert len(lines) == 4 + 1_999 + 2
    assert lines[4 + 10].startswith("| 10 | [x10](https://example.org/p/10) |  | 10 EUR |")
    assert lines[-3] == "| 1999 | [x1999](https://example.org/p/1999) |  | 1999 EUR | more |"
    assert written(body).text.split("\n")[-3:] == ["1999 EUR", "more", "after"]

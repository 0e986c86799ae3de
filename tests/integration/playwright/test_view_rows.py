"""Rows of lists that draw no more than what is shown: each is read once, with numbers that lead to it later."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from actors.fetchers.playwright import view
from protocol.browsers.gestures import ReadRows
from protocol.browsers.results import ListRow, RowsRead
from tests.integration.playwright.viewing import Viewing, viewing

pytestmark = [pytest.mark.browser, pytest.mark.full]

# Draws rows of 30 pixels into a window of 240, with a few beyond it, in the same nodes again and again.
VIRTUAL = """<main><h1>Stock</h1><div id=pane style="height:240px;overflow-y:auto"><ul id=list style="position:relative;margin:0"></ul></div></main>
<script>
const all = Array.from({ length: 120 }, (_, at) => `Article ${at + 1}`), slots = [];
list.style.height = `${all.length * 30}px`;
for (let at = 0; at < 12; at++) {
  const row = document.createElement('li');
  row.style.cssText = 'position:absolute;height:30px';
  row.innerHTML = '<span></span> <button>Order</button>';
  slots.push(list.appendChild(row));
}
function draw() {
  const first = Math.max(0, Math.min(all.length - slots.length, Math.floor(pane.scrollTop / 30) - 2));
  slots.forEach((row, at) => {
    row.style.top = `${(first + at) * 30}px`;
    row.firstChild.textContent = all[first + at];
  });
}
pane.addEventListener('scroll', () => requestAnimationFrame(draw));
draw();
</script>"""  # noqa: E501 - markup stands as a page has it
GROWING = """<main><h1>News</h1><ul></ul></main><script>
const list = document.querySelector('ul');
function more() {
  for (let at = 0; at < 20 && list.children.length < 60; at++) {
    const row = document.createElement('li');
    row.style.height = '60px';
    row.textContent = `News ${list.children.length + 1}`;
    list.append(row);
  }
}
more();
const isDown = () => scrollY + innerHeight > document.body.scrollHeight - 50;
addEventListener('scroll', () => isDown() && setTimeout(more, 100));
</script>"""
TABLE = "<table><tbody><tr><td>Ann<td>5</tr><tr><td>Bob<td>7</tr><tr><td>Bob<td>7</tr></tbody></table>"


@pytest.fixture(scope="module")
def web() -> Generator[Viewing]:
    with viewing() as running:
        yield running


def rows(web: Viewing, max_rows: int = 200) -> RowsRead:
    """Read the rows of the longest list of the page."""
    return web.do(view.read_rows, ReadRows(max_rows=max_rows))


@pytest.mark.slow
def test_each_row_of_a_list_that_draws_what_is_shown_is_read_once(web: Viewing) -> None:
    web.show(VIRTUAL)
    read = rows(web)

    assert [row.text for row in read.rows] == [f"Article {number} Order" for number in range(1, 121)]
    assert read.complete
    assert len({row.ids for row in read.rows}) == len(read.rows)
    assert web.run("pane.scrollTop") == 0
    assert web.at(read.rows[0].ids[0], "e => e.parentElement.textContent") == "Article 1 Order"
    web.run("pane.scrollTop = 90 * 30")
    assert web.at(read.rows[92].ids[0], "e => e.parentElement.textContent") == "Article 93 Order"


@pytest.mark.slow
def test_what_a_list_loads_at_its_end_is_read_up_to_the_limit(web: Viewing) -> None:
    web.show(GROWING)
    some, every = rows(web, max_rows=25), rows(web)

    assert ([row.text for row in some.rows], some.complete) == ([f"News {at}" for at in range(1, 26)], False)
    assert ([row.text for row in every.rows], every.complete) == ([f"News {at}" for at in range(1, 61)], True)


def test_alike_rows_of_a_table_are_rows_of_their_own(web: Viewing) -> None:
    web.show(TABLE)

    assert rows(web) == RowsRead(rows=tuple(ListRow(text=text) for text in ("Ann 5", "Bob 7", "Bob 7")), complete=True)

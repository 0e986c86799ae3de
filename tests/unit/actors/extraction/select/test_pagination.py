"""The neighbours of a page in parts."""

from __future__ import annotations

import pytest

from actors.extraction.select.navigation import Neighbours, pagination
from tests.support.whole_page import parsed

HERE = "https://site.example/list?page=2"
BEFORE, AFTER = "https://site.example/list?page=1", "https://site.example/list?page=3"


@pytest.mark.parametrize(
    "body",
    [
        "<link rel=prev href='?page=1'><link rel='nofollow next' href='?page=3'>",
        "<a rel=previous href='?page=1'>a</a><a rel=next href='?page=3'>b</a>",
        "<a href='?page=1'>« Previous</a> <a href='?page=3'>Next page »</a>",
        "<a href='?page=1'>Zurück</a> <a href='?page=3'>Weiter</a>",
        "<a href='?page=1'>上一页</a> <a href='?page=3'>下一页</a>",
        "<a href='?page=1'>Newer posts</a> <a href='?page=3'>Older posts</a>",
        "<div class=pagination><a href='?page=1'>‹</a> <a href='?page=3'>›</a></div>",
        "<a href='?page=1' aria-label='Previous page'><svg></svg></a><a href='?page=3' aria-label=Next>&gt;</a>",
        (
            "<ul class=Pager><li><a href='?page=1'>1</a><li class=active><a href=x>2</a><li><a href='?page=3'>3</a>"
            "<li><a href='?page=9'>9</a></ul>"
        ),
        ("<nav aria-label=Pagination><a href='?page=1'>1</a><b aria-current=page>2</b><a href='?page=3'>3</a></nav>"),
    ],
)
def test_neighbours_are_found(body: str) -> None:
    assert pagination(parsed(body, HERE)) == Neighbours(BEFORE, AFTER)


@pytest.mark.parametrize(
    "body",
    [
        "<p>Next</p>",
        "<a href='#'>Next</a>",
        "<a href='javascript:next()'>Next</a>",
        "<a href='https://other.example/list?page=3'>Next</a>",
        "<a href='/shop/next'>Next</a>",
        "<a href='?page=2#foot'>Next</a>",
        "<a href='?page=3'>The next big thing</a>",
        "<a href='?page=3'>&gt;</a>",
        "<div class=pagination><a href='?page=1'>1</a><a href='?page=2'>2</a></div>",
    ],
)
def test_no_neighbours(body: str) -> None:
    assert pagination(parsed(body, HERE)) == Neighbours()


def test_a_home_page_comes_before_no_part() -> None:
    page = parsed("<div class=pager><a href=/>Previous</a><a href='?page=3'>Next</a></div>", HERE)

    assert pagination(page) == Neighbours("", AFTER)

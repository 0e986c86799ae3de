"""Sites that offer Markdown are taken at their word."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

import anyio
import pytest

from actors.fetchers.intelligence.actor import Intelligence
from actors.fetchers.intelligence.markdown_offer import ACCEPT, MarkdownLists
from actors.settings import Settings
from bus import Bus
from protocol.pages import Fetched, FetchPage
from tests.site import Site, serve_site
from tests.site.documents import NOTES

WORDS = NOTES.strip()


@asynccontextmanager
async def fetching(*, markdown_offers: bool = True) -> AsyncGenerator[tuple[Site, Intelligence]]:
    """Run the site and the actor, without a bus: this actor asks nobody."""
    settings = Settings(allow_private=("127.0.0.0/8",), markdown_offers=markdown_offers)
    with anyio.fail_after(90):
        async with serve_site() as site:
            intelligence = Intelligence(bus=cast("Bus", None), settings=settings)
            async with intelligence.open():
                yield site, intelligence


def words(page: Fetched) -> str:
    return page.document.content.markdown


async def test_a_site_that_has_markdown_sends_it_when_it_is_asked_for() -> None:
    async with fetching() as (site, intelligence):
        page = await intelligence.fetch(FetchPage(url=site.url("/documents/notes")))

        assert site.last("/documents/notes").headers["accept"] == ACCEPT
        assert (page.content_type, page.document.content.title, words(page)) == (
            "text/markdown",
            "Notes on looms",
            WORDS,
        )


@pytest.mark.parametrize(("switched_on", "html_wanted"), [(False, False), (True, True)])
async def test_html_is_asked_for_where_markdown_is_not_welcome(*, switched_on: bool, html_wanted: bool) -> None:
    async with fetching(markdown_offers=switched_on) as (site, intelligence):
        request = FetchPage(url=site.url("/documents/notes"), include_html=html_wanted)
        page = await intelligence.fetch(request)

        assert page.content_type == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", ["/documents/offer", "/documents/header", "/documents/listed.html"])
async def test_a_shell_that_offers_markdown_is_read_in_it(path: str) -> None:
    async with fetching() as (site, intelligence):
        page = await intelligence.fetch(FetchPage(url=site.url(path), include_network=True))

        assert (page.final_url, page.content_type, words(page)) == (site.url(path), "text/markdown", WORDS)
        assert (page.evidence.markup, page.evidence.incomplete) == (False, ())
        assert page.evidence.content_length == len(WORDS)
        assert [row.url for row in page.network] in (
            [site.url(path), site.url("/documents/notes.md")],
            [site.url(path), site.url("/documents/listed.html.md")],
        )


async def test_an_offer_of_another_host_is_none() -> None:
    async with fetching() as (site, intelligence):
        page = await intelligence.fetch(FetchPage(url=site.url("/documents/elsewhere")))

        assert (words(page), page.evidence.markup) == ("", True)


async def test_a_page_that_was_read_well_is_left_as_it_is() -> None:
    async with fetching() as (site, intelligence):
        await intelligence.fetch(FetchPage(url=site.url("/article")))

        assert site.hits == {"/article": 1}


async def test_what_is_switched_off_asks_for_nothing_more() -> None:
    async with fetching(markdown_offers=False) as (site, intelligence):
        page = await intelligence.fetch(FetchPage(url=site.url("/documents/offer")))

        assert (words(page), site.hits) == ("", {"/documents/offer": 1})


async def test_markdown_has_no_words_that_nobody_sees() -> None:
    async with fetching() as (site, intelligence):
        page = await intelligence.fetch(FetchPage(url=site.url("/documents/readme.md")))

        assert words(page) == WORDS
        assert page.document.content.parts.left_out == {"invisible texts": 2}


def test_a_site_without_a_list_is_not_asked_again_for_an_hour() -> None:
    now = [0.0]
    lists = MarkdownLists(lambda: now[0])
    lists.has_none("https://a.example/llms.txt")

    assert not lists.may_have("https://a.example/llms.txt")
    assert lists.may_have("https://b.example/llms.txt")
    now[0] = 3_601.0
    assert lists.may_have("https://a.example/llms.txt")

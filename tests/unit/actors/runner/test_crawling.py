"""What a crawl is decided by: which addresses are one page, what leads nowhere, and what says the same."""

from __future__ import annotations

import gzip
import random

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.runner.crawl_types import CrawlInputs
from actors.runner.crawling.addresses import Omission, address_of, language_of, scope_of
from actors.runner.crawling.frontier import FoundAddress, Frontier, VisitedPage
from actors.runner.crawling.likeness import fingerprint
from actors.runner.crawling.reading import read_site_maps
from actors.runner.crawling.sitemaps import read_site_map
from actors.runner.template import SiteFile
from actors.runner.templates.crawl_site import CRAWL, file_name
from protocol.access import Scope
from protocol.faults import FaultError
from tests.unit.actors.runner.templates.fake_context import FakeStepContext

SITE = "https://example.com"
FILES = {
    f"{SITE}/robots.txt": f"Sitemap: //[\nSitemap: {SITE}/maps.xml",
    f"{SITE}/maps.xml": "<sitemapindex><sitemap><loc>//[</loc></sitemap><sitemap><loc>/of-it.txt</loc></sitemap>"
    f"<sitemap><loc>{SITE}/list.txt</loc></sitemap></sitemapindex>",
    f"{SITE}/list.txt": f"{SITE}/guide/looms",
}
WORDS = tuple(f"word{number}" for number in range(500))


def key(path: str) -> str:
    address = address_of(f"{SITE}{path}")
    assert address is not None
    return address.key


@pytest.mark.parametrize(
    "twin",
    [
        "/guide/looms/",
        "/Guide/Looms",
        "//guide///looms",
        "/guide/looms#part",
        "/guide/looms?utm_source=x&fbclid=1",
        "/guide/looms;jsessionid=8A",
        "/guide/looms?PHPSESSID=8a&sid=3",
        "/(S(abc))/guide/looms",
        "/guide/looms?print=1&sort=asc&replytocom=7",
        "/guide/looms/index.html",
    ],
)
def test_twins_are_one_page(twin: str) -> None:
    assert key(twin) == key("/guide/looms")
    assert key("/guide/looms?a=1&b=2") == key("/guide/looms?b=2&a=1")


@pytest.mark.parametrize(
    ("one", "other"),
    [("/v/aB3dE", "/v/ab3de"), ("/list?page=1", "/list?page=2"), ("/p?id=1", "/p"), ("/list?order=7", "/list")],
)
def test_what_may_be_another_page_stays_one(one: str, other: str) -> None:
    assert key(one) != key(other)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (f"{SITE}/guide", None),
        ("http://www.example.com/guide", None),
        ("https://docs.example.com/guide", None),
        ("https://example.org/guide", Omission.OFF_SITE),
        ("https://notexample.com/guide", Omission.OFF_SITE),
        ("https://example.com:8443/guide", Omission.OFF_SITE),
        (f"{SITE}/loom.JPG", Omission.FILE),
        (f"{SITE}/paper.pdf", None),
        (f"{SITE}/old/guide", Omission.EXCLUDED),
        (f"{SITE}/user/sign-in", Omission.ACTION),
        (f"{SITE}/guide/print", Omission.ACTION),
        (f"{SITE}/w?title=Loom&action=edit", Omission.ACTION),
        (f"{SITE}/shop?add-to-cart=7", Omission.ACTION),
        (f"{SITE}/shop?a=1&b=2&c=3&d=4", Omission.MANY_PARAMETERS),
        (f"{SITE}/shop?size=s&size=m", Omission.TRAP),
        (f"{SITE}/x/y/x/y/x", Omission.TRAP),
        (f"{SITE}/2011/11/11/loom", None),
        (f"{SITE}/de/guide", Omission.LANGUAGE),
        (f"{SITE}/guide?lang=fr", Omission.LANGUAGE),
        (f"{SITE}/en-us/guide", None),
    ],
)
def test_what_belongs_to_a_crawl(url: str, why: Omission | None) -> None:
    scope = scope_of(f"{SITE}/", (), (), ("/old/*",), ("en",))
    address = address_of(url)

    assert address is not None
    assert scope.why_not(address) == why


PARTS = st.text("ab7/.;?&=%-_:@#[]()\\ äß", max_size=40)


@given(PARTS, PARTS)
def test_whatever_a_link_is_it_is_known_by_one_name(host: str, rest: str) -> None:
    address = address_of(f"https://{host}/{rest}")
    if address is not None:
        again = address_of(address.url)
        assert again is not None
        assert (again.key, again.url) == (address.key, address.url)


def test_hosts_and_globs_narrow_a_crawl() -> None:
    scope = scope_of(f"{SITE}/", ("docs.example.org",), ("/docs/*",), (), ())
    found = {url: address_of(url) for url in ("https://docs.example.org/docs/a", f"{SITE}/docs/", f"{SITE}/blog/")}

    assert [address and scope.why_not(address) for address in found.values()] == [None, None, Omission.EXCLUDED]
    assert address_of("mailto:me@example.com") is None
    assert (language_of_url("https://de.example.com/"), language_of_url(f"{SITE}/go/")) == ("de", "")


def language_of_url(url: str) -> str:
    address = address_of(url)
    return language_of(address) if address is not None else ""


# -- site maps ---------------------------------------------------------------------------------------------------------

MAP = f"<urlset><url><loc>{SITE}/a</loc><lastmod>2026-01-02</lastmod></url><url><loc> {SITE}/b </loc></url></urlset>"


@pytest.mark.parametrize("body", [MAP.encode(), gzip.compress(MAP.encode()), f"﻿<?xml version='1.0'?>{MAP}".encode()])
def test_a_site_map_is_read_packed_or_not(body: bytes) -> None:
    pages = (FoundAddress(url=f"{SITE}/a", last_modified="2026-01-02"), FoundAddress(url=f"{SITE}/b"))

    assert read_site_map(body, SITE).pages == pages


def test_an_index_names_those_first_that_changed_last() -> None:
    entries = "".join(
        f"<sitemap><loc>{SITE}/{year}.xml</loc><lastmod>{year}</lastmod></sitemap>" for year in (2024, 2026, 2025)
    )

    maps = read_site_map(f"<sitemapindex>{entries}</sitemapindex>".encode(), SITE).maps

    assert [one.last_modified for one in maps] == ["2026", "2025", "2024"]


def test_lists_and_feeds_are_site_maps_too() -> None:
    feed = f"<rss><channel><item><title>A</title><link>{SITE}/a</link></item></channel></rss>"

    assert read_site_map(feed.encode(), SITE).pages == (FoundAddress(url=f"{SITE}/a"),)
    assert read_site_map(f"{SITE}/a\nnone\n{SITE}/b\n".encode(), SITE).pages == (
        FoundAddress(url=f"{SITE}/a"),
        FoundAddress(url=f"{SITE}/b"),
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x1f\x8bbroken",
        b"<html><body>Not found</body></html>",
        gzip.compress(b"<urlset>" + b"<a>" * 3_000_000),
        b'<!DOCTYPE l [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>',
        b'<!DOCTYPE l [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>&f;</loc></url></urlset>',
    ],
)
def test_what_is_no_site_map_says_nothing(body: bytes) -> None:
    assert read_site_map(body, SITE).pages == ()


# -- likeness ----------------------------------------------------------------------------------------------------------


def text(seed: int, words: int = 120) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def judged(*pages: tuple[str, str, str]) -> list[Omission | None]:
    """Judge pages one after the other: path, title and text."""
    frontier = Frontier(scope_of(SITE, (), (), (), ()), 5)
    verdicts = list[Omission | None]()
    for path, title, words in pages:
        frontier.start(f"{SITE}{path}")
        target = frontier.take(len(verdicts))
        assert target is not None
        verdicts.append(frontier.judge(target, target.address.url, "", fingerprint(title, words)))
    return verdicts


def test_what_says_the_same_is_kept_once() -> None:
    loom, other = text(1), text(2)

    assert judged(("/a", "A", loom), ("/b", "B", loom.upper()), ("/c", "C", other)) == [None, Omission.DUPLICATE, None]
    assert judged(("/a", "A", loom), ("/b", "B", f"{loom} seen")) == [None, Omission.NEAR_DUPLICATE]
    assert judged(("/a", "A", loom), ("/b", "B", f"{loom[: len(loom) // 2]} {other}")) == [None, None]
    size = "A bolt of steel for looms, M5 by 10, with a hexagonal head; sold by the hundred."
    assert judged(("/a", "M5 by 10", size), ("/b", "M5 by 20", size.replace("10", "20"))) == [None, None]
    edited = loom.replace(loom.split()[7], "other")
    assert judged(("/a", "A", loom), ("/b", "A", edited)) == [None, Omission.NEAR_DUPLICATE]
    assert judged(("/a", "A", "")) == [Omission.NO_TEXT]


def test_days_without_anything_are_one_page_and_months_with_news_are_not() -> None:
    days = [(f"/days/2026/05/{day:02d}", f"{day} May", f"Nothing happens on {day} May 2026 at all.") for day in (1, 2)]
    news = [(f"/news/2026/{month:02d}", "News", text(month)) for month in (1, 2)]

    assert judged(*days, *news) == [None, Omission.NEAR_DUPLICATE, None, None]


def test_another_view_of_the_same_lines_is_no_page_and_the_next_part_of_a_list_is() -> None:
    goods = [f"Loom model {number} of {WORDS[number]}" for number in range(12)]
    views = [("/shop", "Shop", "\n".join(goods)), ("/shop?color=red", "Shop", "\n".join(goods[::3]))]
    parts = [(f"/list?page={part}", "List", "\n".join(f"Part {part} of {word}" for word in WORDS)) for part in (1, 2)]

    assert judged(*views) == [None, Omission.NEAR_DUPLICATE]
    assert judged(*parts) == [None, None]


# -- the frontier ------------------------------------------------------------------------------------------------------


def page(number: int) -> VisitedPage:
    links = tuple(f"{SITE}/page-{link}-{number}" for link in range(3))
    url = f"{SITE}/" if number == 0 else f"{SITE}/page-{number % 3}-0"
    return VisitedPage(url=url, depth=bool(number), links=links, fingerprint=fingerprint("", text(number)))


class StepOfSite(FakeStepContext):
    """A step that is given the files of a site."""

    async def file(self, url: str, timeout_ms: int) -> SiteFile:
        del timeout_ms
        await anyio.lowlevel.checkpoint()
        return SiteFile(url, 200 if url in FILES else 404, FILES.get(url, "").encode())


async def test_site_maps_are_read_beside_addresses_that_are_none() -> None:
    found = await read_site_maps(StepOfSite(), f"{SITE}/", Frontier(scope_of(SITE, (), (), (), ()), 5))

    assert [one.url for one in found.addresses] == [f"{SITE}/guide/looms"]


def test_what_was_read_is_known_after_a_restart_and_is_not_read_again() -> None:
    first = Frontier(scope_of(SITE, (), (), (), ()), 5)
    first.start(f"{SITE}/")
    assert first.take(0) is not None
    first.read(page(0))
    targets = [first.take(index) for index in (1, 2, 3)]
    assert [target and target.address.url for target in targets] == [f"{SITE}/page-{one}-0" for one in range(3)]

    anew = Frontier(scope_of(SITE, (), (), (), ()), 5)
    anew.start(f"{SITE}/")
    for done in (page(2), page(0)):
        anew.read(done)
    left = {target.address.url for index in range(9) if (target := anew.take(index)) is not None and target.depth == 1}

    assert left == {f"{SITE}/page-0-0", f"{SITE}/page-1-0"}


def test_a_template_that_brings_nothing_is_left_alone() -> None:
    frontier = Frontier(scope_of(SITE, (), (), (), ()), 5)
    frontier.found([FoundAddress(url=f"{SITE}/void/{number}") for number in range(100)], 1)
    read = 0
    while (target := frontier.take(read)) is not None:
        frontier.read(VisitedPage(url=target.address.url, depth=1, left_out=Omission.NEAR_DUPLICATE))
        read += 1

    assert (read, frontier.left_out[Omission.TRAP]) == (8, 92)


def test_a_crawl_needs_what_its_steps_do_and_an_address() -> None:
    assert CRAWL.scopes(CrawlInputs(url=SITE), in_session=False) == (Scope.BROWSE,)
    assert CRAWL.scopes(CrawlInputs(url=SITE, to="collection"), in_session=False) == (Scope.BROWSE, Scope.COLLECTIONS)
    CRAWL.check(CrawlInputs(url="example.com/docs"))
    for wrong in (
        CrawlInputs(url="ftp://example.com/"),
        CrawlInputs(url="https://me:secret@example.com/"),
        CrawlInputs(url=SITE, hosts=("no host",)),
        CrawlInputs(url=SITE, collection_id="col_1"),
    ):
        with pytest.raises(FaultError):
            CRAWL.check(wrong)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (f"{SITE}/", "index"),
        (f"{SITE}/a/b.html", "a/b.html"),
        (f"{SITE}/a?page=2", "a-page-2"),
        (f"{SITE}/../../etc/passwd", "etc/passwd"),
        (f"{SITE}/%2e%2e%2fetc/C%3A%5Cx", "etc/C-x"),
        (f"{SITE}/.hidden/Käse", "hidden/Käse"),
    ],
)
def test_no_file_of_a_crawl_leads_out_of_its_folder(url: str, name: str) -> None:
    assert file_name(url) == name

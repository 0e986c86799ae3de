"""Reads what a walk through a site comes by: its site maps, and its pages, each judged beside those read before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from anyio import to_thread
from msgspec import UNSET, Struct
from msgspec.structs import replace
from protego import Protego

from actors.extraction.parse.addresses import absolute
from actors.runner.crawling.addresses import Omission
from actors.runner.crawling.frontier import FoundAddress, Frontier, NextPage, VisitedPage
from actors.runner.crawling.likeness import fingerprint
from actors.runner.crawling.sitemaps import MAX_ADDRESSES, MAX_FILES, SiteMap, read_site_map
from actors.runner.page_items import MAX_TITLE_CHARS, cut
from actors.runner.page_reading import check_status
from actors.runner.template import StepContext
from protocol.browse import DEFAULT_LATENCY_MS, BrowseOptions
from protocol.codec import encode
from protocol.faults import Code, FaultError
from protocol.pages import Browsed, Outlinks

FILE_MS: Final = 20_000
MAPS_MS: Final = 120_000
"""What all site maps together may take."""

MAX_FOUND_BYTES: Final = 700_000
"""The addresses of site maps that are taken, as JSON: they have to fit into one line of the ledger."""

MAX_PAGE_LINKS: Final = 1_000
_USUAL_PLACES: Final = ("/sitemap.xml", "/sitemap_index.xml")
_OK: Final = 200

_NOT_THERE: Final[Mapping[Code, Omission]] = MappingProxyType(
    {
        Code.HTTP_NOT_FOUND: Omission.NOT_FOUND,
        Code.BLOCKED_BY_ROBOTS: Omission.ROBOTS,
        Code.HTTP_TOO_MANY_REDIRECTS: Omission.TRAP,
        Code.CONTENT_UNSUPPORTED_TYPE: Omission.FILE,
        Code.CONTENT_EMPTY: Omission.NO_TEXT,
    }
)
"""What an address is that leads to no page, by what a browse of it ends in: no failure of the crawl."""


class FoundAddresses(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The addresses that site maps name and the crawl goes to, how many it does not, and how many files were read."""

    addresses: tuple[FoundAddress, ...] = ()
    files: int = 0
    collection_id: str = ""
    refused: dict[Omission, int] = {}


async def read_site_maps(context: StepContext, url: str, frontier: Frontier) -> FoundAddresses:
    """Read the site maps that robots.txt names, or those at their usual places; what cannot be read is passed over."""
    robots = await _file(context, absolute(url, "/robots.txt"))
    named = tuple(Protego.parse(robots.decode("utf-8", "replace")).sitemaps) if robots else ()
    queue = [address for place in (*named, *_USUAL_PLACES) if (address := absolute(url, place))]
    visited, addresses, size, refused = set[str](), dict[str, FoundAddress](), 0, Counter[Omission]()
    until_ms = context.remaining_ms() - MAPS_MS
    while queue and len(visited) < MAX_FILES and len(addresses) < MAX_ADDRESSES and context.remaining_ms() > until_ms:
        place = queue.pop(0)
        if place in visited:
            continue
        visited.add(place)
        site_map = await _site_map(context, place)
        queue += [one.url for one in site_map.maps]
        dates = {one.url: one.last_modified for one in site_map.pages}
        links, others = frontier.sorted_out(dates)
        refused.update(others)
        for link in links:
            one = FoundAddress(url=link, last_modified=dates.get(link, ""))
            size += len(encode(one)) + 1
            if size <= MAX_FOUND_BYTES:
                addresses.setdefault(link, one)
    return FoundAddresses(addresses=tuple(addresses.values()), files=len(visited), refused=dict(refused))


async def visit(
    context: StepContext, frontier: Frontier, target: NextPage, max_chars: int
) -> tuple[VisitedPage, Browsed | None]:
    """Read a page with `max_chars` of its words at most, and judge it; the whole of it is there where it is to be kept.

    Raises:
        FaultError: it could not be read, though there may be a page; of the start also where there is none.
    """
    url = target.address.url
    page = VisitedPage(url=url, depth=target.depth)
    options = BrowseOptions(max_latency_ms=max(min(DEFAULT_LATENCY_MS, context.remaining_ms()), 1))
    try:
        with context.part("navigate"):
            browsed = await context.browse(url, options, outlinks=True)
            check_status(browsed.page.status)
    except FaultError as error:
        left_out = _NOT_THERE.get(error.fault.code)
        if left_out is None or not target.depth:
            raise
        return replace(page, left_out=left_out), None
    page = replace(page, final_url=browsed.page.final_url, tier=browsed.page.tier.value)
    with context.part("extract"):
        judged = await _judged(frontier, target, page, browsed, max_chars)
    return judged, browsed if judged.left_out is None else None


async def _judged(
    frontier: Frontier, target: NextPage, page: VisitedPage, browsed: Browsed, max_chars: int
) -> VisitedPage:
    content = browsed.page.document.content
    leads = browsed.page.outlinks or Outlinks()
    text = content.markdown if content.text is UNSET or not content.text else content.text
    print_ = await to_thread.run_sync(fingerprint, content.title, text)
    language = "" if content.language is UNSET else content.language
    wanted = frontier.scope.languages
    left_out: Omission | None
    if leads.noindex:
        left_out = Omission.NOINDEX
    elif wanted and language and language.partition("-")[0].lower() not in wanted:
        left_out = Omission.LANGUAGE
    else:
        left_out = frontier.judge(target, page.final_url, content.parts.fields.canonical_url, print_)
    leads_on = not leads.nofollow and left_out is not Omission.OFF_SITE and target.depth < frontier.max_depth
    links, refused = frontier.sorted_out((*leads.links, *frontier.alternates(leads.alternates)) if leads_on else ())
    page = replace(page, left_out=left_out, fingerprint=print_, links=links[:MAX_PAGE_LINKS], refused=refused)
    if left_out is not None:
        return page
    words = cut(content.markdown, max_chars) if max_chars else ""
    return replace(
        page,
        title=content.title[:MAX_TITLE_CHARS],
        language=language,
        content=words,
        truncated=bool(max_chars) and len(words) < len(content.markdown),
        confidence=browsed.confidence.overall.score,
    )


async def _site_map(context: StepContext, url: str) -> SiteMap:
    body = await _file(context, url)
    return await to_thread.run_sync(read_site_map, body, url) if body else SiteMap()


async def _file(context: StepContext, url: str) -> bytes:
    try:
        file = await context.file(url, FILE_MS)
    except FaultError:
        return b""
    return file.body if file.status == _OK else b""

"""The Markdown that a site offers of a page: when to look for it, where it is, and whether it says more."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

from msgspec import structs

from actors.extraction.extraction import Extraction
from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.formats.kinds import BodyKind, kind_of
from actors.extraction.select.links import MARKDOWN_TYPES, same_origin
from actors.web.exchange import WebResponse
from protocol.browse import MIN_CONTENT_CHARS
from protocol.faults import FaultError

Get = Callable[[str], Awaitable[WebResponse]]
Read = Callable[[WebResponse], Awaitable[Extraction]]

ACCEPT = (
    "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,application/xml;q=0.8,application/json;q=0.8,*/*;q=0.7"
)
"""The header Accept where Markdown is welcome: sites that have it send it, all others what they always send."""

POOR_SCORE = 0.5
"""Below this score of its content a page is poor."""

LIST = "/llms.txt"
_LINK = re.compile(r"<([^<>]{1,2000})>((?:\s*;[^,<]{0,300}){0,8})")
_LISTED = re.compile(r"\]\(<?([^()\s<>]{1,2000})>?\)")
_INDEX = re.compile(r"(?:/index)?(?:\.html?)?(?:\.md|\.markdown)?/?$", re.IGNORECASE)
_IN_MARKDOWN = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)

_UNLISTED_S = 3_600.0
_MAX_SITES = 1_000


class MarkdownLists:
    """Remembers for an hour which sites have no list for models, so that they are not asked at every page."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty; `clock` returns seconds."""
        self._clock = clock
        self._none_until: dict[str, float] = {}

    def may_have(self, address: str) -> bool:
        """Return whether a list may be there."""
        return self._none_until.get(address, 0.0) <= self._clock()

    def has_none(self, address: str) -> None:
        """Note that there is none; of too many sites the one noted first is forgotten."""
        self._none_until.pop(address, None)
        if len(self._none_until) >= _MAX_SITES:
            del self._none_until[next(iter(self._none_until))]
        self._none_until[address] = self._clock() + _UNLISTED_S


async def better_by_markdown(
    page: Extraction, response: WebResponse, get: Get, read: Read, lists: MarkdownLists
) -> tuple[Extraction, WebResponse]:
    """Return a poor page with the content of its Markdown, where the site has it and it says more; else as it was.

    Two further addresses of the site are fetched at most; their faults are ignored.
    """
    if not is_poor(page, response.status, response.content_type):
        return page, response
    try:
        address = linked_markdown(page, response.headers.get("link"), response.url)
        address = address or await _find_in_list(response.url, get, lists)
        if not address or address == response.url:
            return page, response
        offer = await get(address)
        if not _answered_markdown(offer) or not same_origin(offer.url, response.url):
            return page, response
        merged = richer(page, await read(structs.replace(offer, content_type="text/markdown")))
    except FaultError:
        return page, response
    if merged is page:
        return page, response
    return merged, structs.replace(
        response,
        content_type="text/markdown",
        exchanges=(*response.exchanges, *offer.exchanges),
        retry_count=response.retry_count + offer.retry_count,
    )


def is_poor(page: Extraction, status: int, content_type: str) -> bool:
    """Return whether a page was read so poorly that its Markdown would help; blockers and errors are never poor."""
    evidence = page.evidence
    if status != HTTPStatus.OK or not evidence.markup or "html" not in content_type.lower():
        return False
    if evidence.challenge or evidence.error_page or evidence.consent_wall or evidence.login_form:
        return False
    thin = evidence.content_length < MIN_CONTENT_CHARS and bool(evidence.scripts)
    return bool(evidence.incomplete) or thin or page.content.score < POOR_SCORE


def linked_markdown(page: Extraction, header: str | None, url: str) -> str:
    """Return the address that the page, or the header Link of its answer (RFC 8288), offers as its Markdown."""
    if page.markdown_link:
        return page.markdown_link
    for link in _LINK.finditer(header or ""):
        about = link[2].lower().replace('"', "").replace(" ", "")
        target = absolute(url, link[1])
        if (
            "rel=alternate" in about
            and any(f"type={kind}" in about for kind in MARKDOWN_TYPES)
            and same_origin(target, url)
        ):
            return target
    return ""


def list_address(url: str) -> str:
    """Return the address at which a site lists what it has for models (llmstxt.org)."""
    return urljoin(url, LIST)


def listed_markdown(text: str, base: str, url: str) -> str:
    """Return the address under which a list has a page in Markdown; "" where it has not."""
    for target in _LISTED.findall(text):
        address = absolute(base, target)
        if _IN_MARKDOWN.search(urlsplit(address).path) and same_origin(address, url) and _page(address) == _page(url):
            return address
    return ""


def is_markdown(body: bytes, content_type: str) -> bool:
    """Return whether an answer is Markdown, or at least a text that says nothing else."""
    try:
        return (
            kind_of(body, content_type) in (BodyKind.MARKDOWN, BodyKind.TEXT) and b"<html" not in body[:1_024].lower()
        )
    except FaultError:
        return False


def richer(page: Extraction, offer: Extraction) -> Extraction:
    """Return the page with the content of its Markdown, where that says more; what the page says of itself stays."""
    if offer.evidence.content_length <= page.evidence.content_length:
        return page
    own, other = page.summary, offer.summary
    surer = page if page.title.score >= offer.title.score else offer
    fields = structs.replace(own.parts.fields, outline=other.parts.fields.outline)
    summary = structs.replace(
        own,
        title=surer.summary.title,
        markdown=other.markdown,
        text=other.text,
        extracted_links=other.extracted_links,
        tables=other.tables,
        parts=structs.replace(own.parts, fields=fields, lists=(), left_out=other.parts.left_out),
    )
    evidence = structs.replace(page.evidence, content_length=offer.evidence.content_length, markup=False, incomplete=())
    return structs.replace(
        page,
        summary=summary,
        evidence=evidence,
        title=surer.title,
        content=offer.content,
        tables=offer.tables,
        selectors=(*(structs.replace(each, selected=False) for each in page.selectors), *offer.selectors),
    )


async def _find_in_list(url: str, get: Get, lists: MarkdownLists) -> str:
    address = list_address(url)
    if not lists.may_have(address):
        return ""
    answer = await get(address)
    if not _answered_markdown(answer):
        lists.has_none(address)
        return ""
    return listed_markdown(answer.body.decode("utf-8", "replace"), answer.url, url)


def _answered_markdown(answer: WebResponse) -> bool:
    return answer.status == HTTPStatus.OK and is_markdown(answer.body, answer.content_type)


def _page(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return _INDEX.sub("", parts.path), parts.query

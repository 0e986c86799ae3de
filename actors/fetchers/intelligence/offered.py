"""Gets the Markdown that a site offers of a page that was read poorly."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus

from actors.extraction.extraction import Extraction
from actors.extraction.select.links import same_origin
from actors.fetchers.intelligence import markdown_offer
from actors.fetchers.web.client import Response
from protocol.faults import FaultError

Get = Callable[[str], Awaitable[Response]]
Read = Callable[[Response], Awaitable[Extraction]]


_UNLISTED_S = 3_600.0
_MAX_SITES = 1_000


class Lists:
    """Remembers for an hour which sites list nothing for models, so that they are not asked at every page."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Know of no site; `clock` tells seconds."""
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


async def offered(
    found: Extraction, response: Response, get: Get, read: Read, lists: Lists
) -> tuple[Extraction, Response]:
    """Return a page with the content of its Markdown, where that was wanted, is there and says more; else as it was.

    Two further addresses of the site are asked for at most; a fault of theirs is none of the page.
    """
    if not markdown_offer.wanted(found, response.status, response.content_type):
        return found, response
    try:
        address = markdown_offer.linked(found, response.headers.get("link"), response.url)
        address = address or await _listed(response.url, get, lists)
        if not address or address == response.url:
            return found, response
        offer = await get(address)
        if not _is_markdown(offer) or not same_origin(offer.url, response.url):
            return found, response
        taken = markdown_offer.better(found, await read(replace(offer, content_type="text/markdown")))
    except FaultError:
        return found, response
    if taken is found:
        return found, response
    return taken, replace(
        response,
        content_type="text/markdown",
        exchanges=(*response.exchanges, *offer.exchanges),
        retry_count=response.retry_count + offer.retry_count,
    )


async def _listed(url: str, get: Get, lists: Lists) -> str:
    address = markdown_offer.list_of(url)
    if not lists.may_have(address):
        return ""
    answer = await get(address)
    if not _is_markdown(answer):
        lists.has_none(address)
        return ""
    return markdown_offer.listed(answer.body.decode("utf-8", "replace"), answer.url, url)


def _is_markdown(answer: Response) -> bool:
    return answer.status == HTTPStatus.OK and markdown_offer.is_markdown(answer.body, answer.content_type)

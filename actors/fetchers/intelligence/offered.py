"""Gets the Markdown that a site offers of a page that was read poorly."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus

from actors.fetchers.extract.extraction import Extraction
from actors.fetchers.extract.parts.markdown_link import same_origin
from actors.fetchers.intelligence import markdown_offer
from actors.fetchers.web.client import Response
from protocol.faults import FaultError

Get = Callable[[str], Awaitable[Response]]
Read = Callable[[Response], Awaitable[Extraction]]


async def offered(found: Extraction, response: Response, get: Get, read: Read) -> tuple[Extraction, Response]:
    """Give a page with the content of its Markdown, where that was wanted, is there and says more; else as it was.

    Two further addresses of the site are asked for at most; a fault of theirs is none of the page.
    """
    if not markdown_offer.wanted(found, response.status, response.content_type):
        return found, response
    try:
        address = markdown_offer.linked(found, response.headers.get("link"), response.url)
        address = address or await _listed(response.url, get)
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


async def _listed(url: str, get: Get) -> str:
    answer = await get(markdown_offer.list_of(url))
    if not _is_markdown(answer):
        return ""
    return markdown_offer.listed(answer.body.decode("utf-8", "replace"), answer.url, url)


def _is_markdown(answer: Response) -> bool:
    return answer.status == HTTPStatus.OK and markdown_offer.is_markdown(answer.body, answer.content_type)

"""Which patterns are used at all, wherever they were found: what their requests may ask, and of whom."""

from __future__ import annotations

import re
from typing import Final

from actors.patterns.matching import compiled
from actors.patterns.safety import is_header, refusal, site_or_nothing
from actors.patterns.templates import AddressSlot, address_parts, pieces_of
from actors.redact import REDACTED, is_secret
from protocol.patterns.pattern import MAX_REQUESTS, ApiRequest, PagePattern, PatternSource
from protocol.patterns.sample import ApiExchange

_SLOT: Final = re.compile(r"(?<!\{)\{[^{}]{1,600}\}")


def pattern_refusal(pattern: PagePattern) -> str:
    """Return why a pattern is never used, wherever it came from; "" for one that may be.

    Its requests go to the site of its pages; elsewhere only by GET or HEAD, where a page's own scripts were seen to
    ask, and where no login was used: what its answers say is nobody else's.
    """
    if not 0 < len(pattern.requests) <= MAX_REQUESTS:
        return "it has no requests, or too many"
    page = pattern.page or pattern.requests[0].url
    if not site_or_nothing(pattern.domain) or site_or_nothing(_with_examples(page)) != site_or_nothing(pattern.domain):
        return "its pages are not of its domain"
    if pattern.page and not _is_whole(pattern):
        return "its requests want what its pages do not say"
    if (pattern.profile or pattern.source is not PatternSource.API_EXTRACTION) and any(
        site_or_nothing(_with_examples(one.url)) != site_or_nothing(pattern.domain) for one in pattern.requests
    ):
        return "it asks another site, with a login or without that a page was seen to do so"
    return next((why for request in pattern.requests if (why := _request_refusal(request, page))), "")


def replay_refusal(request: ApiRequest, url: str, body: str, page_url: str) -> str:
    """Return why a request of a pattern is not sent to this address with this body; "" for one that may be."""
    headers = request.headers | dict.fromkeys((*request.auth_headers, *request.auth_places), REDACTED)
    exchange = ApiExchange(
        url=url, method=request.method, headers=headers, with_cookies=request.auth is not None, sent=body, body={}
    )
    return refusal(exchange, page_url)


def _is_whole(pattern: PagePattern) -> bool:
    """Return whether all slots of the requests are filled by the page, or by the answer of an earlier request."""
    names = {slot.name for one in compiled(pattern.page).every for slot in one.slots}
    try:
        wanted = [
            (number, pieces_of(text)) for number, one in enumerate(pattern.requests) for text in (one.url, one.body)
        ]
    except ValueError:
        return False
    slots = [(number, piece) for number, pieces in wanted for piece in pieces if not isinstance(piece, str)]
    return bool(compiled(pattern.page).origin) and all(
        piece.name in names if isinstance(piece, AddressSlot) else piece.number < number for number, piece in slots
    )


def _request_refusal(request: ApiRequest, page: str) -> str:
    try:
        address_parts(request.url)
    except ValueError:
        return "its address is none of the web"
    if any(is_secret(name) or not is_header(name.lower(), value) for name, value in request.headers.items()):
        return "a header with a secret"
    return replay_refusal(request, _with_examples(request.url), _with_examples(request.body), _with_examples(page))


def _with_examples(template: str) -> str:
    """Return one of the texts that a template stands for."""
    return _SLOT.sub("0", template).replace("{{", "{").replace("}}", "}")

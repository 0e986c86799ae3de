"""The endpoint that reads a page."""

from __future__ import annotations

from msgspec import Struct
from starlette.responses import Response

from actors.gateway.asking import Desk, browse
from actors.gateway.rest.answers import answer
from actors.gateway.rest.contract import Endpoint
from actors.gateway.translate import http_status
from protocol.browse import BrowseOptions, BrowseResult
from protocol.faults import Code, fault
from protocol.pages import BrowsePage, Url


class BrowseRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A page to read, and how."""

    url: Url
    options: BrowseOptions = BrowseOptions()


async def _browse(desk: Desk, asked: BrowseRequest) -> Response:
    return answer(await browse(desk.bus, BrowsePage(url=asked.url, options=asked.options), desk.grace_ms))


ENDPOINTS: tuple[Endpoint[Desk], ...] = (
    Endpoint(
        method="POST",
        path="/api/browse",
        name="browse",
        summary="Read a web page as Markdown, with a confidence on every field.",
        run=_browse,
        body=BrowseRequest,
        answer=BrowseResult,
        errors=frozenset(http_status(fault(code)) for code in Code if code is not Code.SESSION_NOT_FOUND),
    ),
)
